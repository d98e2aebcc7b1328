// A corpus folder that workers of one target and op share: one file per input, named by its content, as engines keep theirs.
#pragma once

#include <set>
#include <string>

#include "core/batch.h"

namespace mmafuzz::cli {

class CorpusFolder {
 public:
  /// Half-written files stand as `scratch` until they are whole; it must be on the same file system. Creates the folder.
  CorpusFolder(std::string folder, std::string scratch, const Op& op);

  /// The cases of files that this object has neither read nor written yet, in the order of their names. Other operations'
  /// inputs do not occur: a folder belongs to one op. At most `limit` files are read by one call.
  Batch read_new(size_t limit);

  /// Writes one case as an input for a focus unit, if it is not there yet. Throws std::runtime_error if it cannot.
  void write(const Batch& batch, size_t index, size_t focus);

 private:
  std::string folder_, scratch_;
  Op op_;
  std::set<std::string> known_;
};

}  // namespace mmafuzz::cli
