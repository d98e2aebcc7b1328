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

/// Where and why reading stopped. Line and column count from 1; 0 where there is none (the file cannot be opened).
struct CaseTextError {
  std::string file;
  uint64_t line = 0;
  uint64_t column = 0;
  std::string message;

  std::string to_string() const;
};

/// Consecutive cases of one unit line and one op line.
struct CaseBlock {
  std::string unit;      ///< text of the last unit line; empty before the first
  std::string property;  ///< text of the last property line
  Batch batch;
  Column expected;  ///< result field, where has_expected
  std::vector<uint8_t> has_expected;
  std::vector<uint8_t> expected_flags;  ///< where has_flags
  std::vector<uint8_t> has_flags;
  std::vector<uint64_t> line;
};

class CaseReader {
 public:
  /// "-" reads standard input. Problems with opening appear in error().
  explicit CaseReader(const std::string& path);
  /// Reads text in memory; `name` stands in messages.
  CaseReader(const std::string& name, std::string_view text);
  ~CaseReader();

  /// Reads the next cases, at most `limit`, all of one unit and op. False at the end and after an error; cases that
  /// stand before an error are delivered first.
  bool next(CaseBlock& block, size_t limit);

  const std::optional<CaseTextError>& error() const { return error_; }

 private:
  struct Input;
  void read_header();
  bool read_line(std::string_view& text);
  bool read_directive(std::string_view text);
  bool read_case(std::string_view text, CaseBlock& block);
  bool fail(size_t column, std::string message);

  std::string path_;
  std::unique_ptr<Input> input_;
  std::optional<CaseTextError> error_;
  uint64_t line_ = 0;
  std::string unit_, property_;
  std::optional<Op> op_;
  std::vector<FieldShape> fields_, results_;  ///< of op_
  std::string pending_;                       ///< a case line that belongs to the next block
  bool has_pending_ = false;
};

/// Calls `visit` with each block of a file, of at most `limit` cases. Throws std::runtime_error where reading stopped.
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
  /// What the cases show: "NAME UNIT [UNIT]", until the next property.
  void property(const std::string& text);
  /// Writes the op line if it differs from the last one.
  void op(const Op& op);
  /// Writes one case; results may be null. Flags are written where the outcomes have them.
  void one_case(const Batch& batch, size_t index, const Outcomes* results = nullptr);
  /// Flushes and checks; throws std::runtime_error on a write error.
  void finish();

 private:
  struct Output;
  void put(const std::string& line);
  std::unique_ptr<Output> output_;
  std::string path_, last_unit_, last_property_, last_op_;
};

/// One case's line without a newline.
std::string case_line(const Batch& batch, size_t index, const Outcomes* results = nullptr);

}  // namespace mmafuzz
