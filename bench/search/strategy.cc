#include "bench/search/strategy.h"

#include <algorithm>

#include "campaign/corpus.h"
#include "core/case_text.h"
#include "core/unit_name.h"
#include "search/guided_search.h"
#include "search/random_generators.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

/// Cases 0, 1, 2, ... of a generator.
template <class Generator>
InputStream generated(const Generator& generator) {
  return {[generator, first = uint64_t{0}](size_t wanted, Batch& batch) mutable {
    generator.fill(first, wanted, batch);
    first += wanted;
    return true;
  }};
}

Strategy random_strategy(RandomKind kind) {
  return {name_of(kind),
          [kind](const Unit&, const Op& op, uint64_t seed) { return generated(RandomGenerator(op, kind, seed)); }};
}

Strategy structured_strategy() {
  return {"structured",
          [](const Unit&, const Op& op, uint64_t seed) { return generated(StructuredGenerator(op, seed)); }};
}

/// A guided search on the original's arithmetic; the mutants are black boxes to it. Its feedback is functional
/// coverage, none, or edges of the scalar kernel; or it lacks one of its parts.
struct Guided {
  std::string name;
  std::unique_ptr<Feedback> (*feedback)(const Op&, const Unit& original);
  GuidedSearch::Settings settings = {};
};

Strategy guided_strategy(const Guided& guided) {
  const auto start = [guided](const Unit& original, const Op& op, uint64_t seed) -> InputStream {
    std::vector<GuidedSearch::Focus> focuses;
    focuses.push_back({original.name(), corner_hints(original.model(), original.slicing()),
                       guided.feedback(op, original), original.model()});
    struct Place {
      uint64_t chunk = 0, first = 0;
    };
    const auto search = std::make_shared<GuidedSearch>(op, std::move(focuses), seed, guided.settings);
    const auto place = std::make_shared<Place>();
    return {[search, place](size_t wanted, Batch& batch) {
              search->propose(place->chunk, place->first, wanted, batch);
              return true;
            },
            [search, place](const Batch& batch) {
              search->learn(search->observe(place->chunk++, place->first, batch));
              place->first += batch.size();
            }};
  };
  return {guided.name, start};
}

std::unique_ptr<Feedback> functional_feedback(const Op& op, const Unit& original) {
  return make_functional_feedback(op, original.model(), original.slicing());
}
std::unique_ptr<Feedback> no_feedback(const Op&, const Unit&) { return make_no_feedback(); }
std::unique_ptr<Feedback> code_feedback(const Op& op, const Unit& original) {
  return original.model() ? make_code_feedback(op, *original.model()) : make_no_feedback();
}

const Guided guided_strategies[] = {
    {"guided", functional_feedback},
    {"unguided", no_feedback},
    {"code", code_feedback},
    {"fewer kept cases", functional_feedback, {.kept_from = 12}},
    {"tracing every case", functional_feedback, {.trace_share_of_mutants = 1, .trace_share_of_others = 1}},
    {"without walks", functional_feedback, {.walks = false}},
    {"without plain cases", functional_feedback, {.plain = false}},
    {"without sequences", functional_feedback, {.sequences = false}},
    // To compare with "without walks", because a walk of the datapath would make up for the missing move.
    {"nor plain cases", functional_feedback, {.walks = false, .plain = false}},
    {"nor solved sums", functional_feedback, {.walks = false, .left_out = DotMove::solve_sum}},
    {"nor ramps", functional_feedback, {.walks = false, .left_out = DotMove::ramp}},
    {"nor new fractions", functional_feedback, {.walks = false, .left_out = DotMove::redraw_fractions}},
    {"nor unbalanced factors", functional_feedback, {.walks = false, .left_out = DotMove::unbalance}},
};

/// All published vectors with the op's formats, scales and rounding, for whichever unit and k they were published.
Strategy published_strategy(const std::string& folder) {
  const std::vector<std::string> files = sorted_files(folder, ".cases");
  if (files.empty()) throw BadInput(folder + ": no published vectors (*.cases); name their folder with --published");
  const auto batches = std::make_shared<std::vector<Batch>>();
  for (const std::string& file : files)
    visit_cases(file, 4096, [&](const CaseBlock& block) { batches->push_back(block.batch); });
  const auto start = [batches](const Unit&, const Op& op, uint64_t) -> InputStream {
    std::vector<const Batch*> fitting;
    for (const Batch& batch : *batches) {
      const Op& published = batch.op();
      if (published.kind == op.kind && op.has_formats_of(published) && published.rounding == op.rounding)
        fitting.push_back(&batch);
    }
    return {[fitting, next = size_t{0}](size_t, Batch& batch) mutable {
      if (next == fitting.size()) return false;
      batch = *fitting[next++];
      return true;
    }};
  };
  return {"published", start, false};
}

}  // namespace

std::vector<Strategy> make_strategies(const std::vector<std::string>& names, const std::string& published) {
  const std::vector<std::string> usual = {"guided",  "unguided", "code",   "structured",
                                          "uniform", "normal",   "spread", "published"};
  std::vector<Strategy> strategies;
  for (const std::string& name : names.empty() ? usual : names) {
    const Guided* const guided = entry_named(guided_strategies, name);
    const auto kind = std::find_if(std::begin(random_kinds), std::end(random_kinds),
                                   [&](RandomKind k) { return name == name_of(k); });
    if (kind != std::end(random_kinds)) {
      strategies.push_back(random_strategy(*kind));
    } else if (guided) {
      strategies.push_back(guided_strategy(*guided));
    } else if (name == "structured") {
      strategies.push_back(structured_strategy());
    } else if (name == "published") {
      strategies.push_back(published_strategy(published));
    } else {
      std::string list;
      for (const Guided& each : guided_strategies) list += each.name + ", ";
      for (const std::string& each : usual)
        if (each != "guided" && each != "unguided" && each != "code") list += each + ", ";
      list.resize(list.size() - 2);
      throw BadInput("unknown strategy '" + name + "'; known: " + list);
    }
  }
  return strategies;
}

}  // namespace mmafuzz
