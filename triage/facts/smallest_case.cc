#include "triage/facts/smallest_case.h"

#include <cmath>
#include <cstdlib>

#include "core/case_text.h"
#include "core/text.h"
#include "oracles/models/gpu_names.h"
#include "triage/explain/number_text.h"
#include "triage/operands.h"

namespace mmafuzz {
namespace {

constexpr size_t max_addends = 4;  ///< limit of nonzero addends

/// A number for people, large and small powers of two as powers: "-2^-14", "1.5".
std::string plain(const Format& format, uint64_t encoding) {
  const ExplainedNumber number = explained_number(format, encoding);
  if (number.decimal.empty()) return number.binary;
  const double value = std::strtod(number.binary.c_str(), nullptr);
  int exponent = 0;
  const bool is_power = std::fabs(std::frexp(value, &exponent)) == 0.5;
  constexpr int least_plain = -3, greatest_plain = 10;  // of frexp: from 2^-4 to 2^9 decimals are shorter
  if (is_power && (exponent < least_plain || exponent > greatest_plain))
    return (value < 0 ? "-2^" : "2^") + std::to_string(exponent - 1);
  return number.decimal;
}

/// "v100 (mma.m8n8k4.f32.f16.f16.f32)" for a unit of a GPU that has a name; other units' names as they are.
std::string as_people_say(const std::string& unit) {
  const char* gpu = gpu_of_unit(unit);
  return gpu ? std::string(gpu) + " (" + unit.substr(unit.find('/') + 1) + ")" : unit;
}

/// The words of the line of results that witness_text() writes into a witness; empty where there is none.
std::vector<std::string> results_of(const std::string& witness) {
  constexpr std::string_view mark = "\n# results ";
  const size_t at = witness.find(mark);
  if (at == std::string::npos) return {};
  return words_of(witness.substr(at + mark.size(), witness.find('\n', at + 1) - at - mark.size()));
}

}  // namespace

std::string smallest_case(const Bucket& bucket) {
  const std::vector<std::string> results = results_of(bucket.witness);
  CaseReader reader("witness", bucket.witness);
  CaseBlock block;
  if (bucket.key.units.size() != 2 || results.size() != 2 || !reader.next(block, 1)) return "";
  const Op& op = block.batch.op();
  const Operands operands(op, block.batch, 0);
  if (op.kind != OpKind::dot || operands.nonzero_addends().size() > max_addends) return "";
  std::string sum;
  for (const int addend : operands.nonzero_addends()) {
    std::string product;
    for (const size_t at : operands.operands_of(addend))
      product += (product.empty() ? "" : " * ") + plain(operands.named_format(at), operands[at]);
    for (int side = 0; side < 2 && addend < op.k && op.scale_block; ++side) {
      const auto at = static_cast<size_t>(2 * op.k + 1 + addend / op.scale_block + side * op.scales());
      if (const std::string scale = plain(operands.named_format(at), operands[at]); scale != "1")
        product += " * " + scale;
    }
    const bool is_minus = product[0] == '-' && product.find('*') == std::string::npos;
    if (sum.empty()) sum = product;
    else sum += is_minus ? " - " + product.substr(1) : " + " + product;
  }
  std::string first = plain(op.d, std::strtoull(results[0].c_str(), nullptr, 16));
  std::string second = plain(op.d, std::strtoull(results[1].c_str(), nullptr, 16));
  if (first == second) first = results[0], second = results[1];  // NaNs, say
  return (sum.empty() ? "a sum of zeros" : sum) + " is " + first + " on " + as_people_say(bucket.key.units[0]) +
         " and " + second + " on " + as_people_say(bucket.key.units[1]);
}

}  // namespace mmafuzz
