#include "identify/probes.h"

#include <algorithm>
#include <bit>

#include "arithmetic/corner_encodings.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

/// Significands to choose from. With four fraction bits: 1.0000, 1.1111, 1.1000, 1.0101, 1.0001 in binary.
enum class Pattern { one, ones, three_halves, alternating, lowest };

uint64_t fraction_of(const FormatFields& f, Pattern pattern) {
  const uint64_t mask = f.fraction_mask();
  switch (pattern) {
    case Pattern::one: return 0;
    case Pattern::ones: return mask;
    case Pattern::three_halves: return mask & ~(mask >> 1);
    case Pattern::alternating: return 0x5555555555555555u & mask;
    case Pattern::lowest: return mask & 1;
  }
  return 0;
}

/// Builds the questions of one op. A case that the formats cannot hold is left out.
class FirstQuestions {
 public:
  explicit FirstQuestions(const Op& op)
      : op_(op),
        questions_(op),
        one_(op),
        k_(op.k),
        a_(op.a.fields()),
        b_(op.b.fields()),
        c_(op.c.fields()),
        d_(op.d.fields()) {
    one_.resize(1);
    low_ = a_.emin() + b_.emin();
    high_ = a_.emax() + b_.emax();
    bottom_ = std::max({low_, d_.emin() + 2, c_.emin()});
    top_ = std::max(std::min({high_, c_.emax() - 2, d_.emax() - 8}), bottom_);
  }

  Questions take() {
    groups();
    kept_bits();
    products();
    rounding();
    carries();
    zeros();
    floor();
    subnormals();
    range_end();
    specials();
    low_bits();
    scales();
    anything();
    again();
    return std::move(questions_);
  }

 private:
  void ask(const char* question) {
    end();
    questions_.texts.push_back(question);
  }

  /// Begins a case of zeros. It ends where the next case or question begins.
  void start() {
    end();
    holds_ = true;
    for (int i = 0; i < k_; ++i) zero(i);
    set_c(c_.encode_zero(false));
    for (int i = 0; i < op_.scales(); ++i) {
      set_scale(0, i, encode_near(op_.scale_a.fields(), false, 0, 0));
      set_scale(1, i, encode_near(op_.scale_b.fields(), false, 0, 0));
    }
  }
  /// Adds the case, if one was begun and the formats hold it, to the last question.
  void end() {
    if (holds_) questions_.add(one_, 0, questions_.texts.size() - 1);
    holds_ = false;
  }

  void set(int lane, uint64_t a, uint64_t b) {
    one_.inputs()[0].set(0, lane, a);
    one_.inputs()[1].set(0, lane, b);
  }
  void zero(int lane, bool negative = false) { set(lane, a_.encode_zero(negative), b_.encode_zero(false)); }
  void set_c(uint64_t c) { one_.inputs()[2].set(0, 0, c); }
  void set_scale(size_t side, int i, uint64_t encoding) { one_.inputs()[3 + side].set(0, i, encoding); }

  /// Product `lane` becomes +-significands * 2^e, e the sum of the factors' exponents.
  void product(int lane, bool negative, int e, Pattern x = Pattern::one, Pattern y = Pattern::one) {
    if (lane >= k_ || lane < 0 || e < low_ || e > high_ || (negative && !a_.has_sign())) {
      holds_ = false;
      return;
    }
    const int ea = FactorShare(a_, b_, e).nearest(e / 2);
    set(lane, encode_near(a_, negative, ea, fraction_of(a_, x)), encode_near(b_, false, e - ea, fraction_of(b_, y)));
  }
  void c(bool negative, int e, Pattern pattern = Pattern::one) {
    if (e < c_.emin() || e > c_.emax()) {
      holds_ = false;
      return;
    }
    set_c(encode_near(c_, negative, e, fraction_of(c_, pattern)));
  }

