// The corpus of a field (one target on one op, campaign/campaign.h), which its workers share. Batch searches append to
// the pack, one file of inputs of search/byte_codec.h, one after the other, because making a file takes a file system
// longer than finding an input takes a search; engines have a folder with a file for each input. An input has the
// number of a focus unit (EngineInput::focus), through whose arithmetic an engine's target traces it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

class SharedCorpus {
 public:
  /// The pack is `folder`.inputs. With `writes_files`, every packed input also becomes a file of the folder.
  SharedCorpus(std::string folder, const Op& op, bool writes_files = false);

  /// Returns the inputs that this object has not read or written yet: packed ones, then files in order of their names.
  Batch read_new();

  /// Adds one case as an input for focus unit number `focus`, if it is new; flush() writes it.
  void add(const Batch& batch, size_t index, size_t focus);
  /// Writes what was added. Throws std::runtime_error if it cannot. A process killed in the middle leaves part of an
  /// input at the end, which the next SharedCorpus cuts off.
  void flush();

 private:
  std::string folder_;
  Op op_;
  bool writes_files_;
  size_t record_bytes_, offset_ = 0;  ///< bytes of a packed input; bytes of the pack that were read
  std::string pending_;               ///< inputs that flush() appends to the pack
  std::set<std::string> names_;       ///< content_name() of packed inputs, and names of files
};

/// Makes the cases of an op in the files of case text of folder `seeds` the first inputs of a corpus, for focus units
/// in turn. Throws std::runtime_error on a file that is no case text.
void seed_corpus(const std::string& folder, const Op& op, const std::string& seeds, bool writes_files);
/// Copies the files of folder `seeds` to a corpus of a target without ops, whose inputs are texts.
void seed_text_corpus(const std::string& folder, const std::string& seeds);

/// The name of an input: a hash of its bytes.
std::string content_name(std::string_view bytes);
/// Writes with one call to a file, which is created where there is none. `flags`: O_APPEND appends to what is there,
/// O_EXCL leaves a file that exists as it is. The file is opened and closed for each use: a network file system then
/// shows other hosts what was written. Throws std::system_error.
void write_once(const std::string& file, const std::string& bytes, int flags);
/// Writes an input as a file of a corpus folder, under its name. Throws std::runtime_error.
void write_input_file(const std::string& folder, const std::string& bytes);

/// The paths of what is in a folder, files and folders, whose names end with `ending`, sorted; none where the folder
/// cannot be read.
std::vector<std::string> sorted_files(const std::string& folder, std::string_view ending = "");

/// Paths of the files of a folder whose names `known` lacks, sorted; adds the names to it.
std::vector<std::string> new_files(const std::string& folder, std::set<std::string>& known);

/// Calls `visit` with each whole input in the pack of a corpus folder from byte `offset` on, and moves `offset` behind
/// them. `record_bytes`: of a packed input.
void visit_packed_inputs(const std::string& folder, size_t record_bytes, size_t& offset,
                         const std::function<void(std::string)>& visit);

/// The bytes of a file from `offset` on; empty where it cannot be read.
std::string content_of_file(const std::string& file, size_t offset = 0);

/// Writes one case, for focus unit number `focus`, as a file of a corpus folder. Throws std::runtime_error.
void write_input(const std::string& folder, const Batch& batch, size_t index, size_t focus);

}  // namespace mmafuzz
