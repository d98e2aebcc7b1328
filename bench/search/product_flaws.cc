#include "bench/search/catalogue.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "arithmetic/corner_encodings.h"
#include "core/fnv1a.h"
#include "oracles/exact/exact_sum.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/split.h"

namespace mmafuzz {
namespace {

/// One matrix product with its rows and columns cut into slices as the unit cuts them (oracles/gemm/split.h). Slices p
/// and q count from 1; i, j and l are row, column and index along k, from 0. A slice is filled where it has a digit
/// other than 0.
class SlicedProduct {
 public:
  SlicedProduct(const Op& op, const Slicing& slicing) : op(op), slicing(slicing), operands(op) {}
  void load(const Batch& batch, size_t index) {
    operands.load(batch, index);
    const int m = op.m, n = op.n, k = op.k;
    const gemm::RowSplitter rows(op.a.fields(), operands.a.data(), {m, k, size_t(k), 1}, slicing.widths.a,
                                 gemm::SubnormalReading::kept);
    const gemm::RowSplitter columns(op.b.fields(), operands.b.data(), {n, k, 1, size_t(n)}, slicing.widths.b,
                                    gemm::SubnormalReading::kept);
    a = rows.cut(std::min(rows.max_needed(), max_slices));
    b = columns.cut(std::min(columns.max_needed(), max_slices));
  }

  uint64_t code_a(int i, int l) const { return operands.a[size_t(i * op.k + l)]; }
  uint64_t code_b(int l, int j) const { return operands.b[size_t(l * op.n + j)]; }
  Number number_a(int i, int l) const { return decode(op.a.fields(), code_a(i, l)); }
  Number number_b(int l, int j) const { return decode(op.b.fields(), code_b(l, j)); }
  Number number_c(int i, int j) const { return decode(op.c.fields(), operands.c[size_t(i * op.n + j)]); }
  static bool is_live(const Number& x) { return x.cls == NumberClass::finite; }

  /// The number of slices that a row (or column) needs beyond those of a single number.
  int row_excess(int i) const {
    return a.needed[size_t(i)] - usual_slices(slicing, slicing.widths.a, op.a.fields().precision());
  }
  int column_excess(int j) const {
    return b.needed[size_t(j)] - usual_slices(slicing, slicing.widths.b, op.b.fields().precision());
  }
  int digit_a(int p, int i, int l) const { return p > a.slices ? 0 : a.slice(p, i)[l]; }
  int greatest_digit_of_a() const { return (1 << slicing.widths.a) - 1; }
  int greatest_digit_of_b() const { return (1 << slicing.widths.b) - 1; }
  int64_t greatest_sum() const { return int64_t{1} << slicing.bits; }
  /// The sum of the products of two slices' digits.
  int64_t dot(int p, int i, int q, int j) const {
    if (p > a.slices || q > b.slices || !a.is_filled(p, i) || !b.is_filled(q, j)) return 0;
    int64_t sum = 0;
    for (int l = 0; l < op.k; ++l) sum += int64_t{a.slice(p, i)[l]} * b.slice(q, j)[l];
    return sum;
  }
  /// Whether the number with the greatest first digit in the row, the first such number, is negative.
  bool negative_top(int row) const {
    int best = 0, sign = 0;
    if (a.slices == 0) return false;
    for (int l = 0; l < op.k; ++l) {
      const int digit = a.slice(1, row)[l];
      if (std::abs(digit) <= best) continue;
      best = std::abs(digit);
      sign = digit;
    }
    return sign < 0;
  }
  /// Whether all sums of slices 1 to p of row i with slices 1 to q of column j are zero.
  bool cancels(int p, int i, int q, int j) const {
    for (int x = 1; x <= p; ++x)
      for (int y = 1; y <= q; ++y)
        if (dot(x, i, y, j) != 0) return false;
    return true;
  }
  /// Whether all factors of element (i, j) but those of product `at` are finite; -1: all.
  bool has_numbers_but_at(int at, int i, int j) const {
    for (int l = 0; l < op.k; ++l)
      if (l != at && (!is_number(number_a(i, l).cls) || !is_number(number_b(l, j).cls))) return false;
    return true;
  }
  bool is_finite(int i, int j) const { return has_numbers_but_at(-1, i, j) && is_number(number_c(i, j).cls); }
  /// An element of a * b + c, rounded once; all its operands must be finite.
  Rounded rounded(int i, int j) const {
    gemm::ExactSum sum;
    for (int l = 0; l < op.k; ++l)
      if (is_live(number_a(i, l)) && is_live(number_b(l, j)))
        sum.add(exact_product(to_exact(number_a(i, l)), to_exact(number_b(l, j))));
    return sum.rounded_with(to_exact(number_c(i, j)), false, op.d.fields(), {});
  }

