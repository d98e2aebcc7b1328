#include "search/datapath_walks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "search/draw_block.h"
#include "search/integer_dot.h"
#include "search/prime.h"
#include "search/walk_case.h"

namespace mmafuzz {
namespace {

/// Values that decide a result by themselves or are an end of the range: picks of special_encoding, and the sign.
constexpr std::pair<int, bool> specials[] = {{0, false}, {0, true},  {1, false}, {1, true}, {2, false},
                                             {3, false}, {4, false}, {6, false}, {7, false}};
constexpr int special_kinds = std::size(specials);
uint64_t special(const FormatFields& f, int kind) {
  return special_encoding(f, specials[kind].first, specials[kind].second);
}

/// Patterns of a fraction, shared by the parts that use them: each bit alone, each bit missing, ones from the top, ones
/// from the bottom.
using Patterns = std::shared_ptr<const std::vector<uint64_t>>;
Patterns patterns_of(int bits) {
  const uint64_t all = low_mask(bits);
  std::vector<uint64_t> patterns = {0, all};
  for (int i = 0; i < bits; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    for (const uint64_t pattern : {bit, all ^ bit, bit - 1, all & ~(bit - 1)}) patterns.push_back(pattern & all);
  }
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  return std::make_shared<const std::vector<uint64_t>>(std::move(patterns));
}

/// A permutation of 0..size-1, so that the beginning of a long part is spread over all of it.
uint64_t scrambled(uint64_t n, uint64_t size) {
  uint64_t step = size * 5 / 8 | 1;
  while (std::gcd(step, size) != 1) step += 2;
  return n * step % size;
}

/// Divides items into groups of equal weight, each of which goes into the lanes of one case, so that no item is shifted
/// out by another. In rotation r of a group its member i is in lane i+r; all groups come once before the second
/// rotation begins.
struct LaneGroups {
  std::vector<uint32_t> first;  ///< position of each group's first member; the end of the last group behind them
  uint64_t count() const { return first.size() - 1; }
  uint64_t length(int lanes) const { return count() * static_cast<uint64_t>(lanes); }
};
/// Divides a sorted list of weights into groups of equal weights, at most `lanes` members each.
LaneGroups groups_of(const std::vector<int>& weights, int lanes) {
  LaneGroups groups;
  for (uint32_t i = 0; i < weights.size(); ++i)
    if (groups.first.empty() || weights[i] != weights[groups.first.back()] ||
        i - groups.first.back() == static_cast<uint32_t>(lanes))
      groups.first.push_back(i);
  groups.first.push_back(static_cast<uint32_t>(weights.size()));
  return groups;
}
/// Calls place(lane, member) for each member of the group of case n.
template <class Place>
void place_group(const LaneGroups& groups, int lanes, uint64_t n, Place place) {
  const uint64_t group = scrambled(n % groups.count(), groups.count());
  const uint32_t rotation = static_cast<uint32_t>(n / groups.count());
  for (uint32_t i = groups.first[group]; i < groups.first[group + 1]; ++i)
    place(static_cast<int>((i - groups.first[group] + rotation) % static_cast<uint32_t>(lanes)), i);
}

/// Pairs of codes in ascending order of their weight, and their groups.
struct WeighedPairs {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  LaneGroups groups;
};
/// All pairs of codes below the two limits, weighed by weight(first, second). They take milliseconds and are the same
/// for every unit of an op, so they are kept for the life of the process under `name` and `lanes`.
template <class Weight>
std::shared_ptr<const WeighedPairs> weighed_pairs(const std::string& name, uint32_t first_codes, uint32_t second_codes,
                                                  int lanes, Weight weight) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const WeighedPairs>> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const WeighedPairs>& pairs = known[name + " " + std::to_string(lanes)];
  if (pairs) return pairs;
  std::vector<std::pair<int, std::pair<uint32_t, uint32_t>>> all;
  for (uint32_t x = 0; x < first_codes; ++x)
    for (uint32_t y = 0; y < second_codes; ++y) all.push_back({weight(x, y), {x, y}});
  std::sort(all.begin(), all.end());
  auto sorted = std::make_shared<WeighedPairs>();
  std::vector<int> weights;
  for (const auto& [w, pair] : all) {
    weights.push_back(w);
    sorted->pairs.push_back(pair);
  }
  sorted->groups = groups_of(weights, lanes);
  return pairs = sorted;
}

/// Makes about `live` products and c whose sum, in units of the adder's last bit, is `target`. All products are in one
/// block; c passes through the others as it is. False as WalkCase::solve_c.
bool make_sum(WalkCase& s, int64_t target, int live) {
  const int top = s.middle_exponent(s.kept_bits / 2);
  const double wanted = std::fabs(std::ldexp(static_cast<double>(target), -s.kept_bits));  // in units of 2^top
  s.zero_lanes();
  const int first = s.any_block();
  const int lanes = std::min(s.block, s.k - first);
  constexpr double great_product = 3.5;  // a product is below 4 of these units
  live = std::clamp(std::max(live, static_cast<int>(wanted / great_product) + 1), 1, lanes);
  const bool large = wanted / live >= 1;
  const int turn = s.any_lane();
  for (int i = 0; i < live; ++i) {
    const int lane = first + (i + turn) % lanes;
    if (!large) {
      const int below = s.rng.between(0, s.kept_bits / 2);
      s.draw_product(lane, i == 0 ? top : top - below);
      continue;
    }
    // Each product is near an equal part of the sum: x and y, its quotient, are from 1 to below 2.
    const double part = wanted / live;
    const double least = std::max(1.0, part / 1.99), most = std::min(1.99, part);
    const double x = least + (most - least) * static_cast<double>(s.rng.below(1 << 20)) / (1 << 20);
    const auto fraction = [](const FormatFields& f, double v) {
      return static_cast<uint64_t>(std::clamp(v - 1, 0.0, 0.999999) * std::ldexp(1.0, f.fraction_bits));
    };
    s.set_product(lane, target < 0, top, fraction(s.fa, x), fraction(s.fb, part / x));
  }
  return s.solve_c(target, first, lanes, top);
}

/// Makes a sum of `length` bits whose leading bits are those of `target`: one product has as many of them as its factor
/// holds, c has the rest, and the block's other products cancel in pairs, of which the first has the greatest exponent.
/// False as WalkCase::solve_c, or where the block or the format does not allow it.
bool make_leading(WalkCase& s, int64_t target, int length) {
  const int first = s.any_block(), lanes = std::min(s.block, s.k - first), turn = s.any_lane();
  if (lanes < 3 || length > s.kept_bits + 1 || !s.fa.has_sign()) return false;
  const int top = s.middle_exponent(s.kept_bits);
  const auto lane = [&](int i) { return first + (i + turn) % lanes; };
  s.zero_lanes();
  for (int i = 1; i + 1 < lanes; i += 2) {
    const int below = s.rng.between(0, s.kept_bits / 2);
    s.draw_product(lane(i), i == 1 ? top : top - below);
    s.set_a(lane(i + 1), s.a(lane(i)) ^ travelling_sign(s.fa));
    s.set_b(lane(i + 1), s.b(lane(i)));
  }
  const int bits = std::min(s.fa.fraction_bits + 1, length);
  const uint64_t magnitude = magnitude_of(target);
  const uint64_t high = magnitude >> (length - bits) << (s.fa.fraction_bits + 1 - bits);
  s.set_product(lane(0), target < 0, top - s.kept_bits + length - 1, high & s.fa.fraction_mask(), 0);
  return s.solve_c(target, first, lanes, top);
}

/// Gives lane i a product whose exponent is shifts[i] below the greatest; beyond F + 3 the lane is zero.
void make_shifts(WalkCase& s, const std::vector<int>& shifts) {
  const int top = s.middle_exponent(s.kept_bits + 2);
  bool is_greatest = false;
  for (int lane = 0; lane < s.k; ++lane) {
    const int shift = shifts[static_cast<size_t>(lane)];
    is_greatest |= shift == 0;
    if (shift > s.kept_bits + 3) s.zero_lane(lane);
    else s.draw_product(lane, top - shift);
  }
  // c is left out only where a lane has the greatest exponent.
  if (is_greatest && s.rng.one_in(4)) s.zero_c();
  else s.draw_c(top);
}

/// Products that cancel, in one of four ways by n modulo 4.
void make_cancellation(WalkCase& s, uint64_t n) {
  s.zero_lanes();
  const int i = s.any_lane();
  const int j = (i + 1 + s.rng.between(0, std::max(0, s.k - 2))) % s.k;
  const bool anywhere = s.coin();  // also where a product alone would overflow
  const int ea = anywhere ? s.rng.between(s.fa.emin(), s.fa.emax()) : s.middle_exponent();
  const int eb = anywhere ? s.rng.between(s.fb.emin(), s.fb.emax() - 1) : 0;
  const uint64_t x = s.fraction_of(s.fa);
  const auto set = [&](int lane, bool negative, uint64_t a, uint64_t b) {  // significands below two
    s.set_a(lane, encode_near(s.fa, negative, ea, a & s.fa.fraction_mask()));
    s.set_b(lane, encode_near(s.fb, false, eb, b & s.fb.fraction_mask()));
  };
  const bool negative = s.coin();
  switch (n % 4) {
    case 0: {  // x * x and (x + 1) * (x - 1): products that differ by one in the last place
      const uint64_t middle = std::clamp<uint64_t>(x, 1, s.fa.fraction_mask() > 1 ? s.fa.fraction_mask() - 1 : 1);
      set(i, negative, middle, middle);
      set(j, !negative, middle + 1, middle - 1);
      break;
    }
    case 1: {  // x * y + x * z = x * (y + z), where y + z holds
      const uint64_t y = s.fraction_of(s.fb) & ~uint64_t{1}, z = s.fraction_of(s.fb) & ~uint64_t{1};
      const int last = (j + 1 + s.rng.between(0, s.k - 1)) % s.k;
      set(i, negative, x, y);
      set(j, negative, x, z);
      s.set_a(last, encode_near(s.fa, !negative, ea, x));
      // (1+y) + (1+z) = 2 * (1 + (y+z)/2)
      s.set_b(last, encode_near(s.fb, false, eb + 1, ((y + z) >> 1) & s.fb.fraction_mask()));
      break;
    }
    case 2: {  // the same product, exactly or with one factor one unit off
      const uint64_t y = s.fraction_of(s.fb);
      set(i, negative, x, y);
      set(j, !negative, s.coin() ? x : x + 1, y);
      break;
    }
    default: {  // minus a lane's product in c, exactly or off by one
      const uint64_t y = s.fraction_of(s.fb);
      set(i, negative, x, y);
      Exact p = s.product(i);
      p.negative = !p.negative;
      const uint64_t c =
          round_exact(s.fc, p, {.rounding = Rounding::toward_zero, .overflow = Overflow::saturate}).encoding;
      s.set_c(s.coin() ? c : c ^ s.fc.in_container(1));
      return;
    }
  }
  if (s.coin()) s.zero_c();
  else s.draw_c(ea + eb - s.rng.between(0, s.kept_bits + 2));
}

/// Which lane is greatest, and by how much. With `tie`, lanes `first` and `second` tie and all others are `apart`
/// exponents below; without, `second` is `apart` below `first` and all others are lower still.
void make_two_levels(WalkCase& s, int first, int second, int apart, bool tie) {
  const int e = s.middle_exponent(apart);
  const bool empty = s.coin();
  // Either each product is drawn, or products of equal exponent cancel in pairs, so that the result shows c's cut bits.
  const bool cancel = !s.rng.one_in(4);
  const uint64_t x = s.fraction_of(s.fa), y = s.fraction_of(s.fb);
  std::map<int, bool> negative;
  const auto product = [&](int lane, int weight) {
    if (!cancel) return s.draw_product(lane, weight);
    bool& sign = negative[weight];
    s.set_product(lane, sign, weight, x, y);
    sign = !sign;
  };
  for (int lane = 0; lane < s.k; ++lane) {
    if (lane == first || (tie && lane == second)) product(lane, e);
    else if (tie || lane == second) product(lane, e - apart);
    else if (empty) s.zero_lane(lane);
    else product(lane, e - apart - s.rng.between(1, 4));
  }
  switch (s.rng.below(4)) {
    case 0: return s.draw_c(e - (s.coin() ? apart : 0));
    case 1: return s.zero_c();
    default: {  // partly cut off: a wrong greatest exponent shows where a bit of c is cut that need not be
      const int exponent = e - s.rng.between(1, s.kept_bits);
      return s.coin() ? s.draw_c(exponent) : s.set_c(encode_near(s.fc, s.coin(), exponent, s.fc.fraction_mask()));
    }
  }
}

/// Gives every lane a nonzero product, of exponents at most `spread` apart.
void fill_evenly(WalkCase& s, int spread) {
  const int e = s.middle_exponent(spread);
  for (int lane = 0; lane < s.k; ++lane) {
    const int below = spread ? s.rng.between(0, spread) : 0;
    s.draw_product(lane, e - below);
  }
  if (s.coin()) s.zero_c();
  else s.draw_c(e - s.rng.between(-1, 3));
}

/// The weight of a pair of numbers: of finite ones the exponent of their product. A NaN or an infinity decides the
/// result by itself, so each such pair has a weight of its own, and a case of its own.
int weight_of(const Number& x, const Number& y, uint32_t x_code, uint32_t y_code) {
  if (x.cls != NumberClass::finite || y.cls != NumberClass::finite)
    return static_cast<int>((1u << 20) + (x_code << 8) + y_code);
  return x.exponent + bit_length(x.significand) + y.exponent + bit_length(y.significand);
}

}  // namespace

