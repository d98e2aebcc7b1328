// The family `recorded:<file>`: a case file as a device. It answers the cases that it holds and no others.
#include <algorithm>
#include <map>
#include <optional>

#include "core/case_text.h"
#include "oracles/families.h"
#include "core/function_unit.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

constexpr std::string_view recorded_prefix = "recorded:";

struct Answer {
  std::vector<uint64_t> results;
  std::optional<uint8_t> flags;
};

class RecordedUnit final : public Unit {
 public:
  using Answers = std::map<std::string, Answer>;  ///< by Batch::bytes_of()
  explicit RecordedUnit(Answers answers)
      : answers_(std::move(answers)),
        has_flags_(std::all_of(answers_.begin(), answers_.end(), [](const auto& a) { return a.second.flags; })) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    outcomes.answered.assign(batch.size(), 0);
    if (has_flags_) outcomes.flags.assign(batch.size(), 0);
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto found = answers_.find(batch.bytes_of(i));
      if (found == answers_.end()) continue;
      outcomes.answered[i] = 1;
      const Answer& answer = found->second;
      for (size_t j = 0; j < answer.results.size(); ++j)
        outcomes.results.set(i, static_cast<int>(j), answer.results[j]);
      if (has_flags_) outcomes.flags[i] = *answer.flags;
    }
  }

 private:
  Answers answers_;
  bool has_flags_;  ///< of every answer: a unit reports flags for all cases or for none
};

class RecordedFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return has_more_after(recorded_prefix, name); }

  Role role(const std::string&) const override { return Role::recorded; }

  std::vector<UnitInfo> list() const override {
    return {{"recorded:<file>", "answers the cases of a case file with their recorded results"}};
  }

  /// It answers the ops whose op lines are in its file, word for word, so that no attribute is ignored.
  Attributes honours(const std::string&, const Op&) const override { return every_attribute; }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const std::string path = name.substr(recorded_prefix.size());
    CaseReader reader(path);
    CaseBlock block;
    RecordedUnit::Answers answers;
    std::string provenance;
    bool is_of_one_unit = true;
    while (reader.next(block, 4096)) {
      if (to_text(block.batch.op()) != to_text(op)) continue;
      is_of_one_unit = is_of_one_unit && (answers.empty() || block.unit == provenance);
      provenance = block.unit;
      for (size_t i = 0; i < block.batch.size(); ++i) {
        if (!block.has_expected[i]) continue;
        Answer answer;
        for (int j = 0; j < block.expected.count(); ++j) answer.results.push_back(block.expected.get(i, j));
        if (block.has_flags[i]) answer.flags = block.expected_flags[i];
        const auto at = answers.try_emplace(block.batch.bytes_of(i), answer).first;
        Answer& known = at->second;
        if (known.results != answer.results || (known.flags && answer.flags && known.flags != answer.flags))
          return invalid(path + ":" + std::to_string(block.line[i]) +
                         ": another result of this case stands above: a recording is one unit's");
        if (!known.flags) known.flags = answer.flags;
      }
    }
    if (reader.error()) return invalid(reader.error()->to_string());
    if (answers.empty()) return declined(path + " has no results for '" + to_text(op) + "'");
    std::vector<Claim> claims;
    if (!is_of_one_unit) provenance.clear();  // results of several units claim no model
    if (const Result<std::string> model = model_of_provenance(provenance)) claims.push_back({"equals_model", *model});
    return named(std::make_unique<RecordedUnit>(std::move(answers)), name, std::move(claims));
  }
};

}  // namespace

std::unique_ptr<Family> make_recorded_family() { return std::make_unique<RecordedFamily>(); }

}  // namespace mmafuzz
