#include "triage/triage.h"

#include <algorithm>
#include <mutex>

#include "core/case_text.h"
#include "core/parallel.h"
#include "core/row_of_unit.h"
#include "core/text.h"
#include "triage/facts/facts.h"
#include "triage/kernel_steps.h"
#include "triage/minimize.h"
#include "triage/minimize_sequence.h"
#include "triage/unexplained/unit_without_row.h"

namespace mmafuzz {
namespace {

constexpr std::string_view property_word = "property ", op_word = "op ";
constexpr size_t pending_cases = 512;   ///< cases of a group whose causes are found together
constexpr size_t max_sequences = 16;    ///< limit of sequences kept for a group
constexpr size_t repeated_cases = 512;  ///< that repeats() runs; two of three are copies of the case

/// "5th"
std::string ordinal(size_t n) {
  const size_t last = n % 10, last_two = n % 100;
  const bool is_teen = last_two >= 11 && last_two <= 13;
  return std::to_string(n) + (is_teen || last == 0 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd");
}

/// Whether both units are models, references or schemes, which remember nothing.
bool is_deterministic(const Judge& judge) {
  return std::all_of(judge.units().begin(), judge.units().end(), [](const auto& unit) {
    return unit->model() || is_reference(*unit) || unit->role() == Role::scheme;
  });
}

/// Whether the verdict on case 0 of `single` is the same failure on many copies of the case, between other cases and at
/// other positions of a batch. Deterministic units are not run again.
bool repeats(const Batch& single, const Judge& judge) {
  if (is_deterministic(judge)) return true;
  const Operands copy(judge.op(), single, 0), other = cleared(copy);
  const auto is_copy = [](size_t i) { return i % 3 != 1; };
  Batch many(judge.op(), repeated_cases);
  for (size_t i = 0; i < repeated_cases; ++i) (is_copy(i) ? copy : other).store(many, i);
  const std::vector<Verdict> verdicts = judge.judge(many);
  for (size_t i = 0; i < repeated_cases; ++i)
    if (is_copy(i) && !(verdicts[i].fails && verdicts[i] == verdicts[0])) return false;
  return true;
}

}  // namespace

std::string cause_of(const Batch& single, const Verdict& verdict, const Judge& judge, Causes& causes) {
  if (!verdict.fails || !repeats(single, judge)) return unstable;
  return causes.find(single, {verdict})[0];
}

std::string witness_text(const Bucket& bucket, const Judge& judge, const Batch& cases, const Verdict& verdict,
                         WitnessForm form) {
  const Op& op = judge.op();
  const Format& results = op.result_format(verdict.element);
  std::string text =
      head_of_witness(bucket) + "# results " +
      (judge.is_about_answering() ? "none" : to_hex(results, verdict.first) + " " + to_hex(results, verdict.second)) +
      (form == WitnessForm::minimized ? "" : std::string("\n") + not_minimized) + "\nproperty " + judge.property();
  for (const std::unique_ptr<Unit>& unit : judge.units()) text += " " + unit->name();
  text += "\n" + to_text(op) + "\n";
  for (size_t i = 0; i < cases.size(); ++i) text += case_line(cases, i) + "\n";
  if (is_of_sequence(bucket.cause)) return text;
  for (const Batch& changed : judge.changed_cases(cases)) text += case_line(changed, 0) + "\n";
  return text;
}

std::optional<ExplainedVerdict> verdict_of_pair(const Batch& single, const std::vector<std::string>& units,
                                                const Registry& registry) {
  const Result<Judge> judge = Judge::bind("equal", units, single.op(), registry);
  if (!judge) return std::nullopt;
  for (const std::unique_ptr<Unit>& unit : judge->units()) {
    const Outcomes outcomes = unit->outcomes_of(single);
    if (!outcomes.has_answer(0)) return std::nullopt;
  }
  const Verdict verdict = judge->judge(single)[0];
  if (!verdict.fails) return ExplainedVerdict{false, "", "they agree"};
  Causes causes(*judge, registry);
  const std::string cause = cause_of(single, verdict, *judge, causes);
  return ExplainedVerdict{true, cause, "they differ: " + causes.detail(cause)};
}

/// The divergences of one property, its units and one op.
class Triage::Group {
 public:
  /// Throws std::runtime_error with the reason for which the op is not read or the units do not bind. `statement`: the
  /// property, then the units. `severity`: that of the group's first record.
  Group(const std::vector<std::string>& statement, const std::string& op_line, Severity severity,
        const Registry& registry)
      : registry_(registry),
        severity_(severity),
        judge_(bound(statement, op_line, registry)),
        causes_(judge_, registry),
        text_(case_text_start + op_line + "\n"),
        head_bytes_(text_.size()) {}

