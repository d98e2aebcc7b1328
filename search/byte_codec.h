// An engine's bytes as one case, and back. Layout: op, focus unit, selector of the neighbours (one byte each), then the
// operands packed in their formats' own widths, little-endian, fields in case-text order. Missing bytes are zero,
// surplus ones are ignored: every byte string is an input. Corpora are kept as case text, so this layout may change.
#pragma once

#include "core/batch.h"

namespace mmafuzz {

/// What an engine's bytes say beside the operands.
struct EngineInput {
  uint8_t op = 0;        ///< modulo the number of ops of the target
  uint8_t focus = 0;     ///< modulo the number of focus units of the op
  uint8_t selector = 0;  ///< which neighbours of the case are looked at
};
inline constexpr size_t engine_header_bytes = 3;

/// Cases that one input stands for, itself and its neighbours: 256; of matrix products 16 to 2, fewer of larger ones.
size_t cases_of_input(const Op& op);
/// An engine that pays much for an execution takes more neighbours, up to this many times as many. The first ones are
/// the same: what any engine found, the greatest number replays.
inline constexpr size_t most_neighbour_factor = 2;

/// Bytes that a case of this op takes, header included.
size_t encoded_bytes(const Op& op);

EngineInput decode_header(const uint8_t* data, size_t size);

/// Writes the operands of case `index` of a batch that already has it. Bits beyond a format's width are dropped.
void decode_operands(const uint8_t* data, size_t size, Batch& batch, size_t index);

/// The inverse: header and operands of a case.
std::vector<uint8_t> encode_case(const EngineInput& header, const Batch& batch, size_t index);

}  // namespace mmafuzz
