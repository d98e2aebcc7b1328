// One vector lane is one dot (oracles/lanes/integer_dots-inl.h).
#include "oracles/models/aligned_sum_simd.h"

#include <cstring>
#include <memory>
#include <utility>

#include "arithmetic/evaluate_dot.h"
#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/models/aligned_sum_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"
#include "oracles/lanes/exact_lanes-inl.h"
#include "oracles/lanes/integer_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// How to read the operands of one side, a or b: where product i's encoding is among the 32-bit words of a dot, and,
/// for emulated FP8, the fp16 number that each encoding becomes first.
class SideReader {
 public:
  SideReader(const AlignedRow& row, const FormatFields& f, const FormatFields& summed)
      : bytes(f.width <= 8    ? 1
              : f.width <= 16 ? 2
                              : 4),
        mask_(static_cast<uint32_t>(low_mask(8 * bytes))) {
    const DotModel& m = row.model;
    for (int i = 0; i < m.k; ++i) {
      const int element = added_at(m, i);
      word_[i] = static_cast<uint8_t>(element * bytes / 4);
      shift_[i] = static_cast<uint8_t>(element * bytes % 4 * 8);
    }
    is_converted_ = traits_of(m).widens_to_fp16();
    if (!is_converted_) return;
    for (uint32_t code = 0; code < 256; ++code)
      converted_[code] = static_cast<uint32_t>(convert_number(summed, decode(f, code), {}).encoding);
  }

  /// The encodings of product i, one dot in each lane, from transposed words.
  template <bool IsConverted>
  HWY_INLINE V32 code(const uint32_t* words, int i) const {
    const D32 d;
    const V32 word = hn::Load(d, words + size_t(word_[i]) * hn::Lanes(d));
    const V32 code = hn::And(hn::ShiftRightSame(word, shift_[i]), hn::Set(d, mask_));
    if constexpr (!IsConverted) return code;
    return hn::GatherIndex(d, converted_, hn::BitCast(DI32(), code));
  }
  HWY_INLINE V32 code(const uint32_t* words, int i) const {
    return is_converted_ ? code<true>(words, i) : code<false>(words, i);
  }

  int bytes;  ///< of an encoding

 private:
  uint8_t word_[max_instruction_k], shift_[max_instruction_k];
  uint32_t mask_;
  bool is_converted_;
  HWY_ALIGN uint32_t converted_[256];
};

/// What depends on the row alone, for a batch or grid. IsUsual: is_usual() (oracles/lanes/integer_dots-inl.h) is true.
template <bool IsUsual>
struct RowInLanes : LaneRules<IsUsual> {
  explicit RowInLanes(const AlignedRow& aligned)
      : LaneRules<IsUsual>(aligned),
        reader_a(aligned, aligned.model.a, this->m.a),
        reader_b(aligned, aligned.model.b, this->m.b) {}
  SideReader reader_a, reader_b;
};

/// The operands of one instruction, of as many dots of a batch as there are lanes.
template <bool IsUsual, bool AreConverted>
class BatchOperands {
 public:
  static constexpr bool has_scales = true;

  explicit BatchOperands(const RowInLanes<IsUsual>& row) : row_(row) {
    for (int i = 0; i < row.m.k && row.m.scale_block; ++i) scale_of_[i] = static_cast<uint8_t>(i / row.m.scale_block);
  }

  /// Loads `dots` dots from index `first` on, their products from `element` on; beyond k, +0 and scales of 1.
  void load(const Batch& batch, size_t first, size_t dots, int element) {
    const DotModel& m = row_.row.model;
    const int given = HWY_MIN(m.k, batch.op().k - element);
    transpose(batch.a(), first, dots, element, given, m.k, a_);
    transpose(batch.b(), first, dots, element, given, m.k, b_);
    if (m.scale_block) load_scales(batch, first, dots, element / m.scale_block, (given - 1) / m.scale_block + 1);
  }

