#include "search/random_generators.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "arithmetic/counter_rng.h"
#include "arithmetic/round.h"

namespace mmafuzz {
namespace {

/// Fills eight bytes of packed elements with one draw: uniform bits are uniform elements.
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
      : low_bits_(f.fraction_bits + f.ignored_low_bits),
        fields_(static_cast<uint32_t>(f.emax() + f.bias) + 1),
        sign_(f.in_container(f.sign_bit())),
        greatest_(f.in_container(f.greatest_magnitude()) | low_mask(f.ignored_low_bits)),
        has_negative_zero_(f.has_negative_zero()) {}

  /// Whether the exponent field gets 21 bits or more, which make it uniform enough.
  bool fits_32_bits() const { return low_bits_ <= 10; }

  uint64_t from_32_bits(uint32_t bits) const {
    return encode(bits, (uint64_t{bits >> (1 + low_bits_)} * fields_) >> (31 - low_bits_));
  }
  uint64_t operator()(CounterRng& rng) const {
    const uint64_t bits = rng.next();
    return encode(bits, rng.below(fields_));
  }

 private:
  uint64_t encode(uint64_t bits, uint64_t exponent_field) const {
    // Where all ones is a NaN (e4m3) the greatest number stands in.
    const uint64_t magnitude = std::min((exponent_field << low_bits_) | ((bits >> 1) & low_mask(low_bits_)), greatest_);
    return has_negative_zero_ || magnitude ? magnitude | ((0 - (bits & 1)) & sign_) : 0;
  }

  int low_bits_;
  uint32_t fields_;
  uint64_t sign_, greatest_;
  bool has_negative_zero_;
};

void draw_spread(const SpreadEncoder& encode, int count, uint64_t* out, CounterRng& rng) {
  if (!encode.fits_32_bits()) {
    for (int i = 0; i < count; ++i) out[i] = encode(rng);
    return;
  }
  for (int i = 0; i < count; i += 2) {
    const uint64_t bits = rng.next();
    out[i] = encode.from_32_bits(static_cast<uint32_t>(bits >> 32));
    if (i + 1 < count) out[i + 1] = encode.from_32_bits(static_cast<uint32_t>(bits));
  }
}

/// Standard normal values by the ziggurat method (Marsaglia and Tsang, J. Statistical Software 5(8), 2000, 256 layers).
class Normal {
 public:
  double operator()(CounterRng& rng) const {
    for (;;) {
      const uint64_t bits = rng.next();
      const size_t layer = bits & 255;
      const double u = static_cast<double>(static_cast<int64_t>(bits) >> 11) * 0x1p-52;  // in [-1, 1)
      const double x = u * edge_[layer];
      if (std::fabs(x) < edge_[layer + 1]) return x;
      if (layer == 0) return std::copysign(tail(rng), u);
      const double outer = density(edge_[layer]), inner = density(edge_[layer + 1]);
      if (outer + unit(rng) * (inner - outer) < density(x)) return x;
    }
  }

 private:
  static constexpr double tail_begin = 3.6541528853610088, layer_area = 0.00492867323399;

  static double density(double x) { return std::exp(-x * x / 2); }
  static double unit(CounterRng& rng) { return (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53; }
  static double tail(CounterRng& rng) {
    for (;;) {
      const double x = -std::log(unit(rng)) / tail_begin, y = -std::log(unit(rng));
      if (2 * y > x * x) return tail_begin + x;
    }
  }
  static std::array<double, 257> edges() {
    std::array<double, 257> x{};
    x[0] = layer_area / density(tail_begin);
    x[1] = tail_begin;
    for (size_t i = 2; i < 256; ++i) x[i] = std::sqrt(-2 * std::log(layer_area / x[i - 1] + density(x[i - 1])));
    return x;
  }

  std::array<double, 257> edge_ = edges();
};

uint64_t encode_double(const FormatFields& f, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value), fraction = bits & low_mask(52);
  const bool negative = bits >> 63;
  const int exponent = static_cast<int>(bits >> 52 & 2047) - 1023, drop = 52 - f.fraction_bits;
  if (exponent >= f.emin() && exponent < f.emax() && f.subnormals != SubnormalRule::absent && drop > 0) {
    // In the middle of the range; a carry walks into the exponent.
    const uint64_t magnitude = (uint64_t(exponent + f.bias) << 52) | fraction;
    const uint64_t to_nearest_even = low_mask(drop - 1) + (magnitude >> drop & 1);
    return f.in_container((magnitude + to_nearest_even) >> drop | (negative ? f.sign_bit() : 0));
  }
  const bool normal = exponent > -1023;
  return round_once(f, negative, normal ? fraction | uint64_t{1} << 52 : fraction, (normal ? exponent : -1022) - 52,
                    {.overflow = Overflow::saturate})
      .encoding;
}

void draw_normal(const FormatFields& f, bool is_scale, int count, uint64_t* out, CounterRng& rng) {
  static const Normal normal;
  for (int i = 0; i < count; ++i) {
    const double n = normal(rng), value = is_scale ? std::exp2(n) : n;
    out[i] = encode_double(f, f.has_sign() ? value : std::fabs(value));
  }
}

}  // namespace

const char* name_of(RandomKind kind) {
  static constexpr const char* names[] = {"uniform", "normal", "spread"};  // in the order of RandomKind
  return names[static_cast<size_t>(kind)];
}

void RandomGenerator::fill(uint64_t first, size_t count, Batch& batch) const {
  if (!(batch.op() == op_)) batch = Batch(op_);
  batch.resize(count);
  struct Field {
    FormatFields format;
    SpreadEncoder spread;
    int count;
    bool is_scale;
  };
  std::vector<Field> fields;
  int longest = 0;
  for (const FieldShape& shape : op_.inputs()) {
    fields.push_back({shape.format.fields(), SpreadEncoder(shape.format.fields()), shape.count,
                      op_.has_scales() && fields.size() >= 3});
    longest = std::max(longest, shape.count);
  }
  std::vector<uint64_t> codes(static_cast<size_t>(longest));
  for (size_t i = 0; i < count; ++i) {
    CounterRng rng(seed_, first + i);
    for (size_t c = 0; c < fields.size(); ++c) {
      const Field& field = fields[c];
      Column& column = batch.inputs()[c];
      if (kind_ == RandomKind::uniform || field.format.integer) {
        fill_uniform(field.format, column, i, rng);
        continue;
      }
      if (kind_ == RandomKind::spread) draw_spread(field.spread, field.count, codes.data(), rng);
      else draw_normal(field.format, field.is_scale, field.count, codes.data(), rng);
      column.pack(i, codes.data());
    }
  }
}

}  // namespace mmafuzz
