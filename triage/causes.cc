#include "triage/causes.h"

#include <algorithm>
#include <map>

#include "core/text.h"
#include "oracles/gemm/residues.h"
#include "oracles/ieee/gemm_of_dots.h"
#include "triage/bucket.h"
#include "triage/facts/fact_name.h"
#include "triage/op_variants.h"
#include "triage/product_causes.h"
#include "triage/replacements.h"
#include "triage/subsets.h"
#include "triage/unexplained/unit_without_row.h"

namespace mmafuzz {
namespace {

constexpr size_t few_replacements = 10;          ///< of so many, sets of every size are tried
constexpr size_t max_replaced = 4;               ///< limit of a set's size, of more; the whole set is tried too
constexpr size_t max_replaced_by_reference = 3;  ///< against a reference, of any number; the whole set is not
constexpr char kernel_name[] = "kernel";
constexpr char nan_payload_detail[] =
    "nan_payload (the NaN of a processor is an operand's or its own; a row has one): both results are NaN";

/// The detail of the cause `kernel` where no replacement of parameters has that name.
std::string kernel_detail(const Judge& judge) {
  if (judge.units().size() == 1)
    return "kernel (the arithmetic): the unit does not have this property, and does not claim it";
  return "kernel (the arithmetic): " + judge.units()[0]->name() + " against " + judge.units()[1]->name();
}

Batch select(const Batch& cases, const std::vector<size_t>& indices) {
  Batch part(cases.op());
  for (const size_t i : indices) part.append(cases, i);
  return part;
}

/// Causes on dots, and on matrix products made of them: replaces the first unit's parameters by the second's. The row
/// of a unit is its own, or that of the model which the unit claims to equal.
class Ablation final : public CauseMethod {
 public:
  Ablation(const Judge& judge, const Registry& registry) : judge_(judge), registry_(registry) {
    const std::vector<std::unique_ptr<Unit>>& units = judge.units();
    for (size_t i = 0; i < units.size(); ++i) {
      row_name_[i] = row_name_of(*units[i], judge.op(), registry);
      if (row_name_[i].empty()) continue;
      std::unique_ptr<Unit> row = bound_or_null(registry, row_name_[i], judge.op());
      const std::unique_ptr<Unit> dot =
          bound_or_null(registry, row_name_[i], is_of_products() ? gemm::dot_op_of(judge.op()) : judge.op());
      if (!row || !dot || !dot->model()) continue;
      row_[i] = std::move(row);
      model_[i] = *dot->model();
    }
    replaced_ = row_[0] ? 0 : 1;
    if (!row_[replaced_]) return;
    const DotModel& model = *model_[replaced_];
    const size_t other = 1 - replaced_;
    is_by_reference_ = units.size() == 1 || is_plain(other);
    if (row_[other]) replacements_ = replacements(model, *model_[other]);
    else if (is_by_reference_) replacements_ = replacements_by_exact(model, judge.op());
    if (is_by_reference_) std::erase_if(replacements_, [](const Replacement& r) { return r.name == kernel_name; });
  }

  std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts) override {
    std::vector<std::string> causes(cases.size(), unexplained);
    std::vector<size_t> open;  // indices of the cases that are not explained so far, increasing
    bool are_references = true;
    for (size_t side = 0; side < judge_.units().size(); ++side)
      are_references &= is_plain(side) && !judge_.units()[side]->claim(judge_.property());
    for (size_t i = 0; i < cases.size(); ++i) {
      if (are_references) causes[i] = kernel_name;
      else open.push_back(i);
    }
    if (!row_[replaced_]) return causes;
    keep_what_models_show(cases, verdicts, open);
    name_payloads(verdicts, open, causes);
    const size_t all = replacements_.size();
    const size_t most = is_by_reference_ ? max_replaced_by_reference : all <= few_replacements ? all : max_replaced;
    const auto explain_by = [&](const std::vector<size_t>& set) {
      explain(set, cases, verdicts, open, causes);
      return !open.empty();
    };
    for (size_t size = 1; size <= std::min(most, all) && !open.empty(); ++size) each_subset(all, size, explain_by);
    if (!is_by_reference_ && most < all && !open.empty()) each_subset(all, all, explain_by);
    // A difference that remains between a model and a reference is caused by the kernel. So is a broken property if the
    // exact reference has the property, or if the property makes no sense for it (such as the order of a chain).
    if (is_by_reference_ && !open.empty()) {
      const bool says_nothing =
          judge_.units().size() == 1 && !Judge::bind(judge_.property(), {"exact"}, judge_.op(), registry_);
      const std::vector<size_t> explained =
          judge_.units().size() == 2 || says_nothing ? open : explained_by("exact", cases, verdicts, open);
      for (const size_t i : explained) causes[i] = kernel_name;
    }
    return causes;
  }

