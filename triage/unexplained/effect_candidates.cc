// The possible effects (effect.h), each with the results that the unit would then have. They are one list because their
// order counts: of those of a stage that explain as much the first one is named.
#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "arithmetic/integer_rounding.h"
#include "core/dot_case.h"
#include "core/recording_trace.h"
#include "core/text.h"
#include "search/coverage.h"
#include "triage/unexplained/candidate_results.h"

namespace mmafuzz {
namespace {

using Results = EffectResults;

// Limits of what is tried.
constexpr int max_scales = 31;       ///< bit positions by which a result is shifted
constexpr int max_shifts = 12;       ///< bit positions by which an addend is shifted
constexpr size_t max_wires = 32;     ///< up to so many lanes, a lane reads any other; of more, only adjacent ones
constexpr size_t max_in_pairs = 17;  ///< up to so many addends, pairs of them are left out
constexpr int max_cuts = 4;          ///< addends that lose bits and are a unit larger or smaller
constexpr int widest_sum = 48;       ///< bits of a sum that are changed
constexpr int max_role = 28;         ///< digits after a sum's leading one, or after its last one that stays
constexpr int max_group_cut = 8;     ///< digits that the sum of some products loses
constexpr int least_register = 16, widest_register = 40;  ///< bits of a register for the sum of some products
constexpr int max_moved = 24;                             ///< bit positions by which the exponent of alignment is wrong
constexpr int max_missed = 3;                             ///< the same where that exponent is no addend's

void negate(Operands& c, size_t at) {
  const FormatFields& f = c.format(at);
  if (f.integer) c[at] = (0 - c[at]) & f.container_mask();
  else flip_sign(c, at);
}

void set_bit_to(Operands& c, size_t at, int bit, bool one) {
  const uint64_t mask = c.format(at).in_container(uint64_t{1} << bit);
  c[at] = one ? c[at] | mask : c[at] & ~mask;
}

/// Changes of operands by a flaw of a lane, of hardware that two lanes share, or of scales; the simplest first.
/// `block`: products of a step; `lanes`: indices of addends that are not zero in any case, k for c.
void add_operands(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, size_t block,
                  const std::vector<int>& lanes) {
  using Change = std::function<void(Operands&)>;
  const auto add_forms = [&](const std::string& text, const std::vector<Change>& forms) {
    all.push_back({Stage::operands, text, [forms, op, &unit](const Sample& sample) {
                     Results results;
                     for (const Change& form : forms) {
                       std::vector<Operands> changed = sample.cases;
                       for (Operands& c : changed) form(c);
                       results.push_back(results_of(unit, op, changed, sample.of_model));
                     }
                     return results;
                   }});
  };
  const auto add = [&](const std::string& text, const Change& change) { add_forms(text, {change}); };
  const Operands any(op, Batch(op, 1), 0);
  const bool dot = any.is_dot();
  const size_t scales = static_cast<size_t>(op.has_scales() ? op.scales() : 0), operands = any.size() - 2 * scales,
               k = dot || op.is_of_blocks() ? static_cast<size_t>(op.k) : operands;
  for (int i = 0; i < any.addends(); ++i) {
    const std::string addend = addend_name(op, i);
    add(addend + (dot ? " were left out" : " were zero"), [=](Operands& c) { clear_addend(c, i); });
    add(addend + " had the other sign", [=](Operands& c) { negate(c, c.operands_of(i)[0]); });
    for (int by = 1; by <= max_shifts; ++by)
      for (const int shift : {by, -by})
        add(fmt::format("{} were 2^{} times as large", addend, shift), [=](Operands& c) { scale_addend(c, i, shift); });
    add(addend + " lost its sign", [=](Operands& c) {
      for (const size_t at : c.operands_of(i))
        if (decode(c.format(at), c[at]).negative) negate(c, at);
    });
  }
  if (dot) {
    std::vector<Change> left_out;
    for (int i = 0; i < op.k; ++i) left_out.push_back([=](Operands& c) { clear_addend(c, i); });
    add_forms("one of the products were left out", left_out);
    add("the products came in the reverse order", [k](Operands& c) {
      for (size_t i = 0, j = k - 1; i < j; ++i, --j) {
        std::swap(c[i], c[j]);
        std::swap(c[k + i], c[k + j]);
      }
    });
  }
  for (size_t at = 0; at < operands; ++at)
    if (any.format(at).has_infinity())
      add(operand_name(op, at) + " were infinity where it is NaN", [=](Operands& c) {
        const FormatFields& f = c.format(at);
        if (decode(f, c[at]).cls == NumberClass::nan) c[at] = f.encode_infinity(is_negative(f, c[at]));
      });
  for (size_t at = 0; at < operands; ++at)
    add(operand_name(op, at) + " were zero where it is subnormal", [=](Operands& c) {
      if (decode(c.format(at), c[at]).subnormal) c.clear(at);
    });
  add("each operand were zero where it is subnormal", [=](Operands& c) {
    for (size_t at = 0; at < operands; ++at)
      if (decode(c.format(at), c[at]).subnormal) c[at] = c.format(at).encode_zero(is_negative(c.format(at), c[at]));
  });
  if (op.kind == OpKind::scalar && operands > 1)
    add("the operand of least magnitude were zero", [=](Operands& c) {
      const auto magnitude = [&](size_t at) { return c[at] & ~c.format(at).sign_bit(); };
      size_t least = 0;
      for (size_t at = 1; at < operands; ++at)
        if (magnitude(at) < magnitude(least)) least = at;
      c.clear(least);
    });
  for (size_t at = 0; at < (dot ? 2 * k : k); ++at)
    for (size_t row = at < k ? 0 : k, from = row; from < row + k; ++from)
      if (from != at && (k <= max_wires || from + 1 == at || at + 1 == from))
        add(operand_name(op, at) + " were read from " + operand_name(op, from), [=](Operands& c) { c[at] = c[from]; });
  for (size_t end = block; dot && end < k; end += block)
    add(fmt::format("c and the first {} products were left out", end), [=](Operands& c) {
      for (size_t i = 0; i < end; ++i) clear_addend(c, static_cast<int>(i));
      c.clear(2 * k);
    });
  if (scales && op.scale_a == op.scale_b)
    add("the product of two scales kept to the range of one", [=](Operands& c) {
      for (size_t at = 2 * k + 1; at <= 2 * k + scales; ++at) {
        const FormatFields& f = c.format(at);
        const Number x = decode(f, c[at]), y = decode(f, c[at + scales]);
        if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) continue;
        const int sum = x.scale_exponent + y.scale_exponent, kept = std::clamp(sum, f.emin(), f.emax());
        if (kept != sum) scale(c, at + scales, kept - sum);
      }
    });
  for (size_t at = 2 * k + 1; at <= 2 * k + 2 * scales; ++at)
    for (size_t from = 2 * k + 1; from <= 2 * k + 2 * scales; ++from)
      if (from != at && ((from <= 2 * k + scales) == (at <= 2 * k + scales) || op.scale_a == op.scale_b))
        add(operand_name(op, at) + " were read from " + operand_name(op, from), [=](Operands& c) { c[at] = c[from]; });
  for (size_t at = 0; at < any.size(); ++at) {
    const FormatFields& f = any.format(at);
    for (int bit = 0; bit < f.width - f.ignored_low_bits; ++bit)
      for (const bool one : {false, true})
        add("bit " + std::to_string(bit) + " of " + operand_name(op, at) + " were " + (one ? "1" : "0"),
            [=](Operands& c) { set_bit_to(c, at, bit, one); });
  }
  // Hardware that compares lanes, or is shared by them, can lose two addends.
  if (lanes.size() > max_in_pairs) return;
  for (size_t i = 0; i < lanes.size(); ++i)
    for (size_t j = i + 1; j < lanes.size(); ++j)
      add(addend_name(op, lanes[i]) + " and " + addend_name(op, lanes[j]) + " were left out",
          [first = lanes[i], second = lanes[j]](Operands& c) {
            clear_addend(c, first);
            clear_addend(c, second);
          });
}

/// Changes of the sum that one step hands on to the next: it becomes the next c.
void add_partial_sums(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, size_t block) {
  const size_t k = static_cast<size_t>(op.k);
  const FormatFields& f = op.d.fields();
  const auto add = [&](const std::string& text, size_t end, const std::function<uint64_t(uint64_t)>& changed) {
    all.push_back({Stage::operands, fmt::format("the sum after the first {} products {}", end, text),
                   [=, &unit](const Sample& sample) {
                     std::vector<Operands> first = sample.cases, rest = sample.cases;
                     for (Operands& c : first) leave_out(c, end, k);
                     const std::vector<uint64_t> sums = results_of(unit, op, first, sample.of_model);
                     for (size_t at = 0; at < rest.size(); ++at) {
                       leave_out(rest[at], 0, end);
                       rest[at][2 * k] = changed(sums[at]);
                     }
                     return Results{results_of(unit, op, rest, sample.of_model)};
                   }});
  };
  for (size_t end = block; end < k; end += block) {
    add("were zero where it is subnormal", end, [&f](uint64_t sum) {
      const Number n = decode(f, sum);
      return n.cls == NumberClass::finite && n.subnormal ? f.encode_zero(n.negative) : sum;
    });
    add("were the greatest finite number where it is infinity", end, [&f](uint64_t sum) {
      const Number n = decode(f, sum);
      return n.cls == NumberClass::infinity ? f.encode_greatest(n.negative) : sum;
    });
  }
}

/// The steps of a case's arithmetic: sums on a grid that are rounded once. Empty where the last step is none; the last
/// alone where an earlier one is none, or does not hand its result on as c.
std::vector<Step> sums_of(const DotModel& model, const Operands& one) {
  const Op& op = one.op();
  DotCase loaded(op);
  std::vector<Step> steps = recorded_steps(model, loaded.load(one.as_batch(), 0));
  const auto is_fused = [](const Step& s) { return s.kind == Step::Kind::fused_sum && s.aligned; };
  if (steps.empty() ||
      !(is_fused(steps.back()) || (steps.back().kind == Step::Kind::second_stage && steps.back().aligned)))
    return {};
  const bool hand_on = op.c == op.d && model.d == step_format(model) &&
                       static_cast<int>(steps.size()) * products_per_step(model) == op.k;
  if (!hand_on || !std::all_of(steps.begin(), steps.end(), is_fused)) steps.erase(steps.begin(), steps.end() - 1);
  return steps;
}

int64_t with_sign_of(int64_t sum, uint64_t magnitude) {
  return sum < 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

/// A magnitude in units of 2^exponent as a number of units of 2^unit, cut.
uint64_t cut(uint64_t significand, int exponent, int unit) {
  const int down = unit - exponent;
  return down >= 64 ? 0 : down >= 0 ? significand >> down : -down >= 63 ? 0 : significand << -down;
}

/// The candidate whose forms change the sum of one step. `result_of`: returns the encoding of a step's result under a
/// form, from the step and from the model's result. `names`: of the forms; empty where they need none.
template <class Form, class ResultOf>
EffectCandidate step_candidate(const Unit& unit, const std::string& text, const std::vector<Form>& forms,
                               const ResultOf& result_of, const std::vector<std::string>& names = {}) {
  const int steps = unit.model()->k / products_per_step(*unit.model());
  const auto name_of_form = [names, steps, count = forms.size()](size_t form) {
    std::vector<std::string> words;
    if (!names.empty()) words.push_back(names[form % count]);
    if (steps > 1) words.push_back(fmt::format("step {}", form / count + 1));
    return words.empty() ? "" : " (" + joined(words, ", ") + ")";
  };
  return {Stage::sum, text,
          [&unit, forms, result_of](const Sample& sample) {
            const DotModel& model = *unit.model();
            Results results(forms.size(), sample.of_model);
            if (sample.cases.empty()) return results;
            LaterSteps later(unit, sample.cases[0].op());
            for (size_t i = 0; i < sample.cases.size(); ++i) {
              const std::vector<Step> steps = sums_of(model, sample.cases[i]);
              for (size_t at = 0; at < steps.size(); ++at)
                for (size_t form = 0; form < forms.size(); ++form) {
                  if (results.size() < (at + 1) * forms.size())
                    results.resize((at + 1) * forms.size(), sample.of_model);
                  const size_t place = at * forms.size() + form;
                  const bool is_last = at + 1 == steps.size();
                  const uint64_t of_model = is_last ? sample.of_model[i] : steps[at].result;
                  const uint64_t changed = result_of(forms[form], steps[at], of_model);
                  if (is_last) results[place][i] = changed;
                  else if (changed != of_model)
                    later.add(sample, i, place, (at + 1) * static_cast<size_t>(products_per_step(model)), changed);
                }
            }
            later.put_into(results);
            return results;
          },
          name_of_form};
}

using ChangedSum = std::function<int64_t(const Step&)>;

/// The candidate whose forms change a sum, in its own units, which is then rounded as the model does.
EffectCandidate sum_candidate(const Unit& unit, const std::string& text, const std::vector<ChangedSum>& forms,
                              const std::vector<std::string>& names = {}) {
  const auto result_of = [&unit](const ChangedSum& form, const Step& step, uint64_t of_model) {
    const int64_t changed = form(step);
    return changed == step.sum ? of_model : round_output(*unit.model(), changed, step.unit_exponent, false).encoding;
  };
  return step_candidate(unit, text, forms, result_of, names);
}

/// Changes of the last sum: an alignment that cuts differently, one wrong digit.
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
  const int precision = (model.output_fraction_bits ? model.output_fraction_bits : model.d.fraction_bits) + 1;
  add("a subnormal result were rounded twice: as a normal number first", {[precision](const Step& s) {
        const uint64_t m = magnitude_of(s.sum);
        const int drop = bit_length(m) - precision;
        if (drop <= 0) return s.sum;
        const uint64_t half = uint64_t{1} << (drop - 1), rest = m & (2 * half - 1), kept = m - rest;
        const bool up = rest > half || (rest == half && (m >> drop & 1));
        return with_sign_of(s.sum, kept + (up ? 2 * half : 0));
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
  const auto of_magnitude = [](const std::function<uint64_t(uint64_t)>& change) {
    return [change](const Step& s) { return with_sign_of(s.sum, change(magnitude_of(s.sum))); };
  };
  for (int bit = 0; bit < widest_sum; ++bit) {
    const uint64_t digit = uint64_t{1} << bit;
    for (const bool less : {true, false}) {
      const char* word = less ? "less" : "more";
      add(fmt::format("the sum's magnitude were {} by 2^{} of its last digit", word, bit),
          {of_magnitude([=](uint64_t m) { return less ? m - digit : m + digit; })});
      add(fmt::format("the sum, with its sign, were {} by 2^{} of its last digit", word, bit), {[=](const Step& s) {
            return less ? s.sum - static_cast<int64_t>(digit) : s.sum + static_cast<int64_t>(digit);
          }});
    }
    add(fmt::format("digit {} of the sum, from the last one that is kept, were the other one", bit),
        {of_magnitude([digit](uint64_t m) { return m ^ digit; })});
    if (bit > 0)
      add(fmt::format("the last {} digits of the sum were zero", bit),
          {of_magnitude([digit](uint64_t m) { return m & ~(digit - 1); })});
    add(fmt::format("the sum had no digits from number {} on", bit),
        {of_magnitude([digit](uint64_t m) { return m & (digit - 1); })});
  }
  // Digits by their role: how far they stand after the leading one, and after the last one of the result.
  const auto by_role = [&](const std::string& text, int after, bool of_leading,
                           const std::function<uint64_t(uint64_t, uint64_t)>& change) {
    add(text, {[=](const Step& s) {
          const uint64_t m = magnitude_of(s.sum);
          const int bit = (of_leading ? bit_length(m) - 1 : s.rounded.quantum - s.unit_exponent) - after;
          return bit < 0 || bit >= bit_length(m) ? s.sum : with_sign_of(s.sum, change(m, uint64_t{1} << bit));
        }});
  };
  for (int after = 1; after <= max_role; ++after)
    for (const bool of_leading : {false, true}) {
      const std::string digit = of_leading ? fmt::format("digit {} after the leading one of the sum", after)
                                           : fmt::format("digit {} of those of the sum that rounding drops", after);
      by_role(digit + " were the other one", after, of_leading, [](uint64_t m, uint64_t one) { return m ^ one; });
      by_role(digit + " were 0", after, of_leading, [](uint64_t m, uint64_t one) { return m & ~one; });
      by_role(digit + " were 1", after, of_leading, [](uint64_t m, uint64_t one) { return m | one; });
      by_role(digit + " were the last one", after, of_leading, [](uint64_t m, uint64_t one) { return m & (0 - one); });
    }
}

/// Changes of the sum of some adjacent products of a step, or of those in even or odd lanes.
void add_group_sums(std::vector<EffectCandidate>& all, const Unit& unit) {
  struct Lanes {
    int first, end, stride;
  };
  const int lanes = products_per_step(*unit.model());
  const auto add = [&](const std::string& text, const std::vector<Lanes>& groups,
                       const std::function<int64_t(int64_t)>& changed) {
    const auto change_of = [changed, lanes](const Step& s, const Lanes& group) {
      int64_t sum = 0;
      for (int i = 0; i < s.count; ++i) {
        const Addend& t = s.addend[i];
        const int lane = t.index % lanes;
        if (t.source == Addend::Source::product && lane >= group.first && lane < group.end &&
            (lane - group.first) % group.stride == 0)
          sum += t.kept;
      }
      return changed(sum) - sum;
    };
    std::vector<ChangedSum> forms;
    std::vector<std::string> names;
    for (const Lanes& group : groups) {
      forms.push_back([=](const Step& s) { return s.sum + change_of(s, group); });
      names.push_back(group.stride == 1  ? fmt::format("lanes {} to {}", group.first, group.end - 1)
                      : group.first == 0 ? "even lanes"
                                         : "odd lanes");
    }
    forms.push_back([=](const Step& s) {
      int64_t sum = s.sum;
      for (const Lanes& group : groups) sum += change_of(s, group);
      return sum;
    });
    names.push_back("each of them");
    all.push_back(sum_candidate(unit, text, forms, names));
  };
  const auto add_all = [&](const std::string& which, const std::vector<Lanes>& groups) {
    add(which + " were left out", groups, [](int64_t) { return 0; });
    add(which + " had the other sign", groups, [](int64_t sum) { return -sum; });
    add(which + " lost its sign", groups, [](int64_t sum) { return std::abs(sum); });
    for (int bits = 1; bits <= max_group_cut; ++bits)
      add(fmt::format("{} lost its last {} digits", which, bits), groups,
          [bits](int64_t sum) { return with_sign_of(sum, magnitude_of(sum) >> bits << bits); });
    for (int bits = least_register; bits <= widest_register; ++bits) {
      const int64_t most = (int64_t{1} << (bits - 1)) - 1;
      add(fmt::format("{} kept only its last {} bits", which, bits), groups,
          [most](int64_t sum) { return ((sum + most + 1) & (2 * most + 1)) - most - 1; });
      add(fmt::format("{} were saturated at {} bits", which, bits), groups,
          [most](int64_t sum) { return std::clamp(sum, -most - 1, most); });
    }
  };
  for (int count = 2; count < lanes; count *= 2) {
    std::vector<Lanes> groups;
    for (int first = 0; first + count <= lanes; first += count) groups.push_back({first, first + count, 1});
    add_all(fmt::format("the sum of {} adjacent products", count), groups);
  }
  add_all("the sum of the products in even or in odd lanes", {{0, lanes, 2}, {1, lanes, 2}});
}

using ChangedGreatest = std::function<int(const Step&)>;  ///< returns the exponent of alignment

/// The candidate whose forms align the addends of the last step at another exponent.
EffectCandidate alignment_candidate(const Unit& unit, const std::string& text,
                                    const std::vector<ChangedGreatest>& forms) {
  return step_candidate(unit, text, forms, [&unit](const ChangedGreatest& form, const Step& last, uint64_t of_model) {
    const int by = form(last) - last.greatest_exponent;
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
  const int bits = model.output_fraction_bits ? model.output_fraction_bits : d.fraction_bits;
  const auto moved_result = [&d, bits](bool far, const Step& last, uint64_t of_model) {
    if (decode(d, of_model).cls != NumberClass::finite) return of_model;
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

/// Changes by sums of adjacent integer products that are kept in a narrow register.
void add_integer_sums(std::vector<EffectCandidate>& all, const Op& op) {
  enum class Register { saturates, wraps };
  const size_t k = static_cast<size_t>(op.k);
  const auto add_to_result = [&](const std::string& text, const std::function<int64_t(const Operands&)>& change) {
    all.push_back({Stage::sum, text, [=](const Sample& sample) {
                     Results results(1, sample.of_model);
                     for (size_t i = 0; i < sample.cases.size(); ++i)
                       results[0][i] = (results[0][i] + static_cast<uint64_t>(change(sample.cases[i]))) &
                                       low_mask(op.d.fields().width);
                     return results;
                   }});
  };
  const auto value = [](const Operands& c, size_t at) { return integer_value(c.format(at), c[at]); };
  // Adds the candidate that keeps the sums of `count` products, from lane `first` on up to lane `end`, in registers.
  const auto add = [&](const std::string& which, size_t first, size_t end, size_t count, int bits, Register kind) {
    const bool saturates = kind == Register::saturates;
    const char* what = saturates ? "were saturated at" : "kept only its last";
    add_to_result(fmt::format("{} {} {} bits", which, what, bits), [=](const Operands& c) {
      int64_t change = 0;
      for (size_t begin = first; begin + count <= end; begin += count) {
        int64_t sum = 0;
        for (size_t lane = begin; lane < begin + count; ++lane) sum += value(c, lane) * value(c, k + lane);
        const int64_t most = (int64_t{1} << (bits - 1)) - 1;
        change += (saturates ? std::clamp(sum, -most - 1, most) : ((sum + most + 1) & (2 * most + 1)) - most - 1) - sum;
      }
      return change;
    });
  };
  for (size_t count = 2; count <= k; count *= 2)
    for (int bits = 8; bits <= 24; ++bits)
      for (const Register kind : {Register::saturates, Register::wraps}) {
        if (count < k) add(fmt::format("each sum of {} products", count), 0, k, count, bits, kind);
        for (size_t first = 0; first + count <= k; first += count)
          add(fmt::format("the sum of products {} to {}", first, first + count - 1), first, first + count, count, bits,
              kind);
      }
  for (size_t at = 0; at < 2 * k; ++at) {
    const FormatFields& f = (at < k ? op.a : op.b).fields();
    if (f.has_sign())
      add_to_result(operand_name(op, at) + " were read without a sign", [=](const Operands& c) {
        return value(c, at) < 0 ? (int64_t{1} << f.width) * value(c, at < k ? at + k : at - k) : 0;
      });
  }
}

/// A conversion to an integer that keeps the low bits of an integer beyond the range.
void add_wrapping(std::vector<EffectCandidate>& all, const Op& op) {
  all.push_back({Stage::result, "the result were the low bits of the rounded integer", [op](const Sample& sample) {
                   Results results(1, sample.of_model);
                   for (size_t i = 0; i < sample.cases.size(); ++i) {
                     const Number x = decode(op.a.fields(), sample.cases[i][0]);
                     const RoundedInteger r = rounded_integer(x, op.rounding_rule_of(sample.cases[i][0]));
                     if (x.cls == NumberClass::finite && !r.has_over_64_bits)
                       results[0][i] = (x.negative ? 0 - r.magnitude : r.magnitude) & low_mask(op.d.fields().width);
                   }
                   return results;
                 }});
}

/// A conversion or product whose rounding does not see all of the bits that it drops.
void add_dropped_bits(std::vector<EffectCandidate>& all, const Op& op) {
  constexpr int most_seen = 30;
  for (int seen = 1; seen <= most_seen; ++seen)
    all.push_back({Stage::result, fmt::format("rounding saw only the first {} of the bits that it drops", seen),
                   [op, seen](const Sample& sample) {
                     Results results(1, sample.of_model);
                     for (size_t i = 0; i < sample.cases.size(); ++i) {
                       const Operands& c = sample.cases[i];
                       Exact x = to_exact(decode(c.format(0), c[0]));
                       if (op.kind == OpKind::scalar) x = exact_product(x, to_exact(decode(c.format(1), c[1])));
                       if (x.cls != NumberClass::finite) continue;
                       const FormatFields& d = op.d.fields();
                       const int unseen = round_scalar_case(op, c.as_batch(), 0).quantum - seen - x.exponent;
                       if (unseen <= 0 || unseen >= 128) continue;
                       x.significand = x.significand >> unseen << unseen;
                       if (x.significand) results[0][i] = round_exact(d, x, op.rounding_rule_of(c[0])).encoding;
                     }
                     return results;
                   }});
}

/// Changes of the result: a shift of normalization, rounding, one wrong bit.
void add_results(std::vector<EffectCandidate>& all, const FormatFields& d, const DotModel* model) {
  const auto add = [&](const std::string& text, const std::function<uint64_t(uint64_t)>& changed) {
    all.push_back({Stage::result, "the result were " + text, [&d, changed](const Sample& sample) {
                     Results results(1);
                     for (const uint64_t claimed : sample.of_model)
                       results[0].push_back(changed(claimed) & d.container_mask());
                     return results;
                   }});
  };
  if (!d.integer) {
    add("of the other sign", [&d](uint64_t claimed) { return claimed ^ travelling_sign(d); });
    add("an infinity of its sign", [&d](uint64_t x) { return d.encode_infinity(is_negative(d, x)); });
    add("the greatest finite number of its sign", [&d](uint64_t x) { return d.encode_greatest(is_negative(d, x)); });
    add("a zero of its sign", [&d](uint64_t x) { return d.encode_zero(is_negative(d, x)); });
    for (const bool negative : {false, true}) {
      const char* sign = negative ? "-" : "+";
      add(fmt::format("{}0", sign), [&d, negative](uint64_t) { return d.encode_zero(negative); });
      add(fmt::format("{}infinity", sign), [&d, negative](uint64_t) { return d.encode_infinity(negative); });
    }
    const uint64_t nan = model ? model->nan : d.encode_nan();
    add("a NaN", [nan](uint64_t) { return nan; });
    const int most = std::min(max_scales, d.emax() - d.emin() + d.fraction_bits);  // all beyond are alike
    for (int by = -most; by <= most; ++by)
      if (by != 0)
        add(fmt::format("2^{} times as large", by), [&d, by](uint64_t claimed) {
          const Number n = decode(d, claimed);
          return n.cls == NumberClass::finite ? with_exponent(d, claimed, leading_exponent(d, claimed) + by) : claimed;
        });
  }
  for (int bit = 1; d.integer && bit < d.width; ++bit)
    for (const bool less : {true, false})
      add(fmt::format("2^{} {}", bit, less ? "less" : "greater"), [bit, less](uint64_t claimed) {
        return less ? claimed - (uint64_t{1} << bit) : claimed + (uint64_t{1} << bit);
      });
  // The results of some rows have fewer fraction bits than the format.
  const bool short_results = model && model->output_fraction_bits > 0 && model->output_fraction_bits < d.fraction_bits;
  const uint64_t step =
      d.in_container(uint64_t{1} << (short_results ? d.fraction_bits - model->output_fraction_bits : 0));
  add("rounded to the next number away from zero", [=](uint64_t claimed) { return claimed + step; });
  add("rounded to the next number toward zero", [=](uint64_t claimed) { return claimed - step; });
  for (const bool ones : {false, true})
    all.push_back({Stage::result, fmt::format("some of the result's last bits, two or more, were all {}", ones ? 1 : 0),
                   [&d, ones](const Sample& sample) {
                     Results results;
                     for (int bits = 2; bits < d.width; ++bits) {
                       const uint64_t mask = d.in_container(low_mask(bits));
                       std::vector<uint64_t>& form = results.emplace_back(sample.of_model);
                       for (uint64_t& result : form) result = ones ? result | mask : result & ~mask;
                     }
                     return results;
                   }});
  for (int bit = 0; bit < d.width; ++bit)
    add("wrong in bit " + std::to_string(bit), [=](uint64_t claimed) { return claimed ^ uint64_t { 1 } << bit; });
}

/// What a unit may keep of the case before: the beginning of a text, and the indices of the operands.
std::vector<std::pair<std::string, std::vector<size_t>>> remembered(const Op& op) {
  const bool dot = op.kind == OpKind::dot;
  const size_t k = static_cast<size_t>(dot ? op.k : 0), operands = dot ? 2 * k : Operands(op, Batch(op, 1), 0).size();
  std::vector<std::pair<std::string, std::vector<size_t>>> all;
  std::vector<size_t> of_a, of_b;
  for (size_t i = 0; i < k; ++i) of_a.push_back(i), of_b.push_back(k + i);
  if (dot) all.push_back({"c were that", {2 * k}});
  for (size_t i = 0; i < operands; ++i) all.push_back({operand_name(op, i) + " were that", {i}});
  for (size_t i = 0; i < k; ++i) all.push_back({addend_name(op, static_cast<int>(i)) + " were that", {i, k + i}});
  if (dot) all.push_back({"all a were those", of_a});
  if (dot) all.push_back({"all b were those", of_b});
  return all;
}

/// Changes by memory of the case before.
void add_memory(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit) {
  const auto before = [op, &unit](const Sample& sample) {
    return results_of(unit, op, sample.before, sample.of_model);
  };
  all.push_back({Stage::result, "the result were that of the case before",
                 [before](const Sample& sample) { return Results{before(sample)}; }});
  const auto add = [&](const std::string& text, const std::function<void(Operands&, const Operands&, uint64_t)>& take) {
    all.push_back({Stage::operands, text, [=, &unit](const Sample& sample) {
                     std::vector<Operands> changed = sample.cases;
                     const std::vector<uint64_t> earlier = before(sample);
                     for (size_t i = 0; i < changed.size(); ++i) take(changed[i], sample.before[i], earlier[i]);
                     return Results{results_of(unit, op, changed, sample.of_model)};
                   }});
  };
  for (const auto& [what, operands] : remembered(op))
    add(what + " of the case before", [places = operands](Operands& c, const Operands& earlier, uint64_t) {
      for (const size_t at : places) c[at] = earlier[at];
    });
  if (op.kind == OpKind::dot && op.c == op.d)
    add("c were the result of the case before",
        [at = 2 * static_cast<size_t>(op.k)](Operands& c, const Operands&, uint64_t result) { c[at] = result; });
}

}  // namespace

std::vector<EffectCandidate> effect_candidates(const Op& op, const Unit& unit,
                                               const std::vector<ModelVariant>& variants, const Sample& sample) {
  const DotModel* model = unit.model();
  std::vector<EffectCandidate> all;
  std::vector<int> lanes;  // indices of addends that are not zero in any case
  for (int lane = 0; lane <= op.k && op.kind == OpKind::dot; ++lane)
    if (std::none_of(sample.cases.begin(), sample.cases.end(),
                     [&](const Operands& c) { return c.is_zero_addend(lane); }))
      lanes.push_back(lane);
  for (const ModelVariant& v : variants)
    if (v.parameter != "kernel")  // another kernel fits many cases by chance
      all.push_back(
          {v.stage,
           v.parameter.empty() ? v.other_value
           : v.stage == Stage::row
               ? fmt::format("{} ({}) were {} and not {}", v.parameter, v.meaning, v.other_value, v.model_value)
               : fmt::format("it had {} ({})", v.other_value, v.meaning),
           [run = v.run, op](const Sample& of) { return Results{results_of(run, op, of.cases, of.of_model)}; }});
  add_operands(all, op, unit, static_cast<size_t>(model ? products_per_step(*model) : op.k), lanes);
  if (!sample.before.empty()) add_memory(all, op, unit);
  if (op.kind == OpKind::dot && op.c == op.d) {
    if (!op.a.fields().integer)
      add_partial_sums(all, op, unit, static_cast<size_t>(model ? products_per_step(*model) : 1));
    all.push_back({Stage::result, "the result were c", [at = 2 * static_cast<size_t>(op.k)](const Sample& of) {
                     Results results(1);
                     for (const Operands& c : of.cases) results[0].push_back(c[at]);
                     return results;
                   }});
  }
  if (model) add_sums(all, unit);
  if (model && products_per_step(*model) > 2) add_group_sums(all, unit);
  if (model && !model->d.integer) add_normalization(all, unit);
  if (model) add_alignments(all, unit);
  if (model) add_products(all, unit);
  if (model) add_shifts(all, unit);
  if (op.kind == OpKind::dot && op.a.fields().integer) add_integer_sums(all, op);
  if (op.kind == OpKind::convert && op.rounds_to_integer()) add_wrapping(all, op);
  if ((op.kind == OpKind::convert && !op.rounds_to_integer()) ||
      (op.kind == OpKind::scalar && op.scalar == ScalarOperation::mul))
    add_dropped_bits(all, op);
  add_ieee_effects(all, op, unit, sample);
  add_results(all, op.d.fields(), model);
  return all;
}

}  // namespace mmafuzz
