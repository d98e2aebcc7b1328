// mmafuzz list: lists units, formats, properties, parameters (what an override may name), targets, walks and GPUs.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/json_text.h"
#include "core/text.h"
#include "search/datapath_walks.h"
#include "cli/command.h"
#include "cli/row_json.h"
#include "gpu_bridge/families/device_units.h"
#include "oracles/models/gpu_names.h"
#include "oracles/properties/properties.h"
#include "plan/corpus_folder.h"
#include "plan/targets.h"
#include "plan/typed_case.h"
#include "plan/unit_words.h"
#include "triage/explain/number_text.h"

namespace mmafuzz::cli {
namespace {

std::string claims_text(const std::vector<Claim>& claims) {
  std::string text;
  for (const Claim& c : claims)
    text += (text.empty() ? "" : ", ") + c.property + (c.detail.empty() ? "" : " " + c.detail);
  return text;
}

void list_units(const std::string& pattern, std::vector<std::string> words, bool verbose, bool json) {
  nlohmann::json array = nlohmann::json::array();
  const std::string corpus = default_corpus_folder();
  const auto evidence = json && !corpus.empty() ? std::make_unique<EvidenceTables>(corpus) : nullptr;
  size_t shown = 0;
  for (const UnitInfo& info : registry().list()) {
    if (!matches_glob(pattern, info.name) || !matches_words(info, words)) continue;
    ++shown;
    if (json) {
      array.push_back(unit_json(info, evidence.get()));
      array.back().update({{"summary", info.summary}, {"unavailable", info.unavailable}});
    } else if (verbose) {
      fmt::print("{}\n    {}\n", info.name, info.summary);
      if (!info.source.empty()) fmt::print("    source: {}\n", info.source);
      if (!info.claims.empty()) fmt::print("    claims: {}\n", claims_text(info.claims));
      if (!info.unavailable.empty()) fmt::print("    not here: {}\n", info.unavailable);
    } else {
      fmt::print("{}{}\n", info.name, info.unavailable.empty() ? "" : "  (not here: " + info.unavailable + ")");
    }
  }
  if (json) fmt::print("{}", json_text(array));
  if (verbose && !json && pattern.starts_with("cuda:")) {
    fmt::print("out of scope on a GPU:\n");
    for (const OutOfScope& out : out_of_scope) fmt::print("    {}...: {}\n", out.instruction, out.what);
    fmt::print("    wgmma with other n than 8, 64 and 256; FP8 in cuBLAS\n");
  }
  if (shown > 0) return;
  if (pattern != "*") words.insert(words.begin(), pattern);
  throw BadInput("no unit matches '" + joined(words, " ") +
                 "'; 'mmafuzz list gpus' has the GPUs that are known by name");
}

/// Prints one number in every format: its encoding, and its value there, or why the format has none. The number is
/// typed as in a case, or as an encoding, FORMAT:HEX.
void list_number(const std::string& word) {
  std::string number = word;
  if (const size_t colon = word.rfind(':'); colon != word.npos) {  // the last one: a bias has one, too
    const Result<Format> known = parse_format(word.substr(0, colon));
    if (!known) throw BadInput(known.refusal().reason);
    const Format& from = *known;
    const std::string hex = word.substr(colon + 1);
    if (hex.size() != size_t(from.digits()) || hex.find_first_not_of("0123456789abcdefABCDEF") != hex.npos)
      throw BadInput(mmafuzz::in_quotes(word) + ": an encoding of " + from.name() + " has " +
                     counted(size_t(from.digits()), "hex digit"));
    const uint64_t code = std::stoull(hex, nullptr, 16);
    number = !from.fields().integer     ? explained_number(from, code).binary
             : from.fields().has_sign() ? std::to_string(sign_extended(from.fields(), code))
                                        : std::to_string(code);
    if (number == "NaN") number = "nan";
  }
  std::string text, why;
  bool has_number = false;
  for (const std::string& name : format_names()) {
    const Format& to = format(name);
    try {
      bool is_inexact = false;
      const uint64_t encoding = encoding_of(to, number, is_inexact);
      text +=
          fmt::format("{:16} {}{}\n", name, explained_number(to, encoding).to_string(), is_inexact ? ", rounded" : "");
      has_number = true;
    } catch (const BadInput& none) {
      why = std::string(none.what());
      why = why.substr(why.find(": ") + 2);
      text += fmt::format("{:16} none: {}\n", name, why);
    }
  }
  if (!has_number) throw BadInput(mmafuzz::in_quotes(word) + " is a number of no format: " + why);
  fmt::print("{}", text);
}

/// Prints the walks (docs/concepts.md) through an op's datapath, that of `unit` unless "*", and their lengths in cases.
void list_walks(const std::vector<std::string>& op_words, const std::string& unit) {
  const std::string line = joined(op_words, " ");
  if (line.empty()) throw BadInput("list walks needs an op, as in: list walks dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  const Op op = op_from_text(line);
  const std::unique_ptr<Unit> bound = unit == "*" ? nullptr : bind_or_fail(unit, op);
  const DatapathWalks walks(op, corner_hints(bound ? bound->model() : nullptr), 1);
  if (walks.parts().empty())
    throw BadInput("matrix products, and conversions and operations of integers, have no walks");
  for (const DatapathWalks::Part& part : walks.parts()) fmt::print("{:22} {:>9}\n", part.name, part.length);
  fmt::print("{:22} {:>9}\n", "all", walks.length());
}

}  // namespace

void add_list(Arguments& app, int& status) {
  struct Options {
    std::string pattern = "*";
    std::vector<std::string> words;
    bool verbose = false, json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("list", "List units, formats, properties, parameters, targets, walks or GPUs");
  sub->add_option("what", options->words,
                  "formats, formats and a number to have it in each of them, properties, parameters, targets, gpus, or "
                  "walks and an op; anything else are words that a unit must match, as in: blackwell fp4");
  sub->add_option("--units", options->pattern,
                  "only units that match this glob, as in 'model:hopper/*'; of walks, the unit");
  sub->add_flag("-v,--verbose", options->verbose, "with ops, sources and claims");
  sub->add_flag("--json", options->json, "print JSON (units)");
  sub->footer(
      "What is out of scope on a GPU: mmafuzz list -v --units 'cuda:*'\n"
      "Examples: mmafuzz list -v --units 'model:hopper/wgmma*'\n"
      "          mmafuzz list blackwell fp4\n"
      "          mmafuzz list formats 0.1\n"
      "          mmafuzz list formats fp16:2e66\n"
      "          mmafuzz list walks dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  sub->callback([options, &status] {
    static const std::vector<std::string> others = {"formats", "properties", "parameters", "targets", "gpus", "walks"};
    std::vector<std::string> words = options->words;
    const std::string what =
        words.empty() || std::find(others.begin(), others.end(), words[0]) == others.end() ? "units" : words[0];
    status = exit_ok;
    if (what == "units") {
      if (!words.empty() && words[0] == "units") words.erase(words.begin());
      list_units(options->pattern, words, options->verbose, options->json);
    } else if (what == "walks") {
      words.erase(words.begin());
      list_walks(words, options->pattern);
    } else if (what == "formats" && words.size() == 2) {
      return list_number(words[1]);
    } else if (words.size() > 1 || options->json || options->verbose || options->pattern != "*") {
      throw BadInput("list " + what + " takes nothing else; --units, --verbose, --json and words are for units");
    }
    if (what == "formats") {
      for (const std::string& name : format_names()) {
        const FormatFields f = format(name).fields();
        if (f.integer) fmt::print("{:16} {} bits, integer\n", name, f.width);
        else
          fmt::print("{:16} {} bits: {} exponent, {} fraction, bias {}\n", name, f.width, f.exponent_bits,
                     f.fraction_bits, f.bias);
      }
    }
    if (what == "properties") {
      fmt::print("{:26} {}\n", "equals_model", "a unit gives the results of the model that its row names, bit for bit");
      for (const Property* p : all_properties()) fmt::print("{:26} {}\n", p->name(), p->statement());
    }
    if (what == "targets")
      for (const FuzzTarget& target : fuzz_targets()) fmt::print("{:17} {}\n", target.name, target.contract);
    if (what == "gpus")
      for (const GpuName& gpu : gpu_names()) fmt::print("{:9} {}\n", gpu.name, gpu.arch);
    if (what == "parameters") {
      for (const FamilyParameters& family : registry().parameters()) {
        fmt::print("{}\n", family.units);
        for (const auto& p : family.parameters) fmt::print("  {:21} {}: {}\n", p.name, p.meaning, p.values);
      }
    }
  });
}

}  // namespace mmafuzz::cli
