#include "survey/book.h"

#include "core/case_text.h"
#include "core/json_text.h"
#include "core/replace_file.h"

namespace mmafuzz::survey {

Book::Book(std::string folder, Json head) : folder_(std::move(folder)), document_(std::move(head)) {
  document_["complete"] = false;
  document_["findings"] = Json::array();
  document_["steps"] = Json::array();
  save();
}

void Book::set(const std::string& key, Json value) {
  const std::lock_guard lock(mutex_);
  document_[key] = std::move(value);
}

Json Book::get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return document_.contains(key) ? document_[key] : Json();
}

void Book::begin_step(Json step) {
  const std::lock_guard lock(mutex_);
  document_["running"] = std::move(step);
  save();
}

void Book::end_step(Json step) {
  const std::lock_guard lock(mutex_);
  document_["steps"].push_back(std::move(step));
  document_.erase("running");
  save();
}

void Book::note_finding(const std::string& kind, const std::string& step, const std::string& unit,
                        const std::string& what) {
  const std::lock_guard lock(mutex_);
  document_["findings"].push_back({{"kind", kind}, {"step", step}, {"unit", unit}, {"what", what}});
}

size_t Book::count_findings(const std::string& kind) const {
  const std::lock_guard lock(mutex_);
  size_t n = 0;
  for (const Json& finding : document_["findings"]) n += finding["kind"] == kind;
  return n;
}

void Book::keep_cases(const std::string& file, const std::string& unit, const Batch& batch, const Outcomes* outcomes) {
  const std::lock_guard lock(mutex_);
  kept_[file].push_back({unit, batch, outcomes ? *outcomes : Outcomes{}, outcomes != nullptr});
}

void Book::close(const std::string& why) {
  const std::lock_guard lock(mutex_);
  document_["complete"] = why.empty();
  if (!why.empty()) document_["cut_short"] = why;
  save();
}

void Book::save() {
  for (const auto& [file, blocks] : kept_) {
    if (written_[file] == blocks.size()) continue;
    CaseWriter writer(folder_ + "/" + file);
    if (document_.contains("recorded_by")) writer.comment("recorded by " + document_["recorded_by"].get<std::string>());
    if (document_.contains("device")) writer.comment("device " + document_["device"].get<std::string>());
    for (const Kept& block : blocks) {
      writer.unit(block.unit);
      writer.op(block.batch.op());
      for (size_t i = 0; i < block.batch.size(); ++i)
        writer.one_case(block.batch, i, block.has_outcomes && block.outcomes.has_answer(i) ? &block.outcomes : nullptr);
    }
    writer.finish();
    written_[file] = blocks.size();
  }
  replace_file_if_other(folder_ + "/note.md", note_of(document_));
  replace_file_if_other(folder_ + "/survey.json", json_text(document_, 1));  // last: when it is there, so is the rest
}

}  // namespace mmafuzz::survey
