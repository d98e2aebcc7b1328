#include "plan/unit_words.h"

#include <algorithm>

#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/models/gpu_names.h"

namespace mmafuzz {
namespace {

struct OtherName {
  const char *word, *in_names;
};

/// What people call a format, and what the names of units have for it.
constexpr OtherName other_names[] = {
    {"fp64", "f64"}, {"fp32", "f32"}, {"float", "f32"},  {"double", "f64"}, {"fp16", "f16"},       {"half", "f16"},
    {"fp8", "e4m3"}, {"fp8", "e5m2"}, {"fp8", "bf8"},    {"bf8", "e5m2"},   {"fp6", "e3m2"},       {"fp6", "e2m3"},
    {"fp4", "e2m1"}, {"fp4", "mxf4"}, {"mxfp4", "mxf4"}, {"mxfp8", "mxf8"}, {"nvfp4", "mxf4nvf4"}, {"int8", "s8"},
};

bool is_gpu_of(const std::string& gpu, const std::string& unit) {
  const char* arch = arch_of_gpu(gpu);
  return arch && UnitName(unit).path.starts_with(std::string(arch) + "/");
}

bool matches_word(const std::string& word, const std::string& name, const std::string& text) {
  if (text.find(word) != std::string::npos || is_gpu_of(word, name)) return true;
  return std::any_of(std::begin(other_names), std::end(other_names), [&](const OtherName& other) {
    return word == other.word && name.find(other.in_names) != std::string::npos;
  });
}

}  // namespace

bool matches_words(const UnitInfo& unit, const std::vector<std::string>& words) {
  const std::string text = lower_case(unit.name + " " + unit.summary);
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return matches_word(lower_case(word), unit.name, text); });
}

}  // namespace mmafuzz
