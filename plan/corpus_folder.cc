#include "plan/corpus_folder.h"

#include <filesystem>

#include "core/child_process.h"

namespace mmafuzz {

namespace fs = std::filesystem;

std::string default_corpus_folder() {
  const fs::path here = fs::path(own_executable()).parent_path();
  for (const char* folder : {"../../corpus", MMAFUZZ_DATA})
    if (!here.empty() && fs::is_directory(here / folder / "knowledge"))
      return (here / folder).lexically_normal().string();
  return "";
}

}  // namespace mmafuzz