  HWY_INLINE V32 a_code(int i) const { return row_.reader_a.template code<AreConverted>(a_, i); }
  HWY_INLINE V32 b_code(int i) const { return row_.reader_b.template code<AreConverted>(b_, i); }
  HWY_INLINE Decoded a(int i, const Decoder<IsUsual>& decode, V32& worst) const { return decode(a_code(i), worst); }
  HWY_INLINE Decoded b(int i, const Decoder<IsUsual>& decode, V32& worst) const { return decode(b_code(i), worst); }
  HWY_INLINE int scale_of(int i) const { return scale_of_[i]; }
  HWY_INLINE const LaneScales& scales() const { return scales_; }

 private:
  void load_scales(const Batch& batch, size_t first, size_t dots, int scale, int given) {
    const D32 d;
    const DotModel& m = row_.m;
    const int count = (m.k + m.scale_block - 1) / m.scale_block;
    HWY_ALIGN uint32_t words_a[max_words * max_lanes], words_b[max_words * max_lanes];
    transpose(batch.scale_a(), first, dots, scale, given, count, words_a);
    transpose(batch.scale_b(), first, dots, scale, given, count, words_b);
    const auto code = [&](const Column& column, const FormatFields& f, const uint32_t* words, int s) HWY_ATTR {
      const int bytes = column.element_bytes();
      if (s >= given) return hn::Set(d, static_cast<uint32_t>(f.bias) << f.fraction_bits);
      return unpack(hn::Load(d, words + size_t(s * bytes / 4) * hn::Lanes(d)), bytes, s * bytes % 4 / bytes);
    };
    for (int s = 0; s < count; ++s)
      scales_.set(row_, s, code(batch.scale_a(), m.scale_a, words_a, s), code(batch.scale_b(), m.scale_b, words_b, s));
  }

  const RowInLanes<IsUsual>& row_;
  HWY_ALIGN uint32_t a_[max_words * max_lanes], b_[max_words * max_lanes];
  uint8_t scale_of_[max_instruction_k];
  LaneScales scales_;
};

/// The products of other operands from index `first` on.
template <class Operands>
struct PartOf {
  static constexpr bool has_scales = false;

  const Operands& all;
  int first;

  HWY_INLINE V32 a_code(int i) const { return all.a_code(first + i); }
  HWY_INLINE V32 b_code(int i) const { return all.b_code(first + i); }
  template <class Decode>
  HWY_INLINE Decoded a(int i, const Decode& decode, V32& worst) const {
    return all.a(first + i, decode, worst);
  }
  template <class Decode>
  HWY_INLINE Decoded b(int i, const Decode& decode, V32& worst) const {
    return all.b(first + i, decode, worst);
  }
};

/// x + y in the host's fp32, for fp32 and fp16: a sum of two fp16 numbers may be rounded to fp32 first, which has twice
/// their precision and two bits (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30, 1995).
HWY_INLINE V32 ieee_sum(const DotModel& m, V32 x, V32 y) {
  const FloatDecoder number(m.d);
  const VF32 sum = hn::Add(number(x), number(y));
  return m.d == fp32_fields ? canonical_bits(sum, m.nan) : fp16_bits(sum, m.nan);
}

/// The domain of emulated_fp8 (arithmetic/kernels/README.md).
template <class Sums, bool IsUsual, class Operands>
class EmulatedLaneDots {
 public:
  using Code = Codes;

  HWY_INLINE EmulatedLaneDots(const RowInLanes<IsUsual>& row, const Operands& operands)
      : row_(row), part_{{operands, 0}, {operands, row.m.k}} {}

  HWY_INLINE LaneDots<Sums, IsUsual, PartOf<Operands>> half(int which) const { return {row_, part_[which]}; }
  HWY_INLINE Codes joined(Codes c, Codes sum) const { return {ieee_sum(row_.row.model, c.v, sum.v)}; }

 private:
  const RowInLanes<IsUsual>& row_;
  PartOf<Operands> part_[2];
};

#if MMAFUZZ_HOST_FMA