DatapathWalks::DatapathWalks(const Op& op, const CornerHints& hints, uint64_t seed)
    : op_(op), hints_(hints), seed_(seed), rows_(std::make_shared<std::vector<DotModel>>()) {
  if (hints.row) rows_->push_back(*hints.row);
  const bool integers = op.a.fields().integer || op.b.fields().integer;
  if (integers && !is_integer_dot(op)) return;
  switch (op.kind) {
    case OpKind::dot: integers ? add_integer_parts() : add_dot_parts(); break;
    case OpKind::convert: add_conversion_parts(); break;
    case OpKind::scalar: add_scalar_parts(); break;
    case OpKind::quantize: add_block_parts(); break;
    case OpKind::dequantize:
    case OpKind::gemm: return;
  }
  std::stable_sort(parts_.begin(), parts_.end(), [](const Part& x, const Part& y) { return x.length < y.length; });
  for (Part& part : parts_) {
    part.first = length_;
    length_ += part.length;
    if (part.name == states_.name) states_ = part;
  }
}

void DatapathWalks::also_solve_for(const DotModel& row) {
  if (std::find(rows_->begin(), rows_->end(), row) == rows_->end()) rows_->push_back(row);
}

uint64_t DatapathWalks::searched(uint64_t n) const {
  if (n >= length_) return n;
  const uint64_t others = length_ - states_.length, alternating = 2 * std::min(states_.length, others);
  const bool is_state = n < alternating ? n % 2 == 0 : states_.length > others;
  const uint64_t number = is_state ? states_among(n) : n - states_among(n);
  return is_state ? states_.first + number : number < states_.first ? number : number + states_.length;
}

