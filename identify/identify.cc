#include "identify/identify.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "identify/fit.h"
#include "identify/nan_rule.h"
#include "identify/separate.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr size_t max_rounds = 60;               ///< of questions between rows that fit
constexpr size_t round_limit = 2 * max_rounds;  ///< of rounds in all, with those after a refuted verification
constexpr uint64_t least_verified = 256;        ///< cases on which a row must hold to be identified
constexpr size_t structured_count = 4096;       ///< cases on which units without parameters are compared
constexpr uint64_t fit_budget = 200'000'000;    ///< Evidence::work() of one search for a row: 5 to 20 s
constexpr double verification_share = 0.25;     ///< part of --time in which no cases between rows are searched any more
constexpr double fit_seconds = 20;              ///< a shorter --time gets a smaller part of fit_budget

/// Cases of the verification where no number is given: 4,194,304; for k above 16, 2^26 / k, so that it takes no longer.
uint64_t default_verification(const Op& op) {
  constexpr uint64_t most = 1 << 22, products = 1 << 26;
  return std::min(most, products / static_cast<uint64_t>(op.k));
}

/// A unit without parameters that may be the answer: `exact`, `ieee:pairwise`.
struct PlainHypothesis {
  std::unique_ptr<Unit> unit;
  std::optional<Refuted> refuted;  ///< by the first of the answers that it contradicts
};

std::vector<PlainHypothesis> plain_hypotheses(const Op& op) {
  std::vector<PlainHypothesis> all;
  for (const UnitInfo& info : registry().list()) {
    const Role role = registry().role_of(info.name);
    const bool plain = role == Role::exact || role == Role::ieee || role == Role::hypothesis ||
                       (role == Role::other && info.name == "integer");
    if (!plain || info.name.find('<') != info.name.npos) continue;
    if (Result<std::unique_ptr<Unit>> unit = registry().bind(info.name, op)) all.push_back({std::move(*unit), {}});
  }
  return all;
}

/// A row that fits with two changes, though not with each alone.
struct HiddenPair {
  DotModel model;
  std::string changes;  ///< "output_rounding=up with overflow=infinity"
};

/// Another row that fits, and the parameter in which it differs from the row that was found.
struct Alternative {
  DotModel model;
  const Parameter* parameter;  ///< nullptr: another kernel
  int64_t value = 0;           ///< of the parameter or kernel, in `model`
};

class Identifier {
 public:
  Identifier(Identification& result, Asker* asker, const IdentifySettings& settings)
      : id_(result),
        evidence_(result.evidence),
        asker_(asker),
        settings_(settings),
        space_(result.evidence.op()),
        plain_(plain_hypotheses(result.evidence.op())) {}

  void run() {
    if (asker_ && !ask(first_questions(op()))) return end_early();
    learn_nans();
    if (evidence_.size() == 0) return finish(IdentifyVerdict::too_few, "no case was answered");
    for (size_t round = 0;; ++round) {
      if (evidence_.two_answers())
        return finish(IdentifyVerdict::no_fit,
                      "the same case was answered in two ways: the unit is no function of the case");
      if (nans_differ(evidence_) && fitting_plain().empty() && !finds_nan_rule() && name_but_for_nans()) return;
      if (!find_row()) {
        if (turn_to_plain_units()) continue;
        return;
      }
      if (!asker_) return finish_given_row();
      if (round < max_rounds) {
        Questions next = questions_between(alternatives());
        if (!next.cases.size()) next = questions_to_joint_rivals();
        if (next.cases.size()) {
          if (!ask(next)) return end_early();
          continue;
        }
      }
      bool held = false;
      if (!verify(*row_unit(), &*row_, held)) return end_early();
      if (held) return finish_held("the row");
      if (round > round_limit) break;
    }
    finish(IdentifyVerdict::no_fit, "after " + std::to_string(round_limit) + " rounds rows still come and go");
  }

 private:
  const Op& op() const { return evidence_.op(); }

  /// Asks a round of questions. False where the unit stopped, or answered less than half of the first round.
  bool ask(const Questions& questions) {
    const size_t first = id_.steps.size();
    for (const std::string& text : questions.texts) id_.steps.push_back({text, 0, SIZE_MAX, ""});
    for (const size_t q : questions.of_case) ++id_.steps[first + q].cases;
    settings_.progress("round " + std::to_string(asker_->rounds() + 1) + ": " + std::to_string(questions.cases.size()) +
                       " cases");
    const bool was_completed = asker_->ask(questions, first, evidence_);
    learn_nans();
    const size_t asked = questions.cases.size(), unanswered = asker_->unanswered();
    if (was_completed && unanswered > asked / 2 && first == 0) {
      id_.reason =
          "the unit answered " + std::to_string(asked - unanswered) + " of " + std::to_string(asked) + " cases";
      return false;
    }
    return was_completed;
  }