  /// Lanes that a block of any usual size begins or ends with.
  std::vector<int> telling_lanes() const {
    std::vector<int> lanes;
    for (int i = 1; i < k_; ++i) {
      if (k_ <= 8 || std::has_single_bit(unsigned(i)) || std::has_single_bit(unsigned(i) + 1) || i == 5 || i == 11 ||
          i == 23 || i == k_ - 1)
        lanes.push_back(i);
    }
    return lanes;
  }

  void groups() {
    ask("Which addends meet in one sum? Two great ones cancel; the small ones that joined them before are gone.");
    constexpr int of_c = -1, farthest = 1000;  // c in place of a lane; the others are as small as the formats allow
    const auto great_pair = [&](int i, int j, int distance) {
      start();
      const int small = std::max(bottom_, top_ - distance);
      for (int lane = 0; lane < k_; ++lane) product(lane, false, small);
      if (i == of_c) c(false, top_);
      else product(i, false, top_);
      product(j, true, top_);
    };
    for (const int j : telling_lanes()) great_pair(0, j, farthest);
    for (const int j : {k_ - 2, k_ - 3, k_ - 5})
      if (j > 0) great_pair(k_ - 1, j, farthest);
    for (const int j : {0, k_ / 2, k_ - 1}) great_pair(of_c, j, farthest);
    for (const int j : {1, k_ / 2, k_ - 1})
      if (j > 0) great_pair(0, j, 26);
    // Ramps: rounded additions give another sum in every order.
    for (const bool up : {true, false})
      for (const int step : {1, 3}) {
        start();
        for (int lane = 0; lane < k_; ++lane) {
          const int e = bottom_ + step * (up ? lane : k_ - 1 - lane);
          if (e <= top_) product(lane, lane % 3 == 1 && a_.has_sign(), e, Pattern::ones, Pattern::lowest);
        }
        c(false, std::clamp(bottom_ + 12, bottom_, top_), Pattern::alternating);
      }
  }

  void kept_bits() {
    ask("How many bits below the greatest exponent are kept? Two great addends cancel and leave what is kept of a "
        "third.");
    const bool has_third = k_ >= 2;
    for (const int shift : {4, 14, 24, 34, 44})
      for (const bool negative : {false, true}) {
        if (negative && shift == 44) continue;
        start();  // c and a product cancel
        c(false, top_);
        product(0, true, top_);
        if (has_third) product(1, negative, top_ - shift, Pattern::ones, Pattern::ones);
        start();  // two products cancel
        product(0, false, top_);
        product(1, true, top_);
        product(2, negative, top_ - shift, Pattern::ones, Pattern::alternating);
        start();  // ... and c stays
        product(0, false, top_);
        product(1, true, top_);
        c(negative, top_ - shift, Pattern::ones);
      }
    // Two even lanes cancel, an odd lane is left.
    for (const int shift : {10, 22, 28}) {
      start();
      product(0, false, top_);
      product(2, true, top_);
      product(1, false, top_ - shift, Pattern::ones, Pattern::ones);
    }
  }

  void products() {
    ask("Is a product of two significands aligned by its own leading bit?");
    for (const int shift : {15, 22, 23, 25, 33}) {
      start();
      c(false, top_ - shift, Pattern::ones);
      product(0, false, top_ - 1, Pattern::ones, Pattern::ones);
      product(1, true, top_ - 1, Pattern::ones, Pattern::ones);
    }
    start();
    product(0, false, (low_ + high_) / 2, Pattern::ones, Pattern::ones);
    start();
    product(k_ - 1, true, (low_ + high_) / 2, Pattern::three_halves, Pattern::three_halves);
  }