uint64_t DatapathWalks::states_among(uint64_t n) const {
  const uint64_t others = length_ - states_.length;
  return n < 2 * std::min(states_.length, others) ? (n + 1) / 2
         : states_.length > others                ? std::min(n, length_) - others
                                                  : states_.length;
}

void DatapathWalks::add(const char* name, Length length, Make make) {
  if (length.all == 0 || length.all > longest_part) return;
  parts_.push_back({name, length.all, length.pass, std::move(make)});
}

void DatapathWalks::add_dot(const char* name, Length length, MakeDot make) {
  add(name, length,
      [op = op_, hints = hints_, make = std::move(make)](Batch& batch, size_t index, CounterRng& rng, uint64_t n) {
        WalkCase s(op, hints, batch, index, rng);
        s.unit_scales(op);
        make(s, n);
      });
}

void DatapathWalks::add_conversion_parts() {
  const FormatFields from = op_.a.fields(), to = op_.d.fields();
  if (from.width <= 16)
    add("every input", uint64_t{1} << from.width,
        [](Batch& batch, size_t index, CounterRng&, uint64_t n) { batch.inputs()[0].set(index, 0, n); });
  // Every number of the target format and every middle between two, met exactly and missed by one unit of the source to
  // either side. Of targets wider than 16 bits: every exponent with patterned fractions.
  const bool all = to.width - to.ignored_low_bits <= 16;
  const Patterns patterns = patterns_of(all ? 0 : to.fraction_bits);
  const uint64_t codes = all ? uint64_t{1} << (to.width - to.ignored_low_bits)
                             : (static_cast<uint64_t>(to.top_exponent_field()) + 1) * 2 * patterns->size();
  constexpr uint64_t cases = 2 * 3;  // of each code
  add("roundings", codes * cases,
      [from, to, all, patterns, codes](Batch& batch, size_t index, CounterRng&, uint64_t n) {
        const uint64_t number = scrambled(n / cases, codes);
        const uint64_t code =
            all ? number : number / patterns->size() << to.fraction_bits | (*patterns)[number % patterns->size()];
        const Number target = decode(to, to.in_container(code));
        if (!is_number(target.cls)) {
          const uint64_t source =
              target.cls == NumberClass::nan ? from.encode_nan() : from.encode_infinity(target.negative);
          return batch.inputs()[0].set(index, 0, source & from.container_mask());
        }
        Exact value = to_exact(target);
        if (n % 2) {  // the middle above the number; above zero, half the least number
          if (value.cls == NumberClass::zero) value.exponent = to.emin() - to.fraction_bits;
          value.cls = NumberClass::finite;
          value.significand = 2 * value.significand + 1;
          value.exponent -= 1;
        }
        const uint64_t steps[] = {0, from.in_container(1), ~from.in_container(1) + 1};
        const uint64_t source = round_exact(from, value, {}).encoding + steps[n / 2 % 3];
        batch.inputs()[0].set(index, 0, source & from.container_mask());
      });
}

