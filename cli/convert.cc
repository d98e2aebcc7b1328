// mmafuzz convert: makes cases of NumPy arrays or of TestFloat's output, and arrays of cases.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cli/command.h"
#include "core/case_text.h"
#include "core/text.h"
#include "core/replace_file.h"
#include "plan/case_arrays.h"
#include "plan/testfloat.h"

namespace mmafuzz::cli {
namespace {

struct ConvertOptions {
  std::vector<std::string> files;
  std::string op, output, results, unit, from, function, words;
};

/// Says how many cases were written, and what `more` adds; nothing where they went to standard output.
void print_written(const ConvertOptions& options, size_t cases, const std::string& more = "") {
  if (options.output != "-") fmt::print("{} in {}{}\n", counted(cases, "case"), options.output, more);
}

/// The arrays of .npy files in their order, or of one .npz file in the order of the op's fields, with those of
/// --results behind them. A c between others that is not given has no type (NamedArray).
std::vector<NamedArray> read_arrays(const ConvertOptions& options) {
  std::vector<NamedArray> arrays;
  for (const std::string& file : options.files) {
    if (!file.ends_with(".npz")) {
      arrays.push_back(read_npy(file));
      continue;
    }
    if (options.files.size() > 1)
      throw BadInput("one .npz file holds all arrays: a, b, c and, where there are results, d");
    std::map<std::string, NpyArray> members = parse_npz(file, content_of(file));
    const std::vector<std::string> names = {"a",        "b",     "c",     "sa",     "sb", "source",
                                            "operands", "codes", "scale", "tensor", "d"};
    for (const std::string& name : names) {
      const auto member = members.find(name);
      const bool is_c_of_results = name == "c" && members.contains("d");
      if (member == members.end() && is_c_of_results && arrays.size() == 2) arrays.push_back({"c", {}});
      if (member == members.end()) continue;
      arrays.push_back({file + ", array " + name, std::move(member->second)});
      members.erase(member);
    }
    if (!members.empty())
      throw BadInput(file + " has an array '" + members.begin()->first + "'; known are " +
                     joined(std::vector<std::string>(names.begin(), names.end() - 1), ", ") + " and " + names.back());
    if (!options.results.empty()) throw BadInput("--results goes with .npy files; an .npz file names its results d");
  }
  if (!options.results.empty()) {
    if (arrays.size() == 2) arrays.push_back({"c", {}});
    arrays.push_back(read_npy(options.results));
  }
  return arrays;
}

/// Which file each field was read from, for a message: ": a from x.npy, b from y.npy, c 0".
std::string sources_text(const Op& op, const std::vector<NamedArray>& arrays) {
  const std::vector<FieldShape> fields = op.inputs();
  std::string text;
  for (size_t i = 0; i < std::max(arrays.size(), fields.size()); ++i)
    text += (i ? ", " : ": ") + std::string(i < fields.size() ? fields[i].name : "d") +
            (i < arrays.size() && arrays[i].is_given() ? " from " + arrays[i].name : " 0");
  return text;
}

void write_cases(const ConvertOptions& options, const CaseBlock& block, const std::string& sources) {
  if (block.batch.size() == 0) throw BadInput(options.files[0] + ": no case: the arrays are empty");
  const bool has_results = !block.has_expected.empty() && block.has_expected[0];
  if (!has_results && !options.unit.empty()) throw BadInput("--unit says who gave the results; here are none");
  CaseWriter writer(options.output);
  writer.unit(options.unit);
  writer.op(block.batch.op());
  Outcomes outcomes;
  outcomes.results = block.expected;
  for (size_t i = 0; i < block.batch.size(); ++i) writer.one_case(block.batch, i, has_results ? &outcomes : nullptr);
  writer.finish();
  print_written(options, block.batch.size(), sources);
}

/// All cases of a file. Throws BadInput where they are of several ops, or where there is none.
CaseBlock read_cases(const std::string& file) {
  CaseBlock all;
  visit_cases(file, block_cases, [&](const CaseBlock& block) {
    const size_t before = all.batch.size();
    if (before == 0) {
      all = block;
      return;
    }
    if (!(block.batch.op() == all.batch.op()))
      throw BadInput(file + ":" + std::to_string(block.line[0]) + ": another op; arrays hold the cases of one");
    all.expected.resize(before + block.batch.size());
    for (size_t i = 0; i < block.batch.size(); ++i) {
      all.batch.append(block.batch, i);
      for (int e = 0; e < block.expected.count(); ++e) all.expected.set(before + i, e, block.expected.get(i, e));
    }
    all.has_expected.insert(all.has_expected.end(), block.has_expected.begin(), block.has_expected.end());
  });
  if (all.batch.size() == 0) throw BadInput(file + ": no case");
  return all;
}

void write_arrays(const ConvertOptions& options) {
  if (!options.unit.empty()) throw BadInput("--unit is for case files; arrays have no unit line");
  if (options.files.size() != 1)
    throw BadInput(options.output + ": arrays are made of one case file; cases of arrays go to a .cases file");
  const CaseBlock block = read_cases(options.files[0]);
  const std::vector<std::pair<std::string, NpyArray>> arrays = arrays_of_cases(block);
  const bool is_npz = options.output.ends_with(".npz");
  if (!is_npz && arrays.back().first != "d")
    throw BadInput(options.files[0] + ": not every case has a result; for the operands write .npz");
  write_output(options.output, is_npz ? npz_content(arrays) : npy_content(arrays.back().second));
  print_written(options, block.batch.size());
}

void convert_testfloat(const ConvertOptions& options) {
  if (options.function.empty()) throw BadInput("--from testfloat needs --function, as in --function f32_mulAdd");
  const Op op = op_from_text(op_of_testfloat(options.function, options.words));
  const std::string head = case_text_start + to_text(op) + "\n";
  CaseWriter writer(options.output);
  writer.unit(options.unit);
  writer.op(op);
  size_t cases = 0;
  for (const std::string& path : options.files) {
    if (std::filesystem::is_directory(path)) throw BadInput(path + ": is a folder");
    std::ifstream file;
    if (path != "-") file.open(path);
    if (path != "-" && !file) throw BadInput(path + ": cannot open");
    std::istream& lines = path == "-" ? std::cin : file;
    uint64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty()) continue;
      try {
        CaseReader reader("", head + case_of_testfloat(options.function, line));
        CaseBlock block;
        if (!reader.next(block, 1)) throw BadInput(reader.error()->message);
        Outcomes outcomes;
        outcomes.results = block.expected;
        outcomes.flags = block.expected_flags;
        writer.one_case(block.batch, 0, &outcomes);
        ++cases;
      } catch (const BadInput& e) {
        throw BadInput(path + ":" + std::to_string(number) + ": " + e.what());
      }
    }
  }
  if (cases == 0) throw BadInput(options.files[0] + ": no case: testfloat_gen prints one on each line");
  writer.finish();
  print_written(options, cases);
}

}  // namespace