  void rounding() {
    ask("How is the sum rounded? What is left of it lies below, on and above the middle of two results.");
    const int p = std::min(d_.fraction_bits, c_.fraction_bits);
    const int e = std::clamp(0, std::max(low_ + p + 2, bottom_), std::max(top_, low_ + p + 2));
    for (const bool negative : {false, true})
      for (const bool odd : {false, true})
        for (const int quarters : {1, 2, 3}) {
          start();
          c(negative, e, odd ? Pattern::lowest : Pattern::one);
          if (quarters & 2) product(0, negative, e - p - 1);
          if (quarters & 1) product(quarters == 1 ? 0 : 1, negative, e - p - 2);
        }
    start();
    c(false, e);
    product(0, true, e - p - 2);
    start();
    c(false, e);
    product(0, true, e - p - 1);
    for (const Pattern pattern : {Pattern::ones, Pattern::alternating})
      for (const bool negative : {false, true}) {
        start();
        c(negative, std::clamp(1, c_.emin(), c_.emax()), pattern);
        if (!a_.has_sign()) continue;
        start();
        product(0, negative, std::clamp(1, low_, high_), pattern, Pattern::ones);
        product(1, negative, std::max(low_, std::clamp(1, low_, high_) - a_.fraction_bits - b_.fraction_bits - 1),
                pattern, Pattern::alternating);
      }
  }

  void carries() {
    ask("How high can a sum grow? More and more of the greatest products are added.");
    const int e = std::clamp(0, low_, std::max(low_, top_ - 2));
    for (int n = 1; n <= k_; n *= 2) {
      start();
      for (int i = 0; i < n; ++i) product(i, n == 2, e, Pattern::ones, Pattern::ones);
      c(n == 2, std::clamp(e, c_.emin(), c_.emax()), Pattern::ones);
    }
    start();
    for (int i = 0; i < k_; ++i) product(i, true, e, Pattern::ones, Pattern::ones);
  }

  void zeros() {
    ask("Which sign has a zero?");
    for (const bool products : {false, true})
      for (const bool of_c : {false, true}) {
        start();
        for (int i = 0; i < k_; ++i) zero(i, products);
        set_c(c_.encode_zero(of_c));
      }
    start();
    for (int i = 0; i < k_; ++i) zero(i, i > 0);
    set_c(c_.encode_zero(true));
    const int e = std::clamp(0, low_, high_);
    for (const bool negative : {false, true}) {
      start();
      product(0, negative, e);
      product(1, !negative, e);
      set_c(c_.encode_zero(true));
      start();
      product(k_ - 1, negative, e);
      c(!negative, e);
    }
    start();  // one block ends at -0, the next one holds zeros
    for (int i = 0; i < k_; ++i) zero(i, i < k_ / 2);
    set_c(c_.encode_zero(true));
  }

  void floor() {
    ask("Is there an exponent below which nothing is kept while zeros are added?");
    const int step = std::max(6, (c_.precision() * 4) / 5);
    for (int e = c_.emin(); e <= c_.emax(); e += step) {
      start();
      c(false, e, Pattern::ones);
    }
    const int product_step = std::max(4, a_.fraction_bits + b_.fraction_bits);
    int asked = 0;
    for (int e = low_; e <= high_ && asked < 14; e += std::max(product_step, (high_ - low_) / 12), ++asked) {
      start();
      product(asked % k_, asked % 2 && a_.has_sign(), e, Pattern::ones, Pattern::ones);
    }
    // A zero beside the greatest factor, and small addends.
    for (const int e : {c_.emin(), c_.emin() + 8, bottom_}) {
      start();
      set(0, a_.encode_zero(false), b_.encode_greatest(false));
      if (k_ > 1) set(k_ - 1, a_.encode_greatest(false), b_.encode_zero(false));
      c(true, e, Pattern::ones);
    }
    start();  // no zero at all
    for (int i = 0; i < k_; ++i) product(i, false, bottom_, Pattern::ones, Pattern::one);
    c(false, std::max(bottom_ - 4, c_.emin()), Pattern::ones);
  }

