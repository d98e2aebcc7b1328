// What `mmafuzz prove` prints: lines for each answer as it comes, or one JSON object at the end (docs/json.md). A
// question is a statement about all inputs of a domain, which solvers prove or refute.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "prove/inquiry.h"

namespace mmafuzz::cli {

class ProveOutput {
 public:
  ProveOutput(std::string command, prove::Solvers solvers, bool json, bool verbose)
      : command_(std::move(command)), solvers_(std::move(solvers)), is_json_(json), is_verbose_(verbose) {}

  prove::Solvers& solvers() { return solvers_; }
  /// Prints or collects the answer to one question. Returns the exit code of that answer alone.
  int add(const prove::Reply& reply);
  /// Prints or collects whether a mutant equals its original; as text in one line.
  void add_mutant(const std::string& mutant, const prove::Reply& reply);
  /// The same for a mutant that cannot be asked about.
  void add_declined_mutant(const std::string& mutant, const std::string& reason);
  /// What the answers imply together: `key` and `value` of the JSON object, or the line `text`.
  void conclude(const std::string& key, int64_t value, const std::string& text);
  /// Prints a line; nothing with --json.
  void say(const std::string& line) const;
  /// Prints the JSON object, whose outcome follows from the exit code `status`. Returns `status`.
  int end(int status) const;

 private:
  std::string command_;
  prove::Solvers solvers_;
  bool is_json_, is_verbose_;
  nlohmann::json questions_ = nlohmann::json::array(), conclusions_ = nlohmann::json::object();
};

}  // namespace mmafuzz::cli
