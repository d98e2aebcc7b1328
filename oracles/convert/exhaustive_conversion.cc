#include "oracles/convert/exhaustive_conversion.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include "core/parallel.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz::exact {
namespace {

/// Magnitudes (fp32 encodings without sign) at which a segment begins.
class Boundaries {
 public:
  /// A value at which the conversion can change. If fp32 has the value, it becomes a segment of its own.
  void add(mpfr_srcptr value) {
    Mpfr back(64);
    const float cut = mpfr_get_flt(value, MPFR_RNDZ);
    const uint32_t magnitude = std::bit_cast<uint32_t>(cut);
    mpfr_set_flt(back.get(), cut, MPFR_RNDN);
    if (mpfr_equal_p(back.get(), value)) starts_.push_back(magnitude);
    starts_.push_back(magnitude + 1);
  }
  void add(uint32_t magnitude) { starts_.push_back(magnitude); }

  /// Sorted; the first is 0.
  std::vector<uint32_t> sorted() {
    starts_.push_back(0);
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    return std::move(starts_);
  }

 private:
  std::vector<uint32_t> starts_;
};

std::vector<uint32_t> boundaries(const Format& to) {
  Boundaries found;
  const FormatFields& f = to.fields();
  Mpfr value(128), next(128), middle(128);
  const auto add_middle = [&] {
    mpfr_add(middle.get(), value.get(), next.get(), MPFR_RNDN);
    mpfr_div_2ui(middle.get(), middle.get(), 1, MPFR_RNDN);
    found.add(middle.get());
  };
  const uint64_t greatest = f.greatest_magnitude();
  set_from_encoding(value.get(), to, 0);
  for (uint64_t code = 0; code < greatest; ++code) {
    found.add(value.get());
    set_from_encoding(next.get(), to, f.in_container(code + 1));
    add_middle();
    mpfr_set(value.get(), next.get(), MPFR_RNDN);
  }
  // Overflow begins one step of the last binade above the greatest number, or half a step.
  found.add(value.get());
  set_from_encoding(middle.get(), to, f.in_container(greatest - 1));
  mpfr_sub(middle.get(), value.get(), middle.get(), MPFR_RNDN);
  mpfr_add(next.get(), value.get(), middle.get(), MPFR_RNDN);
  if (mpfr_cmp_si_2exp(next.get(), 1, 128) < 0) found.add(next.get());  // else the next step is fp32's infinity
  add_middle();
  // Tiny after rounding: the greatest number of p bits below the least normal number 2^emin, and the middle of the two.
  for (const int bits : {f.precision(), f.precision() + 1}) {
    mpfr_set_sj_2exp(value.get(), (int64_t{1} << bits) - 1, f.emin() - bits, MPFR_RNDN);
    found.add(value.get());
  }
  mpfr_set_si_2exp(value.get(), 1, f.emin(), MPFR_RNDN);
  found.add(value.get());
  // The loop reads flushed subnormals as zero, but a directed mode rounds numbers above the greatest one to 2^emin.
  if (f.subnormals == SubnormalRule::flushed) {
    mpfr_set_sj_2exp(value.get(), static_cast<int64_t>(f.fraction_mask()), f.least_bit(), MPFR_RNDN);
    found.add(value.get());
  }
  // fp32's own classes: zero, subnormal, normal, infinity, signaling and quiet NaN.
  for (const uint32_t edge : {1u, 0x00800000u, 0x7f800000u, 0x7f800001u, 0x7fc00000u}) found.add(edge);
  return found.sorted();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Index of the first of n elements that is not `expected`; n if all are.
template <class Element>
size_t first_other(const Element* elements, size_t n, Element expected) {
  constexpr size_t stride = 512;
  for (size_t i = 0; i < n; i += stride) {
    const size_t end = std::min(n, i + stride);
    Element different = 0;
    for (size_t j = i; j < end; ++j) different |= static_cast<Element>(elements[j] ^ expected);
    if (!different) continue;
    while (elements[i] == expected) ++i;
    return i;
  }
  return n;
}

/// The same for n results of `bytes` bytes each, from number `first` on.
size_t first_other(const uint8_t* results, size_t bytes, size_t first, size_t n, uint64_t expected) {
  switch (bytes) {
    case 1: return first_other(results + first, n, static_cast<uint8_t>(expected));
    case 2: return first_other(reinterpret_cast<const uint16_t*>(results) + first, n, static_cast<uint16_t>(expected));
    default: return first_other(reinterpret_cast<const uint32_t*>(results) + first, n, static_cast<uint32_t>(expected));
  }
}

}  // namespace

std::vector<ConversionSegment> conversion_segments(const Op& op, unsigned threads) {
  const std::vector<uint32_t> starts = boundaries(op.d);
  std::vector<ConversionSegment> segments(2 * starts.size());
  constexpr size_t per_part = 1024;
  in_parallel(threads, (segments.size() + per_part - 1) / per_part, [&](size_t p) {
    for (size_t i = p * per_part; i < std::min(segments.size(), (p + 1) * per_part); ++i) {
      const uint32_t sign = i < starts.size() ? 0 : 0x80000000u;
      const size_t start = i % starts.size();
      const uint32_t first = starts[start] | sign,
                     last = (start + 1 < starts.size() ? starts[start + 1] - 1 : 0x7fffffffu) | sign;
      const MpfrRounded begin = mpfr_convert(op, first), end = first == last ? begin : mpfr_convert(op, last);
      if (begin.encoding != end.encoding || begin.flags != end.flags)
        throw std::logic_error("MPFR converts " + to_hex(op.a, first) + " and " + to_hex(op.a, last) +
                               " to different results, with no boundary between them");
      segments[i] = {first, last, begin.encoding, begin.flags};
    }
  });
  return segments;
}

ExhaustiveConversion try_conversion(const Op& op, const FloatCodec& codec, unsigned threads) {
  ExhaustiveConversion tried;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<ConversionSegment> segments = conversion_segments(op, threads);
  tried.segments = segments.size();
  tried.referee_seconds = seconds_since(start);
  const auto scan_start = std::chrono::steady_clock::now();
  const auto bytes = static_cast<size_t>(op.d.storage_bytes());
  std::mutex mutex;
  constexpr size_t block = 4096, blocks_per_part = 1024;
  in_parallel(threads, (size_t{1} << 32) / (block * blocks_per_part), [&](size_t part) {
    std::vector<uint32_t> sources(block), aligned(block);  // results as 32-bit words, for their alignment
    std::vector<uint8_t> flags(block);
    auto* results = reinterpret_cast<uint8_t*>(aligned.data());
    uint64_t first = uint64_t{part} * block * blocks_per_part;
    auto segment = std::upper_bound(segments.begin(), segments.end(), first,
                                    [](uint64_t source, const ConversionSegment& s) { return source < s.first; }) -
                   1;
    for (size_t b = 0; b < blocks_per_part; ++b, first += block) {
      for (size_t i = 0; i < block; ++i) sources[i] = static_cast<uint32_t>(first + i);
      codec(sources.data(), block, results, flags.data());
      for (size_t i = 0; i < block;) {
        if (first + i > segment->last) ++segment;
        const size_t end = static_cast<size_t>(std::min<uint64_t>(block, segment->last - first + 1));
        const size_t value_at = first_other(results, bytes, i, end - i, segment->encoding);
        const size_t flags_at = first_other(flags.data() + i, end - i, segment->flags);
        const size_t wrong = i + std::min(value_at, flags_at);
        i = end;
        if (wrong == end) continue;
        i = wrong + 1;
        uint64_t encoding = 0;
        std::memcpy(&encoding, results + wrong * bytes, bytes);
        const std::lock_guard lock(mutex);
        ++tried.wrong;
        if (!tried.first_wrong || sources[wrong] < tried.first_wrong->source)
          tried.first_wrong = {sources[wrong], encoding, segment->encoding, flags[wrong], segment->flags};
      }
    }
  });
  tried.scan_seconds = seconds_since(scan_start);
  return tried;
}

}  // namespace mmafuzz::exact
