// The corpus that workers of one target and op share. Batch searches append to one file of packed inputs, because a
// file system takes longer to make a file than they to find its content; engines have a folder with a file for each
// input.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

class SharedCorpus {
 public:
  /// The packed inputs are in `folder`.inputs. With `files`, every packed input also becomes a file of the folder.
  SharedCorpus(std::string folder, const Op& op, bool files);

  /// Inputs that this object has neither read nor written yet: packed ones, then files in the order of their names.
  Batch read_new();

  /// Takes one case as an input for a focus unit, if it is new.
  void add(const Batch& batch, size_t index, size_t focus);
  /// Writes what was added. Throws std::runtime_error if it cannot. Killed in the middle it leaves a part of an input
  /// at the end, which the next writer cuts off.
  void flush();

 private:
  std::string folder_;
  Op op_;
  bool files_;
  size_t record_bytes_, offset_ = 0;
  std::string pending_;
  std::set<std::string> names_;  ///< of contents and of files
};

/// The cases of an op in the files of case text of a folder, each for a focus unit of its own, as the first inputs of a
/// corpus. Throws std::runtime_error on a file that is no case text.
void seed_corpus(const std::string& folder, const Op& op, const std::string& seeds, bool files);
/// The files of a folder as inputs of a target that reads text.
void seed_text_corpus(const std::string& folder, const std::string& seeds);

/// Names an input by what it holds.
std::string content_name(std::string_view bytes);
/// Writes with one call to a file, which is created where there is none; with O_APPEND behind what is there, with
/// O_EXCL only to a new one. Opened and closed for each use: a network file system then shows other hosts what was
/// written. Throws std::system_error.
void write_once(const std::string& file, const std::string& bytes, int flags);
/// Writes an input as a file of a corpus folder, under its name. Throws std::runtime_error.
void write_input_file(const std::string& folder, const std::string& bytes);

/// The files of a folder whose names end so, by name; none where it cannot be read.
std::vector<std::string> sorted_files(const std::string& folder, std::string_view ending = "");

/// What a file holds; nothing where it cannot be read.
std::string content_of_file(const std::string& file, size_t offset = 0);

/// Writes one case as a file of a corpus folder. Throws std::runtime_error.
void write_input(const std::string& folder, const Batch& batch, size_t index, size_t focus);

}  // namespace mmafuzz