  /// Takes a case line, and the lines of the cases that were evaluated before it; "" where the record has none.
  void add(std::string_view line, const std::string& before) {
    if (!before.empty() && sequences_.size() < max_sequences)
      sequences_.push_back(std::string(text_, 0, head_bytes_) + before + std::string(line) + "\n");
    text_ += line;
    text_ += '\n';
    if (++pending_ >= pending_cases) find_causes();
  }

  /// Finds the causes of the waiting cases and keeps the simplest case of each value class and cause. A case that does
  /// not fail again counts as unstable.
  void find_causes() {
    if (pending_ == 0) return;
    CaseReader reader("segment", text_);
    const size_t cases_at_once = judge_.is_about_answering() ? 1 : pending_cases;
    size_t read = 0;
    for (CaseBlock block; reader.next(block, cases_at_once);) {
      read += block.batch.size();
      const std::vector<Verdict> verdicts = judge_.judge(block.batch);
      Batch failing(judge_.op());
      std::vector<Verdict> failures;
      for (size_t i = 0; i < block.batch.size(); ++i) {
        if (!verdicts[i].fails) {
          keep(block.batch, i, verdicts[i], unstable);
          continue;
        }
        failing.append(block.batch, i);
        failures.push_back(verdicts[i]);
      }
      const std::vector<std::string> causes = causes_.find(failing, failures);
      for (size_t i = 0; i < failing.size(); ++i) keep(failing, i, failures[i], causes[i]);
    }
    if (reader.error()) {
      error_ = reader.error()->to_string();
      unread_ += pending_ - read;
    }
    text_.resize(head_bytes_);
    pending_ = 0;
  }

  /// One bucket for each value class and cause, with the witness as it was found.
  std::vector<Bucket> buckets(const std::set<std::string>& lines_with_witness) {
    find_causes();
    set_unstable_apart();
    find_periods();
    find_history();
    std::vector<Bucket> list;
    for (const auto& [key, kept] : kept_) {
      Bucket bucket = without_witness(key, kept);
      if (!lines_with_witness.count(bucket.line()))
        set_witness(bucket, judge_, kept.cases, kept.verdict,
                    stays_as_found(bucket.cause) ? WitnessForm::minimized : WitnessForm::as_found);
      list.push_back(std::move(bucket));
    }
    return list;
  }

  /// Appends the buckets of the divergences whose causes are found, without witnesses.
  void list_kinds(std::vector<Bucket>& list) const {
    for (const auto& [key, kept] : kept_) list.push_back(without_witness(key, kept));
  }

  /// Minimizes the witnesses of `chosen`, which are buckets of this group, until `goes_on` returns false.
  void minimize(const std::vector<Bucket*>& chosen, SmallCases& small, const std::function<bool()>& goes_on) {
    Minimizer minimizer(judge_, causes_, small);
    for (Bucket* bucket : chosen) {
      if (!goes_on()) return;
      const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) {
        return name_of(kept.first.first) == bucket->key.value_class && kept.first.second == bucket->cause;
      });
      if (stays_as_found(bucket->cause)) continue;
      if (judge_.op().kind == OpKind::gemm) minimize_product(*bucket, at->second.cases, at->first.first);
      else
        set_minimal(*bucket, judge_, minimizer.minimize(at->second.cases, at->first.first, bucket->cause),
                    at->second.cases);
    }
  }

