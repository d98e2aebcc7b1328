#include "cli/version_screen.h"

#include <fmt/core.h>

#include "campaign/plan.h"
#include "core/json_version.h"
#include "oracles/units/plugin_abi.h"
#include "plan/corpus_folder.h"
#include "plan/version.h"

namespace mmafuzz::cli {

std::string version_screen() {
  std::string text = "mmafuzz " + version_text() + "\nengines:";
  for (const EngineHere& engine : engines_here()) {
    text +=
        fmt::format(" {} ({})", engine.name, engine.builds ? fmt::format("{} targets", engine.builds) : "no targets");
    if (!engine.missing.empty()) text += " " + engine.missing;
    text += ";";
  }
  text.back() = '\n';
  text += fmt::format("JSON: version {}; plugins: version {}\n", json_version, MMAFUZZ_PLUGIN_ABI);
  const std::string corpus = default_corpus_folder();
  return text + "corpus: " + (corpus.empty() ? "none beside this program" : corpus);
}

}  // namespace mmafuzz::cli
