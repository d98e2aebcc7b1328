// Append-only files of divergences, called segments: what a search found and may not lose. A segment is case text. Each
// record, which holds one divergence, is written with one call and ends with the line "# end of record", so that a
// reader skips a record that a killed process left half written.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/property.h"
#include "core/thinning.h"

namespace mmafuzz {

/// The text of one record without its end line: key, severity and results as comments, then property, op and case
/// lines. With `before`, the cases that the units evaluated earlier follow as comments: a unit may remember them.
std::string divergence_record(const Divergence& divergence, bool before = false);
/// The beginning of each comment with an earlier case.
inline constexpr std::string_view before_word = "# before ";
/// The last line of a record.
inline constexpr std::string_view record_end = "# end of record\n";

/// Writes the segment of one worker. Of the divergences with one BucketKey it keeps a sample over the whole time
/// (core/thinning.h), at most 256, because triage may find different causes in them. A record that an earlier writer
/// left in the file is not written twice: a search that is repeated leaves the same segment.
class DivergenceLog {
 public:
  /// Appends to `path`, creating it with its header. Throws std::runtime_error if it cannot be opened.
  explicit DivergenceLog(const std::string& path);
  ~DivergenceLog();
  DivergenceLog(const DivergenceLog&) = delete;
  DivergenceLog& operator=(const DivergenceLog&) = delete;

  /// Takes one divergence that stands for `count` with the same key. Returns whether the key was new to the segment.
  /// When add() returns, the operating system has the record: killing this process loses nothing. Throws
  /// std::runtime_error if a record cannot be written (disk full).
  bool add(const Divergence& divergence, uint64_t count = 1);
  /// The number of different keys in the segment.
  size_t key_count() const { return keys_.size(); }

 private:
  std::string path_;
  int file_ = -1;
  struct Written {
    Thinning seen;                    ///< counts the divergences that add() took
    int records = 0;                  ///< how many records the file has
    std::multiset<uint64_t> earlier;  ///< hashes of an earlier writer's records that add() has not been given again
  };
  std::map<std::string, Written> keys_;  ///< keyed by BucketKey::to_string()
};

/// One complete record of a segment.
struct LoggedDivergence {
  std::string key;  ///< BucketKey::to_string(), a line to grep for: "mmafuzz: divergence ..."
  Severity severity = Severity::semantic;
  std::string text;  ///< the record without its end line
};

/// The first line of `text` that begins with `word`, without its line break; empty if there is none.
std::string_view record_line(std::string_view text, std::string_view word);

/// Calls `record` with each complete record from byte `offset` on. Returns the offset behind the last end line, from
/// which a later call goes on in a growing segment; `offset` itself where there is no such file.
size_t read_segment(const std::string& path, size_t offset, const std::function<void(LoggedDivergence)>& record);

}  // namespace mmafuzz
