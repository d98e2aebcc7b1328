#include "bench/measured_rows.h"

#include <fmt/core.h>

#include <chrono>
#include <ctime>

#include "core/json_text.h"

namespace mmafuzz {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void MeasuredRows::say(const std::string& line) const {
  if (json_) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void MeasuredRows::add(const nlohmann::json& row, const std::string& line) {
  if (json_) list_.push_back(row);
  say(line);
}

void MeasuredRows::end() const {
  if (json_) fmt::print("{}", json_text(nlohmann::json{{"json_version", json_version}, {"list", list_}}));
}

}  // namespace mmafuzz