/// x + y in fp32, rounded to odd; every NaN as `nan`.
HWY_INLINE V32 odd_sum(V32 x, V32 y, uint64_t nan) {
  const DF32 d;
  const DF32Half half;
  const auto sum_of = [](hn::Vec<DF32Half> u, hn::Vec<DF32Half> v) HWY_ATTR {
    const VF64 a = hn::PromoteTo(DF64(), u), b = hn::PromoteTo(DF64(), v), sum = hn::Add(a, b);
    const auto may_be_inexact = hn::And(hn::IsFinite(sum), hn::Ne(sum, hn::Zero(DF64())));
    return demoted_to_odd(hn::IfThenElse(may_be_inexact, add_to_odd(a, b), sum));
  };
  const VF32 u = hn::BitCast(d, x), v = hn::BitCast(d, y);
  return canonical_bits(hn::Combine(d, sum_of(hn::UpperHalf(half, u), hn::UpperHalf(half, v)),
                                    sum_of(hn::LowerHalf(half, u), hn::LowerHalf(half, v))),
                        nan);
}

/// The domain of bulk_normalized.
template <bool IsUsual, class Operands>
class NormalizedLaneDots {
 public:
  using Code = Codes;

  HWY_INLINE NormalizedLaneDots(const RowInLanes<IsUsual>& row, const Operands& operands)
      : m_(row.m), products_(row, operands) {}

  HWY_INLINE const DotModel& model() const { return m_; }
  HWY_INLINE void begin_block(int) const {}
  HWY_INLINE const LaneDots<OddSums, IsUsual, Operands>& products_alone() const { return products_; }
  HWY_INLINE Codes added(bool, Codes c, Codes sum) const { return {odd_sum(c.v, sum.v, m_.nan)}; }

 private:
  const DotModel& m_;
  LaneDots<OddSums, IsUsual, Operands> products_;
};

#endif

// One instruction of each kernel. converts: encodings become fp16 first; may_be_grid: run_grid() supports the kernel.

template <class Sums>
struct FusedSum {
  static constexpr bool converts = false;
  template <bool IsUsual>
  static constexpr bool may_be_grid = IsUsual;

  template <bool IsUsual, class Operands>
  static HWY_INLINE Codes run(const RowInLanes<IsUsual>& row, const Operands& operands, bool starts_dot, Codes c) {
    return fused_sum(LaneDots<Sums, IsUsual, Operands>(row, operands, starts_dot), c);
  }
};
struct GroupedSum {
  static constexpr bool converts = false;
  template <bool IsUsual>
  static constexpr bool may_be_grid = false;

  template <bool IsUsual, class Operands>
  static HWY_INLINE Codes run(const RowInLanes<IsUsual>& row, const Operands& operands, bool starts_dot, Codes c) {
    return grouped_sum(LaneDots<WideSums, IsUsual, Operands>(row, operands, starts_dot), c);
  }
};
struct FlooredSum {
  static constexpr bool converts = false;
  template <bool IsUsual>
  static constexpr bool may_be_grid = true;

  template <bool IsUsual, class Operands>
  static HWY_INLINE Codes run(const RowInLanes<IsUsual>& row, const Operands& operands, bool starts_dot, Codes c) {
    return floored_sum(LaneDots<FlooredSums, IsUsual, Operands>(row, operands, starts_dot), c);
  }
};
template <class Sums>
struct EmulatedFp8 {
  static constexpr bool converts = true;
  template <bool IsUsual>
  static constexpr bool may_be_grid = IsUsual;

  template <bool IsUsual, class Operands>
  static HWY_INLINE Codes run(const RowInLanes<IsUsual>& row, const Operands& operands, bool, Codes c) {
    return emulated_fp8(EmulatedLaneDots<Sums, IsUsual, Operands>(row, operands), c);
  }
};
#if MMAFUZZ_HOST_FMA
struct BulkNormalized {
  static constexpr bool converts = false;
  template <bool IsUsual>
  static constexpr bool may_be_grid = true;

  template <bool IsUsual, class Operands>
  static HWY_INLINE Codes run(const RowInLanes<IsUsual>& row, const Operands& operands, bool, Codes c) {
    return bulk_normalized(NormalizedLaneDots<IsUsual, Operands>(row, operands), c);
  }
};
#endif

