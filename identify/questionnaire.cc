#include "identify/questionnaire.h"

#include <algorithm>
#include <set>

#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/model_unit.h"
#include "plan/request.h"
#include "search/guided_search.h"

namespace mmafuzz {
namespace {

/// A batch of different cases, at most max_questions.
class CaseSet {
 public:
  explicit CaseSet(const Op& op) : batch_(op) {}
  void add(const Batch& from, size_t index) {
    if (batch_.size() < max_questions && known_.insert(case_line(from, index)).second) batch_.append(from, index);
  }
  size_t size() const { return batch_.size(); }
  const Batch& batch() const { return batch_; }

 private:
  Batch batch_;
  std::set<std::string> known_;
};

/// The rows of the catalogue with an op's formats; of rows that compute the same, only the first. Where there is none,
/// the first row of HypothesisSpace::starts().
std::vector<DotModel> rows_of_formats(const Op& op) {
  std::vector<DotModel> rows;
  for (const ModelRow& row : model_rows()) {
    Op op_of_row = row.op;
    op_of_row.k = op.k;
    op_of_row.nan = op.nan;
    const auto same = [&](const DotModel& other) { return same_arithmetic(row.model, other); };
    if (op_of_row == op && std::none_of(rows.begin(), rows.end(), same)) rows.push_back(row.model);
  }
  const HypothesisSpace space(op);
  for (const Kernel kernel : space.kernels())
    if (rows.empty()) rows.push_back(space.starts(kernel).front());
  return rows;
}

template <class Visit>
void for_answers(const std::string& path, Visit visit) {
  CaseReader reader(path);
  CaseBlock block;
  while (reader.next(block, 4096)) visit(block);
  if (reader.error()) throw BadInput(reader.error()->to_string());
}

}  // namespace

Batch questionnaire(const Op& op) {
  CaseSet cases(op);
  const Questions first = first_questions(op);
  for (size_t i = 0; i < first.cases.size(); ++i) cases.add(first.cases, i);
  // The cases that an identification of each of these rows asks.
  const std::vector<DotModel> rows = rows_of_formats(op);
  IdentifySettings settings;
  settings.verify = 0;
  for (const DotModel& row : rows) {
    if (cases.size() >= max_questions / 2) break;
    const Identification id = identify(ModelUnit(row, op), op, settings);
    for (size_t i = 0; i < id.evidence.size(); ++i) cases.add(id.evidence.cases().one(i), 0);
  }
  // Cases of a guided search that goes through the rows by turns.
  constexpr size_t chunk = 64;
  std::vector<GuidedSearch::Focus> focuses;
  for (const DotModel& row : rows) focuses.push_back({"row", corner_hints(&row), make_functional_feedback(op, &row)});
  GuidedSearch search(op, std::move(focuses), 1);
  for (uint64_t n = 0; cases.size() < max_questions && n < 4 * max_questions / chunk; ++n) {
    Batch batch;
    search.propose(n, n * chunk, chunk, batch);
    for (size_t i = 0; i < batch.size(); ++i) cases.add(batch, i);
    search.learn(search.observe(n, n * chunk, batch));
  }
  return cases.batch();
}

std::vector<Op> answered_ops(const std::string& path) {
  std::vector<Op> ops;
  for_answers(path, [&](const CaseBlock& block) {
    const Op& op = block.batch.op();
    const bool answered =
        std::any_of(block.has_expected.begin(), block.has_expected.end(), [](uint8_t x) { return x; });
    if (op.kind == OpKind::dot && answered && std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
  });
  return ops;
}

Evidence answers_in(const std::string& path, const Op& op) {
  Evidence evidence(op);
  for_answers(path, [&](const CaseBlock& block) {
    if (!(block.batch.op() == op)) return;
    for (size_t i = 0; i < block.batch.size(); ++i)
      if (block.has_expected[i]) evidence.add(block.batch, i, block.expected.get(i), 0);
  });
  return evidence;
}

}  // namespace mmafuzz
