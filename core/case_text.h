// Case text: the one format for corpora, witnesses, recordings and golden tests (docs/case-text.md). A streaming reader
// and a writer, plain or gzip by content (reading) or by the name's ending .gz (writing).
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

/// The first line of every file.
inline constexpr char case_text_start[] = "mmafuzz-cases 1\n";

/// Where and why reading stopped. Line and column count from 1; both are 0 where the file cannot be opened.
struct CaseTextError {
  std::string file;
  uint64_t line = 0;
  uint64_t column = 0;
  std::string message;

  std::string to_string() const;
};

/// Consecutive cases under one unit line, one property line and one op line. The columns and vectors have one entry for
/// each case.
struct CaseBlock {
  std::string unit;      ///< the name on the last unit line; empty before the first
  std::string property;  ///< the text after "property " on the last property line; empty before the first
  Batch batch;
  Column expected;  ///< the results that the file has; meaningless where has_expected is 0
  std::vector<uint8_t> has_expected;
  std::vector<uint8_t> expected_flags;  ///< 0 where has_flags is 0
  std::vector<uint8_t> has_flags;
  std::vector<uint64_t> line;  ///< the case's line in the file, from 1
};

class CaseReader {
 public:
  /// Opens a file, or standard input for "-". Where that fails, error() says so.
  explicit CaseReader(const std::string& path);
  /// Reads a copy of `text`; messages name it `name`.
  CaseReader(const std::string& name, std::string_view text);
  ~CaseReader();

  /// Reads the next cases, at most `limit`, all under the same unit, property and op lines. False at the end and after
  /// an error; the cases before an error are delivered first.
  bool next(CaseBlock& block, size_t limit);

  const std::optional<CaseTextError>& error() const { return error_; }

 private:
  struct Input;
  void read_header();
  bool read_line(std::string_view& text);
  bool read_directive(std::string_view text);
  bool read_case(std::string_view text, CaseBlock& block);
  /// Sets error(), for a column counted from 0; returns false.
  bool fail(size_t column, std::string message);

  std::string path_;
  std::unique_ptr<Input> input_;
  std::optional<CaseTextError> error_;
  uint64_t line_ = 0;
  std::string unit_, property_;
  std::optional<Op> op_;
  std::vector<FieldShape> fields_, results_;  ///< op_'s inputs() and results()
  std::string pending_;                       ///< a case line that belongs to the next block
  bool has_pending_ = false;
};

/// Calls `visit` with the blocks of a file, each of at most `limit` cases. Throws std::runtime_error with
/// CaseReader::error() after what stands before it was visited.
void visit_cases(const std::string& path, size_t limit, const std::function<void(const CaseBlock&)>& visit);

class CaseWriter {
 public:
  /// "-" writes standard output, from the first line on; a regular file appears under its name when finish() is called,
  /// so that an output may be one of the inputs (core/replace_file.h). Throws std::runtime_error if the file cannot be
  /// written.
  explicit CaseWriter(const std::string& path);
  ~CaseWriter();

  void comment(std::string_view text);
  void unit(const std::string& name);
  /// The property line of the cases that follow: "NAME UNIT [UNIT]", the property that fails on them and its units.
  void property(const std::string& text);
  /// Writes the op line if it differs from the last one.
  void op(const Op& op);
  /// Writes one case with its result, if `results` has an answer to it, and with its flags, if `results` has flags.
  void one_case(const Batch& batch, size_t index, const Outcomes* results = nullptr);
  /// Completes the output; without it a regular file does not appear. Throws std::runtime_error on a write error.
  void finish();

 private:
  struct Output;
  void put(const std::string& line);
  std::unique_ptr<Output> output_;
  std::string path_, last_unit_, last_property_, last_op_;
};

/// The line that one_case() writes, without its newline.
std::string case_line(const Batch& batch, size_t index, const Outcomes* results = nullptr);

}  // namespace mmafuzz