  /// Why cases could not be read; complete after find_causes().
  const std::string& error() const { return error_; }
  /// Number of cases that could not be read; complete after find_causes().
  uint64_t unread() const { return unread_; }
  Severity severity() const { return severity_; }

 private:
  /// Whether a witness stays as it is: one run does not show whether a simpler case of an unstable divergence can fail,
  /// and a sequence is minimal already.
  static bool stays_as_found(const std::string& cause) { return cause == unstable || is_of_sequence(cause); }

  static void set_witness(Bucket& bucket, const Judge& judge, const Batch& cases, const Verdict& verdict,
                          WitnessForm form) {
    bucket.addends = static_cast<uint64_t>(Operands(judge.op(), cases, cases.size() - 1).cost().addends);
    bucket.witness = witness_text(bucket, judge, cases, verdict, form);
  }

  /// Sets the minimized `witness` and the detail that needs it. `found`: the case from which it was minimized.
  void set_minimal(Bucket& bucket, const Judge& judge, const Batch& witness, const Batch& found) const {
    if (bucket.cause.find("kernel") != std::string::npos)
      if (const std::string steps = steps_that_matter(judge, witness, registry_); !steps.empty())
        bucket.detail += std::string("; ") + on_this_case + arithmetics_of(judge, registry_) + ": " + steps;
    if (bucket.cause == unexplained && UnitWithoutRow::speaks_of(judge)) {
      Batch both = witness;
      both.append(found, found.size() - 1);
      bucket.detail = UnitWithoutRow(judge, registry_).describe(both);
    }
    set_witness(bucket, judge, witness, judge.judge(witness)[0], WitnessForm::minimized);
  }

  /// The op of the minimized witness may have smaller matrices than the group's op.
  void minimize_product(Bucket& bucket, const Batch& single, ValueClass cls) const {
    const std::vector<std::string>& units = bucket.key.units;
    const Batch witness = minimize_gemm(judge_.property(), units, single, cls, bucket.cause, registry_);
    set_minimal(bucket, *Judge::bind(judge_.property(), units, witness.op(), registry_), witness, witness);
  }

  /// Whether a case fails on units that have evaluated nothing before; true where they cannot be begun anew.
  bool fails_anew(const Batch& single) const {
    if (is_deterministic(judge_)) return true;
    const Verdict verdict = judge_.judge_anew(single, registry_)[0];
    return verdict.fails || !verdict.compared;
  }

  /// Gives the cause `unstable` to kept cases whose results do not repeat: a cause found in one run means nothing.
  void set_unstable_apart() {
    for (auto at = kept_.begin(); at != kept_.end();) {
      const auto [cls, cause] = at->first;
      if (stays_as_found(cause) || (repeats(at->second.cases, judge_) && fails_anew(at->second.cases))) {
        ++at;
        continue;
      }
      Kept& all = kept_[{cls, unstable}];
      const uint64_t count = all.count + at->second.count;
      if (all.count == 0) all = at->second;
      all.count = count;
      at = kept_.erase(at);
    }
  }

  /// Gives the cause `periodic` to unstable divergences that occur on every n-th case. The witness consists of zeros
  /// where a case of zeros has the same period, as it has unless the unit counts only some cases.
  void find_periods() {
    for (auto at = kept_.begin(); at != kept_.end();) {
      const auto [cls, cause] = at->first;
      const Period period = cause == unstable ? period_of(judge_, registry_, at->second.cases) : Period{};
      if (period.cases == 0 || !is_count(judge_, registry_, at->second.cases, period)) {
        ++at;
        continue;
      }
      const Batch zeros = cleared(Operands(judge_.op(), at->second.cases, 0)).as_batch();
      const Period of_zeros = period_of(judge_, registry_, zeros);
      const bool counts_all = of_zeros.cases == period.cases;
      const Batch& repeated = counts_all ? zeros : at->second.cases;
      Kept found;
      found.count = at->second.count + kept_[{cls, periodic}].count;
      found.cases = Batch(judge_.op());
      for (size_t i = 0; i < (counts_all ? of_zeros : period).shown; ++i) found.cases.append(repeated, 0);
      found.verdict = judge_.judge_anew(found.cases, registry_).back();
      found.detail = "every " + ordinal(period.cases) +
                     (counts_all ? " case fails, whatever the cases are" : " time that this case comes, it fails") +
                     ": the unit counts them";
      at = kept_.erase(at);
      kept_[{cls, periodic}] = std::move(found);
    }
  }

