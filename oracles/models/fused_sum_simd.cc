// One vector lane is one dot (oracles/lanes/dot_lanes-inl.h).
#include "oracles/models/fused_sum_simd.h"

#include <cstring>
#include <memory>

#include "arithmetic/evaluate_dot.h"
#include "core/function_unit.h"
#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/models/fused_sum_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Position of the leading one, for v != 0.
HWY_INLINE VI32 leading_position(V32 v) {
  const DI32 di;
  const hn::Repartition<float, D32> df;
  // Clearing all but the top bits keeps the conversion to float from rounding up to the next power of two.
  const V32 top = hn::AndNot(hn::ShiftRight<1>(v), v);
  // Halve first: the top bit must not read as a sign. Bit 0 is lost, so it is put back as the sign-free value 0.5.
  const auto half = hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<1>(top)));
  const V32 biased = hn::ShiftRight<23>(hn::BitCast(D32(), half));
  const auto large = hn::Ne(biased, hn::Zero(D32()));
  const VI32 position = hn::Sub(hn::BitCast(di, biased), hn::Set(di, 126));
  return hn::IfThenElseZero(hn::RebindMask(di, large), position);
}

/// The scalar kernel on one dot of packed operands.
inline uint32_t scalar_dot(const DotModel& m, const uint8_t* a, const uint8_t* b, int bytes, int k, uint32_t c) {
  uint64_t x[max_instruction_k] = {}, y[max_instruction_k] = {};
  for (int i = 0; i < k; ++i) {  // little-endian, as columns are
    std::memcpy(&x[i], a + i * bytes, size_t(bytes));
    std::memcpy(&y[i], b + i * bytes, size_t(bytes));
  }
  DotOperands operands;
  operands.a = x;
  operands.b = y;
  operands.c = c;
  operands.k = k;
  return static_cast<uint32_t>(evaluate_dot(m, operands));
}

/// What infinities and NaNs make of sums: as encodings, for lanes that hold one. The host's arithmetic sums the terms
/// that are not finite, of which only the class and the sign matter (docs/semantics.md 1.1).
class SpecialSums {
 public:
  explicit SpecialSums(const DotModel& m)
      : a_(m.a),
        b_(m.b),
        c_(m.c),
        nan_(static_cast<uint32_t>(m.nan)),
        infinity_(static_cast<uint32_t>(m.d.encode_infinity(false))),
        sign_shift_(32 - m.d.width) {}

  HWY_INLINE V32 operator()(const uint32_t* a_words, const uint32_t* b_words, int words, int bytes, V32 c) const {
    const D32 d;
    const size_t lanes = hn::Lanes(d);
    VF32 sum = c_(c);
    for (int w = 0; w < words; ++w) {
      const V32 word_a = hn::Load(d, a_words + size_t(w) * lanes), word_b = hn::Load(d, b_words + size_t(w) * lanes);
      for (int part = 0; part < 4 / bytes; ++part) {
        const VF32 x = a_(unpack(word_a, bytes, part)), y = b_(unpack(word_b, bytes, part));
        const auto finite =
            hn::And(hn::IsFinite(x), hn::IsFinite(y));  // then the product is, whatever fp32 makes of it
        sum = hn::Add(sum, hn::IfThenZeroElse(finite, hn::Mul(x, y)));
      }
    }
    const V32 sign = hn::ShiftRightSame(hn::And(hn::BitCast(d, sum), hn::Set(d, 0x80000000u)), sign_shift_);
    return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(sum)), hn::Set(d, nan_), hn::Or(hn::Set(d, infinity_), sign));
  }

 private:
  FloatDecoder a_, b_, c_;
  uint32_t nan_, infinity_;
  int sign_shift_;
};

/// The products of one block, for one vector of dots: magnitudes on the grid of `product_left`, signs, exponents.
struct BlockProducts {
  HWY_ALIGN uint32_t significands[max_instruction_k * max_lanes], signs[max_instruction_k * max_lanes];
  HWY_ALIGN int32_t exponents[max_instruction_k * max_lanes];
};

/// What products are to a row.
struct ProductRule32 {
  explicit ProductRule32(const DotModel& m)
      : left(HWY_MAX(0, m.fraction_bits - m.a.fraction_bits - m.b.fraction_bits)),
        right(HWY_MAX(0, m.a.fraction_bits + m.b.fraction_bits - m.fraction_bits)),
        bias(m.a.bias + m.b.bias),
        zero_exponent(m.zero_exponent) {}

