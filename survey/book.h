// What a survey has found so far, on disk after every step: survey.json, note.md and case files, each whole or not at
// all, so that a survey that is killed at any second leaves what it had.
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
  /// `head` is what is known before the first step. The folder must be there.
  Book(std::string folder, Json head);

  const std::string& folder() const { return folder_; }
  /// Facts of the whole survey, as the device.
  void set(const std::string& key, Json value);
  Json get(const std::string& key) const;
  /// A step begins, with its name, unit and limit; or ends, with what it found. Both are on disk when this returns.
  void begin(Json step);
  void end(Json step);
  const Json& steps() const { return document_["steps"]; }
  /// Something that somebody must look at: kind is divergence, unstable, lost or failed.
  void find(const std::string& kind, const std::string& step, const std::string& unit, const std::string& what);
  size_t findings(const std::string& kind) const;

  /// Adds results of a unit to a case file of the folder; null outcomes: cases alone. Written at the end of the step.
  void keep(const std::string& file, const std::string& unit, const Batch& batch, const Outcomes* outcomes);
  /// The survey is over; `why` says what cut it short, if anything did.
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
  std::map<std::string, size_t> written_;  ///< blocks of each file that are on disk
};

/// The note: the same as the document, to be read by people.
std::string note_of(const Json& document);

}  // namespace mmafuzz::survey
