// Effects on the sums of a model: what its adder does differently in one step. They are one list because their order
// counts: of those that explain as much the first one is named.
#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "arithmetic/ieee_operations.h"
#include "core/dot_case.h"
#include "core/recording_trace.h"
#include "core/text.h"
#include "triage/unexplained/changed_kernel.h"
#include "triage/unexplained/sum_changes.h"

namespace mmafuzz {
namespace {

using Results = EffectResults;

// Limits of what is tried.
constexpr int widest_sum = 48;          ///< bits of a sum that are changed
constexpr int max_first_rounding = 16;  ///< digits beyond the result's, of a rounding before the last one
constexpr int max_role = 28;            ///< digits after a sum's leading one, or after its last one that stays
constexpr int widest_aligned = 62;      ///< bits of an aligned sum that is rounded

/// Names forms of which each step has all: " (lanes 4 to 7, step 2)". `names`: of the forms; empty: they have none.
std::function<std::string(size_t)> name_of_steps(const std::vector<std::string>& names, size_t forms, size_t steps) {
  return [names, forms, steps](size_t form) {
    std::vector<std::string> words;
    if (!names.empty()) words.push_back(names[form % forms]);
    if (steps > 1) words.push_back(fmt::format("step {}", form / forms + 1));
    return words.empty() ? "" : " (" + joined(words, ", ") + ")";
  };
}

RoundingRule rule_of(const DotModel& model) {
  return {.rounding = model.output_rounding, .tininess = model.tininess, .overflow = model.overflow};
}

bool is_sum(const Step& s) {
  return s.aligned ? s.kind == Step::Kind::fused_sum || s.kind == Step::Kind::second_stage
                   : s.kind == Step::Kind::exact_sum;
}

/// The candidate whose forms change the sum of one step: the last one, any that hands its result on as c, or one to
/// which c is added. `result_of`: returns the encoding of a step's result under a form, from the step and from the
/// model's result. `names`: of the forms; empty where they need none.
template <class Form, class ResultOf>
EffectCandidate step_candidate(const Unit& unit, const std::string& text, const std::vector<Form>& forms,
                               const ResultOf& result_of, const std::vector<std::string>& names = {}) {
  const size_t of_row = static_cast<size_t>(unit.model()->k / products_per_step(*unit.model()));
  return {
      Stage::sum, text,
      [&unit, forms, result_of, of_row](const Sample& sample) {
        Results results(of_row * forms.size(), sample.of_model);
        if (sample.cases.empty()) return results;
        const DotModel& model = *unit.model();
        const Op op = sample.cases[0].op();
        LaterSteps later(unit, op);
        std::vector<Step> own;
        for (size_t i = 0; i < sample.cases.size(); ++i) {
          const std::vector<Step>& steps = steps_of(sample, i, model, own);
          const bool hands_on = op.c == op.d && model.d == step_format(model) && steps.size() == of_row;
          const bool adds_c = of_row == 1 && steps.size() == 2 && steps[1].kind == Step::Kind::ieee_add && op.c == op.d;
          const size_t end = steps.size() - adds_c, first = hands_on || adds_c || end == 0 ? 0 : end - 1;
          for (size_t at = first; at < end; ++at) {
            if (!is_sum(steps[at])) continue;
            const bool is_last = at + 1 == steps.size();
            const uint64_t of_model = is_last ? sample.of_model[i] : steps[at].result;
            for (size_t form = 0; form < forms.size(); ++form) {
              const uint64_t result = result_of(forms[form], steps[at], of_model);
              if (result == of_model) continue;
              const size_t place = (hands_on ? at : of_row - 1) * forms.size() + form;
              if (is_last) {
                results[place][i] = result;
              } else if (adds_c) {
                const Number c = decode(model.d, sample.cases[i][2 * static_cast<size_t>(op.k)]);
                results[place][i] = flush_result(model, ieee_add(model.d, c, decode(model.d, result), rule_of(model)));
              } else {
                later.add(sample, i, place, (at + 1) * static_cast<size_t>(products_per_step(model)), result);
              }
            }
          }
        }
        later.put_into(results);
        return results;
      },
      name_of_steps(names, forms.size(), of_row)};
}

using ChangedSum = std::function<int64_t(const Step&)>;

/// The candidate whose forms change an aligned sum, in its own units, which is then rounded as the model does.
EffectCandidate sum_candidate(const Unit& unit, const std::string& text, const std::vector<ChangedSum>& forms,
                              const std::vector<std::string>& names = {}) {
  const auto result_of = [&unit](const ChangedSum& form, const Step& step, uint64_t of_model) {
    const int64_t changed = step.aligned ? form(step) : step.sum;
    return changed == step.sum ? of_model : round_output(*unit.model(), changed, step.unit_exponent, false).encoding;
  };
  return step_candidate(unit, text, forms, result_of, names);
}

/// Changes of an aligned sum: an alignment that cuts differently, one wrong digit.
void add_sums(std::vector<EffectCandidate>& all, const Unit& unit) {
  const DotModel& model = *unit.model();
  const auto add = [&](const std::string& text, const std::vector<ChangedSum>& forms) {
    all.push_back(sum_candidate(unit, text, forms));
  };
  add("what is cut off of addends were rounded to nearest", {[](const Step& s) {
        int64_t sum = s.sum;
        for (int i = 0; i < s.count; ++i) {
          const Addend& t = s.addend[i];
          const uint64_t twice = cut(t.significand, t.exponent, s.unit_exponent - 1);
          if (t.lost && (twice & 1)) sum += t.negative ? -1 : 1;
        }
        return sum;
      }});
  const int precision = result_fraction_bits(model) + 1;
  add("a subnormal result were rounded twice: as a normal number first",
      {[precision, least = model.d.emin()](const Step& s) {
        if (s.unit_exponent + bit_length(magnitude_of(s.sum)) - 1 >= least) return s.sum;
        return with_sign_of(s.sum, static_cast<uint64_t>(rounded_to(magnitude_of(s.sum), precision)));
      }});
  std::vector<ChangedSum> cuts;
  for (int n = 1; n <= max_cuts; ++n)
    for (const int by : {n, -n})
      cuts.push_back([n, by](const Step& s) {
        int lost = 0;
        for (int i = 0; i < s.count; ++i) lost += s.addend[i].lost;
        return n <= lost ? s.sum + by : s.sum;
      });
  add("an addend that loses bits in alignment were one unit of the sum's last digit larger or smaller", cuts);
  for (const auto& [text, change] : digit_changes(widest_sum))
    add(text, {[change = change](const Step& s) { return change(s.sum); }});
}

uint64_t rounded_sum(const DotModel& model, const Step& s, const Exact& x) {
  if (x.significand == 0) return model.d.encode_zero(false);
  if (!s.aligned) return flush_result(model, round_exact(model.d, x, rule_of(model)));
  if (bit_length128(x.significand) > widest_aligned) return s.result;
  const int64_t sum = with_sign_of(x.negative ? -1 : 1, static_cast<uint64_t>(x.significand));
  return round_output(model, sum, x.exponent, false).encoding;
}

/// Returns the changed sum, in units of 2^exponent of what is given and of its sign unless it is negative. `dropped`:
/// how many digits rounding drops.
using ChangedWideSum = std::function<int128(const Exact&, int dropped, const Step&)>;

/// The candidate whose forms change an aligned or exact sum.
EffectCandidate wide_candidate(const Unit& unit, const std::string& text, const std::vector<ChangedWideSum>& forms,
                               const std::vector<std::string>& names = {}) {
  const auto result_of = [&unit](const ChangedWideSum& form, const Step& step, uint64_t of_model) {
    const DotModel& model = *unit.model();
    const std::optional<Exact> x = exact_sum_of(step);
    if (!x || (x->significand != 0 && rounded_sum(model, step, *x) != of_model)) return of_model;
    const int128 sum = form(*x, step.rounded.quantum - x->exponent, step);
    Exact changed = *x;
    changed.negative = x->negative != (sum < 0);
    changed.significand = static_cast<uint128>(sum < 0 ? -sum : sum);
    const bool is_same = changed.significand == x->significand && changed.negative == x->negative;
    return is_same ? of_model : rounded_sum(model, step, changed);
  };
  return step_candidate(unit, text, forms, result_of, names);
}

/// Changes of the digits of a sum by their role: how far they stand after the leading one, and after the last one that
/// rounding keeps. Changes of the rounding itself.
void add_roundings(std::vector<EffectCandidate>& all, const Unit& unit) {
  const auto add = [&](const std::string& text, const ChangedMagnitude& change) {
    all.push_back(wide_candidate(unit, text, {[change](const Exact& x, int dropped, const Step&) {
                                   return static_cast<int128>(change(x.significand, dropped));
                                 }}));
  };
  const auto rest = [](uint128 m, int dropped) {
    return dropped > 0 && dropped < 128 ? m & ((uint128{1} << dropped) - 1) : 0;
  };
  const auto is_tie = [rest](uint128 m, int dropped) {
    return dropped > 0 && dropped < 128 && rest(m, dropped) == uint128{1} << (dropped - 1);
  };
  add("ties of the sum were rounded away from zero", [=](uint128 m, int dropped) { return m + is_tie(m, dropped); });
  add("ties of the sum were rounded toward zero", [=](uint128 m, int dropped) { return m - is_tie(m, dropped); });
  add("the sum were rounded toward zero", [=](uint128 m, int dropped) { return m - rest(m, dropped); });
  for (const auto& [text, change] : guard_changes("the sum")) add(text, change);
  const DotModel& model = *unit.model();
  const int precision = result_fraction_bits(model) + 1;
  for (int more = 1; more <= max_first_rounding; ++more)
    add(fmt::format("the sum were rounded twice, to {} digits first", precision + more),
        [digits = precision + more](uint128 m, int) { return rounded_to(m, digits); });
  for (int after = 1; after <= max_role; ++after)
    for (const bool of_leading : {false, true}) {
      const std::string digit = of_leading ? fmt::format("digit {} after the leading one of the sum", after)
                                           : fmt::format("digit {} of those of the sum that rounding drops", after);
      const auto by_role = [&](const char* what, const std::function<uint128(uint128, uint128)>& change) {
        add(digit + what, [=](uint128 m, int dropped) {
          const int length = bit_length128(m), bit = (of_leading ? length - 1 : dropped) - after;
          return bit < 0 || bit >= length ? m : change(m, uint128{1} << bit);
        });
      };
      by_role(" were the other one", [](uint128 m, uint128 one) { return m ^ one; });
      by_role(" were 0", [](uint128 m, uint128 one) { return m & ~one; });
      by_role(" were 1", [](uint128 m, uint128 one) { return m | one; });
      by_role(" were the last one", [](uint128 m, uint128 one) { return m & (0 - one); });
    }
}

/// The exponents of digits that an exact sum of each case has: from the first up to the second.
std::pair<int, int> common_digits(const Sample& sample) {
  std::pair<int, int> common = {INT32_MIN, INT32_MAX};
  for (const std::vector<Step>& steps : sample.steps) {
    int low = INT32_MAX, high = INT32_MIN;
    for (const Step& s : steps)
      if (const std::optional<Exact> x = s.aligned || !is_sum(s) ? std::nullopt : exact_sum_of(s)) {
        low = std::min(low, x->exponent);
        high = std::max(high, x->exponent + bit_length128(x->significand));
      }
    common = {std::max(common.first, low), std::min(common.second, high)};
  }
  return common;
}

/// Changes by a carry that an adder loses: at a bit of its register, or at a digit as seen from the sum's leading one.
void add_carries(std::vector<EffectCandidate>& all, const Unit& unit, const Sample& sample) {
  enum class Added { products_and_c, halves, each };  // what the adder adds
  const int lanes = products_per_step(*unit.model());
  // What the carries into a bit weigh that arise among the addends, or of a negative sum among their negatives.
  const auto lost = [lanes](Added added, bool negates, const Exact& x, const Step& s, int bit) {
    if (bit <= 0 || bit > max_carry) return int128{0};
    int128 parts[2] = {}, low = 0;
    const int128 mask = (int128{1} << bit) - 1;
    for (int i = 0; i < s.count; ++i) {
      const Addend& t = s.addend[i];
      if (t.significand == 0) continue;
      const bool is_product = t.source == Addend::Source::product;
      const int128 exact = s.aligned ? 0 : static_cast<int128>(t.significand) << (t.exponent - x.exponent);
      const int128 value = s.aligned ? t.kept : t.negative ? -exact : exact, term = negates ? -value : value;
      if (added == Added::each) low += term & mask;
      else if (added == Added::products_and_c) parts[!is_product] += term;
      else if (is_product) parts[t.index % lanes >= lanes / 2] += term;
    }
    low += (parts[0] & mask) + (parts[1] & mask);
    return negates ? -(low & ~mask) : low & ~mask;
  };
  const auto add = [&](const std::string& text, const std::function<int(const Exact&, const Step&)>& bit_of) {
    std::vector<ChangedWideSum> forms;
    std::vector<std::string> names;
    for (const auto& [added, name] : {std::pair{Added::products_and_c, "between products and c"},
                                      {Added::halves, "between lower and upper lanes"},
                                      {Added::each, "wherever there was one"}})
      for (const bool of_magnitudes : {false, true}) {
        if (added == Added::halves && lanes < 2) continue;
        names.push_back(name + std::string(of_magnitudes ? ", of magnitudes" : ""));
        forms.push_back([=](const Exact& x, int, const Step& s) {
          const int128 change = lost(added, of_magnitudes && x.negative, x, s, bit_of(x, s));
          return static_cast<int128>(x.significand) + (x.negative ? change : -change);
        });
      }
    all.push_back(wide_candidate(unit, text, forms, names));
  };
  for (int bit = 1; bit < widest_sum; ++bit)
    add(fmt::format("the carry into bit {} of the sum were lost", bit),
        [bit](const Exact&, const Step& s) { return s.aligned ? bit : 0; });
  const auto [first, end] = common_digits(sample);
  for (int exponent = first; !sample.steps.empty() && exponent < end; ++exponent)
    add(fmt::format("the carry into 2^{} of the sum were lost", exponent),
        [exponent](const Exact& x, const Step& s) { return s.aligned ? 0 : exponent - x.exponent; });
  for (int after = 0; after <= max_role; ++after)
    add(after ? fmt::format("the carry into digit {} after the leading one of the sum were lost", after)
              : "the carry into the leading digit of the sum were lost",
        [after](const Exact& x, const Step&) { return bit_length128(x.significand) - 1 - after; });
}

/// Changes of the sum of some adjacent products of a step, or of those in even or odd lanes.
void add_group_sums(std::vector<EffectCandidate>& all, const Unit& unit) {
  struct Lanes {
    int first, end, stride;
  };
  const int lanes = products_per_step(*unit.model());
  const auto sum_of = [lanes](const Step& s, const Lanes& group, int unit_exponent) {
    int128 sum = 0;
    for (int i = 0; i < s.count; ++i) {
      const Addend& t = s.addend[i];
      const int lane = t.index % lanes;
      if (t.source != Addend::Source::product || t.significand == 0 || lane < group.first || lane >= group.end ||
          (lane - group.first) % group.stride != 0)
        continue;
      const int128 exact = s.aligned ? 0 : static_cast<int128>(t.significand) << (t.exponent - unit_exponent);
      sum += s.aligned ? t.kept : t.negative ? -exact : exact;
    }
    return sum;
  };
  const auto add = [&](const std::string& text, const std::vector<Lanes>& groups,
                       const std::function<int128(int128)>& changed) {
    std::vector<ChangedWideSum> forms;
    std::vector<std::string> names;
    const auto add_form = [&](const std::vector<Lanes>& of_form, const std::string& name) {
      names.push_back(name);
      forms.push_back([=](const Exact& x, int, const Step& s) {
        int128 change = 0;
        for (const Lanes& group : of_form) {
          const int128 sum = sum_of(s, group, x.exponent);
          change += changed(sum) - sum;
        }
        return static_cast<int128>(x.significand) + (x.negative ? -change : change);
      });
    };
    for (const Lanes& group : groups)
      add_form({group}, group.stride == 1  ? fmt::format("lanes {} to {}", group.first, group.end - 1)
                        : group.first == 0 ? "even lanes"
                                           : "odd lanes");
    add_form(groups, "each of them");
    all.push_back(wide_candidate(unit, text, forms, names));
  };
  const auto add_all = [&](const std::string& which, const std::vector<Lanes>& groups) {
    for (const auto& [text, change] : part_changes(which)) add(text, groups, change);
  };
  for (int count = 2; count < lanes; count *= 2) {
    std::vector<Lanes> groups;
    for (int first = 0; first + count <= lanes; first += count) groups.push_back({first, first + count, 1});
    add_all(fmt::format("the sum of {} adjacent products", count), groups);
  }
  add_all("the sum of the products in even or in odd lanes", {{0, lanes, 2}, {1, lanes, 2}});
}

using ChangedGreatest = std::function<int(const Step&)>;  ///< returns the exponent of alignment

/// The candidate whose forms align the addends of a step at another exponent.
EffectCandidate alignment_candidate(const Unit& unit, const std::string& text,
                                    const std::vector<ChangedGreatest>& forms) {
  return step_candidate(unit, text, forms, [&unit](const ChangedGreatest& form, const Step& last, uint64_t of_model) {
    const int by = last.aligned ? form(last) - last.greatest_exponent : 0;
    if (by == 0 || std::abs(by) > max_moved) return of_model;
    const int grid = last.unit_exponent + by;
    int64_t sum = 0;
    for (int a = 0; a < last.count; ++a) {
      const Addend& t = last.addend[a];
      sum += with_sign_of(t.negative ? -1 : 1, cut(t.significand, t.exponent, grid));
    }
    return round_output(*unit.model(), sum, grid, false).encoding;
  });
}

/// Changes by hardware that finds a wrong greatest exponent.
void add_alignments(std::vector<EffectCandidate>& all, const Unit& unit) {
  for (int by = 1; by <= max_missed; ++by)
    for (const bool more : {true, false})
      all.push_back(alignment_candidate(
          unit, fmt::format("all were aligned at an exponent that is {} {}", by, more ? "greater" : "less"),
          {[=](const Step& s) { return s.greatest_exponent + (more ? by : -by); }}));
  const auto greatest_without = [](const Step& s, const std::function<bool(int)>& is_left_out) {
    int greatest = INT32_MIN;
    for (int i = 0; i < s.count; ++i)
      if (s.addend[i].significand && !is_left_out(i)) greatest = std::max(greatest, s.addend[i].scale_exponent);
    return greatest == INT32_MIN ? s.greatest_exponent : greatest;
  };
  all.push_back(alignment_candidate(unit, "all were aligned at the greatest exponent but one", {[=](const Step& s) {
                                      return greatest_without(s, [&](int i) { return s.addend[i].shift == 0; });
                                    }}));
  std::vector<ChangedGreatest> without_one;
  for (int out = 0; out <= max_instruction_k; ++out)
    without_one.push_back([=](const Step& s) { return greatest_without(s, [=](int i) { return i == out; }); });
  all.push_back(alignment_candidate(unit, "the greatest exponent were found without one of the addends", without_one));
}

/// Changes by a leading 1 that is found at the wrong bit position: the fraction has one bit more or less, which carries
/// into the exponent.
void add_normalization(std::vector<EffectCandidate>& all, const Unit& unit) {
  const DotModel& model = *unit.model();
  const FormatFields& d = model.d;
  const int bits = result_fraction_bits(model);
  const auto moved_result = [&d, bits](bool far, const Step& last, uint64_t of_model) {
    if (!last.aligned || decode(d, of_model).cls != NumberClass::finite) return of_model;
    const uint64_t sum = magnitude_of(last.sum);
    const int unit = last.unit_exponent, quantum = last.rounded.quantum;
    const uint64_t kept = cut(sum, unit, quantum), moved = cut(sum, unit, quantum + (far ? -1 : 1));
    const uint64_t implicit = uint64_t{1} << bits;
    const uint64_t by = moved - kept + (far ? 0 - implicit : implicit);
    return (of_model + d.in_container(by << (d.fraction_bits - bits))) & d.container_mask();
  };
  for (const bool far : {true, false})
    all.push_back(step_candidate(unit, fmt::format("the sum were normalized one place too {}", far ? "far" : "short"),
                                 std::vector<bool>{far}, moved_result));
}

/// Changes by the count of a shift that lost its upper bits: of one addend, of all, or of half of the lanes.
void add_shifts(std::vector<EffectCandidate>& all, const Unit& unit) {
  const DotModel& model = *unit.model();
  for (int bits = 3; bits <= 9; ++bits) {
    std::vector<ChangedSum> forms;
    const auto add = [&](int first, int end) {  // addends of these numbers
      forms.push_back([=](const Step& s) {
        int64_t sum = s.sum;
        for (int i = first; i < std::min(end, s.count); ++i) {
          const Addend& t = s.addend[i];
          const int lost = t.shift >> bits << bits;
          if (t.significand == 0 || lost == 0) continue;
          sum += with_sign_of(t.negative ? -1 : 1, cut(t.significand, t.exponent + lost, s.unit_exponent)) - t.kept;
        }
        return sum;
      });
    };
    const int lanes = products_per_step(model);
    std::vector<std::string> names;
    for (int i = 0; i <= max_instruction_k; ++i)
      add(i, i + 1), names.push_back(i < lanes ? fmt::format("lane {}", i) : "c");
    for (const auto& [first, end, name] :
         {std::tuple{0, lanes + 1, "all addends"}, {0, lanes / 2, "lower lanes"}, {lanes / 2, lanes, "upper lanes"}})
      add(first, end), names.push_back(name);
    all.push_back(
        sum_candidate(unit, fmt::format("the shift of an addend kept only its last {} bits", bits), forms, names));
  }
}

/// Changes by the count of a shift that is another lane's.
void add_exchanged_shifts(std::vector<EffectCandidate>& all, const Unit& unit) {
  const int lanes = products_per_step(*unit.model());
  std::vector<ChangedSum> forms;
  std::vector<std::string> names;
  for (int lane = 0; lane < lanes; ++lane)
    for (const int other : {lane - 1, lane + 1}) {
      if (other < 0 || other >= lanes) continue;
      names.push_back(fmt::format("lane {} that of lane {}", lane, other));
      forms.push_back([=](const Step& s) {
        if (lane >= s.count || other >= s.count) return s.sum;
        const Addend &t = s.addend[lane], &from = s.addend[other];
        if (t.significand == 0 || from.significand == 0) return s.sum;
        const uint64_t kept = cut(t.significand, t.exponent + t.shift - from.shift, s.unit_exponent);
        return s.sum - t.kept + with_sign_of(t.negative ? -1 : 1, kept);
      });
    }
  all.push_back(sum_candidate(unit, "a product were shifted as its neighbour", forms, names));
}

/// Changes of one product, or of c, before it is aligned.
void add_products(std::vector<EffectCandidate>& all, const Unit& unit) {
  const DotModel& model = *unit.model();
  const auto of_addends = [](const std::function<uint64_t(uint64_t)>& change) {
    std::vector<ChangedSum> forms;
    for (int i = 0; i <= max_instruction_k; ++i)
      forms.push_back([i, change](const Step& s) {
        if (i >= s.count || s.addend[i].significand == 0) return s.sum;
        const Addend& t = s.addend[i];
        const uint64_t kept = cut(change(t.significand), t.exponent, s.unit_exponent);
        return s.sum - t.kept + with_sign_of(t.negative ? -1 : 1, kept);
      });
    return forms;
  };
  for (int bit = 0; bit < 2 * std::max(model.a.fraction_bits, model.b.fraction_bits) + 2; ++bit) {
    const uint64_t digit = uint64_t{1} << bit;
    all.push_back(sum_candidate(unit, fmt::format("a product were less by 2^{} of its own last digit", bit),
                                of_addends([digit](uint64_t m) { return m < digit ? m : m - digit; })));
    all.push_back(sum_candidate(unit, fmt::format("digit {} of a product, from its own last one, were 0", bit),
                                of_addends([digit](uint64_t m) { return m & ~digit; })));
  }
}

}  // namespace

void add_sum_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, const Sample& sample) {
  if (has_changed_kernel(*unit.model())) add_exponent_effects(all, op, unit, sample);
  add_special_effects(all, op, unit);
  add_sums(all, unit);
  add_roundings(all, unit);
  if (traits_of(*unit.model()).c == KernelTraits::Joining::second_stage) add_first_stage_effects(all, op, unit);
  if (unit.model()->first_sum > 1) add_first_sum_effects(all, op, unit);
  add_carries(all, unit, sample);
  if (products_per_step(*unit.model()) > 2) add_group_sums(all, unit);
  if (!unit.model()->d.integer) add_normalization(all, unit);
  add_alignments(all, unit);
  add_products(all, unit);
  add_shifts(all, unit);
  add_exchanged_shifts(all, unit);
}

}  // namespace mmafuzz