  /// Stores product `slot` of a block and raises the greatest exponent to its own.
  HWY_INLINE void store(const Decoded& x, const Decoded& y, size_t slot, VI32& greatest, BlockProducts& to) const {
    const D32 d;
    const DI32 di;
    const size_t at = slot * hn::Lanes(d);
    const V32 significand = hn::Mul(x.significand, y.significand);
    const auto zero = hn::Eq(significand, hn::Zero(d));
    const VI32 exponent = hn::IfThenElse(hn::RebindMask(di, zero), hn::Set(di, zero_exponent),
                                         hn::Sub(hn::BitCast(di, hn::Add(x.field, y.field)), hn::Set(di, bias)));
    greatest = hn::Max(greatest, exponent);
    hn::Store(hn::ShiftLeftSame(significand, left), d, to.significands + at);
    hn::Store(hn::Xor(x.sign, y.sign), d, to.signs + at);
    hn::Store(exponent, di, to.exponents + at);
  }

  int left, right, bias, zero_exponent;
};

/// Evaluates up to one vector of dots of k products, padding included. load_block(first, greatest, special, products)
/// decodes the products from `first` on; special_block(first, c, special, result) gives the result of a block in lanes
/// with infinities or NaNs and returns false where the scalar kernel has to; those lanes are stored with the result.
template <class LoadBlock, class SpecialBlock, class StoreResult>
HWY_INLINE void run_group(const DotModel& m, int k, const ProductRule32& rule, const LoadBlock& load_block,
                          const SpecialBlock& special_block, const uint32_t* c_in, const StoreResult& store) {
  const D32 d;
  const DI32 di;
  const size_t lanes = hn::Lanes(d);
  const int f = m.fraction_bits;
  const int c_fraction = m.c.fraction_bits;
  const int c_left = HWY_MAX(0, f - c_fraction), c_right = HWY_MAX(0, c_fraction - f);
  const VI32 zero_exponent = hn::Set(di, m.zero_exponent);
  const VI32 last_shift = hn::Set(di, 31);
  const int out = m.output_fraction_bits;

  auto scalar = hn::MaskFromVec(hn::Zero(d));
  V32 accumulator = hn::Load(d, c_in);
  const Decoder decode_c(m.c);
  const int sign_position = m.d.width - 1;
  const bool nearest = m.output_rounding == Rounding::nearest_even;
  BlockProducts products;

  for (int first = 0; first < k; first += m.block) {
    auto special = hn::MaskFromVec(hn::Zero(d));
    const V32 c_code = accumulator;
    const Decoded c = decode_c(c_code, special);
    const auto c_zero = hn::Eq(c.significand, hn::Zero(d));
    const VI32 c_exponent = hn::IfThenElse(hn::RebindMask(di, c_zero), zero_exponent,
                                           hn::Sub(hn::BitCast(di, c.field), hn::Set(di, m.c.bias)));
    VI32 greatest = c_exponent;
    load_block(first, greatest, special, products);
    // A block of 16 terms below 2^27 and c may reach 2,212,495,868: two halves keep each sum inside 31 bits.
    VI32 sum[2];
    const VI32 c_shift = hn::Min(hn::Add(hn::Sub(greatest, c_exponent), hn::Set(di, c_right)), last_shift);
    const VI32 c_kept = hn::BitCast(di, hn::Shr(hn::ShiftLeftSame(c.significand, c_left), hn::BitCast(d, c_shift)));
    const VI32 c_sign = hn::BroadcastSignBit(hn::BitCast(di, c.sign));
    sum[0] = hn::Sub(hn::Xor(c_kept, c_sign), c_sign);
    sum[1] = hn::Zero(di);
    for (size_t i = 0; i < size_t(m.block); ++i) {
      const V32 significand = hn::Load(d, products.significands + i * lanes);
      const VI32 distance = hn::Sub(greatest, hn::Load(di, products.exponents + i * lanes));
      const VI32 shift = hn::Min(hn::Add(distance, hn::Set(di, rule.right)), last_shift);
      const VI32 kept = hn::BitCast(di, hn::Shr(significand, hn::BitCast(d, shift)));
      const VI32 sign = hn::BroadcastSignBit(hn::BitCast(di, hn::Load(d, products.signs + i * lanes)));
      sum[i & 1] = hn::Add(sum[i & 1], hn::Sub(hn::Xor(kept, sign), sign));
    }
    // The sign of a 33-bit sum is that of the floored mean of its halves; the magnitude fits in 32 unsigned bits.
    const VI32 mean = hn::Add(hn::And(sum[0], sum[1]), hn::ShiftRight<1>(hn::Xor(sum[0], sum[1])));
    const VI32 negative = hn::BroadcastSignBit(mean);
    const V32 magnitude = hn::BitCast(d, hn::Sub(hn::Xor(hn::Add(sum[0], sum[1]), negative), negative));

    // Round to `out` fraction bits (arithmetic/round.h in lanes).
    const VI32 unit = hn::Sub(greatest, hn::Set(di, f));
    const VI32 leading = hn::Add(unit, leading_position(magnitude));
    const VI32 quantum = hn::Max(hn::Sub(leading, hn::Set(di, out)), hn::Set(di, m.d.emin() - out));
    const VI32 drop = hn::Sub(quantum, unit);
    const VI32 right = hn::Min(hn::Max(drop, hn::Zero(di)), last_shift);
    const VI32 left = hn::Min(hn::Max(hn::Neg(drop), hn::Zero(di)), last_shift);
    const auto gone = hn::Gt(drop, last_shift);
    V32 addend = hn::Zero(d);
    if (nearest) {
      // Half a quantum, less one where the kept part is even; nothing where no bit is dropped. Beyond 30 dropped bits
      // (sums far below the least subnormal) the addition could overflow: those lanes go through the scalar kernel.
      const V32 odd = hn::And(hn::Shr(magnitude, hn::BitCast(d, right)), hn::Set(d, 1));
      const V32 half = hn::Shr(hn::Shl(hn::Set(d, 1), hn::BitCast(d, right)), hn::Set(d, 1));
      const V32 below_half = hn::Sub(hn::Add(half, odd), hn::Set(d, 1));
      addend = hn::IfThenElseZero(hn::Ne(half, hn::Zero(d)), below_half);
      scalar = hn::Or(scalar, hn::AndNot(special, hn::RebindMask(d, hn::Gt(drop, hn::Set(di, 30)))));
    }
    const V32 kept =
        hn::IfThenZeroElse(hn::RebindMask(d, gone),
                           hn::Shl(hn::Shr(hn::Add(magnitude, addend), hn::BitCast(d, right)), hn::BitCast(d, left)));
    const VI32 field = hn::Add(quantum, hn::Set(di, out + m.d.bias - 1));
    V32 code = hn::Add(hn::BitCast(d, hn::ShiftLeftSame(field, out)), kept);
    const uint32_t infinity = static_cast<uint32_t>(m.d.top_exponent_field()) << out;
    const auto overflow = hn::Or(hn::RebindMask(d, hn::Gt(leading, hn::Set(di, m.d.emax()))),
                                 hn::Not(hn::Lt(code, hn::Set(d, infinity))));
    code = hn::IfThenElse(overflow, hn::Set(d, infinity), code);
    const V32 sign = hn::ShiftLeftSame(hn::And(hn::BitCast(d, negative), hn::Set(d, 1)), sign_position);
    code = hn::Or(hn::ShiftLeftSame(code, m.d.fraction_bits - out), sign);
    accumulator = hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(d)), code);
    if (HWY_UNLIKELY(!hn::AllFalse(d, special)) && !special_block(first, c_code, special, accumulator))
      scalar = hn::Or(scalar, special);
  }
  store(accumulator, scalar);
}

