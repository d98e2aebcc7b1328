// What a survey has found so far, on disk after every step: survey.json, note.md and case files, each whole or not at
// all, so that a survey that is killed at any second leaves what it had. Thread-safe, but for steps().
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/batch.h"

namespace mmafuzz::survey {

using Json = nlohmann::ordered_json;

class Book {
 public:
  /// `head` is what is known before the first step. The folder must exist.
  Book(std::string folder, Json head);

  const std::string& folder() const { return folder_; }
  /// Sets or gets an entry about the whole survey, such as the device, by key; an entry that was not set is null.
  void set(const std::string& key, Json value);
  Json get(const std::string& key) const;
  /// Notes that a step begins, with its name, unit and limit, or that it ends, with what it found. Both are on disk
  /// when the call returns.
  void begin_step(Json step);
  void end_step(Json step);
  const Json& steps() const { return document_["steps"]; }
  /// Notes what a person must look at; `kind` is divergence, unstable, lost or failed. On disk with the step's end.
  void note_finding(const std::string& kind, const std::string& step, const std::string& unit, const std::string& what);
  size_t count_findings(const std::string& kind) const;

  /// Adds cases of a unit to a case file of the folder; nullptr as `outcomes`: without results. On disk with the step's
  /// end.
  void keep_cases(const std::string& file, const std::string& unit, const Batch& batch, const Outcomes* outcomes);
  /// Ends the survey; `why` says what cut it short, empty if nothing did.
  void close(const std::string& why);

 private:
  void save();

  mutable std::mutex mutex_;
  std::string folder_;
  Json document_;
  struct Kept {
    std::string unit;
    Batch batch;
    Outcomes outcomes;
    bool has_outcomes = false;
  };
  std::map<std::string, std::vector<Kept>> kept_;
  std::map<std::string, size_t> written_;  ///< by file: number of its blocks that are on disk
};

/// The note: the document as Markdown for people.
std::string note_of(const Json& document);

}  // namespace mmafuzz::survey