  std::string detail_of_one(const std::string& name) const override {
    for (const Replacement& r : replacements_)
      if (r.name == name) return r.detail();
    if (name == nan_payload) return nan_payload_detail;
    if (name != kernel_name) return name;
    if (judge_.units().size() == 1)
      return "kernel (the arithmetic)" + std::string(row_[0] ? ": holds where the exact sum is rounded once" : "");
    return kernel_detail(judge_);
  }

  std::string fact_of_one(const std::string& name) const override {
    if (judge_.units().size() == 1) return property_fact(judge_.property(), name == nan_payload ? name : arithmetic(0));
    if (name == nan_payload)
      return difference_fact(nan_payload, is_silicon(0) ? payload_kept : payload_dropped,
                             is_silicon(1) ? payload_kept : payload_dropped);
    for (const Replacement& r : replacements_)
      if (r.name == name && name != kernel_name) return difference_fact(name, r.first, r.second);
    return name == kernel_name ? kernel_fact(arithmetic(0), arithmetic(1)) : name;
  }

 private:
  bool is_nan(uint64_t x) const { return decode(judge_.op().d.fields(), x).cls == NumberClass::nan; }

  /// Whether the result of a row represents that of the unit on this side. Where a processor's result is NaN and the
  /// other unit's is a number, any NaN of the row does.
  bool represents(size_t side, uint64_t of_row, const Verdict& verdict) const {
    const uint64_t of_unit = side ? verdict.second : verdict.first, of_other = side ? verdict.first : verdict.second;
    return same_result(judge_.op(), of_row, of_unit) ||
           (is_silicon(side) && is_nan(of_row) && is_nan(of_unit) && !is_nan(of_other));
  }

  bool is_silicon(size_t side) const { return judge_.units()[side]->role() == Role::silicon; }

  /// Whether the unit on this side is a reference without a row.
  bool is_plain(size_t side) const { return is_reference(*judge_.units()[side]) && !row_[side]; }

  /// Sets the cause nan_payload of cases with two NaN results that are not among the cases that rows represent: a
  /// processor propagates NaN payloads, where its row has one NaN.
  void name_payloads(const std::vector<Verdict>& verdicts, const std::vector<size_t>& represented,
                     std::vector<std::string>& causes) const {
    bool has_silicon = false;
    for (size_t side = 0; side < judge_.units().size(); ++side) has_silicon |= is_silicon(side);
    if (!has_silicon) return;
    for (size_t i = 0; i < verdicts.size(); ++i)
      if (is_nan(verdicts[i].first) && is_nan(verdicts[i].second) &&
          !std::binary_search(represented.begin(), represented.end(), i))
        causes[i] = nan_payload;
  }

  std::string arithmetic(size_t side) const {
    return arithmetic_of(*judge_.units()[side], model_[side] ? &*model_[side] : nullptr);
  }