void run_batch(const DotModel& m, const Batch& batch, Column& results) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const int bytes = batch.a().element_bytes(), per_word = 4 / bytes;
  const int k = sequence_k(m, batch.op().k), words_per_block = m.block / per_word;
  const size_t words = static_cast<size_t>(k * bytes / 4);
  const Decoder decode_a(m.a), decode_b(m.b);
  const ProductRule32 rule(m);
  HWY_ALIGN uint32_t a_words[max_words * max_lanes], b_words[max_words * max_lanes], c[max_lanes], result[max_lanes];
  const SpecialSums special_sums(m);
  const bool has_host_sums = default_float_environment();
  HWY_ALIGN uint32_t scalar_lanes[max_lanes];
  const auto load_block = [&](int first, VI32& greatest, hn::Mask<D32>& special, BlockProducts& products) {
    size_t slot = 0;
    for (int w = 0; w < words_per_block; ++w) {
      const size_t at = (size_t(first / per_word) + size_t(w)) * lanes;
      const V32 word_a = hn::Load(d, a_words + at), word_b = hn::Load(d, b_words + at);
      for (int part = 0; part < per_word; ++part, ++slot)
        rule.store(decode_a(unpack(word_a, bytes, part), special), decode_b(unpack(word_b, bytes, part), special), slot,
                   greatest, products);
    }
  };
  const auto special_block = [&](int first, V32 c_code, hn::Mask<D32> special, V32& accumulator) {
    if (!has_host_sums) return false;
    const size_t at = size_t(first / per_word) * lanes;
    accumulator =
        hn::IfThenElse(special, special_sums(a_words + at, b_words + at, words_per_block, bytes, c_code), accumulator);
    return true;
  };
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    transpose(batch.a().data() + first * batch.a().stride(), batch.a().stride(), dots, words, a_words);
    transpose(batch.b().data() + first * batch.b().stride(), batch.b().stride(), dots, words, b_words);
    load_words(batch.c(), first, dots, c);
    bool any_scalar = false;
    run_group(m, k, rule, load_block, special_block, c, [&](V32 r, hn::Mask<D32> scalar) {
      hn::Store(r, d, result);
      any_scalar = !hn::AllFalse(d, scalar);
      if (any_scalar) hn::Store(hn::IfThenElseZero(scalar, hn::Set(d, 1)), d, scalar_lanes);
    });
    if (any_scalar)
      for (size_t j = 0; j < dots; ++j)
        if (scalar_lanes[j])
          result[j] = static_cast<uint32_t>(evaluate_dot(m, DotCase(batch.op()).load(batch, first + j)));
    store_words(result, dots, first, results);
  }
}