  void subnormals() {
    ask("What becomes of subnormal operands and results?");
    const auto least = [](const FormatFields& f) { return f.in_container(1); };
    const auto greatest = [](const FormatFields& f) { return f.in_container(f.fraction_mask()); };
    for (const bool negative : {false, true}) {
      start();
      set(0, greatest(a_) | (negative ? travelling_sign(a_) : 0), b_.encode_greatest(false));
      start();
      set(k_ - 1, a_.encode_greatest(negative), least(b_));
      start();
      set_c(greatest(c_) | (negative ? travelling_sign(c_) : 0));
      start();
      set_c(least(c_) | (negative ? travelling_sign(c_) : 0));
      for (int i = 0; i < k_; ++i) zero(i, true);
    }
    start();
    set(0, greatest(a_), greatest(b_));
    set_c(greatest(c_));
    start();
    set(0, greatest(a_) | travelling_sign(a_), b_.encode_greatest(false));
    set_c(c_.encode_zero(true));
    // Results in and below the subnormal range of d.
    const int bits = d_.fraction_bits;
    for (const int below : {1, 6, bits, bits + 1, bits + 2, bits + 4})
      for (const bool negative : {false, true}) {
        start();
        product(0, negative, d_.emin() - below, Pattern::three_halves);
        if (negative) set_c(c_.encode_zero(true));
      }
    start();  // two normal numbers, a subnormal difference
    c(false, std::max(d_.emin(), c_.emin()), Pattern::three_halves);
    product(0, true, std::max(d_.emin(), c_.emin()));
  }

  void range_end() {
    ask("What becomes of a result beyond the greatest number, at the end and on the way?");
    const auto greatest_c = [&](bool negative) { set_c(c_.encode_greatest(negative)); };
    for (const bool negative : {false, true}) {
      start();
      greatest_c(negative);
      for (int i = 0; i < k_; ++i) set(i, a_.encode_greatest(negative), b_.encode_greatest(false));
      start();
      greatest_c(negative);
      product(0, negative, std::clamp(d_.emax(), low_, high_), Pattern::ones);
      start();  // half an ulp above the greatest number
      greatest_c(negative);
      product(0, negative, d_.emax() - d_.fraction_bits - 1);
      start();
      for (int i = 0; i < k_; ++i) set(i, a_.encode_greatest(negative == (i < k_ / 2)), b_.encode_greatest(false));
      start();
      for (int i = 0; i < k_; ++i) set(i, a_.encode_greatest(negative == (i % 2 == 0)), b_.encode_greatest(false));
      greatest_c(!negative);
      start();  // one product overflows, c is infinite the other way
      set(0, a_.encode_greatest(negative), b_.encode_greatest(false));
      if (c_.has_infinity()) set_c(c_.encode_infinity(!negative));
    }
    start();
    set(0, a_.encode_greatest(true), b_.encode_greatest(false));
  }

  void specials() {
    ask("What do infinities and NaNs give?");
    const uint64_t one_a = encode_near(a_, false, 0, 0), one_b = encode_near(b_, false, 0, 0);
    const int last = k_ - 1;
    const auto ones = [&] {
      start();
      for (int i = 0; i < k_; ++i) set(i, one_a, one_b);
    };
    if (a_.has_nan()) {
      ones();
      set(last, a_.encode_nan(), one_b);
    }
    if (b_.has_nan()) {
      ones();
      set(0, one_a, b_.encode_nan() | travelling_sign(b_));
    }
    if (c_.has_nan()) {
      ones();
      set_c(c_.encode_nan());
      ones();
      set_c(c_.encode_nan() ^ c_.in_container(1));
    }
    if (c_.has_infinity()) {
      for (const bool negative : {false, true}) {
        ones();
        set_c(c_.encode_infinity(negative));
        start();
        for (int i = 0; i < k_; ++i) set(i, a_.encode_greatest(false), b_.encode_greatest(false));
        set_c(c_.encode_infinity(negative));
      }
    }
    if (!a_.has_infinity()) return;
    for (const bool negative : {false, true}) {
      ones();
      set(last, a_.encode_infinity(negative), one_b);
    }
    ones();
    set(0, a_.encode_infinity(false), b_.encode_zero(false));
    ones();
    set(0, a_.encode_infinity(false), one_b);
    set(last, a_.encode_infinity(last > 0), one_b);
    ones();
    set(0, a_.encode_infinity(false), one_b);
    if (c_.has_infinity()) set_c(c_.encode_infinity(true));
    start();  // an overflow in the first half, an infinity in the second
    for (int i = 0; i < std::max(1, k_ / 2); ++i) set(i, a_.encode_greatest(false), b_.encode_greatest(false));
    set(last, a_.encode_infinity(true), one_b);
  }