  /// Keeps in `open` the cases on which each unit has the same results as its row, which represents the unit there.
  void keep_what_models_show(const Batch& cases, const std::vector<Verdict>& verdicts,
                             std::vector<size_t>& open) const {
    if (judge_.units().size() == 1) {
      if (judge_.units()[0]->name() == row_name_[0]) return;
      const Result<Judge> stand_in = Judge::bind(judge_.property(), {row_name_[0]}, judge_.op(), registry_);
      if (!stand_in) return open.clear();
      const std::vector<Verdict> of_row = stand_in->judge(cases);
      std::erase_if(open, [&](size_t i) { return !(of_row[i] == verdicts[i]); });
      return;
    }
    for (size_t side = 0; side < 2; ++side) {
      if (!row_[side]) {
        if (!is_plain(side)) open.clear();
        continue;
      }
      if (judge_.units()[side]->name() == row_name_[side]) continue;
      Outcomes of_row, of_unit;
      row_[side]->run(cases, of_row);
      if (is_of_products()) judge_.units()[side]->run(cases, of_unit);
      std::erase_if(open, [&](size_t i) {
        return is_of_products() ? first_difference(cases, of_row.results, of_unit.results, i) >= 0
                                : !represents(side, of_row.results.get(i), verdicts[i]);
      });
    }
  }

  /// Removes from `open` the cases that a set of replacements explains, and sets their causes. `set`: indices of list_.
  /// Where a replacement has several forms (Replacement::overrides), every combination of forms is tried.
  void explain(const std::vector<size_t>& set, const Batch& cases, const std::vector<Verdict>& verdicts,
               std::vector<size_t>& open, std::vector<std::string>& causes) {
    size_t forms = 1;
    for (const size_t i : set) forms *= replacements_[i].overrides.size();
    for (size_t form = 0; form < forms && !open.empty(); ++form) {
      std::string overrides;
      size_t choice = form;
      for (const size_t i : set) {
        overrides +=
            (overrides.empty() ? "" : ",") + replacements_[i].overrides[choice % replacements_[i].overrides.size()];
        choice /= replacements_[i].overrides.size();
      }
      const std::vector<size_t> explained =
          explained_by(with_overrides_in_name(row_name_[replaced_], overrides), cases, verdicts, open);
      if (explained.empty()) continue;
      std::string names;
      for (const size_t i : set) names += (names.empty() ? "" : ",") + replacements_[i].name;
      for (const size_t i : explained) causes[i] = names;
      std::erase_if(open, [&](size_t i) { return std::binary_search(explained.begin(), explained.end(), i); });
    }
  }

  /// Those of `open`, in increasing order, on which the unit `name` in place of the replaced one does not diverge.
  std::vector<size_t> explained_by(const std::string& name, const Batch& cases, const std::vector<Verdict>& verdicts,
                                   const std::vector<size_t>& open) {
    std::vector<size_t> list;
    const Batch part = select(cases, open);
    auto [found, is_new] = replacing_units_.try_emplace(name);
    ReplacingUnit& replacing = found->second;
    if (judge_.units().size() == 1) {
      if (is_new)
        if (Result<Judge> bound = Judge::bind(judge_.property(), {name}, judge_.op(), registry_))
          replacing.judge = std::make_unique<Judge>(std::move(*bound));
      if (!replacing.judge) return list;
      const std::vector<Verdict> of_replacing = replacing.judge->judge(part);
      for (size_t i = 0; i < open.size(); ++i)
        if (!of_replacing[i].fails) list.push_back(open[i]);
      return list;
    }
    if (is_new) replacing.unit = bound_or_null(registry_, name, judge_.op());
    if (!replacing.unit) return list;
    Outcomes outcomes, other;
    replacing.unit->run(part, outcomes);
    if (is_of_products()) judge_.units()[1 - replaced_]->run(part, other);
    for (size_t i = 0; i < open.size(); ++i) {
      const Verdict& v = verdicts[open[i]];
      if (is_of_products() ? first_difference(part, outcomes.results, other.results, i) < 0
                           : same_result(judge_.op(), outcomes.results.get(i), replaced_ == 0 ? v.second : v.first))
        list.push_back(open[i]);
    }
    return list;
  }

  /// Whether the op is a matrix product. A verdict holds one element of it, so that units are run again to compare all.
  bool is_of_products() const { return judge_.op().kind == OpKind::gemm; }

