// The output of a measurement: lines as they come, or with --json one object at the end (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "plan/arguments.h"

namespace mmafuzz {

/// Processor time of this process, which other programs do not change.
double processor_seconds();
/// Time since a fixed but unspecified moment.
double wall_seconds();

class MeasuredRows {
 public:
  /// This object must outlive the arguments.
  void add_json_flag(Arguments& command) { command.add_flag("--json", json_, "print one JSON object"); }
  bool is_json() const { return json_; }
  void say(const std::string& line) const;                       ///< prints the line, unless --json
  void add(const nlohmann::json& row, const std::string& line);  ///< keeps the row for --json, else prints the line
  void end() const;                                              ///< prints the object of --json

 private:
  bool json_ = false;
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace mmafuzz