  /// Adds the NaNs among the answers to the values that the space has for NaNs.
  void learn_nans() {
    for (size_t i = 0; i < evidence_.size(); ++i) {
      const uint64_t answer = evidence_.answer(i);
      if (!op().d.fields().integer && decode(op().d.fields(), answer).cls == NumberClass::nan) space_.add_nan(answer);
    }
  }

  static constexpr uint64_t but_for_nans_verified = 1 << 17;  ///< cases on which a name but for the NaNs is verified

  /// Ends an identification from given answers, which row_ fits.
  void finish_given_row() {
    id_.dots = evidence_.size();
    Questions next = questions_between(alternatives());
    if (!next.cases.size()) next = questions_to_joint_rivals();
    ask_between(*row_unit(), fitting_plain(), next);
    finish_with(next.cases);
  }

  /// Ends an identification from given answers: identified where no further cases would tell more.
  void finish_with(const Batch& next) {
    if (next.size() == 0) return finish(IdentifyVerdict::identified);
    id_.next_cases = next;
    finish(IdentifyVerdict::too_few, std::to_string(next.size()) + " further cases would tell more");
  }

  /// Ends after a verification in which no answer differed: identified, unless the time ended after too few cases.
  void finish_held(const std::string& what) {
    if (id_.verified.cases >= std::min(verification_cases(), least_verified))
      return finish(IdentifyVerdict::identified);
    finish(IdentifyVerdict::too_few,
           "the time is over, and " + what + " held on " + std::to_string(id_.verified.cases) + " further cases only");
  }

  void end_early() {
    if (id_.reason.empty()) id_.reason = asker_->stopped();
    hurries_ = true;
    if (evidence_.two_answers() || !evidence_.size() || !find_row()) row_.reset();
    finish(IdentifyVerdict::too_few);
  }

  /// The rows with which searches start. Rows of the catalogue that take these operands come first, for two kernels can
  /// compute the same on them.
  std::vector<DotModel> known_rows() const {
    std::vector<DotModel> known;
    for (const Kernel kernel : space_.kernels())
      for (const DotModel& start : space_.starts(kernel)) known.push_back(start);
    const std::vector<const ModelRow*> rows = rows_of_operands();
    std::stable_partition(known.begin(), known.end(), [&](const DotModel& m) {
      return std::any_of(rows.begin(), rows.end(), [&](const ModelRow* row) {
        return row->model.kernel == m.kernel && space_.are_alike(row->model, m);
      });
    });
    return known;
  }

  /// The rows of the catalogue that take operands of these formats.
  std::vector<const ModelRow*> rows_of_operands() const {
    std::vector<const ModelRow*> rows;
    for (const ModelRow& row : model_rows())
      if (op().has_formats_of(row.op)) rows.push_back(&row);
    return rows;
  }

  /// Makes row_ a row that gives all answers: row_ itself, an earlier alternative, a row of the catalogue, or one that
  /// a search finds. False where none is found.
  bool find_row() {
    if (space_.kernels().empty()) return false;
    if (row_ && evidence_.fits(*row_)) return true;
    std::vector<DotModel> known = known_rows();
    // Alternatives that fitted before come first: one of them is the answer more often than not.
    known.insert(known.begin(), rivals_.begin(), rivals_.end());
    rivals_.clear();
    const auto first_fitting =
        std::find_if(known.begin(), known.end(), [&](const DotModel& m) { return evidence_.fits(m); });
    if (first_fitting != known.end()) {
      take(*first_fitting);
      return true;
    }
    if (hurries_) return false;
    Fit fit(space_, evidence_, settings_.seed + evidence_.size());
    if (row_) {
      const Fit::Candidate near = fit.descend(*row_, budget() / 4);
      if (near.mismatches == 0) {
        take(near.model);
        return true;
      }
    }
    // Where a unit without parameters gives all answers, it is verified first; a long search follows if it is refuted.
    const bool plain_fits = !fitting_plain().empty();
    candidates_ = fit.search(plain_fits ? budget() / 16 : budget());
    if (candidates_.front().mismatches > 0) return false;
    take(candidates_.front().model);
    for (size_t i = 1; i < candidates_.size(); ++i)
      if (candidates_[i].mismatches == 0) rivals_.push_back(candidates_[i].model);
    return true;
  }

  /// Makes a row that fits row_, and forgets what was found out about the one before.
  void take(const DotModel& model) {
    row_ = toward_catalogue(model);
    told_nothing_.clear();
    hidden_pairs_.clear();
    tried_joint_changes_ = false;
    was_challenged_ = false;
    if (!searched_others_ && !hurries_) {
      searched_others_ = true;
      Fit fit(space_, evidence_, settings_.seed);
      for (const Kernel kernel : space_.kernels()) {
        if (kernel == row_->kernel) continue;
        Fit::Candidate best;
        for (const DotModel& start : space_.starts(kernel)) fit.keep_if_better(start, best);
        best = fit.near_miss(best.model, budget() / 40);
        others_.push_back(best);
        if (best.mismatches == 0) rivals_.push_back(best.model);
      }
    }
  }