  /// Gives the cause `history` to all unstable divergences where the last case of one recorded sequence fails only
  /// after the cases before it.
  void find_history() {
    uint64_t count = 0;
    for (const auto& [key, kept] : kept_)
      if (key.second == unstable) count += kept.count;
    if (count == 0) return;
    for (const std::string& text : sequences_) {
      CaseReader reader("segment", text);
      CaseBlock block;
      if (!reader.next(block, SIZE_MAX) || !fails_after_others(judge_, registry_, block.batch)) continue;
      const std::optional<Batch> sequence = minimize_sequence(judge_, registry_, block.batch);
      if (!sequence) continue;
      Kept found;
      found.cases = *sequence;
      found.verdict = judge_.judge_anew(found.cases, registry_).back();
      found.count = count + kept_[{found.verdict.cls, history}].count;
      found.detail = judge_.judge_last_anew(*sequence, registry_).fails
                         ? causes_.detail(history)
                         : "the case fails only after the cases before it in the same batch: the unit remembers them "
                           "for so long, or goes by the place in a batch";
      if (UnitWithoutRow::speaks_of(judge_) && !judge_.op().is_of_blocks())
        found.detail += "; " + UnitWithoutRow(judge_, registry_).describe_sequence(*sequence);
      std::erase_if(kept_, [](const auto& kept) { return kept.first.second == unstable; });
      kept_[{found.verdict.cls, history}] = std::move(found);
      return;
    }
  }

  /// The divergences of one value class and cause.
  struct Kept {
    uint64_t count = 0;
    Batch cases;      ///< the simplest case found; of `history` and `periodic` a sequence
    Verdict verdict;  ///< on the last of `cases`
    CaseCost cost;
    std::string detail;  ///< for people; empty: what Causes::detail() says of the cause
  };

  Bucket without_witness(const std::pair<ValueClass, std::string>& key, const Kept& kept) const {
    Bucket bucket;
    bucket.key = {judge_.property(), op_label(judge_.op()), {}, name_of(key.first)};
    for (const std::unique_ptr<Unit>& unit : judge_.units()) bucket.key.units.push_back(unit->name());
    bucket.cause = key.second;
    bucket.detail = kept.detail.empty() ? causes_.detail(bucket.cause) : kept.detail;
    bucket.facts = causes_.facts(bucket.cause);
    bucket.severity = severity_;
    bucket.count = kept.count;
    return bucket;
  }

  static Judge bound(const std::vector<std::string>& statement, const std::string& op_line, const Registry& registry) {
    const Result<Op> op = parse_op(std::string_view(op_line).substr(op_word.size()));
    if (!op) throw std::runtime_error(op.refusal().reason);
    return Judge::bound(statement[0], {statement.begin() + 1, statement.end()}, *op, registry);
  }

  void keep(const Batch& cases, size_t index, const Verdict& verdict, const std::string& cause) {
    Kept& kept = kept_[{verdict.cls, cause}];
    const Operands operands(judge_.op(), cases, index);
    const CaseCost cost = operands.cost();
    if (kept.count++ > 0 && !is_simpler(operands, cost, Operands(judge_.op(), kept.cases, 0), kept.cost)) return;
    kept.cases = cases.part(index);
    kept.verdict = verdict;
    kept.cost = cost;
  }

  const Registry& registry_;
  Severity severity_;
  Judge judge_;
  Causes causes_;
  std::string text_;                    ///< the waiting cases as a file of case text
  size_t head_bytes_, pending_ = 0;     ///< length of text_ without cases; number of cases in text_
  std::vector<std::string> sequences_;  ///< as files of case text
  std::map<std::pair<ValueClass, std::string>, Kept> kept_;
  std::string error_;
  uint64_t unread_ = 0;
};

