// What `mmafuzz prove` prints of the answers to its questions: lines as they come, or one JSON object at the end
// (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "prove/inquiry.h"

namespace mmafuzz::cli {

class ProveOutput {
 public:
  ProveOutput(std::string command, prove::Solvers solvers, bool json, bool verbose)
      : command_(std::move(command)), solvers_(std::move(solvers)), json_(json), verbose_(verbose) {}

  prove::Solvers& solvers() { return solvers_; }
  /// An answer; its exit code.
  int add(const prove::Reply& reply);
  /// A mutant's answer, in one line of text.
  void add_mutant(const std::string& mutant, const prove::Reply& reply);
  void add_declined_mutant(const std::string& mutant, const std::string& reason);
  /// What the answers say together, under a key of its own; `text` is its line.
  void conclude(const std::string& key, int64_t value, const std::string& text);
  void say(const std::string& line) const;  ///< only as text
  /// The JSON, with what the exit code says of the whole. Returns that code.
  int end(int status) const;

 private:
  std::string command_;
  prove::Solvers solvers_;
  bool json_, verbose_;
  nlohmann::json questions_ = nlohmann::json::array(), conclusions_ = nlohmann::json::object();
};

}  // namespace mmafuzz::cli