/// Calls work.run<kernel of the row, whether it is usual>(). False where vector code lacks the kernel.
template <class Work>
bool run_as_row_says(const AlignedRow& row, const Work& work) {
  const bool usual = is_usual(row);
  const auto run = [&](auto sum_of_row) HWY_ATTR {
    using Sum = decltype(sum_of_row);
    return usual ? work.template run<Sum, true>() : work.template run<Sum, false>();
  };
  if (traits_of(row.model).sums_groups()) return run(GroupedSum{});
  if (traits_of(row.model).widens_to_fp16()) return run(EmulatedFp8<NarrowSums<2>>{});
  if (traits_of(row.model).floors()) return run(FlooredSum{});
  if (traits_of(row.model).cuts_to_odd()) {
#if MMAFUZZ_HOST_FMA
    return run(BulkNormalized{});
#else
    return false;
#endif
  }
  // Rows with wide sums are few: the code for usual rows is not compiled for them.
  if (row.sums == AlignedRow::Sums::wide) return work.template run<FusedSum<WideSums>, false>();
  return row.sums == AlignedRow::Sums::four ? run(FusedSum<NarrowSums<4>>{}) : run(FusedSum<NarrowSums<2>>{});
}

struct BatchRun {
  const AlignedRow& aligned;
  const Batch& batch;
  Column& results;

  template <class SumOfRow, bool IsUsual>
  HWY_NOINLINE bool run() const {
    const size_t lanes = hn::Lanes(D32());
    const RowInLanes<IsUsual> row(aligned);
    BatchOperands<IsUsual, SumOfRow::converts> operands(row);
    for (size_t first = 0; first < batch.size(); first += lanes) {
      const size_t dots = HWY_MIN(lanes, batch.size() - first);
      Codes accumulator{load_words(batch.c(), first, dots)};
      for (int element = 0; element < batch.op().k; element += aligned.model.k) {
        operands.load(batch, first, dots, element);
        accumulator = SumOfRow::run(row, operands, element == 0, accumulator);
      }
      store_words(accumulator.v, dots, first, results);
    }
    return true;
  }
};

bool run_batch(const AlignedRow& aligned, const Batch& batch, Column& results) {
  return run_as_row_says(aligned, BatchRun{aligned, batch, results});
}

/// One side of a grid: `count` vectors of k encodings, packed.
template <bool IsUsual>
struct GridSide {
  const uint8_t* codes;
  size_t count;
  const SideReader& reader;
  const Decoder<IsUsual>& decoder;

  const uint8_t* at(size_t index, int k) const { return codes + index * size_t(k * reader.bytes); }
};

constexpr size_t grid_rows = 32;  ///< of the broadcast side, decoded at once

/// The vectors of one side for all lanes, decoded: element i of lane j's vector is at [i * lanes + j]. `worst` holds
/// magnitudes, which show infinities and NaNs, `words` the transposed encodings.
struct LaneVectors {
  HWY_ALIGN uint32_t significand[max_instruction_k * max_lanes], field[max_instruction_k * max_lanes],
      sign[max_instruction_k * max_lanes], worst[max_instruction_k * max_lanes], words[max_words * max_lanes];

  /// Decodes `dots` vectors, of given_k elements each, from index `first` on: k elements from `element` on, of which
  /// the first `given` exist.
  template <bool IsUsual>
  void decode(const GridSide<IsUsual>& side, size_t first, size_t dots, int given_k, int element, int given, int k) {
    const D32 d;
    const size_t bytes = size_t(side.reader.bytes);
    transpose(side.at(first, given_k) + size_t(element) * bytes, side.at(side.count, given_k), size_t(given_k) * bytes,
              size_t(given) * bytes, dots, (size_t(k) * bytes + 3) / 4, words);
    for (int i = 0; i < k; ++i) {
      V32 magnitude = hn::Zero(d);
      const Decoded x = side.decoder(side.reader.code(words, i), magnitude);
      const size_t offset = size_t(i) * hn::Lanes(d);
      hn::Store(x.significand, d, significand + offset);
      hn::Store(x.field, d, field + offset);
      hn::Store(x.sign, d, sign + offset);
      hn::Store(magnitude, d, worst + offset);
    }
  }

