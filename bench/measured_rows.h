// What a measurement prints: lines as they come, or with --json one object at the end (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "plan/arguments.h"

namespace mmafuzz {

/// Of this process: fair where other programs are at work.
double processor_seconds();
/// Since a moment that stays the same while the machine runs.
double wall_seconds();

class MeasuredRows {
 public:
  /// This object must outlive the arguments.
  void add_json_flag(Arguments& command) { command.add_flag("--json", json_, "print one JSON object"); }
  bool is_json() const { return json_; }
  void say(const std::string& line) const;  ///< only as text
  void add(const nlohmann::json& row, const std::string& line);
  void end() const;

 private:
  bool json_ = false;
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace mmafuzz