  struct ReplacingUnit {
    std::unique_ptr<Unit> unit;    ///< of a comparison; nullptr where it does not bind
    std::unique_ptr<Judge> judge;  ///< of a property; nullptr where it does not bind
  };

  const Judge& judge_;
  const Registry& registry_;
  std::string row_name_[2];           ///< by side: name of the unit's row; empty: it has none
  std::unique_ptr<Unit> row_[2];      ///< by side: the row as a unit of the op; nullptr: there is none
  std::optional<DotModel> model_[2];  ///< by side: the parameters of the row; of a matrix product, of its dots' row
  size_t replaced_ = 0;               ///< the side whose parameters are replaced
  bool is_by_reference_ = false;      ///< they are replaced by those of an exact sum
  std::vector<Replacement> replacements_;
  std::map<std::string, ReplacingUnit> replacing_units_;  ///< by name of the unit
};

/// Causes on conversions, scalar operations and blocks: the change of the op under which IEEE arithmetic, or of blocks
/// a quantizer, has the deviating result.
class ChangedOp final : public CauseMethod {
 public:
  ChangedOp(const Judge& judge, const Registry& registry) : judge_(judge), variants_(judge.op(), registry) {}

  std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts) override {
    std::vector<std::string> causes(cases.size(), unexplained);
    // A flaw may look like another change in each case: what holds for all of them is said instead.
    if (judge_.units().size() != 2 || UnitWithoutRow::speaks_of(judge_)) return causes;
    Outcomes outcomes[2];
    for (size_t side = 0; side < 2; ++side) judge_.units()[side]->run(cases, outcomes[side]);
    for (size_t i = 0; i < cases.size(); ++i) {
      if (!verdicts[i].fails) continue;
      const std::string name = judge_.op().is_of_blocks() ? variants_.name_of_blocks(cases, i, outcomes, judge_.units())
                                                          : variants_.name(cases, i, outcomes[0], outcomes[1]);
      if (!name.empty()) causes[i] = name;
    }
    return causes;
  }
  std::string detail_of_one(const std::string& name) const override {
    return name == kernel_name ? kernel_detail(judge_) : name + " (" + OpVariants::meaning(name) + ")";
  }
  std::string fact_of_one(const std::string& name) const override {
    const Unit& unit = *judge_.units()[0];
    if (judge_.units().size() == 1) return property_fact(judge_.property(), operation_of(unit));
    const std::string first = UnitName(unit.name()).plain(), second = UnitName(judge_.units()[1]->name()).plain();
    return first == second ? name
                           : difference_fact(name, first, second);  // settings alone differ, and the name says it
  }

 private:
  const Judge& judge_;
  OpVariants variants_;
};

/// Causes of broken properties of one unit on matrix products: the stage at which a scheme of residues goes wrong; else
/// the smallest set of parameters in the unit's name that must return to their defaults for the property to hold.
class DefaultSettings final : public CauseMethod {
 public:
  DefaultSettings(const Judge& judge, const Registry& registry) : judge_(judge), registry_(registry) {}