/// One side of a grid: some vectors of k encodings, packed.
struct GridSide {
  const uint8_t* codes;
  size_t count;
  FormatFields format;

  const uint8_t* at(size_t index, int k) const { return codes + index * size_t(k * bytes()); }
  int bytes() const { return format.width <= 8 ? 1 : format.width <= 16 ? 2 : 4; }
};

constexpr size_t grid_rows = 32;  ///< of the broadcast side, decoded at once

/// Elements of the side that is broadcast, decoded: +0 behind the given k.
struct BroadcastRows {
  HWY_ALIGN uint32_t significands[grid_rows * max_instruction_k], fields[grid_rows * max_instruction_k],
      signs[grid_rows * max_instruction_k];
  uint32_t words[grid_rows][max_words];
  uint32_t special[grid_rows][max_instruction_k];  ///< whether the element is an infinity or NaN

  void decode(const GridSide& side, size_t first, size_t rows, int given_k, int k) {
    const D32 d;
    const Decoder decoder(side.format);
    const int per_word = 4 / side.bytes();
    HWY_ALIGN uint32_t raw[max_lanes], one_special[max_lanes];
    for (size_t r = 0; r < rows; ++r) {
      std::memset(words[r], 0, sizeof(words[r]));
      std::memcpy(words[r], side.at(first + r, given_k), size_t(given_k * side.bytes()));
      for (size_t i = 0; i < size_t(k); i += hn::Lanes(d)) {
        const size_t here = HWY_MIN(hn::Lanes(d), size_t(k) - i);
        for (size_t j = 0; j < hn::Lanes(d); ++j) {
          const size_t e = i + j;
          const uint32_t word = j < here ? words[r][e / size_t(per_word)] : 0;
          raw[j] = per_word == 1 ? word
                                 : (word >> (8 * size_t(side.bytes()) * (e % size_t(per_word)))) &
                                       (side.bytes() == 2 ? 0xffffu : 0xffu);
        }
        auto is_special = hn::MaskFromVec(hn::Zero(d));
        const Decoded x = decoder(hn::Load(d, raw), is_special);
        hn::Store(hn::IfThenElseZero(is_special, hn::Set(d, 1)), d, one_special);
        store_some(x.significand, significands + r * max_instruction_k + i, here);
        store_some(x.field, fields + r * max_instruction_k + i, here);
        store_some(x.sign, signs + r * max_instruction_k + i, here);
        std::memcpy(special[r] + i, one_special, here * 4);
      }
    }
  }

 private:
  static void store_some(V32 v, uint32_t* to, size_t count) {
    HWY_ALIGN uint32_t all[max_lanes];
    hn::Store(v, D32(), all);
    std::memcpy(to, all, count * 4);
  }
};

