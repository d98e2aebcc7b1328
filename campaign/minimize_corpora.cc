#include "campaign/minimize_corpora.h"

#include <unistd.h>

#include <filesystem>
#include <set>

#include "campaign/corpus.h"
#include "campaign/process.h"
#include "plan/registry.h"
#include "search/focuses.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t cases_at_once = 1024;

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Copies the first input for each bin of each focus unit; returns the number of inputs read.
size_t keep_first_of_each_bin(const Op& op, const std::vector<std::string>& units, const std::string& from,
                              const std::string& to) {
  const Comparison comparison(op, units, registry(), {});
  GuidedSearch guided(op, focuses_of(comparison), 0);
  const Batch cases = SharedCorpus(from, op).read_new();
  for (size_t first = 0; first < cases.size(); first += cases_at_once) {
    const Batch part = cases.part(first, std::min(cases.size() - first, cases_at_once));
    for (size_t focus = 0; focus < guided.focus_count(); ++focus) {
      const GuidedSearch::Observation observation = guided.look(focus, part);
      for (const auto& [feature, index] : observation.kept)
        if (guided.hits(focus, feature) == 0) write_input(to, observation.cases, index, focus);
      guided.learn(observation);
    }
  }
  return cases.size();
}

void merge_with_engine(const std::string& binary, const std::string& from, const std::string& to) {
  Process process({{binary, "-merge=1", to, from}, {}, to + ".log"});
  constexpr useconds_t interval = 50'000;  // microseconds
  while (!process.poll()) usleep(interval);
}

}  // namespace

MinimizedCorpus minimize_corpora(const Plan& plan, const std::vector<std::string>& units, const std::string& folder) {
  MinimizedCorpus sizes;
  std::set<std::string> done;
  for (const Assignment& assignment : plan.assignments) {
    const std::string from = folder + "/corpus/" + assignment.corpus_name(),
                      to = folder + "/corpus.min/" + assignment.corpus_name();
    if (!fs::exists(from) || (!assignment.op && assignment.engine != Engine::libfuzzer) || !done.insert(to).second)
      continue;
    fs::remove_all(to);
    fs::create_directories(to);
    if (assignment.op) {
      sizes.before += keep_first_of_each_bin(*assignment.op, units_of(units, *assignment.op), from, to);
    } else {
      merge_with_engine(assignment.binary, from, to);
      sizes.before += files_in(from);
    }
    sizes.after += files_in(to);
  }
  return sizes;
}

}  // namespace mmafuzz