  const Op op;
  const Slicing slicing;
  gemm::GemmCase operands;
  gemm::SlicedRows a, b;

 private:
  static constexpr int max_slices = 12;
};

/// The effect of a flaw, one of two. misreads() changes the operands that the unit reads, and returns whether it did.
/// shows() is true for the elements whose last bit is inverted. The other function is empty.
struct Effect {
  std::function<bool(const SlicedProduct&, gemm::GemmCase&)> misreads;
  std::function<bool(const SlicedProduct&, int i, int j)> shows;
};
Effect misreads(std::function<bool(const SlicedProduct&, gemm::GemmCase&)> f) { return {std::move(f), {}}; }
Effect shows(std::function<bool(const SlicedProduct&, int, int)> f) { return {{}, std::move(f)}; }

class FlawedProduct final : public Unit {
 public:
  FlawedProduct(std::unique_ptr<Unit> original, const Op& op, Effect effect)
      : original_(std::move(original)), op_(op), effect_(std::move(effect)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    SlicedProduct product(op_, *original_->slicing());
    if (effect_.misreads) {
      Batch read = batch;
      for (size_t index = 0; index < batch.size(); ++index) {
        product.load(batch, index);
        gemm::GemmCase operands = product.operands;
        if (!effect_.misreads(product, operands)) continue;
        read.inputs()[0].pack(index, operands.a.data());
        read.inputs()[1].pack(index, operands.b.data());
      }
      return original_->run(read, outcomes);
    }
    original_->run(batch, outcomes);
    for (size_t index = 0; index < batch.size(); ++index) {
      product.load(batch, index);
      for (int e = 0; e < op_.m * op_.n; ++e)
        if (effect_.shows(product, e / op_.n, e % op_.n))
          outcomes.results.set(index, e, outcomes.results.get(index, e) ^ 1);
    }
  }