  /// The same row with the values of the nearest row of the catalogue where the answers allow them.
  DotModel toward_catalogue(DotModel model) const {
    const DotModel* nearest = nullptr;
    const std::vector<DotModel> starts = space_.starts(model.kernel);
    size_t least = SIZE_MAX;
    for (const DotModel& start : starts) {
      size_t differing = 0;
      for (const Parameter* p : space_.parameters_of(model.kernel)) differing += p->get(start) != p->get(model);
      if (differing >= least) continue;
      least = differing;
      nearest = &start;
    }
    if (!nearest) return model;
    for (const Parameter* p : space_.parameters_of(model.kernel)) {
      if (p->get(*nearest) == p->get(model)) continue;
      const std::optional<DotModel> changed = with_value(model, *p, p->get(*nearest));
      if (changed && evidence_.fits(*changed)) model = *changed;
    }
    return model;
  }

  /// Other rows that fit, and that the formats alone do not make equal to row_.
  std::vector<Alternative> alternatives() {
    std::vector<Alternative> all;
    for (const Parameter* p : space_.parameters_of(row_->kernel))
      space_.for_each_other_value(*row_, *p, [&](int64_t value, const DotModel& other) {
        if (!told_nothing_.contains({p, value}) && evidence_.fits(other) && space_.why_equal(*row_, *p, value).empty())
          all.push_back({other, p, value});
      });
    add_moved_floors(all);
    for (const DotModel& rival : rivals_)
      if (rival.kernel != row_->kernel && !told_nothing_.contains({nullptr, int64_t(rival.kernel)}) &&
          evidence_.fits(rival))
        all.push_back({rival, nullptr, static_cast<int64_t>(rival.kernel)});
    return all;
  }

  /// Adds rows whose alignment floor and fraction_bits are changed by the same amount. The last bit of a sum at the
  /// floor then keeps its weight, so that this may fit though neither change alone does.
  void add_moved_floors(std::vector<Alternative>& all) const {
    if (!has_floor()) return;
    const Parameter& bits = *find_parameter("fraction_bits");
    for (const int64_t value : space_.values(bits)) {
      const int64_t distance = value - bits.get(*row_);
      if (distance == 0 || told_nothing_.contains({&bits, value})) continue;
      const std::optional<DotModel> other = changed(*row_, moved_floor(distance));
      if (other && evidence_.fits(*other)) all.push_back({*other, &bits, value});
    }
  }

  std::string question_of(const Alternative& a) const {
    const Parameter& p = a.parameter ? *a.parameter : *find_parameter("kernel");
    return "Is " + std::string(p.name) + " (" + p.meaning + ") " + value_text(p, p.get(*row_)) + " or " +
           value_text(p, a.value) + "?";
  }

  /// Part of the time stays for the verification.
  Separator::Found separated(const std::vector<Separator::Other>& rows, uint64_t stream) const {
    return Separator(*row_, evidence_, settings_.seed + stream, [this] { return time_to_search(); }).separate(rows);
  }

  /// Cases on which row_ differs from the others. Alternatives for which none is found are remembered in told_nothing_,
  /// and not tried again.
  Questions questions_between(const std::vector<Alternative>& others) {
    Questions questions(op());
    if (others.empty()) return questions;
    std::vector<Separator::Other> rows;
    for (size_t o = 0; o < others.size(); ++o) rows.push_back({others[o].model, is_worth_more(others, o)});
    const Separator::Found found = separated(rows, evidence_.size());
    std::vector<bool> asked(found.cases.size());
    for (size_t o = 0; o < others.size(); ++o) {
      const size_t c = found.case_of_other[o];
      if (c == SIZE_MAX) {
        told_nothing_[{others[o].parameter, others[o].value}] = found.agreed_on[o];
      } else if (!asked[c]) {
        asked[c] = true;
        questions.texts.push_back(question_of(others[o]));
        questions.add(found.cases[c], 0, questions.texts.size() - 1);
      }
    }
    return questions;
  }

  /// Values that change together.
  using Change = std::vector<std::pair<const Parameter*, int64_t>>;

  static std::optional<DotModel> changed(DotModel m, const Change& change) {
    for (const auto& [p, value] : change) p->set(m, value);
    return contradiction_in(m).empty() ? std::optional(m) : std::nullopt;
  }

  bool has_floor() const {
    return find_parameter("fraction_bits")->used_by(row_->kernel) &&
           find_parameter("zero_exponent")->used_by(row_->kernel);
  }
  /// fraction_bits and zero_exponent, both raised by `distance`.
  Change moved_floor(int64_t distance) const {
    Change change;
    for (const char* name : {"fraction_bits", "zero_exponent"}) {
      const Parameter* p = find_parameter(name);
      change.push_back({p, p->get(*row_) + distance});
    }
    return change;
  }

