// Proof of a codec over all 2^32 fp32 inputs, value and flags. Between two neighbouring boundaries (numbers of the
// destination, the middles between them, limits of tininess and overflow, classes of fp32) a correct conversion is
// constant: MPFR says at both ends of every such segment what it is, and the codec is run on every input and must give
// that.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/op.h"

namespace mmafuzz::exact {

/// Converts `count` fp32 encodings; results are packed in the destination's storage_bytes(), flags a byte each. Must be
/// callable from several threads at once.
using FloatCodec = std::function<void(const uint32_t* sources, size_t count, uint8_t* results, uint8_t* flags)>;

/// What a conversion gives on the fp32 encodings first..last.
struct ConversionSegment {
  uint32_t first, last;
  uint64_t encoding;
  uint8_t flags;
};

struct WrongConversion {
  uint32_t source;
  uint64_t encoding, expected;
  uint8_t flags, expected_flags;
};

struct ConversionProof {
  uint64_t segments = 0, wrong = 0;
  std::optional<WrongConversion> first_wrong;  ///< the least source
  double referee_seconds = 0, scan_seconds = 0;
};

/// The segments of a conversion from fp32, in order of encodings, all 2^32 of them covered. Throws std::logic_error
/// where MPFR gives two results inside one. op: convert from fp32, not stochastic, to a format of at most 10 fraction
/// bits.
std::vector<ConversionSegment> conversion_segments(const Op& op, unsigned threads);

ConversionProof prove_conversion(const Op& op, const FloatCodec& codec, unsigned threads);

}  // namespace mmafuzz::exact
