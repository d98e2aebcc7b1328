// One vector lane is one dot. Compiled without contraction: a multiplication and an addition stay two roundings.
#include "oracles/ieee/ieee_dot_simd.h"

#include <bit>

#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/ieee/ieee_dot_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"
#include "oracles/lanes/exact_lanes-inl.h"
#include "oracles/lanes/integer_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

using Additions = std::vector<std::pair<int, int>>;

/// The host's operations.
template <class D>
struct Operations {
  using V = hn::Vec<D>;
  static HWY_INLINE V multiply(V x, V y) { return hn::Mul(x, y); }
  static HWY_INLINE V add(V x, V y) { return hn::Add(x, y); }
  static HWY_INLINE V fma(V x, V y, V z) { return hn::MulAdd(x, y, z); }
};

/// Those of fp16, whose numbers are in fp32: products are exact there, and of a sum, which has more than twice the
/// bits, the second rounding is that of the exact one.
struct HalfOperations {
  static HWY_INLINE VF32 multiply(VF32 x, VF32 y) { return rounded(hn::Mul(x, y)); }
  static HWY_INLINE VF32 add(VF32 x, VF32 y) { return rounded(hn::Add(x, y)); }
  static HWY_INLINE VF32 fma(VF32 x, VF32 y, VF32 z) { return rounded(fma_to_odd(x, y, z)); }
  static HWY_INLINE VF32 rounded(VF32 x) { return rounded_to_fp16(x, fp16_fields.encode_nan()); }
};

/// x[i * lanes + j] and y: operand i of dot j. Overwrites x where products are kept.
template <class Op, class D, class V = hn::Vec<D>>
HWY_INLINE V ieee_dots(D d, DotOrder order, const Additions& additions, int k, hn::TFromD<D>* HWY_RESTRICT x,
                       const hn::TFromD<D>* HWY_RESTRICT y, V c) {
  const size_t lanes = hn::Lanes(d);
  const size_t end = size_t(k) * lanes;
  switch (order) {
    case DotOrder::fma:
      for (size_t i = 0; i < end; i += lanes) c = Op::fma(hn::Load(d, x + i), hn::Load(d, y + i), c);
      return c;
    case DotOrder::serial:
      for (size_t i = 0; i < end; i += lanes) c = Op::add(c, Op::multiply(hn::Load(d, x + i), hn::Load(d, y + i)));
      return c;
    case DotOrder::pairwise: break;
  }
  for (size_t i = 0; i < end; i += lanes) hn::Store(Op::multiply(hn::Load(d, x + i), hn::Load(d, y + i)), d, x + i);
  for (const auto& [to, from] : additions)
    hn::Store(Op::add(hn::Load(d, x + size_t(to) * lanes), hn::Load(d, x + size_t(from) * lanes)), d,
              x + size_t(to) * lanes);
  return Op::add(hn::Load(d, x), c);
}

void ieee_fp32(DotOrder order, const Additions& additions, const Batch& batch, Column& results) {
  const DF32 d;
  const size_t lanes = hn::Lanes(d);
  const Op& op = batch.op();
  const FloatDecoder decode_a(op.a.fields()), decode_b(op.b.fields()), decode_c(op.c.fields());
  HWY_ALIGN float x[max_instruction_k * max_lanes], y[max_instruction_k * max_lanes];
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    load_floats(decode_a, batch.a(), first, dots, op.k, x);
    load_floats(decode_b, batch.b(), first, dots, op.k, y);
    const VF32 c = load_float(decode_c, batch.c(), first, dots);
    if (op.d.fields() == fp16_fields) {
      const VF32 r = ieee_dots<HalfOperations>(d, order, additions, op.k, x, y, c);
      store_words(fp16_bits(r, fp16_fields.encode_nan()), dots, first, results);
    } else {
      const VF32 r = ieee_dots<Operations<DF32>>(d, order, additions, op.k, x, y, c);
      store_words(canonical_bits(r, fp32_fields.encode_nan()), dots, first, results);
    }
  }
}

void ieee_fp64(DotOrder order, const Additions& additions, const Batch& batch, Column& results) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  const int k = batch.op().k;
  HWY_ALIGN double x[max_instruction_k * max_lanes / 2] = {}, y[max_instruction_k * max_lanes / 2] = {},
                                                     c[max_lanes / 2] = {};
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    const auto gather = [&](const Column& column, double* out) {
      for (size_t j = 0; j < dots; ++j)
        for (int i = 0; i < column.count(); ++i)
          out[size_t(i) * lanes + j] = std::bit_cast<double>(column.get(first + j, i));
    };
    gather(batch.a(), x);
    gather(batch.b(), y);
    gather(batch.c(), c);
    const auto r = ieee_dots<Operations<decltype(d)>>(d, order, additions, k, x, y, hn::Load(d, c));
    const hn::Repartition<uint64_t, decltype(d)> d64;
    const auto nan = hn::BitCast(d, hn::Set(d64, batch.op().d.fields().encode_nan()));
    hn::Store(hn::IfThenElse(hn::IsNaN(r), nan, r), d, c);
    std::memcpy(results.data() + first * 8, c, dots * 8);
  }
}

bool ieee_batch(DotOrder order, const Additions& additions, const Batch& batch, Column& results) {
  (batch.op().d.fields().width == 64 ? ieee_fp64 : ieee_fp32)(order, additions, batch, results);
  return true;
}

#else

bool ieee_batch(DotOrder, const std::vector<std::pair<int, int>>&, const Batch&, Column&) { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {
namespace {

/// The additions of a sum by halves over products [first, last), as ieee_dot.h groups them; the sum ends in `first`.
void add_halves(int first, int last, std::vector<std::pair<int, int>>& additions) {
  if (last - first == 1) return;
  const int middle = first + (last - first) / 2;
  add_halves(first, middle, additions);
  add_halves(middle, last, additions);
  additions.emplace_back(first, middle);
}

}  // namespace

HWY_EXPORT(ieee_batch);

IeeeDotSimd::IeeeDotSimd(const Op& op, DotOrder order) : order_(order) {
  if (order == DotOrder::pairwise) add_halves(0, op.k, additions_);
}

bool IeeeDotSimd::supports(const Op& op) {
  constexpr FormatFields fp64 = ieee_fields(11, 52);
  const FormatFields &a = op.a.fields(), &b = op.b.fields(), &c = op.c.fields(), &d = op.d.fields();
  const bool has_exact_products =
      a.precision() + b.precision() <= 24 && a.emax() + b.emax() < 126 && a.subnormal_bit() + b.subnormal_bit() >= -149;
  const bool formats = d == fp64 ? a == d && b == d && c == d
                                 : fits_fp32(a) && fits_fp32(b) && fits_fp32(c) &&
                                       (d == fp32_fields || (d == fp16_fields && c == d && has_exact_products));
  return op.kind == OpKind::dot && formats && op.rounding == Rounding::nearest_even && !op.saturate &&
         !op.flush_to_zero && !op.has_scales() && op.k <= max_instruction_k;
}

bool IeeeDotSimd::run(const Batch& batch, Column& results) const {
  return default_float_environment() && HWY_DYNAMIC_DISPATCH(ieee_batch)(order_, additions_, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