  void low_bits() {
    if (!a_.ignored_low_bits) return;
    ask("What do the bits below an operand's fraction do?");
    const uint64_t low = low_mask(a_.ignored_low_bits), half = (low >> 1) + 1;
    for (const uint64_t bits : {low, half, half - 1}) {
      start();
      set(0, encode_near(a_, false, 0, 0) | bits, encode_near(b_, false, 0, 0));
      start();
      set(0, a_.encode_infinity(false) | bits, encode_near(b_, false, 0, 0));
    }
    start();
    set(k_ - 1, a_.encode_greatest(false) | low, encode_near(b_, false, -2, 0));
  }

  void scales() {
    if (!op_.has_scales()) return;
    ask("What do the scales do?");
    const FormatFields &sa = op_.scale_a.fields(), &sb = op_.scale_b.fields();
    const int last = op_.scales() - 1, middle = std::clamp(0, low_, high_);
    const auto filled = [&] {
      start();
      for (int i = 0; i < k_; ++i) product(i, i % 3 == 1, middle, Pattern::three_halves, Pattern::one);
      c(false, 0, Pattern::ones);
    };
    for (const int by : {1, 6, -7}) {
      filled();
      set_scale(0, last, encode_near(sa, false, by, fraction_of(sa, Pattern::ones)));
      set_scale(1, 0, encode_near(sb, false, -by, fraction_of(sb, Pattern::three_halves)));
    }
    for (const int ratio : {12, 24, 30, 36, 42}) {
      start();  // two scaled groups cancel, c stays
      for (int i = 0; i < k_; ++i) product(i, i >= k_ / 2, middle, Pattern::three_halves, Pattern::one);
      for (int i = 0; i <= last; ++i) set_scale(0, i, encode_near(sa, false, 6, 0));
      c(false, middle + 6 - ratio, Pattern::ones);
    }
    filled();
    set_scale(0, 0, sa.encode_nan());
    filled();
    set_scale(1, last, sb.encode_nan());
    start();
    for (int i = 0; i <= last; ++i) set_scale(0, i, encode_near(sa, false, sa.emax(), 0));
    c(false, -20, Pattern::ones);
    filled();
    for (int i = 0; i <= last; ++i) {
      set_scale(0, i, 0);
      set_scale(1, i, 0);
    }
  }

  void anything() {
    ask("Does it hold of operands that were not chosen for a question?");
    constexpr size_t drawn = 16;
    Batch batch;
    StructuredGenerator(op_, 20).fill(0, drawn, batch);
    for (size_t i = 0; i < drawn; ++i) questions_.add(batch, i, questions_.texts.size() - 1);
  }

  void again() {
    ask("Is it a function of the case? Some cases come again, in another order.");
    const Batch asked = questions_.cases;
    constexpr size_t repeated = 6;
    for (size_t i = repeated; i-- > 0;)
      questions_.add(asked, (i * asked.size()) / repeated, questions_.texts.size() - 1);
  }

  const Op op_;
  Questions questions_;
  Batch one_;
  bool holds_ = false;  ///< whether a case was begun that the formats hold
  int k_;
  int low_ = 0, high_ = 0;    ///< the least and the greatest exponent of products
  int bottom_ = 0, top_ = 0;  ///< those of powers of two that products, c and d all hold, with some room
  const FormatFields &a_, &b_, &c_, &d_;
};

}  // namespace

void Questions::add(const Batch& batch, size_t index, size_t question) {
  cases.append(batch, index);
  of_case.push_back(question);
}

Questions first_questions(const Op& op) { return FirstQuestions(op).take(); }

}  // namespace mmafuzz