/// Elements of one vector of the side that fills the lanes, decoded.
struct LaneVectors {
  HWY_ALIGN uint32_t significands[max_instruction_k * max_lanes], fields[max_instruction_k * max_lanes],
      signs[max_instruction_k * max_lanes], words[max_words * max_lanes];
  HWY_ALIGN uint32_t special[max_instruction_k * max_lanes];  ///< by block: all ones in lanes with infinities or NaNs

  void decode(const GridSide& side, size_t first, size_t dots, int given_k, int k, int block) {
    const D32 d;
    const size_t lanes = hn::Lanes(d);
    const Decoder decoder(side.format);
    const int bytes = side.bytes(), per_word = 4 / bytes;
    transpose(side.at(first, given_k), size_t(given_k * bytes), dots, size_t(k / per_word), words);
    for (int from = 0; from < k; from += block) {
      auto is_special = hn::MaskFromVec(hn::Zero(d));
      for (int i = from; i < from + block; ++i) {
        const V32 word = hn::Load(d, words + size_t(i / per_word) * lanes);
        const Decoded x = decoder(unpack(word, bytes, i % per_word), is_special);
        hn::Store(x.significand, d, significands + size_t(i) * lanes);
        hn::Store(x.field, d, fields + size_t(i) * lanes);
        hn::Store(x.sign, d, signs + size_t(i) * lanes);
      }
      hn::Store(hn::VecFromMask(d, is_special), d, special + size_t(from / block) * lanes);
    }
  }
};

