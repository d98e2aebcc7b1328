// Append-only segments of divergences: what a search found and may not lose. A segment is case text; each record is written
// with one call and ends with a line of its own, so that a reader skips what a killed process left half written.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "core/property.h"

namespace mmafuzz {

/// The text of one record: key line, severity and results as comments, then property, op and case lines.
std::string divergence_record(const Divergence& divergence);

/// Writes the segment of one worker. One bucket (as far as the search knows it) is written once by a log.
class DivergenceLog {
 public:
  /// Appends to `path`, creating it with its header. Throws std::runtime_error if it cannot be opened.
  explicit DivergenceLog(const std::string& path);
  ~DivergenceLog();
  DivergenceLog(const DivergenceLog&) = delete;
  DivergenceLog& operator=(const DivergenceLog&) = delete;

  /// Returns whether the bucket was new to this log; when it returns, the kernel has the record: killing this process
  /// loses nothing. Throws std::runtime_error if the record cannot be written (disk full).
  bool add(const Divergence& divergence);
  size_t buckets() const { return keys_.size(); }

 private:
  std::string path_;
  int file_ = -1;
  std::set<std::string> keys_;
};

/// One whole record of a segment.
struct LoggedDivergence {
  std::string key;  ///< the greppable line, "mmafuzz: divergence ..."
  Severity severity = Severity::semantic;
  std::string text;  ///< the record, without header and end line
};

/// Reads the whole records of a segment from byte `offset` on; returns the offset behind the last whole one, so that a growing
/// segment can be followed. A file that does not exist has none.
size_t read_segment(const std::string& path, size_t offset, const std::function<void(LoggedDivergence)>& record);

}  // namespace mmafuzz