void DatapathWalks::add_block_parts() {
  const auto steps = std::make_shared<BlockSteps>(op_);
  const auto lanes = static_cast<uint64_t>(op_.k);
  // Each step, and the encodings next to it, as amax.
  const uint64_t pass = steps->count() * 3;
  add("scale steps", {pass * lanes, pass},
      [op = op_, steps, pass, lanes](Batch& batch, size_t index, CounterRng& rng, uint64_t n) {
        clear_block(batch, index);
        const uint64_t step = scrambled(n % pass, pass);
        const auto lane = static_cast<int>((n / pass + step) % lanes);
        const uint64_t sign = (rng.next() & 1) ? travelling_sign(op.a.fields()) : 0;
        batch.inputs()[0].set(index, lane, steps->at(step / 3, static_cast<int>(step % 3) - 1) | sign);
      });
  if (lanes == 1) return;
  // Each boundary of an element, and the encodings next to it, beside amax of many exponents.
  const uint64_t boundaries = boundaries_of(op_.d.fields()), cases_of_amax = (boundaries + lanes - 2) / (lanes - 1) * 3;
  constexpr uint64_t exponents = 32;
  add("element roundings", {cases_of_amax * exponents, cases_of_amax},
      [op = op_, cases_of_amax, lanes](Batch& batch, size_t index, CounterRng& rng, uint64_t n) {
        clear_block(batch, index);
        const FormatFields& from = op.a.fields();
        const int lane = rng.between(0, op.k - 1);
        const int exponent = n / cases_of_amax == 0 ? 0 : rng.between(from.emin(), from.emax());
        const uint64_t fraction = rng.next() & from.fraction_mask();
        const uint64_t amax = encode_near(from, false, exponent, n / cases_of_amax % 2 ? fraction : 0);
        batch.inputs()[0].set(index, lane, amax);
        set_boundaries(op, amax, lane, n % cases_of_amax / 3 * (lanes - 1), static_cast<int>(n % 3) - 1, batch, index);
      });
}

