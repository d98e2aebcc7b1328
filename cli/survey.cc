// mmafuzz survey: runs all checks of this machine's device in one process, those first that decide most in a second.
#include <ctime>
#include <filesystem>

#include "cli/command.h"
#include "core/child_process.h"
#include "core/text.h"
#include "gpu_bridge/dgemm/ozaki_steps.h"
#include "gpu_bridge/register.h"
#include "oracles/families.h"
#include "plan/corpus_folder.h"
#include "plan/version.h"
#include "survey/survey.h"

namespace mmafuzz::cli {

void add_survey(Arguments& app, int& status) {
  auto options = std::make_shared<survey::Options>();
  Arguments* sub =
      app.add_subcommand("survey", "Check everything that this device can settle, in one process with one time limit");
  sub->add_option("-o,--output", options->output, "folder for survey.json, note.md and case files")->required();
  sub->add_option("--units", options->units, "globs of cuda: and cublas: units (default: all)");
  sub->add_option(
      "--only", options->parts,
      "globs of the plan's parts (default: all), in this order: control, discriminators, published, sweep, cores, "
      "conversions, ozaki, cublas, dgemm, sanitizer, long_sweep, rates");
  sub->add_option("--time", options->seconds, "seconds for everything (480)")->check(positive_number());
  sub->add_option("--patience", options->patience, "seconds that a step's last call may take beyond its limit (10)")
      ->check(positive_number());
  sub->add_option("--sizes", options->sizes, "n of the n x n x n products of the part dgemm (1024 2048 4096 8192)")
      ->check(in_range(4, 32768));
  sub->add_option("--seed", options->seed, "seed of the generators")->check(unsigned_number());
  if (!std::filesystem::is_directory("corpus/published"))
    options->corpus = default_corpus_folder();  // not in a checkout
  sub->add_option("--corpus", options->corpus, "the corpus")->capture_default_str();
  sub->add_option("--observations", options->observations,
                  "folder of recorded results (default: MMAFUZZ_OBSERVATIONS)");
  sub->footer(
      "Steps: device and libraries, positive control, discriminators, published cases, short sweeps, CUDA cores, "
      "conversions, Ozaki products,\n"
      "cuBLAS, FP64 products of large matrices, compute-sanitizer, long sweeps, rates. After each one its result is on "
      "disk.\n"
      "Exit codes: 0 nothing to fail on, 1 divergences, 2 no device, or it was lost.\n"
      "Example: mmafuzz survey -o out --units 'cuda:wgmma*' --time 60; mmafuzz survey -o out --only dgemm");
  sub->callback([options, &status] {
    for (const uint64_t n : options->sizes)
      if (n % elements_at_once != 0) throw BadInput("--sizes " + std::to_string(n) + ": expected multiples of 4");
    std::error_code error;
    std::filesystem::create_directories(options->output, error);
    if (!std::filesystem::is_directory(options->output)) throw BadInput(options->output + " is no folder");
    if (!std::filesystem::is_directory(options->corpus + "/published"))
      throw BadInput("no published cases in " + options->corpus + "; name the corpus with --corpus");
    if (options->observations.empty())
      if (const char* folder = std::getenv("MMAFUZZ_OBSERVATIONS")) options->observations = folder;
    for (const std::string& glob : options->parts) {
      bool known = false;
      for (const survey::Part& part : survey::parts()) known = known || matches_glob(glob, part.name);
      if (!known) throw BadInput("no part of the plan matches '" + glob + "'");
    }
    options->recorded_by = std::string("mmafuzz ") + version_number() + ", " + utc_text(std::time(nullptr), day_format);
    options->program = own_executable();
    setenv("MMAFUZZ_DEVICE_LOSSES", options->output.c_str(), 1);  // the batch on which a device is lost is kept there
    const auto child = make_device_child();
    Registry units = oracle_registry();
    add_device_units(units, child);
    status = survey::run(*options, units, child);
  });
}

}  // namespace mmafuzz::cli