/// Lanes are vectors of the longer side; of the other side one vector at a time is broadcast to all of them. Products
/// commute, so that either side may be a.
void run_grid(const DotModel& m, int given_k, const DotGrid& grid) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const int k = sequence_k(m, given_k);
  const bool lanes_are_columns = grid.columns >= grid.rows;
  const GridSide rows{grid.a, grid.rows, m.a}, columns{grid.b, grid.columns, m.b};
  const GridSide& in_lanes = lanes_are_columns ? columns : rows;
  const GridSide& broadcast = lanes_are_columns ? rows : columns;
  const size_t lane_step = lanes_are_columns ? 1 : grid.columns, row_step = lanes_are_columns ? grid.columns : 1;
  const int bytes = in_lanes.bytes(), per_word = 4 / bytes, words_per_block = m.block / per_word;
  const int result_bytes = m.d.width / 8;
  const ProductRule32 rule(m);
  const SpecialSums special_sums(m);
  auto decoded_rows = std::make_unique<BroadcastRows>();
  LaneVectors vectors;
  HWY_ALIGN uint32_t c[max_lanes], result[max_lanes], scalar_lanes[max_lanes], broadcast_words[max_words * max_lanes];
  for (size_t first_row = 0; first_row < broadcast.count; first_row += grid_rows) {
    const size_t here = HWY_MIN(grid_rows, broadcast.count - first_row);
    decoded_rows->decode(broadcast, first_row, here, given_k, k);
    for (size_t first = 0; first < in_lanes.count; first += lanes) {
      const size_t dots = HWY_MIN(lanes, in_lanes.count - first);
      vectors.decode(in_lanes, first, dots, given_k, k, m.block);
      for (size_t r = 0; r < here; ++r) {
        uint8_t* const results = grid.results + (first * lane_step + (first_row + r) * row_step) * size_t(result_bytes);
        const size_t step = lane_step * size_t(result_bytes);
        for (size_t j = 0; j < lanes; ++j) {
          c[j] = 0;
          if (j < dots) std::memcpy(&c[j], results + j * step, size_t(result_bytes));
        }
        const uint32_t* const row_special = decoded_rows->special[r];
        const size_t row = r * max_instruction_k;
        const auto load_block = [&](int from, VI32& greatest, hn::Mask<D32>& special, BlockProducts& products) {
          uint32_t any = 0;
          for (int i = from; i < from + m.block; ++i) {
            const size_t at = size_t(i) * lanes;
            const Decoded x{hn::Set(d, decoded_rows->significands[row + size_t(i)]),
                            hn::Set(d, decoded_rows->fields[row + size_t(i)]),
                            hn::Set(d, decoded_rows->signs[row + size_t(i)])};
            const Decoded y{hn::Load(d, vectors.significands + at), hn::Load(d, vectors.fields + at),
                            hn::Load(d, vectors.signs + at)};
            rule.store(x, y, size_t(i - from), greatest, products);
            any |= row_special[i];
          }
          const V32 in_block = hn::Load(d, vectors.special + size_t(from / m.block) * lanes);
          special = hn::Or(special, hn::MaskFromVec(hn::Or(in_block, hn::Set(d, 0 - any))));
        };
        const auto special_block = [&](int from, V32 c_code, hn::Mask<D32> special, V32& accumulator) {
          const size_t word = size_t(from / per_word);
          for (size_t w = 0; w < size_t(words_per_block); ++w)
            hn::Store(hn::Set(d, decoded_rows->words[r][word + w]), d, broadcast_words + w * lanes);
          const uint32_t* const lane_words = vectors.words + word * lanes;
          const uint32_t* const a = lanes_are_columns ? broadcast_words : lane_words;
          const uint32_t* const b = lanes_are_columns ? lane_words : broadcast_words;
          accumulator = hn::IfThenElse(special, special_sums(a, b, words_per_block, bytes, c_code), accumulator);
          return true;
        };
        bool any_scalar = false;
        run_group(m, k, rule, load_block, special_block, c, [&](V32 v, hn::Mask<D32> scalar) {
          hn::Store(v, d, result);
          any_scalar = !hn::AllFalse(d, scalar);
          if (any_scalar) hn::Store(hn::IfThenElseZero(scalar, hn::Set(d, 1)), d, scalar_lanes);
        });
        for (size_t j = 0; j < dots; ++j) {
          if (any_scalar && scalar_lanes[j]) {
            const size_t lane = first + j, other = first_row + r;
            result[j] = scalar_dot(m, rows.at(lanes_are_columns ? other : lane, given_k),
                                   columns.at(lanes_are_columns ? lane : other, given_k), bytes, given_k, c[j]);
          }
          std::memcpy(results + j * step, &result[j], size_t(result_bytes));
        }
      }
    }
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(run_batch);
HWY_EXPORT(run_grid);
HWY_EXPORT(target_name);

bool FusedSumSimd::supports(const DotModel& m, int k) {
  const auto plain_operand = [](const FormatFields& f) {
    return f.sign == SignField::present && !f.integer && f.subnormals == SubnormalRule::gradual &&
           (f.specials == Specials::ieee || f.specials == Specials::fn || f.specials == Specials::none) &&
           f.width >= 8 && fits_fp32(f);
  };
  const int per_word = 32 / m.a.width;
  // Each half of a block's sum must fit in 31 bits: products below 2^(F+2), c below 2^(F+1).
  const int64_t half_sum =
      (int64_t{(m.block + 1) / 2} << (m.fraction_bits + 2)) + (int64_t{1} << (m.fraction_bits + 1));
  const bool known_output = m.c == m.d && ((m.d == fp32_fields && m.output_rounding == Rounding::toward_zero) ||
                                           (m.d == fp16_fields && m.output_rounding == Rounding::nearest_even));
  return m.kernel == Kernel::fused_sum && m.order == ProductOrder::ascending && m.scale_block == 0 &&
         plain_operand(m.a) && plain_operand(m.b) && m.a.width == m.b.width && known_output && m.k % m.block == 0 &&
         sequence_k(m, k) <= max_instruction_k && m.block % per_word == 0 && half_sum < (int64_t{1} << 31) &&
         m.zero_rule == ZeroRule::constant && m.product == ProductRule::unnormalized && m.integer_bits == 0 &&
         m.overflow == Overflow::infinity && m.output_via == OutputVia::direct &&
         m.underflow_sign == UnderflowSign::kept && m.zero_sign == ZeroSign::positive &&
         m.special_scope == SpecialScope::block && m.low_bits == LowBits::ignored &&
         (m.c_exponent != CExponent::fp32 || m.d == fp32_fields) && m.subnormals == Subnormals::kept &&
         m.output_fraction_bits >= 1;
}

void FusedSumSimd::run(const Batch& batch, Column& results) const {
  HWY_DYNAMIC_DISPATCH(run_batch)(model_, batch, results);
}

bool FusedSumSimd::run_grid(int k, const DotGrid& grid) const {
  if (!default_float_environment()) return false;
  HWY_DYNAMIC_DISPATCH(run_grid)(model_, k, grid);
  return true;
}

const char* simd_target_name() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace mmafuzz
#endif  // HWY_ONCE
