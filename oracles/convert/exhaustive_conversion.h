// Exhaustive test of a codec on all 2^32 fp32 inputs, value and flags. Between two neighbouring boundaries (numbers of
// the destination, the middles between them, limits of tininess and overflow, classes of fp32) a correct conversion is
// constant: MPFR converts both ends of every such segment, and the codec must return their result on every input.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/op.h"

namespace mmafuzz::exact {

/// Converts `count` fp32 encodings; results are packed in the destination's storage_bytes(), flags a byte each. Must be
/// callable from several threads at once.
using FloatCodec = std::function<void(const uint32_t* sources, size_t count, uint8_t* results, uint8_t* flags)>;

/// The result of a conversion on the fp32 encodings from first to last, both included.
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

struct ExhaustiveConversion {
  uint64_t segments = 0, wrong = 0;            ///< the number of segments; of inputs with a wrong result
  std::optional<WrongConversion> first_wrong;  ///< the one with the least source
  double referee_seconds = 0, scan_seconds = 0;
};

/// The segments of a conversion from fp32, in order of encodings, which cover all 2^32 of these. Throws
/// std::logic_error where MPFR converts the ends of a segment to different results. op: convert from fp32, not
/// stochastic, to a format of at most 10 fraction bits.
std::vector<ConversionSegment> conversion_segments(const Op& op, unsigned threads);

/// Runs the codec on all inputs. Throws what conversion_segments() throws.
ExhaustiveConversion try_conversion(const Op& op, const FloatCodec& codec, unsigned threads);

}  // namespace mmafuzz::exact
