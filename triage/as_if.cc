#include "triage/as_if.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "core/property.h"
#include "core/recording_trace.h"

namespace mmafuzz {
namespace {

constexpr size_t most_cases = 32;  ///< that differ, and as many that do not
constexpr int most_scales = 31;    ///< powers of two by which a result may be too large or too small
constexpr size_t most_wires = 32;  ///< lanes that may be read in place of any other; of more lanes only the neighbours

/// A change of a case that one lane's wires, multiplier or shifter could make.
struct Change {
  std::string text;
  std::function<void(Operands&)> apply;
};

void set_bit_to(Operands& c, size_t at, int bit, bool one) {
  const uint64_t mask = c.format(at).in_container(uint64_t{1} << bit);
  c[at] = one ? c[at] | mask : c[at] & ~mask;
}

std::string operand_name(const Op& op, size_t at) {
  const size_t k = static_cast<size_t>(op.k), scales = static_cast<size_t>(op.scales());
  if (at < 2 * k) return (at < k ? "a" : "b") + std::to_string(at % k);
  if (at == 2 * k) return "c";
  const size_t scale = at - 2 * k - 1;
  return "scale " + std::to_string(scale % scales) + (scale < scales ? " of a" : " of b");
}

/// The simplest first: of changes that fit alike, the first are named.
std::vector<Change> changes(const Op& op) {
  std::vector<Change> all;
  const size_t k = static_cast<size_t>(op.k);
  for (size_t i = 0; i <= k; ++i) {
    const std::string addend = i == k ? "c" : operand_name(op, i) + "*" + operand_name(op, k + i);
    const size_t first = i == k ? 2 * k : i, last = i == k ? 2 * k : k + i;
    all.push_back({addend + " were left out", [=](Operands& c) {
                     for (const size_t at : {first, last}) c.clear(at);
                   }});
    all.push_back({addend + " had the other sign", [=](Operands& c) { flip_sign(c, first); }});
    all.push_back({addend + " were twice as large", [=](Operands& c) { scale(c, first, 1); }});
    all.push_back({addend + " were half as large", [=](Operands& c) { scale(c, first, -1); }});
    all.push_back({addend + " lost its sign", [=](Operands& c) {
                     for (const size_t at : {first, last})
                       if (decode(c.format(at), c[at]).negative) flip_sign(c, at);
                   }});
    for (const size_t at : {first, last})
      if (at == first || i < k) {
        all.push_back({operand_name(op, at) + " were zero where it is subnormal", [=](Operands& c) {
                         if (decode(c.format(at), c[at]).subnormal) c.clear(at);
                       }});
        const size_t row = at < k ? 0 : k;
        for (size_t from = row; i < k && from < row + k; ++from)
          if (from != at && (k <= most_wires || from + 1 == at || at + 1 == from))
            all.push_back({operand_name(op, at) + " were read from " + operand_name(op, from),
                           [=](Operands& c) { c[at] = c[from]; }});
      }
  }
  const size_t scales = static_cast<size_t>(op.has_scales() ? op.scales() : 0);
  for (size_t at = 0; at <= 2 * k + 2 * scales; ++at) {
    const FormatFields& f = (at < k                 ? op.a
                             : at < 2 * k           ? op.b
                             : at == 2 * k          ? op.c
                             : at <= 2 * k + scales ? op.scale_a
                                                    : op.scale_b)
                                .fields();
    for (int bit = 0; bit < f.width - f.ignored_low_bits; ++bit)
      for (const bool one : {false, true})
        all.push_back({"bit " + std::to_string(bit) + " of " + operand_name(op, at) + " were " + (one ? "1" : "0"),
                       [=](Operands& c) { set_bit_to(c, at, bit, one); }});
  }
  return all;
}

/// The same answer: the same encoding, or a NaN each.
bool same(const FormatFields& d, uint64_t x, uint64_t y) {
  return x == y || (decode(d, x).cls == NumberClass::nan && decode(d, y).cls == NumberClass::nan);
}

/// Cases of a batch with what the unit and the model gave.
struct Sample {
  std::vector<Operands> cases;
  std::vector<uint64_t> own, claimed;
};

/// Of the cases with the given indices at most `most_cases`, spread over all.
Sample sample_of(const std::vector<size_t>& indices, const Batch& cases, const Outcomes& own, const Outcomes& claimed) {
  Sample sample;
  const size_t count = std::min(indices.size(), most_cases);
  for (size_t i = 0; i < count; ++i) {
    const size_t index = indices[i * indices.size() / count];
    sample.cases.emplace_back(cases.op(), cases, index);
    sample.own.push_back(own.results.get(index));
    sample.claimed.push_back(claimed.results.get(index));
  }
  return sample;
}

/// What the model gives for the changed cases; for a case that the change leaves as it is, what it gave.
std::vector<uint64_t> after(const Change& change, const Sample& sample, const Op& op, const Unit& model) {
  Batch changed(op);
  std::vector<size_t> of_case;
  for (size_t i = 0; i < sample.cases.size(); ++i) {
    Operands c = sample.cases[i];
    change.apply(c);
    if (c == sample.cases[i]) continue;
    changed.resize(changed.size() + 1);
    c.store(changed, changed.size() - 1);
    of_case.push_back(i);
  }
  std::vector<uint64_t> results = sample.claimed;
  if (of_case.empty()) return results;
  Outcomes outcomes;
  model.run(changed, outcomes);
  for (size_t i = 0; i < of_case.size(); ++i)
    if (outcomes.has_answer(i)) results[of_case[i]] = outcomes.results.get(i);
  return results;
}

/// The last step of a case's arithmetic, if that is a sum on a grid which is rounded once.
struct LastSum {
  bool known = false;
  int64_t sum = 0;
  int unit = 0, lost = 0;  ///< addends that lost bits
};

LastSum last_sum(const DotModel& model, const Operands& one) {
  Batch batch(one.op());
  batch.resize(1);
  one.store(batch, 0);
  DotCase loaded(one.op());
  RecordingTrace trace;
  evaluate_dot(model, loaded.load(batch, 0), trace);
  LastSum last;
  if (trace.steps.empty()) return last;
  const Step& step = trace.steps.back();
  if (step.kind != Step::Kind::fused_sum || !step.aligned) return last;
  last = {true, step.sum, step.unit_exponent, 0};
  for (int i = 0; i < step.count; ++i) last.lost += step.addend[i].lost;
  return last;
}

enum class Stage { operands, sum, result };

/// How many of the sample's cases an answer explains, and in words what the answer is.
struct Answer {
  Stage stage;
  std::string text;
  size_t fits = 0;
  const Change* change = nullptr;
};

void add_answer(std::vector<Answer>& answers, Stage stage, const std::string& text,
                const std::vector<uint64_t>& results, const Sample& sample, const FormatFields& d,
                const Change* change = nullptr) {
  size_t fits = 0;
  for (size_t i = 0; i < results.size(); ++i) fits += same(d, results[i], sample.own[i]);
  if (fits) answers.push_back({stage, text, fits, change});
}

/// Changes of the last sum: an alignment that cuts otherwise, one wrong digit.
void add_sums(std::vector<Answer>& answers, const DotModel& model, const Sample& sample) {
  std::vector<LastSum> sums;
  for (const Operands& one : sample.cases) sums.push_back(last_sum(model, one));
  if (std::none_of(sums.begin(), sums.end(), [](const LastSum& s) { return s.known; })) return;
  const auto rounded = [&](const LastSum& s, int64_t sum) { return round_output(model, sum, s.unit, false).encoding; };
  const auto results_of = [&](const std::function<int64_t(const LastSum&, uint64_t own)>& changed) {
    std::vector<uint64_t> results = sample.claimed;
    for (size_t i = 0; i < sums.size(); ++i)
      if (sums[i].known) results[i] = rounded(sums[i], changed(sums[i], sample.own[i]));
    return results;
  };
  add_answer(answers, Stage::sum,
             "an addend that loses bits in alignment were one unit of the sum's last digit larger or smaller",
             results_of([&](const LastSum& s, uint64_t own) {
               for (int64_t n = 1; n <= s.lost; ++n)
                 for (const int64_t by : {n, -n})
                   if (same(model.d, rounded(s, s.sum + by), own)) return s.sum + by;
               return s.sum;
             }),
             sample, model.d);
  constexpr int widest_sum = 48;
  for (int bit = 0; bit < widest_sum; ++bit)
    add_answer(answers, Stage::sum,
               "digit " + std::to_string(bit) + " of the sum, from the last one that is kept, were the other one",
               results_of([&](const LastSum& s, uint64_t) {
                 const int64_t magnitude = (s.sum < 0 ? -s.sum : s.sum) ^ (int64_t{1} << bit);
                 return s.sum < 0 ? -magnitude : magnitude;
               }),
               sample, model.d);
}

/// Changes of the result: a shift of normalization, rounding, one wrong bit.
void add_results(std::vector<Answer>& answers, const DotModel& model, const Sample& sample) {
  const FormatFields& d = model.d;
  const auto add = [&](const std::string& text, const std::function<uint64_t(uint64_t)>& changed) {
    std::vector<uint64_t> results;
    for (const uint64_t claimed : sample.claimed) results.push_back(changed(claimed) & d.container_mask());
    add_answer(answers, Stage::result, "the result were " + text, results, sample, d);
  };
  if (!d.integer)
    for (int by = -most_scales; by <= most_scales; ++by)
      if (by != 0)
        add("2^" + std::to_string(by) + " times as large", [&](uint64_t claimed) {
          const Number n = decode(d, claimed);
          return n.cls == NumberClass::finite ? with_exponent(d, claimed, leading_exponent(d, claimed) + by) : claimed;
        });
  // Some rows give results of fewer bits than the format has.
  const bool short_results = model.output_fraction_bits > 0 && model.output_fraction_bits < d.fraction_bits;
  const uint64_t step =
      d.in_container(uint64_t{1} << (short_results ? d.fraction_bits - model.output_fraction_bits : 0));
  add("rounded to the next number away from zero", [=](uint64_t claimed) { return claimed + step; });
  add("rounded to the next number toward zero", [=](uint64_t claimed) { return claimed - step; });
  for (int bit = 0; bit < d.width; ++bit)
    add("wrong in bit " + std::to_string(bit), [=](uint64_t claimed) { return claimed ^ uint64_t { 1 } << bit; });
}

}  // namespace

std::string what_could_make_it(const Batch& cases, const Outcomes& own, const Unit& model, const Outcomes& claimed) {
  const Op& op = cases.op();
  std::vector<size_t> differ, agree;
  for (size_t i = 0; i < cases.size(); ++i)
    if (own.has_answer(i) && claimed.has_answer(i))
      (first_difference(cases, own.results, claimed.results, i) >= 0 ? differ : agree).push_back(i);
  if (differ.empty()) return "";
  const Sample sample = sample_of(differ, cases, own, claimed);
  const FormatFields& d = op.d.fields();
  const std::vector<Change> all = changes(op);
  std::vector<Answer> answers;
  for (const Change& change : all)
    add_answer(answers, Stage::operands, change.text, after(change, sample, op, model), sample, d, &change);
  add_sums(answers, *model.model(), sample);
  add_results(answers, *model.model(), sample);
  std::stable_sort(answers.begin(), answers.end(), [](const Answer& x, const Answer& y) { return x.fits > y.fits; });
  const size_t best = answers.empty() ? 0 : answers[0].fits, count = sample.cases.size();
  if (2 * best <= count) return "no change of one operand, of the last sum or of the result makes it";
  std::string text;
  for (const auto& [stage, what] : {std::pair{Stage::operands, "changes of an operand"},
                                    {Stage::sum, "changes of the last sum"},
                                    {Stage::result, "changes of the result"}}) {
    const Answer* first = nullptr;
    size_t alike = 0;
    for (const Answer& answer : answers)
      if (answer.fits == best && answer.stage == stage && ++alike == 1) first = &answer;
    if (!first) continue;
    text += (text.empty() ? "as if " : ", or ") + first->text;
    if (alike > 1) text += fmt::format(" (one of {} such {})", alike, what);
  }
  text += " (" + std::to_string(best) + " of " + std::to_string(count) + " cases near it that differ)";
  if (!answers[0].change || agree.empty()) return text;
  // A fault that is always there shows wherever it can.
  const Sample others = sample_of(agree, cases, own, claimed);
  const std::vector<uint64_t> results = after(*answers[0].change, others, op, model);
  size_t would_show = 0;
  for (size_t i = 0; i < results.size(); ++i) would_show += !same(d, results[i], others.own[i]);
  const std::string which = answers.size() > 1 && answers[1].fits == best ? "the first of these" : "it";
  if (would_show == 0)
    return text + fmt::format("; {} would show on none of {} cases near it that agree", which, results.size());
  return text + fmt::format("; {} would also show on {} of {} cases near it that agree: a condition sets it off", which,
                            would_show, results.size());
}

}  // namespace mmafuzz
