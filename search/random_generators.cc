#include "search/random_generators.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "arithmetic/counter_rng.h"
#include "arithmetic/round.h"

namespace mmafuzz {
namespace {

/// Eight bytes of packed elements at once: the rows of a column are as uniform as their elements.
void fill_uniform(const FormatFields& f, Column& column, size_t index, CounterRng& rng) {
  uint64_t mask = 0;
  for (int shift = 0; shift < 64; shift += 8 * column.element_bytes()) mask |= f.container_mask() << shift;
  uint8_t* to = column.data() + index * column.stride();
  size_t left = column.stride();
  for (; left >= 8; left -= 8, to += 8) {
    const uint64_t bits = rng.next() & mask;
    std::memcpy(to, &bits, 8);
  }
  if (left) {
    const uint64_t bits = rng.next() & mask;
    std::memcpy(to, &bits, left);
  }
}

/// Sign, exponent field and fraction of a finite number, from disjoint bits of as few draws as possible.
class SpreadEncoder {
 public:
  explicit SpreadEncoder(const FormatFields& f)
      : low_bits_(f.fraction_bits + f.ignored_low_bits), fields_(static_cast<uint32_t>(f.emax() + f.bias) + 1), sign_(f.in_container(f.sign_bit())),
        greatest_(f.in_container(f.greatest_magnitude()) | low_mask(f.ignored_low_bits)), has_negative_zero_(f.has_negative_zero()) {}

  bool fits_32_bits() const { return low_bits_ <= 10; }

  uint64_t from_32_bits(uint32_t bits) const {
    const int rest = 31 - low_bits_;
    return encode(bits, (uint64_t{bits >> (1 + low_bits_)} * fields_) >> rest);
  }
  uint64_t operator()(CounterRng& rng) const {
    const uint64_t bits = rng.next();
    return encode(bits, rng.below(fields_));
  }

 private:
  uint64_t encode(uint64_t bits, uint64_t exponent_field) const {
    // Where all ones is a NaN (e4m3) the greatest number stands in.
    const uint64_t magnitude = std::min((exponent_field << low_bits_) | ((bits >> 1) & low_mask(low_bits_)), greatest_);
    return (bits & 1) && (magnitude || has_negative_zero_) ? magnitude | sign_ : magnitude;
  }

  int low_bits_;
  uint32_t fields_;
  uint64_t sign_, greatest_;
  bool has_negative_zero_;
};

void fill_spread(const FormatFields& f, Column& column, size_t index, CounterRng& rng) {
  const SpreadEncoder encode(f);
  if (!encode.fits_32_bits()) {
    for (int i = 0; i < column.count(); ++i) column.set(index, i, encode(rng));
    return;
  }
  for (int i = 0; i < column.count(); i += 2) {
    const uint64_t bits = rng.next();
    column.set(index, i, encode.from_32_bits(static_cast<uint32_t>(bits >> 32)));
    if (i + 1 < column.count()) column.set(index, i + 1, encode.from_32_bits(static_cast<uint32_t>(bits)));
  }
}

uint64_t encode_double(const FormatFields& f, double value) {
  int exponent;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
  const auto significand = static_cast<uint64_t>(std::ldexp(fraction, 53));
  RoundingRule rule;
  rule.overflow = Overflow::saturate;
  return round_once(f, std::signbit(value), significand, exponent - 53, false, rule).encoding;
}

/// Two independent standard normal values (Box and Muller, Annals of Mathematical Statistics 29, 1958).
struct NormalPair {
  double first, second;
  explicit NormalPair(CounterRng& rng) {
    const double u = (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53;
    const double angle = 2 * std::numbers::pi * (static_cast<double>(rng.next() >> 11) * 0x1p-53);
    const double radius = std::sqrt(-2 * std::log(u));
    first = radius * std::cos(angle);
    second = radius * std::sin(angle);
  }
};

void fill_normal(const FormatFields& f, Column& column, size_t index, bool scale, CounterRng& rng) {
  const auto value = [scale](double normal) { return scale ? std::exp2(normal) : normal; };
  const auto encode = [&](double normal) { return encode_double(f, f.has_sign() ? value(normal) : std::fabs(value(normal))); };
  for (int i = 0; i < column.count(); i += 2) {
    const NormalPair pair(rng);
    column.set(index, i, encode(pair.first));
    if (i + 1 < column.count()) column.set(index, i + 1, encode(pair.second));
  }
}

}  // namespace

const char* name_of(RandomKind kind) {
  switch (kind) {
    case RandomKind::uniform: return "uniform";
    case RandomKind::normal: return "normal";
    case RandomKind::spread: return "spread";
  }
  return "";
}

void RandomGenerator::fill(uint64_t first, size_t count, Batch& batch) const {
  if (!(batch.op() == op_)) batch = Batch(op_);
  batch.resize(count);
  const std::vector<FieldShape> fields = op_.inputs();
  for (size_t i = 0; i < count; ++i) {
    CounterRng rng(seed_, first + i);
    for (size_t c = 0; c < fields.size(); ++c) {
      const FormatFields& f = fields[c].format.fields();
      Column& column = batch.inputs()[c];
      const bool scale = op_.has_scales() && c >= 3;
      if (kind_ == RandomKind::uniform || f.integer) {
        fill_uniform(f, column, i, rng);
      } else if (kind_ == RandomKind::spread) {
        fill_spread(f, column, i, rng);
      } else {
        fill_normal(f, column, i, scale, rng);
      }
    }
  }
}

}  // namespace mmafuzz
