// Append-only segments of divergences: what a search found and may not lose. A segment is case text; each record is
// written with one call and ends with a line of its own, so that a reader skips what a killed process left half
// written.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/property.h"
#include "core/thinning.h"

namespace mmafuzz {

/// The text of one record: key line, severity and results as comments, then property, op and case lines. With
/// `before`, the cases before it follow as comments: a unit may remember them.
std::string divergence_record(const Divergence& divergence, bool before = false);
/// How such a comment begins.
inline constexpr std::string_view before_word = "# before ";

/// Writes the segment of one worker: of each bucket, as far as the search knows it, some divergences from the whole
/// time, because triage may find different causes in them (core/thinning.h), but at most 256. A record that a writer
/// before this one left is not written twice: a search that begins again leaves the same segment.
class DivergenceLog {
 public:
  /// Appends to `path`, creating it with its header. Throws std::runtime_error if it cannot be opened.
  explicit DivergenceLog(const std::string& path);
  ~DivergenceLog();
  DivergenceLog(const DivergenceLog&) = delete;
  DivergenceLog& operator=(const DivergenceLog&) = delete;

  /// Takes one divergence that stands for `count`. Returns whether the bucket was new to this log; when it returns, the
  /// kernel has what was written: killing this process loses nothing. Throws std::runtime_error if a record cannot be
  /// written (disk full).
  bool add(const Divergence& divergence, uint64_t count = 1);
  size_t buckets() const { return keys_.size(); }

 private:
  std::string path_;
  int file_ = -1;
  struct Written {
    Thinning seen;                  ///< by this log
    int records = 0;                ///< in the file
    std::multiset<uint64_t> there;  ///< hashes of those that stood in the file and did not come again yet
  };
  std::map<std::string, Written> keys_;
};

/// One whole record of a segment.
struct LoggedDivergence {
  std::string key;  ///< the greppable line, "mmafuzz: divergence ..."
  Severity severity = Severity::semantic;
  std::string text;  ///< the record, without header and end line
};

/// The line of a record that begins with `word`, without its line break; empty if there is none.
std::string_view record_line(std::string_view text, std::string_view word);

/// Reads the whole records of a segment from byte `offset` on; returns the offset behind the last whole one, so that a
/// growing segment can be followed. A file that does not exist has none.
size_t read_segment(const std::string& path, size_t offset, const std::function<void(LoggedDivergence)>& record);

}  // namespace mmafuzz