  HWY_INLINE Decoded load(int i, V32& seen) const {
    const D32 d;
    const size_t offset = size_t(i) * hn::Lanes(d);
    seen = hn::Max(seen, hn::Load(d, worst + offset));
    return {hn::Load(d, significand + offset), hn::Load(d, field + offset), hn::Load(d, sign + offset)};
  }
};

/// The vector of one lane of the side that is broadcast: each element in all lanes.
struct BroadcastVector {
  const LaneVectors& vectors;
  size_t lane;
  const SideReader& reader;

  HWY_INLINE V32 code(int i) const {
    const D32 d;
    HWY_ALIGN uint32_t codes[max_lanes];
    hn::Store(reader.code(vectors.words, i), d, codes);
    return hn::Set(d, codes[lane]);
  }
  HWY_INLINE Decoded load(int i, V32& seen) const {
    const D32 d;
    const size_t offset = size_t(i) * hn::Lanes(d) + lane;
    seen = hn::Max(seen, hn::Set(d, vectors.worst[offset]));
    return {hn::Set(d, vectors.significand[offset]), hn::Set(d, vectors.field[offset]),
            hn::Set(d, vectors.sign[offset])};
  }
};

/// `count` encodings, one in each lane, that begin `step` bytes apart in memory.
template <class T>
HWY_INLINE V32 load_codes(const uint8_t* from, size_t step, size_t count) {
  if (step == sizeof(T)) return load_words(reinterpret_cast<const T*>(from), count);
  HWY_ALIGN T codes[max_lanes] = {};
  for (size_t j = 0; j < count; ++j) std::memcpy(&codes[j], from + j * step, sizeof(T));
  return load_words(codes, max_lanes);
}
HWY_NOINLINE V32 load_codes(const uint8_t* from, size_t bytes, size_t step, size_t count) {
  return bytes == 1   ? load_codes<uint8_t>(from, step, count)
         : bytes == 2 ? load_codes<uint16_t>(from, step, count)
                      : load_codes<uint32_t>(from, step, count);
}

/// Stores encodings in that layout.
template <class T>
HWY_INLINE void store_codes(V32 codes, uint8_t* to, size_t step, size_t count) {
  if (step == sizeof(T)) return store_words(codes, count, reinterpret_cast<T*>(to));
  HWY_ALIGN T taken[max_lanes];
  store_words(codes, max_lanes, taken);
  for (size_t j = 0; j < count; ++j) std::memcpy(to + j * step, &taken[j], sizeof(T));
}
HWY_NOINLINE void store_codes(V32 codes, uint8_t* to, size_t bytes, size_t step, size_t count) {
  bytes == 1   ? store_codes<uint8_t>(codes, to, step, count)
  : bytes == 2 ? store_codes<uint16_t>(codes, to, step, count)
               : store_codes<uint32_t>(codes, to, step, count);
}

template <bool IsUsual>
struct GridOperands {
  static constexpr bool has_scales = false;

  const RowInLanes<IsUsual>& row;
  BroadcastVector rows;
  const LaneVectors& columns;

  HWY_INLINE V32 a_code(int i) const { return rows.code(i); }
  HWY_INLINE V32 b_code(int i) const { return row.reader_b.code(columns.words, i); }
  HWY_INLINE Decoded a(int i, const Decoder<IsUsual>&, V32& worst) const { return rows.load(i, worst); }
  HWY_INLINE Decoded b(int i, const Decoder<IsUsual>&, V32& worst) const { return columns.load(i, worst); }
};