  /// Changes of row_, each of which gives a row: moved_floor() by 1 or -1; of each parameter every other word, or the
  /// numbers next above and below.
  std::vector<Change> near_changes() const {
    std::vector<Change> all;
    const auto in_space = [&](const auto& one) {
      const std::vector<int64_t>& values = space_.values(*one.first);
      return std::find(values.begin(), values.end(), one.second) != values.end();
    };
    for (const int distance : {-1, 1})
      if (const Change change = moved_floor(distance);
          has_floor() && std::all_of(change.begin(), change.end(), in_space))
        all.push_back(change);
    for (const Parameter* p : space_.parameters_of(row_->kernel))
      for (const int64_t value : space_.values(*p)) {
        const int64_t distance = value - p->get(*row_);
        if (distance == 0 || p->is_nan || (p->words.empty() && std::abs(distance) > 1)) continue;
        all.push_back({{p, value}});
      }
    std::erase_if(all, [&](const Change& change) { return !changed(*row_, change); });
    return all;
  }

  /// Up to 24 rows that fit with two of the near changes, though not with each of the two alone.
  std::vector<HiddenPair> hidden_pairs() const {
    const std::vector<Change> changes = near_changes();
    std::vector<bool> fits;
    for (const Change& change : changes) fits.push_back(evidence_.fits(*changed(*row_, change)));
    const auto text = [](const Change& change) {
      std::string all;
      for (const auto& [p, value] : change)
        all += (all.empty() ? "" : ",") + std::string(p->name) + "=" + value_text(*p, value);
      return all;
    };
    const auto share = [](const Change& x, const Change& y) {
      for (const auto& one : x)
        for (const auto& other : y)
          if (one.first == other.first) return true;
      return false;
    };
    std::vector<HiddenPair> pairs;
    for (size_t i = 0; i < changes.size(); ++i)
      for (size_t j = i + 1; j < changes.size(); ++j) {
        if (share(changes[i], changes[j]) || (fits[i] && fits[j])) continue;
        Change both = changes[i];
        both.insert(both.end(), changes[j].begin(), changes[j].end());
        const std::optional<DotModel> other = changed(*row_, both);
        if (other && evidence_.fits(*other)) pairs.push_back({*other, text(changes[i]) + " with " + text(changes[j])});
      }
    constexpr size_t most = 24;
    if (pairs.size() > most) pairs.resize(most);
    return pairs;
  }

