// Effects on operations of IEEE 754: a product or an addend that is wrong before the one rounding.
#include <fmt/format.h>

#include "core/dot_case.h"
#include "core/recording_trace.h"
#include "triage/unexplained/candidate_results.h"

namespace mmafuzz {
namespace {

constexpr int max_digit = 106;     ///< digits of a product of fp64
constexpr int max_below = 60;      ///< digits of an addend below the last one of the other
constexpr int max_operations = 8;  ///< those that are changed, from the first

/// x * y + z, or where `multiplies` is false x + z, rounded once.
struct Operation {
  bool multiplies;
  Number x, y, z;
  uint64_t result;  ///< of the model
};

/// What is added: the product, or x, and z.
struct Addends {
  Exact first, second;
};
using ChangedAddends = std::function<void(Addends&, const Operation&)>;

/// The operations of a case, one after the other, of which each but the first has the result before as z. Empty where a
/// case is no such chain.
std::vector<Operation> operations_of(const Op& op, const Unit& unit, const Sample& sample, size_t index) {
  const Operands& c = sample.cases[index];
  const FormatFields& d = op.d.fields();
  const auto number = [&](size_t at) { return decode(c.format(at), c[at]); };
  if (op.kind == OpKind::scalar) {
    Operation one{true, number(0), c.size() > 1 ? number(1) : Number(), Number(), sample.of_model[index]};
    switch (op.scalar) {
      case ScalarOperation::mul: one.z.negative = one.x.negative != one.y.negative; return {one};
      case ScalarOperation::fma: one.z = number(2); return {one};
      case ScalarOperation::sub: one.y.negative = !one.y.negative; [[fallthrough]];
      case ScalarOperation::add:
        one.multiplies = false;
        std::swap(one.y, one.z);
        return {one};
      default: return {};
    }
  }
  if (!unit.model() || op.c != op.d) return {};
  std::vector<Step> own;
  const std::vector<Step>& steps = steps_of(sample, index, *unit.model(), own);
  const size_t k = static_cast<size_t>(op.k);
  if (steps.size() != k) return {};
  std::vector<Operation> all;
  for (size_t i = 0; i < k; ++i) {
    if (steps[i].kind != Step::Kind::ieee_fma) return {};
    const Number z = i == 0 ? number(2 * k) : decode(d, steps[i - 1].result);
    all.push_back({true, number(i), number(k + i), z, steps[i].result});
  }
  return all;
}

std::optional<uint64_t> rounded(const Op& op, const Operation& o, const ChangedAddends& change) {
  Addends of{o.multiplies ? exact_product(to_exact(o.x), to_exact(o.y)) : to_exact(o.x), to_exact(o.z)};
  if (!is_number(of.first.cls) || of.second.cls == NumberClass::nan) return std::nullopt;
  if (change) change(of, o);
  const RoundingRule rule = op.kind == OpKind::scalar ? op.rounding_rule() : RoundingRule();
  return add_exact(op.d.fields(), of.first, of.second, rule).encoding;
}

void add(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, const std::string& text,
         const ChangedAddends& change, Stage stage = Stage::sum) {
  const size_t forms = op.kind == OpKind::scalar ? 1 : std::min<size_t>(static_cast<size_t>(op.k), max_operations);
  all.push_back({stage, text,
                 [=, &unit](const Sample& sample) {
                   EffectResults results(forms, sample.of_model);
                   LaterSteps later(unit, op);
                   for (size_t i = 0; i < sample.cases.size(); ++i) {
                     const std::vector<Operation> chain = operations_of(op, unit, sample, i);
                     for (size_t at = 0; at < std::min(forms, chain.size()); ++at) {
                       const uint64_t of_model = chain[at].result;
                       if (rounded(op, chain[at], {}) != of_model) continue;
                       const uint64_t changed = *rounded(op, chain[at], change);
                       if (at + 1 == chain.size()) results[at][i] = changed;
                       else if (changed != of_model) later.add(sample, i, at, at + 1, changed);
                     }
                   }
                   later.put_into(results);
                   return results;
                 },
                 [forms](size_t form) { return forms > 1 ? fmt::format(" (lane {})", form) : ""; }});
}

/// Adds changes of the sum of both addends before its rounding, where it is not too long.
void add_sum_changes(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit) {
  // Gets the sum's magnitude, and both addends in its units.
  using Sum = std::function<uint128(uint128, int dropped, int128, int128)>;
  const auto add_change = [&](Stage stage, const std::string& text, const Sum& change) {
    const auto change_both = [change, &d = op.d.fields()](Addends& of, const Operation&) {
      Exact *low = &of.first, *high = &of.second;
      if (low->significand == 0 || (high->significand != 0 && high->exponent < low->exponent)) std::swap(low, high);
      if (low->significand == 0) return;
      const int up = high->significand ? high->exponent - low->exponent : 0;
      if (up + bit_length128(high->significand) > max_carry || bit_length128(low->significand) > max_carry) return;
      const Rounded r = add_exact(d, of.first, of.second, {});
      high->significand <<= up;
      high->exponent = low->exponent;
      const auto value = [](const Exact& x) { return static_cast<int128>(x.significand) * (x.negative ? -1 : 1); };
      const int128 x = value(*low), y = value(*high), sum = x + y;
      if (sum == 0) return;
      const auto m = static_cast<uint128>(sum < 0 ? -sum : sum);
      of.first = {NumberClass::finite, sum < 0, change(m, r.quantum - low->exponent, x, y), low->exponent};
      of.second = {NumberClass::zero, sum < 0, 0, 0};
    };
    add(all, op, unit, text, change_both, stage);
  };
  const bool is_product = op.kind == OpKind::scalar && op.scalar == ScalarOperation::mul;
  for (const auto& [text, change] : guard_changes(is_product ? "the product" : "the sum"))
    add_change(Stage::result, text,
               [change = change](uint128 m, int dropped, int128, int128) { return change(m, dropped); });
  for (int after = 0; after <= max_below && !is_product; ++after)
    for (const bool of_magnitudes : {false, true})
      add_change(Stage::sum,
                 fmt::format("the carry into {} of the sum were lost{}",
                             after ? fmt::format("digit {} after the leading one", after) : "the leading digit",
                             of_magnitudes ? ", of magnitudes" : ""),
                 [=](uint128 m, int, int128 x, int128 y) {
                   const int bit = bit_length128(m) - 1 - after;
                   if (bit <= 0) return m;
                   const int128 mask = (int128{1} << bit) - 1, sign = x + y < 0 ? -1 : 1;
                   const int128 frame = of_magnitudes ? sign : 1;
                   const int128 carry = ((x * frame & mask) + (y * frame & mask)) & ~mask;
                   const int128 sum = (x + y - carry * frame) * sign;
                   return sum < 0 ? m : static_cast<uint128>(sum);
                 });
}

}  // namespace

void add_ieee_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, const Sample& sample) {
  if (sample.cases.empty() || operations_of(op, unit, sample, 0).empty()) return;
  add_sum_changes(all, op, unit);
  const auto of_first = [&](const std::string& text, const std::function<uint128(uint128)>& change) {
    add(all, op, unit, text,
        [change](Addends& of, const Operation&) { of.first.significand = change(of.first.significand); });
  };
  const bool multiplies =
      op.kind != OpKind::scalar || op.scalar == ScalarOperation::mul || op.scalar == ScalarOperation::fma;
  if (multiplies)
    add(all, op, unit, "a product beyond the range were infinite", [&d = op.d.fields()](Addends& of, const Operation&) {
      if (of.first.exponent + bit_length128(of.first.significand) - 1 > d.emax()) of.first.cls = NumberClass::infinity;
    });
  const int digits = multiplies ? std::min(max_digit, 2 * op.a.fields().precision()) : 0;
  for (int bit = 0; bit < digits; ++bit) {
    const uint128 digit = uint128{1} << bit;
    of_first(fmt::format("a product were less by 2^{} of its own last digit", bit),
             [digit](uint128 m) { return m < digit ? m : m - digit; });
    of_first(fmt::format("a product were more by 2^{} of its own last digit", bit),
             [digit](uint128 m) { return m == 0 ? m : m + digit; });
    of_first(fmt::format("digit {} of a product, from its own last one, were the other one", bit),
             [digit](uint128 m) { return m == 0 ? m : m ^ digit; });
    if (2 * bit < digits)
      of_first(fmt::format("a product lost its last {} digits", bit + 1),
               [digit](uint128 m) { return m & ~(2 * digit - 1); });
  }
  static constexpr const char* names[] = {"a", "b", "c"};
  for (const int which : {0, 1, 2})
    for (const int by : {-1, 1})
      add(all, op, unit,
          fmt::format("{} were {} where it is subnormal", multiplies || which < 2 ? names[which] : "b",
                      by < 0 ? "half as large" : "twice as large"),
          [=](Addends& of, const Operation& o) {
            if ((which == 0 ? o.x : which == 1 ? o.y : o.z).subnormal)
              (which == 2 ? of.second : of.first).exponent += by;
          });
  for (int below = 0; below <= max_below; ++below)
    for (const bool sticky : {false, true})
      add(all, op, unit,
          fmt::format("the smaller addend had no digits from {} below the greater one's last{}", below + 1,
                      sticky ? ", which show as one" : ""),
          [=](Addends& of, const Operation&) {
            const auto leading = [](const Exact& x) { return x.exponent + bit_length128(x.significand); };
            if (of.first.significand == 0 || of.second.significand == 0) return;
            const bool first_is_less = leading(of.first) < leading(of.second);
            Exact& less = first_is_less ? of.first : of.second;
            const int down = (first_is_less ? of.second : of.first).exponent - below - less.exponent;
            if (down <= 0) return;
            const uint128 rest = down >= 128 ? less.significand : less.significand & ((uint128{1} << down) - 1);
            less.significand -= rest;
            if (sticky && rest && down < 128) less.significand |= uint128{1} << down;
          });
}

}  // namespace mmafuzz