  std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts) override {
    std::vector<std::string> causes(cases.size(), unexplained);
    if (const gemm::ResidueGemm* residues = gemm::residues_of(*judge_.units()[0]))
      for (size_t i = 0; i < cases.size(); ++i)
        if (verdicts[i].fails)
          if (const std::string stage = residues->wrong_stage(cases, i); !stage.empty()) causes[i] = stage;
    const UnitName name(judge_.units()[0]->name());
    std::vector<std::pair<std::string, std::string>> settings = name.each_setting(), always_kept;
    for (const auto& setting : settings)
      if (setting.first == "on") always_kept.push_back(setting);  // the unit that it runs on is no cause
    std::erase_if(settings, [](const auto& setting) { return setting.first == "on"; });
    for (size_t size = 1; size <= std::min(max_replaced, settings.size()); ++size)
      each_subset(settings.size(), size, [&](const std::vector<size_t>& set) {
        std::vector<std::pair<std::string, std::string>> kept;
        std::string removed;
        for (size_t i = 0; i < settings.size(); ++i) {
          if (std::binary_search(set.begin(), set.end(), i))
            removed += (removed.empty() ? "" : ",") + settings[i].first;
          else kept.push_back(settings[i]);
        }
        kept.insert(kept.end(), always_kept.begin(), always_kept.end());
        UnitName without_some = name;
        without_some.settings = settings_text(kept);
        const Result<Judge> judge = Judge::bind(judge_.property(), {without_some.text()}, judge_.op(), registry_);
        if (!judge) return true;
        const std::vector<Verdict> of_kept = judge->judge(cases);
        for (size_t i = 0; i < cases.size(); ++i)
          if (verdicts[i].fails && !of_kept[i].fails && causes[i] == unexplained) causes[i] = removed;
        return true;
      });
    return causes;
  }
  std::string detail_of_one(const std::string& name) const override {
    return name == kernel_name ? kernel_detail(judge_)
                               : name + " (a stage or a parameter of the scheme, docs/ozaki.md)";
  }
  std::string fact_of_one(const std::string& name) const override {
    const std::string first = UnitName(judge_.units()[0]->name()).backend;
    const std::string arithmetic = name == kernel_name ? first : first + ":" + name;
    return property_fact(judge_.property(), arithmetic);
  }

 private:
  const Judge& judge_;
  const Registry& registry_;
};

/// Whether the divergence needs no explanation: no unit claims the property, and one of two compared units is a
/// stranger, or the single unit of a property has no model.
bool contradicts_nothing(const Judge& judge) {
  const std::vector<std::unique_ptr<Unit>>& units = judge.units();
  for (const std::unique_ptr<Unit>& unit : units)
    if (unit->claim(judge.property())) return false;  // the unit's arithmetic does not explain a broken claim
  if (units.size() == 1) return model_name_of(*units[0]).empty();
  return std::any_of(units.begin(), units.end(), [](const auto& unit) { return is_stranger(*unit); });
}

}  // namespace

Causes::Causes(const Judge& judge, const Registry& registry) : judge_(judge), method_(product_causes(judge, registry)) {
  const OpKind kind = judge.op().kind;
  if (method_) return;
  if (kind == OpKind::gemm && judge.units().size() == 1) method_ = std::make_unique<DefaultSettings>(judge, registry);
  else if (kind == OpKind::dot || kind == OpKind::gemm) method_ = std::make_unique<Ablation>(judge, registry);
  else method_ = std::make_unique<ChangedOp>(judge, registry);
}

std::vector<std::string> Causes::find(const Batch& cases, const std::vector<Verdict>& verdicts) {
  std::vector<std::string> causes = method_->find(cases, verdicts);
  if (contradicts_nothing(judge_))
    std::replace(causes.begin(), causes.end(), std::string(unexplained), std::string(kernel_name));
  return causes;
}

std::string Causes::detail(const std::string& cause) const {
  if (cause == unexplained) return "no replacement of parameters explains it";
  if (cause == unstable) return "the same case does not give the same result every time";
  if (cause == history) return "the case fails only after the cases before it: the unit remembers them";
  if (cause == periodic) return "a case fails every so many cases, whatever they are: the unit counts them";
  std::string text;
  for (const std::string& name : words_of(cause, ','))
    text += (text.empty() ? "" : "; ") + method_->detail_of_one(name);
  return text;
}

std::vector<std::string> Causes::facts(const std::string& cause) const {
  for (const std::unique_ptr<Unit>& unit : judge_.units())
    if (unit->claim(judge_.property())) return {claim_fact(unit->name(), judge_.property())};
  if (is_strange(cause)) {
    // Models and references are deterministic and have known arithmetic: the fact names the other unit.
    for (const std::unique_ptr<Unit>& unit : judge_.units())
      if (!unit->model() && !is_reference(*unit)) return {claim_fact(unit->name(), judge_.property())};
    return {claim_fact(judge_.units()[0]->name(), judge_.property())};
  }
  std::vector<std::string> names;
  for (const std::string& word : words_of(cause, ','))
    if (const std::string name = method_->fact_of_one(word); std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  return names;
}

}  // namespace mmafuzz
