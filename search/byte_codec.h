// An engine's bytes as one case, and back. An engine is libFuzzer or AFL++. Layout: one byte each for op, focus unit
// and selector of the neighbours, then the operands packed in their formats' storage widths, little-endian, fields in
// case-text order. Missing bytes are zero, surplus ones are ignored: every byte string is an input. Corpora are kept as
// case text, so this layout may change.
#pragma once

#include "core/batch.h"

namespace mmafuzz {

/// The header: what an engine's bytes say besides the operands. Each byte is reduced by its user, as stated.
struct EngineInput {
  uint8_t op = 0;        ///< modulo the number of ops of the target
  uint8_t focus = 0;     ///< modulo the number of focus units of the op
  uint8_t selector = 0;  ///< seed of the neighbours (Mutator::neighbours) that are checked with the case
};
inline constexpr size_t engine_header_bytes = 3;

/// Cases that one input stands for, the case and its neighbours: 256; of matrix products 2 to 16, fewer for larger
/// ones.
size_t cases_of_input(const Op& op);
/// An engine with a high cost per execution checks more neighbours: cases_of_input() times a factor up to this one.
/// Neighbour i does not depend on the factor, so a replay with the greatest factor includes the cases of every engine.
inline constexpr size_t max_neighbour_factor = 2;

/// Bytes that a case of this op takes, header included.
size_t encoded_bytes(const Op& op);

EngineInput decode_header(const uint8_t* data, size_t size);

/// Writes the operands behind the header over case `index`, which the batch has. Bits beyond a format's width are
/// dropped.
void decode_operands(const uint8_t* data, size_t size, Batch& batch, size_t index);

/// The inverse: header and operands of a case.
std::vector<uint8_t> encode_case(const EngineInput& header, const Batch& batch, size_t index);

}  // namespace mmafuzz