void DatapathWalks::add_scalar_parts() {
  const FormatFields f = op_.a.fields();
  const int arity = op_.arity();
  const auto operand = [f](CounterRng& rng, uint64_t field, uint64_t fraction) {
    const bool negative = rng.next() & 1;
    return f.in_container((field << f.fraction_bits) | fraction | (negative ? f.sign_bit() : 0));
  };
  const uint64_t fields = static_cast<uint64_t>(f.top_exponent_field()) + 1;
  const uint64_t exponent_cases = arity == 1 ? fields * 64 : fields * fields;  // of one operand, 64 draws of each
  if (f.exponent_bits <= 8)
    add("exponents", exponent_cases,
        [f, arity, operand, fields, exponent_cases](Batch& batch, size_t index, CounterRng& rng, uint64_t n) {
          n = scrambled(n, exponent_cases);
          const uint64_t wanted[3] = {n % fields, n / fields % fields, rng.next() % fields};
          for (int i = 0; i < arity; ++i) {
            const uint64_t fraction = rng.next() & f.fraction_mask();
            batch.inputs()[0].set(index, i, operand(rng, wanted[i], fraction));
          }
        });
  const bool all = f.fraction_bits <= 10;
  const Patterns patterns = patterns_of(f.fraction_bits);
  const uint64_t fractions = all ? uint64_t{1} << f.fraction_bits : patterns->size();
  const uint64_t fraction_cases = arity == 1 ? fractions * 16 : fractions * fractions;
  add("fractions", fraction_cases,
      [f, arity, operand, patterns, all, fractions, fraction_cases](Batch& batch, size_t index, CounterRng& rng,
                                                                    uint64_t n) {
        n = scrambled(n, fraction_cases);
        for (int i = 0; i < arity; ++i) {
          const uint64_t number = i == 0 ? n % fractions : i == 1 ? n / fractions % fractions : rng.next() % fractions;
          const uint64_t field = static_cast<uint64_t>(f.bias) + rng.below(4) - 1;
          batch.inputs()[0].set(index, i, operand(rng, field, all ? number : (*patterns)[number]));
        }
      });
}

