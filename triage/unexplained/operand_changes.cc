#include "triage/unexplained/operand_changes.h"

#include <fmt/format.h>

#include "arithmetic/corner_encodings.h"

namespace mmafuzz {
namespace {

constexpr int most_shifts = 12;    ///< powers of two by which an addend may be too large or too small
constexpr size_t most_wires = 32;  ///< lanes that may be read in place of any other; of more lanes only the neighbours

void negate(Operands& c, size_t at) {
  const FormatFields& f = c.format(at);
  if (f.integer) c[at] = (0 - c[at]) & f.container_mask();
  else flip_sign(c, at);
}

void set_bit_to(Operands& c, size_t at, int bit, bool one) {
  const uint64_t mask = c.format(at).in_container(uint64_t{1} << bit);
  c[at] = one ? c[at] | mask : c[at] & ~mask;
}

}  // namespace

std::vector<OperandChange> operand_changes(const Op& op, size_t block) {
  std::vector<OperandChange> all;
  const size_t k = static_cast<size_t>(op.k);
  for (int i = 0; i <= op.k; ++i) {
    const std::string addend = addend_name(op, i);
    all.push_back({addend + " were left out", [=](Operands& c) { clear_addend(c, i); }});
    all.push_back({addend + " had the other sign", [=](Operands& c) { negate(c, c.operands_of(i)[0]); }});
    for (int by = 1; by <= most_shifts; ++by)
      for (const int shift : {by, -by})
        all.push_back({fmt::format("{} were 2^{} times as large", addend, shift),
                       [=](Operands& c) { scale_addend(c, i, shift); }});
    all.push_back({addend + " lost its sign", [=](Operands& c) {
                     for (const size_t at : c.operands_of(i))
                       if (decode(c.format(at), c[at]).negative) negate(c, at);
                   }});
  }
  for (size_t at = 0; at <= 2 * k; ++at)
    all.push_back({operand_name(op, at) + " were zero where it is subnormal", [=](Operands& c) {
                     if (decode(c.format(at), c[at]).subnormal) c.clear(at);
                   }});
  for (size_t at = 0; at < 2 * k; ++at)
    for (size_t row = at < k ? 0 : k, from = row; from < row + k; ++from)
      if (from != at && (k <= most_wires || from + 1 == at || at + 1 == from))
        all.push_back({operand_name(op, at) + " were read from " + operand_name(op, from),
                       [=](Operands& c) { c[at] = c[from]; }});
  for (size_t end = block; end < k; end += block)
    all.push_back({fmt::format("c and the first {} products were left out", end), [=](Operands& c) {
                     for (size_t i = 0; i < end; ++i) clear_addend(c, static_cast<int>(i));
                     c.clear(2 * k);
                   }});
  const size_t scales = static_cast<size_t>(op.has_scales() ? op.scales() : 0);
  for (size_t at = 2 * k + 1; at <= 2 * k + 2 * scales; ++at)
    for (size_t from = 2 * k + 1; from <= 2 * k + 2 * scales; ++from)
      if (from != at && ((from <= 2 * k + scales) == (at <= 2 * k + scales) || op.scale_a == op.scale_b))
        all.push_back({operand_name(op, at) + " were read from " + operand_name(op, from),
                       [=](Operands& c) { c[at] = c[from]; }});
  for (size_t at = 0; at <= 2 * k + 2 * scales; ++at) {
    const FormatFields& f = (at < k                 ? op.a
                             : at < 2 * k           ? op.b
                             : at == 2 * k          ? op.c
                             : at <= 2 * k + scales ? op.scale_a
                                                    : op.scale_b)
                                .fields();
    for (int bit = 0; bit < f.width - f.ignored_low_bits; ++bit)
      for (const bool one : {false, true})
        all.push_back({"bit " + std::to_string(bit) + " of " + operand_name(op, at) + " were " + (one ? "1" : "0"),
                       [=](Operands& c) { set_bit_to(c, at, bit, one); }});
  }
  return all;
}

std::vector<OperandChange> pair_changes(const Op& op, const std::vector<int>& lanes) {
  std::vector<OperandChange> all;
  for (size_t i = 0; i < lanes.size(); ++i)
    for (size_t j = i + 1; j < lanes.size(); ++j)
      all.push_back({addend_name(op, lanes[i]) + " and " + addend_name(op, lanes[j]) + " were left out",
                     [first = lanes[i], second = lanes[j]](Operands& c) {
                       clear_addend(c, first);
                       clear_addend(c, second);
                     }});
  return all;
}

}  // namespace mmafuzz