void add_convert(Arguments& app, int& status) {
  auto options = std::make_shared<ConvertOptions>();
  Arguments* sub =
      app.add_subcommand("convert", "Make cases of NumPy arrays or TestFloat's output, or arrays of cases");
  sub->add_option("files", options->files,
                  "a, b and, where there are, c and d as .npy files, or one .npz file; or a case file")
      ->required();
  sub->add_option("-o,--output", options->output, "file to write: .cases (.gz), .npz, or .npy for the results alone")
      ->required();
  sub->add_option(
      "--op", options->op,
      "op line of the arrays; sizes may be left out, and all of it where numpy's types are those of the formats");
  sub->add_option("--results", options->results, ".npy file of the results, d; the third of the files is c");
  sub->add_option("--unit", options->unit, "unit that gave the results, for the unit line");
  sub->add_option("--from", options->from, "testfloat: the files are testfloat_gen's output, - for standard input")
      ->check(one_of({"testfloat"}));
  sub->add_option("--function", options->function, "of TestFloat, as in f32_mulAdd, f64_to_f16, f16_lt");
  sub->add_option("--words", options->words, "more of TestFloat's op line, as in 'round=up tiny=before'");
  sub->footer(
      "Arrays: convert a.npy b.npy c.npy d.npy -o x.cases (c: one number for all)\n"
      "        convert a.npy b.npy --results d.npy -o x.cases (c is 0)\n"
      "        convert codes.npz -o x.cases --op 'gemm a=e4m3 b=e4m3 c=fp32 d=fp32'\n"
      "TestFloat: testfloat_gen -rmax f16_add | ... convert --from testfloat --function f16_add --words round=up - -o "
      "x.cases\n"
      "Example: mmafuzz convert cases.cases -o cases.npz");
  sub->callback([options, &status] {
    if (std::any_of(options->unit.begin(), options->unit.end(), [](unsigned char c) { return std::iscntrl(c); }))
      throw BadInput("--unit takes the name of a unit, in one line");
    const bool to_arrays = options->output.ends_with(".npz") || options->output.ends_with(".npy");
    if (options->from == "testfloat") {
      convert_testfloat(*options);
    } else if (to_arrays) {
      write_arrays(*options);
    } else {
      const std::vector<NamedArray> arrays = read_arrays(*options);
      const Op op = op_of_arrays(options->op.empty() ? op_line_of_arrays(arrays) : options->op, arrays);
      const CaseBlock block = cases_of_arrays(op, arrays);
      write_cases(*options, block, options->files[0].ends_with(".npz") ? "" : sources_text(op, arrays));
    }
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
