#include "plan/testfloat.h"

#include "core/text.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

using Names = std::pair<const char*, const char*>;

/// TestFloat's names of formats, operations and rounding modes, each with the name here. Comparisons without a suffix
/// are as in IEEE 754: eq is quiet, lt and le signal.
constexpr Names testfloat_floats[] = {{"f16", "fp16"}, {"bf16", "bf16"}, {"f32", "fp32"}, {"f64", "fp64"}};
constexpr Names testfloat_integers[] = {{"i32", "s32"}, {"ui32", "u32"}, {"i64", "s64"}, {"ui64", "u64"}};
constexpr Names testfloat_operations[] = {{"add", "add"},
                                          {"sub", "sub"},
                                          {"mul", "mul"},
                                          {"mulAdd", "fma"},
                                          {"div", "div"},
                                          {"rem", "rem"},
                                          {"sqrt", "sqrt"},
                                          {"roundToInt", "round_to_integral"},
                                          {"eq", "equal"},
                                          {"lt", "less"},
                                          {"le", "less_equal"},
                                          {"eq_signaling", "equal_signaling"},
                                          {"lt_quiet", "less_quiet"},
                                          {"le_quiet", "less_equal_quiet"}};
constexpr Names testfloat_roundings[] = {{"near_even", "nearest_even"},
                                         {"near_maxMag", "nearest_away"},
                                         {"minMag", "toward_zero"},
                                         {"min", "down"},
                                         {"max", "up"}};

template <size_t N>
const char* ours(const Names (&table)[N], std::string_view name) {
  for (const auto& [theirs, our_name] : table)
    if (name == theirs) return our_name;
  return nullptr;
}

template <size_t N>
std::string names_of(const Names (&table)[N]) {
  std::string all;
  for (const auto& names : table) all += (all.empty() ? "" : " ") + std::string(names.first);
  return all;
}

struct TestFloatFunction {
  const char *from = nullptr, *to = nullptr, *operation = nullptr;
  std::string words;  ///< attributes of the op line that follow from the function's name
  bool rounds_to_integer = false;
  bool compares() const { return operation && (operation[0] == 'e' || operation[0] == 'l'); }  // equal, less...
};

/// Cuts `_r_MODE`, `_rx_MODE` or `_x` off the end of a name, with which the program `testfloat` says how it rounds to
/// an integer. Returns the attributes of the op line that this stands for; "" where there is none.
std::string cut_rounding(std::string& name) {
  for (const auto& [theirs, our_name] : testfloat_roundings)
    for (const bool exact : {false, true}) {
      const std::string end = std::string(exact ? "_rx_" : "_r_") + theirs;
      if (!name.ends_with(end)) continue;
      name.resize(name.size() - end.size());
      return std::string("round=") + our_name + " inexact=" + (exact ? "1" : "0");
    }
  if (!name.ends_with("_x")) return "";
  name.resize(name.size() - 2);
  return "inexact=1";
}

TestFloatFunction function_of(const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    throw BadInput("TestFloat's function " + in_quotes(name) + ": " + why);
  };
  for (const char* wide : {"extF80", "f128"})
    if (("_" + name + "_").find(std::string("_") + wide + "_") != std::string::npos)
      refuse(std::string("mmafuzz has no ") + wide + ", its formats have at most 64 bits");
  TestFloatFunction f;
  const size_t at = name.find('_');
  if (at != std::string::npos) {
    const std::string first = name.substr(0, at);
    std::string rest = name.substr(at + 1);
    f.words = cut_rounding(rest);
    const char* integer = ours(testfloat_integers, first);
    f.from = integer ? integer : ours(testfloat_floats, first);
    if (rest.starts_with("to_")) {
      const std::string_view target = std::string_view(rest).substr(3);
      f.to = ours(testfloat_floats, target);
      if (!f.to && !integer) {
        f.to = ours(testfloat_integers, target);
        f.rounds_to_integer = f.to != nullptr;
      }
    } else if (!integer) {
      f.operation = ours(testfloat_operations, rest);
      f.rounds_to_integer = rest == "roundToInt";
    }
  }
  const bool known = f.from && (f.to || f.operation);
  if (known && !f.words.empty() && !f.rounds_to_integer) refuse("only roundings to an integer name their rounding");
  if (known) return f;
  refuse("it is not known; known are F_to_F, F_to_I, I_to_F and F_O, with F one of " + names_of(testfloat_floats) +
         ", I one of " + names_of(testfloat_integers) + ", O one of " + names_of(testfloat_operations) +
         "; and with the rounding in the name F_to_I_r_R, F_to_I_rx_R, F_roundToInt_r_R and F_roundToInt_x, R one of " +
         names_of(testfloat_roundings));
  return f;
}

}  // namespace

std::string op_of_testfloat(const std::string& function, const std::string& words) {
  const TestFloatFunction f = function_of(function);
  const std::string what = f.to ? std::string("convert from=") + f.from + " to=" + f.to
                                : std::string("scalar ") + f.operation + " format=" + f.from;
  std::string more = f.words + (f.words.empty() || words.empty() ? "" : " ") + words;
  // testfloat_gen does not raise inexact for rounding to an integer, unless it is called with -exact.
  if (f.rounds_to_integer && more.find("inexact=") == std::string::npos)
    more += more.empty() ? "inexact=0" : " inexact=0";
  return what + (more.empty() ? "" : " " + more) + " nan=any flags=ieee";
}

std::string case_of_testfloat(const std::string& function, const std::string& line) {
  const TestFloatFunction f = function_of(function);
  const Op op = op_from_text(op_of_testfloat(function, ""));
  const std::vector<std::string> words = words_of(lower_case(line));
  const size_t operands = op.kind == OpKind::scalar ? static_cast<size_t>(op.arity()) : 1;
  if (words.size() != operands + 2)
    throw BadInput("expected " + std::to_string(operands) + " operands, a result and flags of " + function +
                   ", found " + in_quotes(line));
  std::string text;
  for (size_t i = 0; i < operands; ++i) text += words[i] + " ";
  std::string result = words[operands];
  if (f.compares()) {  // 0 or 1, which case text has as numbers of the format
    if (result != "0" && result != "1")
      throw BadInput("expected 0 or 1 as the result of " + function + ", found " + in_quotes(result));
    const FormatFields& d = op.d.fields();
    result = to_hex(op.d, result == "0" ? 0 : static_cast<uint64_t>(d.bias) << d.fraction_bits);
  }
  return text + "| " + result + " | " + words[operands + 1];
}

}  // namespace mmafuzz