 private:
  std::unique_ptr<Unit> original_;
  Op op_;
  Effect effect_;
};

/// The encoding of a number without its bits of weight 2^low to 2^(high-1).
uint64_t without_bits(const FormatFields& f, uint64_t code, int low, int high) {
  const Number x = decode(f, code);
  if (x.cls != NumberClass::finite) return code;
  const int first = std::clamp(low - x.exponent, 0, 64), end = std::clamp(high - x.exponent, 0, 64);
  const uint64_t gone = low_mask(end) & ~low_mask(first), left = x.significand & ~gone;
  if (left == 0) return f.encode_zero(x.negative);
  return round_once(f, x.negative, left, x.exponent).encoding;
}

/// Makes slice p of the numbers l of row i with chosen(l) read as zero; whether that changes any.
template <class Chosen>
bool drop_slice(const SlicedProduct& s, gemm::GemmCase& read, int i, int p, const Chosen& chosen) {
  const int end = s.a.top[size_t(i)] - p * s.slicing.widths.a;
  bool any = false;
  for (int l = 0; l < s.op.k; ++l) {
    if (s.digit_a(p, i, l) == 0 || !chosen(l)) continue;
    read.a[size_t(i * s.op.k + l)] = without_bits(s.op.a.fields(), s.code_a(i, l), end, end + s.slicing.widths.a);
    any = true;
  }
  return any;
}

/// Makes all slices of row i after slice p read as zero.
bool drop_below(const SlicedProduct& s, gemm::GemmCase& read, int i, int p) {
  constexpr int below_all_bits = -5000;  // of fp64
  const int end = s.a.top[size_t(i)] - p * s.slicing.widths.a;
  for (int l = 0; l < s.op.k; ++l)
    read.a[size_t(i * s.op.k + l)] = without_bits(s.op.a.fields(), s.code_a(i, l), below_all_bits, end);
  return true;
}

/// The main part of an fp32 number, as an fp32 encoding: the number rounded to fp16, without its residual.
uint64_t main_part(uint64_t code) {
  const FormatFields fp16 = format("fp16").fields(), fp32 = format("fp32").fields();
  const uint64_t rounded = round_exact(fp16, to_exact(decode(fp32, code)), {}).encoding;
  return round_exact(fp32, to_exact(decode(fp16, rounded)), {}).encoding;
}
double host_value(uint64_t fp32_code) { return double{std::bit_cast<float>(static_cast<uint32_t>(fp32_code))}; }

/// Whether an fp32 number has an exponent from -14 to 14, so that its main part is a normal fp16 number.
bool is_normal_in_fp16(uint64_t code) {
  const int exponent = leading_exponent(format("fp32").fields(), code);
  return exponent >= -14 && exponent <= 14;
}

constexpr char inner_product[] = "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=16",
               small_product[] = "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=8",
               long_product[] = "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=33",
               odd_product[] = "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=17",
               short_fp32[] = "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=4",
               long_fp32[] = "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=3 k=20";
constexpr char ozaki[] = "ozaki:dgemm.fp16", exact_ozaki[] = "ozaki:dgemm.fp16?sum=exact",
               blocked_ozaki[] = "ozaki:dgemm.fp16?sum=exact,block=8", ootomo[] = "split:ootomo.fp16";

struct ProductFlaw {
  const char *name, *original, *op;
  Effect (*draw)(CounterRng&);
};

using S = const SlicedProduct&;

const ProductFlaw product_flaws[] = {
    // A row needs one slice more than usual, its greatest number is negative, its second slice empty.
    {"negative span", ozaki, inner_product,
     [](CounterRng&) {
       return shows([](S s, int i, int) {
         return s.row_excess(i) == 1 && s.a.slices > 2 && !s.a.is_filled(2, i) && s.negative_top(i);
       });
     }},
    // Row and column need one slice more than usual each, and slice 2 of both is empty.
    {"both exceed", ozaki, inner_product,
     [](CounterRng&) {
       return shows([](S s, int i, int j) {
         return s.row_excess(i) == 1 && s.column_excess(j) == 1 && !s.a.is_filled(2, i) && !s.b.is_filled(2, j);
       });
     }},
    // All products of the first three slices cancel, and row and column need more than usual.
    {"late cancellation", ozaki, inner_product,
     [](CounterRng&) {
       return shows([](S s, int i, int j) {
         if (s.row_excess(i) < 1 || s.column_excess(j) < 1) return false;
         if (s.dot(1, i, 4, j) == 0 && s.dot(4, i, 1, j) == 0) return false;
         return s.cancels(3, i, 3, j);
       });
     }},
    // An odd slice product within 2^-8 of what the accumulator holds.
    {"full sum", ozaki, inner_product,
     [](CounterRng& rng) {
       const int sign = rng.one_in(2) ? 1 : -1;
       return shows([sign](S s, int i, int j) {
         for (int p = 1; p <= std::min(s.a.slices, 4); ++p)
           for (int q = 1; q <= std::min(s.b.slices, 4); ++q) {
             const int64_t sum = sign * s.dot(p, i, q, j);
             if (sum % 2 != 0 && sum > s.greatest_sum() - s.greatest_sum() / 256) return true;
           }
         return false;
       });
     }},
    // One infinity in the row, one of the other sign in c, all else finite.
    {"opposed infinity", ozaki, small_product,
     [](CounterRng& rng) {
       const int l = rng.between(0, 7);
       return shows([l](S s, int i, int j) {
         const Number x = s.number_a(i, l), y = s.number_b(l, j), c = s.number_c(i, j);
         return x.cls == NumberClass::infinity && c.cls == NumberClass::infinity && s.is_live(y) &&
                (x.negative != y.negative) != c.negative && s.has_numbers_but_at(l, i, j);
       });
     }},
    // The rows' tops are far apart, the columns' equal, c is zero, and a negative row needs one slice more.
    {"distant rows", ozaki, small_product,
     [](CounterRng& rng) {
       const int apart = rng.between(200, 800);
       return shows([apart](S s, int i, int j) {
         return s.a.slices > 0 && s.b.slices > 0 && s.a.is_filled(1, 0) && s.a.is_filled(1, 1) && s.b.is_filled(1, 0) &&
                s.b.is_filled(1, 1) && std::abs(s.a.top[0] - s.a.top[1]) > apart && s.b.top[0] == s.b.top[1] &&
                s.number_c(i, j).cls == NumberClass::zero && s.negative_top(i) && s.row_excess(i) == 1;
       });
     }},
    // Only products of the last block are not zero, and those of slices 1 and 1 have an odd sum.
    {"last block alone", ozaki, long_product,
     [](CounterRng&) {
       return shows([](S s, int i, int j) {
         for (int l = 0; l < 32; ++l)
           if (s.number_a(i, l).cls != NumberClass::zero && s.number_b(l, j).cls != NumberClass::zero) return false;
         return s.dot(1, i, 1, j) % 2 != 0;
       });
     }},
    // The greatest product is in the last block, the row needs one slice more, slice 2 of the column is empty.
    {"late excess", ozaki, long_product,
     [](CounterRng&) {
       return shows([](S s, int i, int j) {
         if (s.row_excess(i) != 1 || s.b.slices < 3 || s.b.is_filled(2, j)) return false;
         int best = -1, greatest = 0;
         for (int l = 0; l < s.op.k; ++l) {
           if (!s.is_live(s.number_a(i, l)) || !s.is_live(s.number_b(l, j))) continue;
           const int exponent =
               leading_exponent(s.op.a.fields(), s.code_a(i, l)) + leading_exponent(s.op.b.fields(), s.code_b(l, j));
           if (best >= 0 && exponent <= greatest) continue;
           best = l;
           greatest = exponent;
         }
         return best >= 32;
       });
     }},
    // A sum that cancels to zero though row and column need one slice more, c of one sign.
    {"cancelled to zero", ozaki, inner_product,
     [](CounterRng& rng) {
       const bool negative = rng.one_in(2);
       return shows([negative](S s, int i, int j) {
         return s.row_excess(i) == 1 && s.column_excess(j) == 1 && s.number_c(i, j).negative == negative &&
                s.cancels(s.a.slices, i, s.b.slices, j);
       });
     }},
    // In a row of one sign, all digits of the third slice but at most one are full, and the fourth slice is empty.
    {"full third slice", ozaki, inner_product,
     [](CounterRng& rng) {
       const bool negative = rng.one_in(2);
       return shows([negative](S s, int i, int) {
         if (s.a.slices < 3 || s.negative_top(i) != negative) return false;
         int full = 0;
         for (int l = 0; l < s.op.k; ++l) full += std::abs(s.digit_a(3, i, l)) == s.greatest_digit_of_a();
         return full >= s.op.k - 1 && (s.a.slices < 4 || !s.a.is_filled(4, i));
       });
     }},

    // A slice of a row is lost where the row's top is one certain power of two.
    {"slice lost at one exponent", exact_ozaki, inner_product,
     [](CounterRng& rng) {
       const int p = rng.between(2, 4);
       const int top = rng.between(-400, 400);
       return misreads([p, top](S s, gemm::GemmCase& read) {
         return s.a.slices > 0 && s.a.top[0] == top && drop_slice(s, read, 0, p, [](int) { return true; });
       });
     }},
    // A full digit above a digit of more than a half, below an empty one, reads as if it had been rounded up and the
    // carry were lost; of one sign.
    {"carry between slices", exact_ozaki, inner_product,
     [](CounterRng& rng) {
       const int p = rng.between(2, 4);
       const int sign = rng.one_in(2) ? 1 : -1;
       return misreads([p, sign](S s, gemm::GemmCase& read) {
         return drop_slice(s, read, 0, p, [&](int l) {
           return s.digit_a(p, 0, l) == sign * s.greatest_digit_of_a() && s.digit_a(p - 1, 0, l) == 0 &&
                  sign * s.digit_a(p + 1, 0, l) > s.greatest_digit_of_a() / 2;
         });
       });
     }},
    // After the first slices cancelled, halfway cases of one sign round away from zero instead of to even.
    {"half after cancellation", exact_ozaki, inner_product,
     [](CounterRng& rng) {
       const bool negative = rng.one_in(2);
       return shows([negative](S s, int i, int j) {
         if (s.a.slices == 0 || s.b.slices == 0 || !s.a.is_filled(1, i) || !s.b.is_filled(1, j) ||
             s.dot(1, i, 1, j) != 0 || !s.is_finite(i, j))
           return false;
         const Rounded d = s.rounded(i, j);
         return d.negative == negative && d.guard && !d.sticky && !d.last;
       });
     }},
    // One slice too few is cut where the row's span is a whole number of slices and one bit.
    {"last bit alone", exact_ozaki, inner_product,
     [](CounterRng&) {
       return misreads([](S s, gemm::GemmCase& read) {
         const int needed = s.a.needed[0];
         if (needed < 2 || needed > s.a.slices) return false;
         for (int l = 0; l < s.op.k; ++l)  // only the first bit of the last slice
           if (s.digit_a(needed, 0, l) % (1 << (s.slicing.widths.a - 1)) != 0) return false;
         return drop_below(s, read, 0, needed - 1);
       });
     }},
    // The cut stops at a gap of empty slices in a row of one sign.
    {"stops at a gap", exact_ozaki, inner_product,
     [](CounterRng& rng) {
       const int gap = rng.between(2, 3);
       const bool negative = rng.one_in(2);
       return misreads([gap, negative](S s, gemm::GemmCase& read) {
         if (s.negative_top(0) != negative) return false;
         int empty = 0;
         for (int p = 1; p < s.a.slices; ++p) {
           empty = s.a.is_filled(p, 0) ? 0 : empty + 1;
           if (empty == gap) return drop_below(s, read, 0, p);
         }
         return false;
       });
     }},
    // A pair of late slices whose sum is as great as it can be, but for one product.
    {"full late pair", exact_ozaki, inner_product,
     [](CounterRng& rng) {
       const int p = rng.between(2, 4);
       const int q = rng.between(2, 4);
       const int sign = rng.one_in(2) ? 1 : -1;
       return shows([p, q, sign](S s, int i, int j) {
         return sign * s.dot(p, i, q, j) >= int64_t{s.op.k - 1} * s.greatest_digit_of_a() * s.greatest_digit_of_b();
       });
     }},
    // The accumulator ends some bits below the tops, and nothing lies above its end.
    {"short accumulator", exact_ozaki, inner_product,
     [](CounterRng& rng) {
       const int bits = rng.between(40, 90);
       return shows([bits](S s, int i, int j) {
         bool below = false;
         for (int p = 1; p <= s.a.slices; ++p)
           for (int q = 1; q <= s.b.slices; ++q) {
             if (s.dot(p, i, q, j) == 0) continue;
             if (p * s.slicing.widths.a + q * s.slicing.widths.b <= bits) return false;
             below = true;
           }
         return below && s.number_c(i, j).cls == NumberClass::zero;
       });
     }},
    // Behind a block of zeros in the row the next block loses its first slice, if the block before is full.
    {"block behind zeros", blocked_ozaki, long_product,
     [](CounterRng& rng) {
       const int block = rng.between(1, 2);
       return misreads([block](S s, gemm::GemmCase& read) {
         for (int l = 8 * (block - 1); l < 8 * block; ++l)
           if (!s.is_live(s.number_a(0, l)) || s.is_live(s.number_a(0, l + 8))) return false;
         return drop_slice(s, read, 0, 1, [&](int l) { return l / 8 == block + 1; });
       });
     }},
    // The rows' tops are one slice apart, the columns' too, the other way, and the row needs one slice more.
    {"neighbour's top", exact_ozaki, small_product,
     [](CounterRng& rng) {
       const int sign = rng.one_in(2) ? 1 : -1;
       return shows([sign](S s, int i, int) {
         return s.a.slices > 0 && s.b.slices > 0 && s.a.top[1] - s.a.top[0] == sign * s.slicing.widths.a &&
                s.b.top[0] - s.b.top[1] == sign * s.slicing.widths.b && s.row_excess(i) == 1;
       });
     }},
    // One product is infinity times zero, c is infinite, all else is finite.
    {"NaN lost", exact_ozaki, small_product,
     [](CounterRng& rng) {
       const int l = rng.between(0, 7);
       const bool negative = rng.one_in(2);
       return shows([l, negative](S s, int i, int j) {
         const Number c = s.number_c(i, j);
         return s.number_a(i, l).cls == NumberClass::infinity && s.number_b(l, j).cls == NumberClass::zero &&
                c.cls == NumberClass::infinity && c.negative == negative && s.has_numbers_but_at(l, i, j);
       });
     }},
    // A subnormal result of one sign, halfway between two numbers, the lower one even.
    {"half of a subnormal", exact_ozaki, inner_product,
     [](CounterRng& rng) {
       const bool negative = rng.one_in(2);
       return shows([negative](S s, int i, int j) {
         const int emin = s.op.d.fields().emin();
         if (s.a.top[size_t(i)] + s.b.top[size_t(j)] > emin + 60 || !s.is_finite(i, j)) return false;
         const Rounded d = s.rounded(i, j);
         return d.quantum == s.op.d.fields().least_bit() && d.negative == negative && d.guard && !d.sticky && !d.last;
       });
     }},

    // The residual of a number of a is lost at one index of the second chunk, where it is half a unit with one value of
    // the last kept bit and b's number has no residual.
    {"correction lost for one sign", ootomo, long_fp32,
     [](CounterRng& rng) {
       const int l = rng.between(16, 19);
       const uint64_t odd = rng.below(2);
       return misreads([l, odd](S s, gemm::GemmCase& read) {
         bool any = false;
         for (int i = 0; i < s.op.m; ++i) {
           const uint64_t x = s.code_a(i, l);
           if ((x & 0x1fff) != 0x1000 || (x >> 13 & 1) != odd || !is_normal_in_fp16(x)) continue;
           for (int j = 0; j < s.op.n; ++j)
             if (s.is_live(s.number_b(l, j)) && (s.code_b(l, j) & 0x1fff) != 0) return any;
           read.a[size_t(i * s.op.k + l)] = main_part(x);
           any = true;
         }
         return any;
       });
     }},
    // The least residual that fp16 holds is lost, of one sign, where b's number is subnormal in fp16.
    {"least residual", ootomo, short_fp32,
     [](CounterRng& rng) {
       const bool negative = rng.one_in(2);
       return misreads([negative](S s, gemm::GemmCase& read) {
         bool any = false;
         for (int l = 0; l < s.op.k; ++l) {
           if (!s.is_live(s.number_a(0, l)) || !s.is_live(s.number_b(l, 0))) continue;
           const int exponent = leading_exponent(s.op.b.fields(), s.code_b(l, 0));
           if (exponent >= -14 || exponent < -24 || !is_normal_in_fp16(s.code_a(0, l))) continue;
           const uint64_t main = main_part(s.code_a(0, l));
           if (host_value(s.code_a(0, l)) - host_value(main) != (negative ? -0x1p-35 : 0x1p-35)) continue;
           read.a[size_t(l)] = main;
           any = true;
         }
         return any;
       });
     }},
    // The main parts' products cancel, so that only corrections are left; c of one sign.
    {"correction alone", ootomo, short_fp32,
     [](CounterRng& rng) {
       const bool negative = rng.one_in(2);
       return shows([negative](S s, int i, int j) {
         if (!s.is_finite(i, j) || s.number_c(i, j).negative != negative) return false;
         __int128 main = 0;  // of normal fp16 numbers, in units of 2^-48
         bool corrected = false;
         for (int l = 0; l < s.op.k; ++l) {
           const uint64_t x = s.code_a(i, l), y = s.code_b(l, j);
           if (!s.is_live(s.number_a(i, l)) || !s.is_live(s.number_b(l, j))) continue;
           if (!is_normal_in_fp16(x) || !is_normal_in_fp16(y)) return false;
           main += static_cast<__int128>(std::ldexp(host_value(main_part(x)), 24)) *
                   static_cast<int64_t>(std::ldexp(host_value(main_part(y)), 24));
           corrected |= main_part(x) != x || main_part(y) != y;
         }
         return corrected && main == 0;
       });
     }},
};

/// Flaws that a unit's own parameters make, such as a wrong width of slices for one k, or a wrong scale of residuals.
struct NamedFlaw {
  const char *name, *original, *op;
};
constexpr NamedFlaw named_flaws[] = {
    {"ozaki:dgemm.fp16?sum=exact,width_b=10", exact_ozaki, odd_product},
    {"split:ootomo.fp16?scale=12", ootomo, short_fp32},
    {"split:ootomo.tf32?scale=12", "split:ootomo.tf32", long_fp32},
    {"split:ootomo.fp16?residual_product=0", ootomo, short_fp32},
};

}  // namespace

std::vector<Mutant> draw_product_flaws(uint64_t seed) {
  std::vector<Mutant> flaws;
  for (const ProductFlaw& kind : product_flaws) {
    const std::string name = std::string("flaw:") + kind.name + "@" + kind.original + "#" + std::to_string(seed);
    flaws.push_back({name, kind.original, op_from_text(kind.op), [&kind, seed](const Op& op) {
                       CounterRng rng(seed, fnv1a(kind.name));
                       return std::make_unique<FlawedProduct>(bind_or_fail(kind.original, op), op, kind.draw(rng));
                     }});
  }
  for (const NamedFlaw& named : named_flaws)
    flaws.push_back({named.name, named.original, op_from_text(named.op),
                     [&named](const Op& op) { return bind_or_fail(named.name, op); }});
  return flaws;
}

}  // namespace mmafuzz