void DatapathWalks::add_dot_parts() {
  const FormatFields &fa = op_.a.fields(), &fb = op_.b.fields(), &fc = op_.c.fields(), &fd = op_.d.fields();
  const int k = op_.k, kept = hints_.fraction_bits, block = hints_.block > 0 ? std::min(hints_.block, k) : k;
  const auto lanes = static_cast<uint64_t>(k);
  const std::string formats = op_.a.name() + " " + op_.b.name();
  const Patterns patterns_a = patterns_of(fa.fraction_bits), patterns_b = patterns_of(fb.fraction_bits),
                 patterns_c = patterns_of(fc.fraction_bits);

  // Exponents that rise or fall from lane to lane: a search for the greatest one changes its mind in every lane. 2
  // directions, 3 steps, 4 kinds of c, 32 draws of each.
  add_dot("ramps", 2 * 3 * 4 * 32, [](WalkCase& s, uint64_t n) {
    const int step = 1 + static_cast<int>(n / 2 % 3);
    const bool up = n % 2;
    const int span = step * (s.k - 1);
    const int low = std::max(s.least_exponent(), s.middle_exponent() - span / 2);
    for (int i = 0; i < s.k; ++i) s.draw_product(up ? i : s.k - 1 - i, std::min(low + step * i, s.greatest_exponent()));
    switch (n / 6 % 4) {
      case 0: return s.zero_c();
      case 1: return s.draw_c(low + span + 1);
      case 2: return s.draw_c(low - 1);
      default: return s.draw_c(low + span / 2);
    }
  });

  // Each bit of the sum alone, all ones below it, and their neighbours: carries, normalization, overflow of the
  // register. 2 signs, 4 sums beside each, 4 numbers of products, 8 draws.
  const int sum_bits =
      std::min(kept + 3 + static_cast<int>(std::bit_width(static_cast<unsigned>(block))), max_aligned_bits);
  add_dot("sums", static_cast<uint64_t>(sum_bits) * 2 * 4 * 4 * 8, [sum_bits](WalkCase& s, uint64_t n) {
    static constexpr int64_t beside[] = {0, 0, -1, 1};
    static constexpr int live[] = {1, 2, 5, 64};
    const int bit = take_digit(n, sum_bits);
    int64_t target = (int64_t{1} << bit) + beside[take_digit(n, 4)];
    if (take_digit(n, 2)) target = -target;
    make_sum(s, target, live[n % 4]);
  });

  // The leading bits of the sum, every pattern at every length, before zeros and before ones: normalizers and tables.
  constexpr int leading = 8, patterns = 1 << (leading - 1);
  if (sum_bits > leading) {
    const int lengths = sum_bits - leading + 1;
    add_dot("leading bits", static_cast<uint64_t>(patterns * lengths * 2 * 2), [lengths](WalkCase& s, uint64_t n) {
      const int64_t pattern = patterns + take_digit(n, patterns);
      const int tail = take_digit(n, lengths);
      const int64_t ones = n % 2 ? (int64_t{1} << tail) - 1 : 0, target = (pattern << tail) + ones,
                    signed_target = n / 2 % 2 ? -target : target;
      if (make_leading(s, signed_target, leading + tail)) return;
      for (int tries = 0; tries < 32 && !make_sum(s, signed_target, s.coin() ? 2 : 5); ++tries) {}
    });
  }

  // Every exponent of the result at every kind of rounding: c far above, a lane at half a unit of it or near that. 2
  // signs, 2 kinds of fractions, with or without a smaller product; 4 draws of each.
  const int out_exponents = std::min(fd.emax() - fd.emin() + 2, 512);
  add_dot("roundings", static_cast<uint64_t>(out_exponents) * 2 * 2 * 2 * 4, [out_exponents](WalkCase& s, uint64_t n) {
    const int exponents = s.fd.emax() - s.fd.emin() + 2;
    const int number = take_digit(n, out_exponents);
    const int e = s.fd.emin() - 1 + (exponents <= out_exponents ? number : number * exponents / out_exponents);
    s.zero_lanes();
    const bool negative = n % 2;
    const uint64_t ones = n / 2 % 2 ? s.fc.fraction_mask() : s.fraction_of(s.fc);
    const int half = std::max(e, s.fd.emin()) - s.fd.fraction_bits - 1;
    s.set_c(encode_near(s.fc, negative, e, ones));
    const int lane = s.any_lane();
    const bool lane_negative = s.coin();
    s.set_product(lane, lane_negative, half, 0, 0);
    if (n / 4 % 2) {
      const bool other_negative = s.coin();
      const int below = s.rng.between(1, 5);
      s.set_product((lane + 1) % s.k, other_negative, half - below, 0, 0);
    }
  });

  // A power of two in one lane, more or less a smaller one in another, at every exponent of the result: what stands
  // just above and below where numbers get another exponent, or where subnormals end. 2 signs, 2 signs of the smaller.
  const int least_power = std::max(fd.emin() - 2, fa.least_bit() + fb.least_bit());
  const int powers = std::min(std::min(fd.emax(), fa.emax() + fb.emax()) - least_power + 1, 512);
  const int distances = fd.precision() + 4;
  if (k > 1 && powers > 0)
    add_dot("two powers", static_cast<uint64_t>(powers) * static_cast<uint64_t>(distances) * 4,
            [least_power, powers, distances](WalkCase& s, uint64_t n) {
              const int e = least_power + take_digit(n, powers), below = 1 + take_digit(n, distances);
              s.zero_lanes();
              s.zero_c();
              const int lane = s.any_lane(), other = (lane + 1 + s.rng.below(static_cast<uint32_t>(s.k - 1))) % s.k;
              s.set_product(lane, n % 2, e, 0, 0);
              s.set_product(other, n / 2 % 2, e - below, 0, 0);
            });

  // Sums below the alignment floor: products of every two such exponents, all else zero. Scales supply what elements
  // cannot. With scales, the products are in two blocks of scales, or the second replaces the first where there is one
  // block.
  const bool is_scaled = op_.has_scales();
  const FormatFields &fs = op_.scale_a.fields(), &ft = op_.scale_b.fields();
  const int least_of_elements = fa.least_bit() + fb.least_bit();
  const int least =
      is_scaled ? std::max(hints_.floor - kept - 4, least_of_elements + fs.emin() + ft.emin()) : least_of_elements;
  const int small = hints_.floor + 2 - least;
  if (small > 1 && k > 1)
    add_dot("small sums", static_cast<uint64_t>(small) * static_cast<uint64_t>(small),
            [op = op_, small, least, is_scaled](WalkCase& s, uint64_t n) {
              s.zero_lanes();
              s.zero_c();
              int lane = s.any_lane();
              for (const auto above : {n % static_cast<uint64_t>(small), n / static_cast<uint64_t>(small)}) {
                int e = least + static_cast<int>(above);
                if (is_scaled) e -= s.draw_scales(op, lane / op.scale_block, e);
                const int ea = FactorShare(s.fa, s.fb, e, true).any(s.rng);
                const uint64_t fraction = s.coin() ? 0 : s.fraction_of(s.fa);
                const bool negative = s.fa.has_sign() && s.coin();
                s.set_a(lane, encode_near(s.fa, negative, ea, fraction));
                s.set_b(lane, encode_near(s.fb, false, e - ea, 0));
                lane = (lane + (is_scaled ? op.scale_block : 1)) % s.k;
              }
            });

  // One lane alone, everything else zero: paths that bypass the tree.
  add_dot("one lane", lanes * 512, [](WalkCase& s, uint64_t n) {
    s.zero_lanes();
    s.zero_c();
    const int lane = static_cast<int>(n % static_cast<uint64_t>(s.k));
    s.draw_product(lane, s.rng.between(s.least_exponent(), s.greatest_exponent()));
    if (s.rng.one_in(4)) s.set_a(lane, s.rng.next() & s.fa.container_mask());
    if (s.rng.one_in(4)) s.set_b(lane, s.rng.next() & s.fb.container_mask());
    if (s.rng.one_in(4)) s.set_c(s.rng.next() & s.fc.container_mask());
  });

  // Factors that are equal, in two lanes, with every sign: four bits.
  add_dot("squares", lanes * lanes * 16, [](WalkCase& s, uint64_t n) {
    fill_evenly(s, 4);
    const int i = take_digit(n, s.k);
    const int j = take_digit(n, s.k);
    const auto signs = static_cast<uint32_t>(n);
    for (const auto& [lane, bits] : {std::pair{i, signs}, std::pair{j, signs >> 2}}) {
      const int e = s.rng.between(-2, 2);
      const uint64_t fraction = s.fraction_of(s.fa);
      s.set_a(lane, encode_near(s.fa, bits & 1, e, fraction));
      s.set_b(lane, encode_near(s.fb, bits >> 1 & 1, e, fraction));
    }
  });

  add_states();

  add_dot("cancellations", 4 * 8192, make_cancellation);

  const int apart = std::max(1, std::min(kept + 2, fa.emax() - fa.emin() + fb.emax() - fb.emin()));
  add_dot("two levels", 2 * lanes * lanes * static_cast<uint64_t>(apart), [apart](WalkCase& s, uint64_t n) {
    const bool tie = take_digit(n, 2);
    const int below = 1 + take_digit(n, apart);
    const int first = take_digit(n, s.k);
    make_two_levels(s, first, static_cast<int>(n), below, tie);
  });

  // The factors' exponents, in every combination, on every lane: the adders of exponents.
  if (fa.exponent_bits <= 8 && fb.exponent_bits <= 8) {
    const auto pairs = weighed_pairs("exponents " + formats, static_cast<uint32_t>(fa.top_exponent_field()) + 1,
                                     static_cast<uint32_t>(fb.top_exponent_field()) + 1, k,
                                     [](uint32_t x, uint32_t y) { return static_cast<int>(x + y); });
    add_dot("exponents", {pairs->groups.length(k), pairs->groups.count()}, [pairs](WalkCase& s, uint64_t n) {
      s.zero_lanes();
      int weight = 0;
      place_group(pairs->groups, s.k, n, [&](int lane, uint32_t i) {
        const auto [x, y] = pairs->pairs[i];
        const auto operand = [&](const FormatFields& f, uint32_t field) {
          const bool negative = s.coin();
          const uint64_t code = uint64_t{field} << f.fraction_bits | s.fraction_of(f);
          const uint64_t encoding = f.in_container(code | (negative ? f.sign_bit() : 0));
          return is_special(f, encoding) ? f.encode_greatest(negative) : encoding;
        };
        s.set_a(lane, operand(s.fa, x));
        s.set_b(lane, operand(s.fb, y));
        weight = static_cast<int>(x + y) - s.fa.bias - s.fb.bias;
      });
      if (s.coin()) s.zero_c();
      else s.draw_c(std::clamp(weight + s.rng.between(-2, 4), s.fc.emin(), s.fc.emax()));
    });
  }

  // All tuples of alignments on any 2, 3 or 4 lanes: orthogonal arrays from polynomials over a prime field (Bush 1952).
  const int levels = prime_from(std::max(kept + 4, k));
  uint64_t tuples = static_cast<uint64_t>(levels);
  for (const char* name : {"alignments of two", "alignments of three", "alignments of four"}) {
    tuples *= static_cast<uint64_t>(levels);
    add_dot(name, tuples, [levels, tuples](WalkCase& s, uint64_t n) {
      std::vector<int> shifts(static_cast<size_t>(s.k));
      const uint64_t number = scrambled(n, tuples);
      for (int lane = 0; lane < s.k; ++lane) {
        int64_t value = 0, power = 1;
        for (uint64_t rest = number, base = static_cast<uint64_t>(levels), left = tuples; left > 1; left /= base) {
          value = (value + power * static_cast<int64_t>(rest % base)) % levels;
          power = power * lane % levels;
          rest /= base;
        }
        shifts[static_cast<size_t>(lane)] = static_cast<int>(value);
      }
      make_shifts(s, shifts);
    });
  }

  // Every set of nonzero lanes, the others zero; of more than 16 lanes 2^16 random sets.
  add_dot("live lanes", uint64_t{1} << std::min(k, 16), [](WalkCase& s, uint64_t n) {
    fill_evenly(s, 6);
    const uint64_t live = s.k <= 16 ? n : s.rng.next();
    for (int lane = 0; lane < s.k; ++lane)
      if (!(live >> (lane & 63) & 1)) s.zero_lane(lane);
  });

  // Special values in every two factors; then with every kind of c.
  const uint64_t slots = 2 * lanes, pairs_of_specials = slots * slots / 2 * special_kinds * special_kinds;
  const auto put_two = [slots](WalkCase& s, uint64_t n) {
    const int first_kind = take_digit(n, special_kinds);
    const int second_kind = take_digit(n, special_kinds);
    const uint64_t first = n % slots, apart = 1 + n / slots;  // every unordered pair of slots
    for (const auto& [slot, kind] : {std::pair{first, first_kind}, {(first + apart) % slots, second_kind}}) {
      const auto lane = static_cast<int>(slot / 2);
      if (slot % 2) s.set_b(lane, special(s.fb, kind));
      else s.set_a(lane, special(s.fa, kind));
    }
  };
  add_dot("two specials", pairs_of_specials, [put_two, pairs_of_specials](WalkCase& s, uint64_t n) {
    fill_evenly(s, 3);
    put_two(s, scrambled(n, pairs_of_specials));
  });
  const uint64_t with_c = pairs_of_specials * special_kinds;
  add_dot("two specials and c", with_c, [put_two, with_c](WalkCase& s, uint64_t n) {
    fill_evenly(s, 3);
    n = scrambled(n, with_c);
    s.set_c(special(s.fc, take_digit(n, special_kinds)));
    put_two(s, n);
  });

  // c bit by bit at each of its exponents, with products that overlap it, with ones that do not, and alone.
  const int fields = std::min(fc.top_exponent_field() + 1, 256);
  add_dot(
      "bits of c", static_cast<uint64_t>(fields) * patterns_c->size() * 2,
      [patterns_c, fields](WalkCase& s, uint64_t n) {
        const uint64_t pattern = (*patterns_c)[take_digit(n, patterns_c->size())];
        const bool negative = take_digit(n, 2);
        const auto number = static_cast<int>(n);
        const int all = s.fc.top_exponent_field() + 1;
        // Of many fields a quarter at each end one after the other, and some between.
        const int field = all <= fields || number < fields / 4 ? number
                          : number >= fields - fields / 4      ? all - (fields - number)
                                                               : number * (all / fields);
        const int e = field - s.fc.bias;
        fill_evenly(s, 3);
        if (s.coin()) {
          s.zero_lanes();
          if (e >= s.least_exponent() && e <= s.greatest_exponent() && s.coin()) {
            const int lane = s.any_lane();
            const int below = s.rng.between(-3, s.kept_bits);
            s.draw_product(lane, e - below);
          }
        }
        s.set_c(s.fc.in_container(uint64_t(field) << s.fc.fraction_bits | pattern | (negative ? s.fc.sign_bit() : 0)));
      });

  // Subnormals and NaNs bit by bit, in each factor of each lane.
  const uint64_t each = std::max(patterns_a->size(), patterns_b->size());
  add_dot("bits of operands", each * 4 * slots, [patterns_a, patterns_b, slots](WalkCase& s, uint64_t n) {
    fill_evenly(s, 3);
    const uint64_t slot = take_digit(n, slots);
    const auto lane = static_cast<int>(slot / 2);
    const FormatFields& f = slot % 2 ? s.fb : s.fa;
    const std::vector<uint64_t>& patterns = slot % 2 ? *patterns_b : *patterns_a;
    const uint64_t top = n % 2 ? static_cast<uint64_t>(f.top_exponent_field()) << f.fraction_bits : 0;
    const uint64_t code = top | patterns[n / 4 % patterns.size()] | (n / 2 % 2 ? f.sign_bit() : 0);
    if (slot % 2) s.set_b(lane, f.in_container(code));
    else s.set_a(lane, f.in_container(code));
    if (s.coin()) return;
    for (int other = 0; other < s.k; ++other)
      if (other != lane) s.zero_lane(other);
  });

  // The multipliers: every pair of operands of small formats, every pair of fractions of others, on every lane.
  if (fa.width + fb.width <= 16) {
    const auto pairs =
        weighed_pairs("operands " + formats, 1u << fa.width, 1u << fb.width, k, [&](uint32_t x, uint32_t y) {
          const Number m = decode(fa, fa.in_container(x)), n = decode(fb, fb.in_container(y));
          if (m.cls == NumberClass::zero || n.cls == NumberClass::zero) return -(1 << 20);
          return weight_of(m, n, x, y);
        });
    add_dot("operand pairs", {pairs->groups.length(k), pairs->groups.count()}, [pairs](WalkCase& s, uint64_t n) {
      s.zero_lanes();
      place_group(pairs->groups, s.k, n, [&](int lane, uint32_t i) {
        s.set_a(lane, s.fa.in_container(pairs->pairs[i].first));
        s.set_b(lane, s.fb.in_container(pairs->pairs[i].second));
      });
      s.zero_c();
    });
  } else {
    const bool all = fa.fraction_bits + fb.fraction_bits <= 20;
    const uint64_t count =
        all ? uint64_t{1} << (fa.fraction_bits + fb.fraction_bits) : patterns_a->size() * patterns_b->size();
    // Case n holds k of the pairs; their lanes change from pass to pass, and a pass is count / k cases.
    const uint64_t pass = (count + lanes - 1) / lanes;
    add_dot("fraction pairs", {pass * lanes, pass},
            [patterns_a, patterns_b, all, count, lanes, pass](WalkCase& s, uint64_t n) {
              const uint64_t rotation = n / pass;
              const int e = s.middle_exponent();
              for (uint64_t i = 0; i < lanes; ++i) {
                const uint64_t pair = scrambled((n % pass * lanes + i) % count, count);
                const uint64_t x = all ? pair & s.fa.fraction_mask() : (*patterns_a)[pair % patterns_a->size()];
                const uint64_t y = all ? pair >> s.fa.fraction_bits : (*patterns_b)[pair / patterns_a->size()];
                const bool negative = s.coin();
                s.set_product(static_cast<int>((i + rotation) % lanes), negative, e, x, y);
              }
              s.zero_c();
            });
  }

  // The scales of both sides, in every combination, on every block.
  if (op_.has_scales() && op_.scale_a.fields().width + op_.scale_b.fields().width <= 16) {
    const auto scales = static_cast<int>(op_.scales());
    const auto pairs =
        weighed_pairs("scales " + op_.scale_a.name() + " " + op_.scale_b.name(), 1u << fs.width, 1u << ft.width, scales,
                      [&](uint32_t x, uint32_t y) { return weight_of(decode(fs, x), decode(ft, y), x, y); });
    add_dot("scale pairs", {pairs->groups.length(scales), pairs->groups.count()},
            [pairs, scales](WalkCase& s, uint64_t n) {
              fill_evenly(s, 2);
              s.zero_c();
              place_group(pairs->groups, scales, n, [&](int block, uint32_t i) {
                s.set_scale(3, block, pairs->pairs[i].first);
                s.set_scale(4, block, pairs->pairs[i].second);
              });
            });
  }
}

void DatapathWalks::make(uint64_t position, Batch& batch, size_t index) const {
  CounterRng rng(seed_ ^ 0x5377656570730001u, position);
  uint64_t n = position % length_;
  size_t part = 0;
  while (n >= parts_[part].length) n -= parts_[part++].length;
  parts_[part].make(batch, index, rng, n);
}

}  // namespace mmafuzz