  /// Cases on which row_ differs from rows with several other values that fit (two changes may fit though neither alone
  /// does), and from rows of other kernels that fit the answers so far. Once there are none, it is not asked again.
  Questions questions_to_joint_rivals() {
    Questions questions(op());
    if (was_challenged_ || !time_to_search()) return questions;
    constexpr size_t drifted_rows = 16;
    Fit fit(space_, evidence_, settings_.seed + evidence_.size());
    std::vector<Separator::Other> rows;
    for (size_t n = 0; n < drifted_rows; ++n) rows.push_back({.model = fit.drifted({*row_, 0}), .is_deep = true});
    std::vector<HiddenPair> pairs = hidden_pairs();
    for (const HiddenPair& pair : pairs) rows.push_back({.model = pair.model, .is_deep = true});
    for (Fit::Candidate& other : others_) {
      if (other.model.kernel == row_->kernel) continue;
      other = fit.near_miss(other.model, budget() / 100);
      if (other.mismatches > 0) continue;
      rivals_.push_back(other.model);
      for (int n = 0; n < 4; ++n) rows.push_back({.model = n ? fit.drifted(other) : other.model, .is_deep = true});
    }
    const Separator::Found found = separated(rows, evidence_.size() + 1);
    for (size_t r = drifted_rows + pairs.size(); r < rows.size(); ++r)
      if (found.case_of_other[r] == SIZE_MAX)
        told_nothing_[{nullptr, static_cast<int64_t>(rows[r].model.kernel)}] = found.agreed_on[r];
    tried_joint_changes_ = true;
    hidden_pairs_.clear();
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (found.case_of_other[drifted_rows + i] != SIZE_MAX) continue;
      if (found.agreed_on[drifted_rows + i] == 0) tried_joint_changes_ = false;
      else hidden_pairs_.push_back(std::move(pairs[i]));
    }
    was_challenged_ = found.cases.empty() || ++challenges_ == max_rounds;
    if (!found.cases.empty()) questions.texts.push_back("Do several parameters differ together?");
    for (const Batch& one : found.cases) questions.add(one, 0, 0);
    return questions;
  }

  /// Whether an alternative gets a deep comparison (separate.h): another kernel, a word, a NaN; and of the numbers that
  /// fit above the row's the least and the greatest, likewise below.
  bool is_worth_more(const std::vector<Alternative>& others, size_t o) const {
    const Parameter* p = others[o].parameter;
    if (!p || !p->words.empty() || p->is_nan) return true;
    const int64_t distance = others[o].value - p->get(*row_);
    bool is_nearest = true, is_farthest = true;
    for (const Alternative& other : others) {
      const int64_t of_other = other.value - p->get(*row_);
      if (other.parameter != p || (of_other > 0) != (distance > 0)) continue;
      is_nearest &= std::abs(of_other) >= std::abs(distance);
      is_farthest &= std::abs(of_other) <= std::abs(distance);
    }
    return is_nearest || is_farthest;
  }

  std::unique_ptr<Unit> row_unit() const { return bind_or_fail(custom_name(*row_, op()), op()); }

  /// Verifies a hypothesis; `model` is its row or nullptr. `held`: no answer contradicted it. Contradictions join the
  /// evidence. False where the unit stopped.
  bool verify(const Unit& hypothesis, const DotModel* model, bool& held) {
    id_.dots = asker_->dots();
    id_.rounds = asker_->rounds();
    Verification verification(hypothesis, model, evidence_, *asker_, settings_.seed + asker_->dots());
    settings_.progress("verification of " + hypothesis.name());
    const Verification::Result result = verification.run(verification_cases());
    id_.verified = verification.verified();
    held = result != Verification::Result::differs;
    if (result == Verification::Result::stopped)
      return id_.verified.cases >= least_verified && asker_->seconds_left() <= 0;
    if (held) return true;
    const Batch& against = verification.contradictions();
    for (size_t i = 0; i < against.size(); ++i) evidence_.add(against, i, verification.answers()[i], id_.steps.size());
    id_.steps.push_back({"Does " + std::string(model ? "the row" : hypothesis.name()) + " hold on more cases?",
                         against.size(), SIZE_MAX, ""});
    settings_.progress("an answer differs after " + std::to_string(id_.verified.cases) + " cases");
    return true;
  }

  uint64_t verification_cases() const { return settings_.verify.value_or(default_verification(op())); }

  /// The budget of a search for a row (fit.h). It depends on the seconds that are given and not on those that have
  /// passed, so that the seed determines the result.
  uint64_t budget() const {
    const double share = asker_ ? std::clamp(settings_.seconds / fit_seconds, 0.0, 1.0) : 1;
    return static_cast<uint64_t>(share * static_cast<double>(fit_budget));
  }

  bool time_to_search() const { return !asker_ || asker_->seconds_left() > verification_share * settings_.seconds; }

  /// Called where no row fits: looks for a unit without parameters that does. True where new answers joined the
  /// evidence, so that the search goes on; false where the identification has ended.
  bool turn_to_plain_units() {
    const std::vector<const Unit*> fitting = fitting_plain();
    if (!fitting.empty()) {
      const Unit& plain = *fitting[0];
      const std::span<const Unit* const> others = std::span(fitting).subspan(1);
      Questions next(op());
      ask_between(plain, others, next);
      // Each answer refutes one of two units, so that the number of rounds is limited; the unit may not answer.
      if (asker_ && next.cases.size() && ++plain_rounds_ <= plain_.size()) {
        if (ask(next)) return true;
        end_early();
        return false;
      }
      bool held = true;
      if (asker_ && !verify(plain, nullptr, held)) {
        end_early();
        return false;
      }
      if (!held) return true;
      id_.name = plain.name();
      for (const Unit* other : others) id_.equal_units.push_back(other->name());
      asker_ ? finish_held(id_.name) : finish_given_plain(next.cases);
      return false;
    }
    if (id_.reason.empty()) id_.reason = "no row and no known unit gives all of its answers";
    if (budget() == fit_budget) {
      finish(IdentifyVerdict::no_fit);
      return false;
    }
    row_.reset();
    finish(IdentifyVerdict::too_few, "no row was found in this time; a longer --time searches further");
    return false;
  }

  /// Takes the first of these rows that gives all answers with some value of nan_from and nan. False: there is none.
  bool take_with_nan_rule(const std::vector<DotModel>& rows) {
    const Parameter &rule = *find_parameter("nan_from"), &constant = *find_parameter("nan");
    for (const DotModel& m : rows) {
      if (!rule.used_by(m.kernel)) continue;
      for (const int64_t from : space_.values(rule))
        for (const int64_t nan : space_.values(constant)) {
          std::optional<DotModel> row = with_value(m, rule, from);
          if (row) row = with_value(*row, constant, nan);
          if (!row || !evidence_.fits(*row)) continue;
          take(*row);
          return true;
        }
    }
    return false;
  }

  /// Whether row_ gives all answers, or a row of the catalogue with some rule for NaNs, which then becomes row_.
  bool finds_nan_rule() { return (row_ && evidence_.fits(*row_)) || take_with_nan_rule(known_rows()); }

  /// Rows of most kernels give one NaN. Where the answers have several, identifies the unit under nan=any, and looks
  /// for a rule of its NaNs. True: this has ended the identification, with the name and the rule as its reason.
  bool name_but_for_nans() {
    if (tried_without_nans_ || op().nan == NanPolicy::any) return false;
    tried_without_nans_ = true;
    if (asker_ && ask(nan_questions(op())) && finds_nan_rule()) return false;
    Op any = op();
    any.nan = NanPolicy::any;
    Identification numbers(any);
    IdentifySettings settings = settings_;  // the name is only part of a reason: its verification may be short
    settings.verify = std::min<uint64_t>(settings.verify.value_or(but_for_nans_verified), but_for_nans_verified);
    if (asker_) {
      Identifier(numbers, asker_, settings).run();
    } else {
      for (size_t i = 0; i < evidence_.size(); ++i)
        numbers.evidence.add(evidence_.cases().one(i), 0, evidence_.answer(i), 0);
      Identifier(numbers, nullptr, settings_).run();
    }
    if (numbers.verdict != IdentifyVerdict::identified) return false;
    if (numbers.model && find_parameter("invalid_nan")->used_by(numbers.model->kernel)) return false;
    if (numbers.model) {
      // Kernels that cut nothing can compute the same except for NaNs.
      std::vector<DotModel> rows = {*numbers.model};
      const HypothesisSpace of_any(any);
      Fit fit(of_any, numbers.evidence, settings_.seed);
      for (const Kernel kernel : traits_of(*numbers.model).aligns() ? std::vector<Kernel>() : of_any.kernels()) {
        if (!find_parameter("nan_from")->used_by(kernel) || kernel == numbers.model->kernel) continue;
        const Fit::Candidate candidate = fit.best_of(kernel, budget() / 16);
        if (candidate.mismatches == 0) rows.push_back(candidate.model);
      }
      if (take_with_nan_rule(rows)) return false;
    }
    const bool in_catalogue = !numbers.nearest.empty() && numbers.nearest_differs.empty();
    finish(IdentifyVerdict::no_fit,
           "equal to " + (in_catalogue ? numbers.nearest : numbers.name) + " but for the NaNs: " + nan_rule(evidence_));
    return true;
  }

  /// The units without parameters that give all answers. Says of every unit of plain_ what refutes it.
  std::vector<const Unit*> fitting_plain() {
    std::vector<const Unit*> fitting;
    for (PlainHypothesis& plain : plain_) {
      plain.refuted.reset();
      Outcomes outcomes;
      for (size_t i = 0; i < evidence_.size(); ++i) {
        plain.unit->run(evidence_.cases().one(i), outcomes);
        if (same_result(op(), outcomes.results.get(0), evidence_.answer(i))) continue;
        if (plain.refuted) ++plain.refuted->mismatches;
        else plain.refuted = Refuted{plain.unit->name(), i, outcomes.results.get(0)};
      }
      if (!plain.refuted) fitting.push_back(plain.unit.get());
    }
    return fitting;
  }

  /// Adds for each of the others a case on which the unit differs from it, where one of `structured_count` shows it.
  void ask_between(const Unit& unit, std::span<const Unit* const> others, Questions& questions) const {
    if (others.empty()) return;
    const Batch batch = structured_cases();
    Outcomes of_unit, of_other;
    unit.run(batch, of_unit);
    for (const Unit* other : others) {
      other->run(batch, of_other);
      for (size_t i = 0; i < batch.size(); ++i) {
        if (same_result(op(), of_unit.results.get(i), of_other.results.get(i))) continue;
        questions.texts.push_back("Is it " + unit.name() + " or " + other->name() + "?");
        questions.add(batch, i, questions.texts.size() - 1);
        break;
      }
    }
  }

  Batch structured_cases() const {
    Batch batch(op());
    StructuredGenerator(op(), settings_.seed + evidence_.size()).fill(0, structured_count, batch);
    return batch;
  }

  /// Ends an identification from given answers, which fit a unit without parameters. There are no neighbours that the
  /// answers could rule out: at least least_verified different cases have to be answered.
  void finish_given_plain(Batch next) {
    id_.dots = evidence_.size();
    std::set<std::string> known;
    for (size_t i = 0; i < evidence_.size(); ++i) known.insert(case_line(evidence_.cases().one(i), 0));
    for (size_t i = 0; i < next.size(); ++i) known.insert(case_line(next, i));
    const Batch more = structured_cases();
    for (size_t i = 0; i < more.size() && known.size() < least_verified; ++i)
      if (known.insert(case_line(more, i)).second) next.append(more, i);
    finish_with(next);
  }

  void finish(IdentifyVerdict verdict, const std::string& reason = "") {
    id_.verdict = verdict;
    if (!reason.empty()) id_.reason = reason;
    if (asker_) {
      if (verdict != IdentifyVerdict::identified) {
        id_.dots = asker_->dots();
        id_.rounds = asker_->rounds();
        id_.verified = {};
      }
      id_.seconds = asker_->seconds();
    }
    if (verdict == IdentifyVerdict::no_fit) return list_best();
    if (!row_ || !id_.name.empty()) return;
    id_.model = row_;
    id_.name = custom_name(*row_, op());
    compare_with_catalogue();
    describe_parameters();
    for (const HiddenPair& pair : hidden_pairs_)
      if (evidence_.fits(pair.model) && !differing_parameters(pair.model).empty())
        id_.joint_changes.push_back(pair.changes);
    id_.tried_joint_changes = tried_joint_changes_;
    argue();
  }

  /// The parameters in which row_ differs from another row of its kernel, without those that why_equal() explains.
  std::vector<std::string> differing_parameters(const DotModel& other) const {
    std::vector<const Parameter*> differing;
    for (const Parameter* p : space_.parameters_of(row_->kernel))
      if (p->get(other) != p->get(*row_)) differing.push_back(p);
    // Each argument is about a change of one parameter of one row: the next one starts from the changed row.
    DotModel equal = *row_;
    const auto proven = [&](const Parameter* p) {
      if (space_.why_equal(equal, *p, p->get(other)).empty()) return false;
      p->set(equal, p->get(other));
      return true;
    };
    while (std::erase_if(differing, proven)) {}
    std::vector<std::string> texts;
    for (const Parameter* p : differing) texts.push_back(difference_from(other, *p) + " here");
    return texts;
  }
  std::string difference_from(const DotModel& other, const Parameter& p) const {
    return std::string(p.name) + ": " + parameter_text(p, other) + " there, " + parameter_text(p, *row_);
  }

  void compare_with_catalogue() {
    size_t least = SIZE_MAX;
    for (const ModelRow* row : rows_of_operands()) {
      const bool same_kernel = row->model.kernel == row_->kernel;
      const std::vector<std::string> differs =
          same_kernel ? differing_parameters(row->model)
                      : std::vector{difference_from(row->model, *find_parameter("kernel"))};
      const size_t distance = same_kernel ? differs.size() : SIZE_MAX - 1;  // after all rows of this kernel
      if (distance >= least) continue;
      least = distance;
      id_.nearest = "model:" + row->name();
      id_.nearest_differs = differs;
    }
  }

  /// The finding about the kernel: the best row of every other kernel, and the case that refutes it.
  void describe_kernel() {
    const Parameter& p = *find_parameter("kernel");
    ParameterFinding finding{&p, p.get(*row_), {}, 0, {}};
    std::vector<DotModel> rows = rivals_;
    for (const Fit::Candidate& other : others_) rows.push_back(other.model);
    std::vector<int64_t> seen = {finding.value};
    for (const bool fitting : {true, false})
      for (const DotModel& m : rows) {
        if (std::find(seen.begin(), seen.end(), p.get(m)) != seen.end()) continue;
        const std::optional<size_t> against = evidence_.first_mismatch(m);
        if (fitting == against.has_value()) continue;
        seen.push_back(p.get(m));
        if (against) {
          ++finding.refuted;
          finding.neighbours.push_back({custom_name(m, op()), *against, result_of(m, *against)});
        } else {
          finding.undetermined.push_back({{p.get(m)}, custom_name(m, op()) + ", " + why_open(p, p.get(m)), false});
        }
      }
    id_.parameters.push_back(std::move(finding));
  }

  uint64_t result_of(const DotModel& m, size_t index) const {
    return evaluate_dot(m, evidence_.cases().operands(index));
  }

  void describe_parameters() {
    describe_kernel();
    for (const Parameter* p : space_.parameters_of(row_->kernel)) {
      ParameterFinding finding{p, p->get(*row_), {}, 0, {}};
      std::map<std::string, std::vector<int64_t>> open;
      space_.for_each_other_value(*row_, *p, [&](int64_t value, const DotModel& other) {
        const std::optional<size_t> against = evidence_.first_mismatch(other);
        if (!against) return open[why_open(*p, value)].push_back(value);
        ++finding.refuted;
        const Refuted refuted{std::string(p->name) + "=" + value_text(*p, value), *against, result_of(other, *against)};
        if (!p->words.empty() || p->is_nan) finding.neighbours.push_back(refuted);
        else keep_nearest(finding, refuted, value);
      });
      for (auto& [reason, values] : open)
        finding.undetermined.push_back({values, reason, !space_.why_equal(*row_, *p, values.front()).empty()});
      id_.parameters.push_back(std::move(finding));
    }
  }

  std::string why_open(const Parameter& p, int64_t value) const {
    const bool is_kernel = &p == find_parameter("kernel");
    const std::string proof = is_kernel ? "" : space_.why_equal(*row_, p, value);
    if (!proof.empty()) return "no input of this op can show it: " + proof;
    if (std::string_view(p.name) == "nan" && space_.values(p).size() == 1) return "no answer was a NaN";
    const auto told = told_nothing_.find({is_kernel ? nullptr : &p, value});
    if (!asker_ && told == told_nothing_.end()) return "none of the answers shows it; another case would";
    if (told == told_nothing_.end() && time_to_search()) return "the unit did not answer a case that would tell";
    if (told == told_nothing_.end() || told->second == 0) return "the time was over before any case was tried";
    return "not found in " + std::to_string(told->second) + " guided cases";
  }

  /// Keeps a refuted number if it is the nearest one so far, below or above the row's value.
  static void keep_nearest(ParameterFinding& finding, const Refuted& refuted, int64_t value) {
    const auto value_of = [](const Refuted& r) { return std::stoll(r.hypothesis.substr(r.hypothesis.find('=') + 1)); };
    for (Refuted& kept : finding.neighbours) {
      if ((value_of(kept) < finding.value) != (value < finding.value)) continue;
      if (std::abs(value_of(kept) - finding.value) > std::abs(value - finding.value)) kept = refuted;
      return;
    }
    finding.neighbours.push_back(refuted);
  }

  /// Fills in what each question rules out: values of row_'s parameters and other kernels, by the first answer that
  /// contradicts them.
  void argue() {
    struct RuledOut {
      std::map<const Parameter*, std::vector<int64_t>> values;
      std::vector<std::string> kernels;
      std::map<size_t, size_t> by_case;  ///< how many are ruled out, by the index of the case
    };
    std::vector<RuledOut> out(id_.steps.size() + 1);
    const auto rule_out = [&](const DotModel& other) -> RuledOut* {
      const std::optional<size_t> against = evidence_.first_mismatch(other);
      if (!against) return nullptr;
      RuledOut& step = out[std::min(evidence_.question(*against), id_.steps.size())];
      ++step.by_case[*against];
      return &step;
    };
    for (const Parameter* p : space_.parameters_of(row_->kernel))
      space_.for_each_other_value(*row_, *p, [&](int64_t value, const DotModel& other) {
        if (RuledOut* step = rule_out(other)) step->values[p].push_back(value);
      });
    for (const Fit::Candidate& other : others_)
      if (other.model.kernel != row_->kernel)
        if (RuledOut* step = rule_out(other.model))
          step->kernels.push_back(parameter_text(*find_parameter("kernel"), other.model));
    for (size_t q = 0; q < id_.steps.size(); ++q) {
      ArgumentStep& step = id_.steps[q];
      const auto most = std::max_element(out[q].by_case.begin(), out[q].by_case.end(),
                                         [](const auto& x, const auto& y) { return x.second < y.second; });
      if (most != out[q].by_case.end()) step.telling_case = most->first;
      for (const Parameter& p : parameters()) {  // in their documented order
        const auto ruled_out = out[q].values.find(&p);
        if (ruled_out != out[q].values.end())
          step.rules_out +=
              (step.rules_out.empty() ? "" : "; ") + std::string(p.name) + " " + values_as_ranges(p, ruled_out->second);
      }
      for (const std::string& kernel : out[q].kernels)
        step.rules_out += (step.rules_out.empty() ? "" : "; ") + ("kernel " + kernel);
    }
  }

  void list_best() {
    if (evidence_.two_answers()) return;
    for (const Fit::Candidate& candidate : candidates_)
      if (const auto against = evidence_.first_mismatch(candidate.model))
        id_.best.push_back({custom_name(candidate.model, op()), *against, result_of(candidate.model, *against),
                            evidence_.mismatches(candidate.model)});
    for (const PlainHypothesis& plain : plain_)
      if (plain.refuted) id_.best.push_back(*plain.refuted);
    std::stable_sort(id_.best.begin(), id_.best.end(),
                     [](const Refuted& x, const Refuted& y) { return x.mismatches < y.mismatches; });
    if (id_.best.size() > 4) id_.best.resize(4);
  }

  Identification& id_;
  Evidence& evidence_;
  Asker* asker_;
  const IdentifySettings& settings_;
  HypothesisSpace space_;
  std::vector<PlainHypothesis> plain_;
  std::optional<DotModel> row_;
  std::vector<DotModel> rivals_;            ///< other rows that fitted at some time
  std::vector<Fit::Candidate> candidates_;  ///< of the last search, the best first
  std::vector<Fit::Candidate> others_;      ///< the best row of each other kernel
  size_t plain_rounds_ = 0;                 ///< of questions between units without parameters
  bool searched_others_ = false;
  bool tried_without_nans_ = false;
  std::vector<HiddenPair> hidden_pairs_;  ///< pairs for which questions_to_joint_rivals() found no case
  bool tried_joint_changes_ = false;      ///< whether it tried all such pairs
  bool was_challenged_ = false;           ///< whether it found no case for row_, or found cases too often
  size_t challenges_ = 0;                 ///< how often it found cases
  bool hurries_ = false;                  ///< the time is over: find_row() tries known rows only
  /// Separator::Found::agreed_on of alternatives without a difference, by parameter (nullptr: kernel) and value.
  std::map<std::pair<const Parameter*, int64_t>, size_t> told_nothing_;
};

}  // namespace

std::vector<int64_t> ParameterFinding::not_proven() const {
  std::vector<int64_t> all;
  for (const Undetermined& u : undetermined)
    if (!u.is_proven) all.insert(all.end(), u.values.begin(), u.values.end());
  return all;
}

Identification identify(const Unit& unit, const Op& op, const IdentifySettings& settings) {
  Identification result(op);
  Asker asker(unit, op, {settings.seconds, SIZE_MAX});
  Identifier(result, &asker, settings).run();
  return result;
}

Identification identify_from(Evidence evidence, const IdentifySettings& settings) {
  Identification result(evidence.op());
  result.evidence = std::move(evidence);
  result.steps.push_back({"What do the given answers tell?", result.evidence.size(), SIZE_MAX, ""});
  Identifier(result, nullptr, settings).run();
  return result;
}

}  // namespace mmafuzz
