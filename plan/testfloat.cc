#include "plan/testfloat.h"

#include <algorithm>

#include "core/quoted.h"
#include "core/words.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

/// TestFloat's names of formats and operations, and ours. The comparisons are those of IEEE 754 by default: eq is
/// quiet, lt and le signal.
constexpr std::pair<const char*, const char*> testfloat_formats[] = {
    {"f16", "fp16"}, {"bf16", "bf16"}, {"f32", "fp32"}, {"f64", "fp64"}};
constexpr std::pair<const char*, const char*> testfloat_operations[] = {
    {"add", "add"}, {"sub", "sub"},   {"mul", "mul"},  {"mulAdd", "fma"}, {"div", "div"},
    {"rem", "rem"}, {"sqrt", "sqrt"}, {"eq", "equal"}, {"lt", "less"},    {"le", "less_equal"}};

template <size_t N>
const char* ours(const std::pair<const char*, const char*> (&table)[N], std::string_view name) {
  for (const auto& [theirs, own] : table)
    if (name == theirs) return own;
  return nullptr;
}

struct TestFloatFunction {
  const char *from = nullptr, *to = nullptr, *operation = nullptr;
  bool compares() const { return operation && (operation[0] == 'e' || operation[0] == 'l'); }  // equal, less...
};

TestFloatFunction function_of(const std::string& name) {
  TestFloatFunction f;
  const size_t at = name.find('_');
  if (at != std::string::npos) {
    f.from = ours(testfloat_formats, std::string_view(name).substr(0, at));
    const std::string rest = name.substr(at + 1);
    if (rest.starts_with("to_")) f.to = ours(testfloat_formats, std::string_view(rest).substr(3));
    else f.operation = ours(testfloat_operations, rest);
  }
  if (f.from && (f.to || f.operation)) return f;
  std::string known;
  for (const auto& [theirs, own] : testfloat_operations) known += std::string(" ") + theirs;
  throw BadInput("no function " + quoted(name) +
                 " of TestFloat is known: F_to_F and F_O, with F one of f16 bf16 f32 f64 "
                 "and O one of" +
                 known);
}

}  // namespace

std::string op_of_testfloat(const std::string& function, const std::string& words) {
  const TestFloatFunction f = function_of(function);
  const std::string what = f.to ? std::string("convert from=") + f.from + " to=" + f.to
                                : std::string("scalar ") + f.operation + " format=" + f.from;
  return what + (words.empty() ? "" : " " + words) + " nan=any flags=ieee";
}

std::string case_of_testfloat(const std::string& function, const std::string& line) {
  const TestFloatFunction f = function_of(function);
  const Op op = op_from_text(op_of_testfloat(function, ""));
  std::vector<std::string> words = words_of(line);
  const size_t operands = op.kind == OpKind::scalar ? static_cast<size_t>(op.arity()) : 1;
  if (words.size() != operands + 2)
    throw BadInput("expected " + std::to_string(operands) + " operands, a result and flags of " + function +
                   ", found " + quoted(line));
  for (std::string& word : words)
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char ch) { return std::tolower(ch); });
  std::string text;
  for (size_t i = 0; i < operands; ++i) text += words[i] + " ";
  std::string result = words[operands];
  if (f.compares()) {  // 0 or 1, which we write as numbers of the format
    if (result != "0" && result != "1")
      throw BadInput("expected 0 or 1 as the result of " + function + ", found " + quoted(result));
    const FormatFields& d = op.d.fields();
    result = to_hex(op.d, result == "0" ? 0 : static_cast<uint64_t>(d.bias) << d.fraction_bits);
  }
  return text + "| " + result + " | " + words[operands + 1];
}

}  // namespace mmafuzz
