#include "campaign/begin_again.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "campaign/corpus.h"
#include "core/replace_file.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

/// All of them wrote the same from the same beginning: the longest has what the others have.
void take_over_segments(const WorkerRun& run) {
  const fs::path own = run.segment();
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(own.parent_path()))
    if (entry.path().extension() == ".cases" && entry.path().filename().string().starts_with(run.id + "."))
      others.push_back(entry);
  if (others.empty() || fs::exists(own)) return;
  const auto size = [](const fs::path& x, const fs::path& y) { return fs::file_size(x) < fs::file_size(y); };
  replace_file(own, content_of_file(*std::max_element(others.begin(), others.end(), size)));
  for (const fs::path& other : others) fs::remove(other);
}

}  // namespace

void begin_again(const WorkerRun& run, ShareProgress& progress) {
  const std::string inputs = run.corpus() + ".inputs";
  const bool there = fs::exists(inputs);
  if (!progress.begun) {
    progress.begun = true;
    progress.cases_before = progress.cases;
    progress.answers_before = progress.answers;
    progress.corpus_before = there ? fs::file_size(inputs) : 0;
    return;
  }
  progress.cases = progress.cases_before;
  progress.answers = progress.answers_before;
  if (there) fs::resize_file(inputs, progress.corpus_before);
  if (!run.writer.empty()) take_over_segments(run);
}

}  // namespace mmafuzz