/// Lanes are columns of b; rows of a are broadcast, one at a time, to all of them. Results of a transposed grid stand
/// column by column.
template <class SumOfRow, bool IsUsual>
HWY_NOINLINE void run_grid_of(const AlignedRow& aligned, int given_k, const DotGrid& grid, bool transposed) {
  const size_t lanes = hn::Lanes(D32()), blocks = (grid_rows + lanes - 1) / lanes;
  const RowInLanes<IsUsual> row(aligned);
  const int k = aligned.model.k;
  const GridSide<IsUsual> a{grid.a, grid.rows, row.reader_a, row.a}, b{grid.b, grid.columns, row.reader_b, row.b};
  const size_t bytes = size_t(row.m.d.width / 8);
  const size_t column_step = (transposed ? grid.rows : 1) * bytes, row_step = (transposed ? 1 : grid.columns) * bytes;
  auto columns = std::make_unique<LaneVectors>();
  auto rows = std::make_unique<LaneVectors[]>(blocks);
  // A dot longer than the instruction goes through the grid once for each instruction.
  for (int element = 0; element < given_k; element += k) {
    const int given = HWY_MIN(k, given_k - element);
    for (size_t first_row = 0; first_row < grid.rows; first_row += blocks * lanes) {
      const size_t here = HWY_MIN(blocks * lanes, grid.rows - first_row);
      for (size_t r = 0; r < here; r += lanes)
        rows[r / lanes].decode(a, first_row + r, HWY_MIN(lanes, here - r), given_k, element, given, k);
      for (size_t first = 0; first < grid.columns; first += lanes) {
        const size_t dots = HWY_MIN(lanes, grid.columns - first);
        columns->decode(b, first, dots, given_k, element, given, k);
        for (size_t r = 0; r < here; ++r) {
          uint8_t* const results = grid.results + first * column_step + (first_row + r) * row_step;
          const GridOperands<IsUsual> operands{row, {rows[r / lanes], r % lanes, row.reader_a}, *columns};
          const V32 c = load_codes(results, bytes, column_step, dots);
          store_codes(SumOfRow::run(row, operands, element == 0, Codes{c}).v, results, bytes, column_step, dots);
        }
      }
    }
  }
}

struct GridRun {
  const AlignedRow& aligned;
  int k;
  const DotGrid& grid;
  bool transposed;

  template <class SumOfRow, bool IsUsual>
  bool run() const {
    if constexpr (SumOfRow::template may_be_grid<IsUsual>) run_grid_of<SumOfRow, IsUsual>(aligned, k, grid, transposed);
    return SumOfRow::template may_be_grid<IsUsual>;
  }
};

/// The lanes are vectors of the longer side, for which a and b change places if need be: products commute, and nothing
/// else in these rows distinguishes a from b.
bool run_grid(const AlignedRow& aligned, int k, const DotGrid& grid) {
  if (grid.columns >= grid.rows) return run_as_row_says(aligned, GridRun{aligned, k, grid, false});
  AlignedRow turned = aligned;
  std::swap(turned.model.a, turned.model.b);
  std::swap(turned.summed.a, turned.summed.b);
  const DotGrid transposed{grid.b, grid.a, grid.columns, grid.rows, grid.results};
  return run_as_row_says(turned, GridRun{turned, k, transposed, true});
}

#else

bool run_batch(const AlignedRow&, const Batch&, Column&) { return false; }
bool run_grid(const AlignedRow&, int, const DotGrid&) { return false; }

#endif

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(run_batch);
HWY_EXPORT(run_grid);
HWY_EXPORT(target_name);

namespace {

/// Whether the calling thread's floating-point environment allows vector code: the addition of a c that joins last uses
/// the host's.
bool host_allows(const AlignedRow& row) {
  return traits_of(row.model).c != KernelTraits::Joining::last || default_float_environment();
}

}  // namespace

bool AlignedSumSimd::run(const Batch& batch, Column& results) const {
  return row_ && host_allows(*row_) && HWY_DYNAMIC_DISPATCH(run_batch)(*row_, batch, results);
}

bool AlignedSumSimd::run_grid(int k, const DotGrid& grid) const {
  const bool takes_grids = row_ && row_->model.scale_block == 0 && row_->model.c == row_->model.d;
  return takes_grids && host_allows(*row_) && HWY_DYNAMIC_DISPATCH(run_grid)(*row_, k, grid);
}

const char* simd_target_name() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace mmafuzz
#endif  // HWY_ONCE