Triage::Triage(const Registry& registry, unsigned jobs) : registry_(registry), jobs_(std::max(1u, jobs)) {}
Triage::~Triage() = default;

void Triage::refuse(const std::string& reason, Severity severity) {
  ++refused_[reason];
  refused_of_contract_ += severity == Severity::contract;
}

void Triage::add(const LoggedDivergence& d) {
  ++added_;
  const std::string_view text = d.text;
  const std::string_view property = record_line(text, property_word), op = record_line(text, op_word);
  const size_t case_at = static_cast<size_t>(op.data() - text.data()) + op.size() + 1;
  if (property.empty() || op.empty() || case_at >= text.size())
    return refuse("a record without property, op or case", d.severity);
  const auto [at, is_first] = statements_.try_emplace(std::string(property) + "\n" + std::string(op));
  StatementOnOp& statement = at->second;
  if (is_first) try {
      statement.group = std::make_unique<Group>(words_of(property.substr(property_word.size())), std::string(op),
                                                d.severity, registry_);
    } catch (const std::runtime_error& error) {
      statement.refusal = error.what();
    }
  if (!statement.group) return refuse(statement.refusal, d.severity);
  std::string before;
  for (size_t next = text.find(before_word); next != std::string_view::npos; next = text.find(before_word, next)) {
    next += before_word.size();
    before += text.substr(next, text.find('\n', next) - next);
    before += '\n';
  }
  statement.group->add(text.substr(case_at, text.find('\n', case_at) - case_at), before);
}

void Triage::find_causes() {
  for (auto& [key, statement] : statements_)
    if (statement.group) statement.group->find_causes();
}

std::map<std::string, uint64_t> Triage::refused() const {
  std::map<std::string, uint64_t> all = refused_;
  for (const auto& [key, statement] : statements_)
    if (statement.group && statement.group->unread()) all[statement.group->error()] += statement.group->unread();
  return all;
}

uint64_t Triage::refused_of_contract() const {
  uint64_t count = refused_of_contract_;
  for (const auto& [key, statement] : statements_)
    if (statement.group && statement.group->severity() == Severity::contract) count += statement.group->unread();
  return count;
}

std::vector<Bucket> Triage::kinds() const {
  std::vector<Bucket> all;
  for (const auto& [key, statement] : statements_)
    if (statement.group) statement.group->list_kinds(all);
  std::sort(all.begin(), all.end(), listed_before);
  return all;
}

std::vector<Bucket> Triage::finish(const std::set<std::string>& lines_with_witness, const TriageWatch& watch,
                                   bool minimizes_all) {
  std::vector<Group*> groups;
  for (auto& [key, statement] : statements_)
    if (statement.group) groups.push_back(statement.group.get());
  std::mutex mutex;
  size_t done = 0;
  const auto goes_on = [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return !watch || watch(done, 2 * groups.size());
  };
  std::vector<std::vector<Bucket>> lists(groups.size());
  in_parallel(jobs_, groups.size(), [&](size_t i) {
    if (goes_on()) lists[i] = groups[i]->buckets(lines_with_witness);
    const std::lock_guard<std::mutex> lock(mutex);
    ++done;
  });
  std::vector<Bucket> all;
  for (const std::vector<Bucket>& list : lists) all.insert(all.end(), list.begin(), list.end());
  const std::set<std::string> simplest = simplest_of_each_fact(all);
  all.clear();
  in_parallel(jobs_, groups.size(), [&](size_t i) {
    std::vector<Bucket*> chosen;
    for (Bucket& bucket : lists[i])
      if (!bucket.witness.empty() && (minimizes_all || simplest.count(bucket.id()))) chosen.push_back(&bucket);
    if (!chosen.empty()) groups[i]->minimize(chosen, small_cases_, goes_on);
    const std::lock_guard<std::mutex> lock(mutex);
    ++done;
    std::move(lists[i].begin(), lists[i].end(), std::back_inserter(all));
  });
  std::sort(all.begin(), all.end(), listed_before);
  return all;
}

}  // namespace mmafuzz
