// One vector lane is one dot. Compiled without contraction: a multiplication and an addition stay two roundings.
#include "oracles/ieee/ieee_dot_simd.h"

#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/ieee/ieee_dot_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"
#include "oracles/lanes/exact_lanes-inl.h"
#include "oracles/lanes/integer_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

/// Operations on a window: up to max_instruction_k products of each dot in a vector. The factors of product i of dot j
/// are x[i * lanes + j] and y[i * lanes + j].
template <class D>
class HostProducts {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  HostProducts(const T* x, const T* y, const Scales&) : x_(x), y_(y) {}

  HWY_INLINE V product(int i) const { return hn::Mul(x(i), y(i)); }
  HWY_INLINE V fma(int i, V c) const { return hn::MulAdd(x(i), y(i), c); }
  HWY_INLINE V add(V x, V y) const { return hn::Add(x, y); }

 protected:
  HWY_INLINE V x(int i) const { return hn::Load(D(), x_ + size_t(i) * hn::Lanes(D())); }
  HWY_INLINE V y(int i) const { return hn::Load(D(), y_ + size_t(i) * hn::Lanes(D())); }

 private:
  const T *x_, *y_;
};

/// HostProducts with results in fp16, held in fp32. Products are exact in fp32. A sum is rounded to fp32 and then to
/// fp16, which equals one rounding, as fp32 has more than twice the bits.
class HalfProducts : public HostProducts<DF32> {
 public:
  using HostProducts::HostProducts;

  HWY_INLINE VF32 product(int i) const { return rounded(HostProducts::product(i)); }
  HWY_INLINE VF32 fma(int i, VF32 c) const { return rounded(fma_to_odd(x(i), y(i), c)); }
  HWY_INLINE VF32 add(VF32 x, VF32 y) const { return rounded(HostProducts::add(x, y)); }

 private:
  HWY_INLINE static VF32 rounded(VF32 x) { return rounded_to_fp16(x, fp16_fields.encode_nan()); }
};

/// HostProducts with scales: fp64 holds a scaled product exactly.
class ScaledProducts : public HostProducts<DF32> {
 public:
  ScaledProducts(const float* x, const float* y, const Scales& scales) : HostProducts(x, y, scales), scales_(scales) {}

  HWY_INLINE VF32 product(int i) const {
    return by_halves([&](size_t lane, VF64 u, VF64 v) HWY_ATTR { return demoted(scaled(i, lane, u, v)); }, x(i), y(i));
  }
  HWY_INLINE VF32 fma(int i, VF32 c) const {
    const auto half = [&](size_t lane, VF64 u, VF64 v, VF64 w)
                          HWY_ATTR { return demoted(sum_to_odd(scaled(i, lane, u, v), w)); };
    return by_halves(half, x(i), y(i), c);
  }

 private:
  HWY_INLINE VF64 scaled(int i, size_t lane, VF64 u, VF64 v) const {
    return hn::Mul(hn::Mul(u, v), scales_.of(i, lane));
  }
  HWY_INLINE static hn::Vec<DF32Half> demoted(VF64 x) { return hn::DemoteTo(DF32Half(), x); }

  const Scales& scales_;
};

/// Adds the `count` products of a window to the sums c and returns these. In pairwise order stores the products in
/// `kept` instead, from that of product `first` of the dots on.
template <class D, class Products, class V = hn::Vec<D>>
HWY_INLINE V sum_window(D d, const IeeeOrder& order, const Products& products, int first, int count, V c,
                        hn::TFromD<D>* kept) {
  switch (order.order) {
    case DotOrder::fma:
      for (int i = 0; i < count; ++i) c = products.fma(i, c);
      break;
    case DotOrder::serial:
      for (int i = 0; i < count; ++i) c = products.add(c, products.product(i));
      break;
    case DotOrder::pairwise:
      for (int i = 0; i < count; ++i) hn::Store(products.product(i), d, kept + size_t(first + i) * hn::Lanes(d));
      break;
  }
  return c;
}

/// In pairwise order the sum of the kept products, plus c; otherwise c.
template <class D, class Products, class V = hn::Vec<D>>
HWY_INLINE V sum_kept(D d, const IeeeOrder& order, const Products& products, V c, hn::TFromD<D>* kept) {
  if (order.order != DotOrder::pairwise) return c;
  const auto at = [&](int i) HWY_ATTR { return kept + size_t(i) * hn::Lanes(d); };
  for (const auto& [to, from] : order.additions)
    hn::Store(products.add(hn::Load(d, at(to)), hn::Load(d, at(from))), d, at(to));
  return products.add(hn::Load(d, kept), c);
}

template <class Products>
void ieee_fp32(const IeeeOrder& order, const Batch& batch, Column& results) {
  const DF32 d;
  const size_t lanes = hn::Lanes(d);
  const Op& op = batch.op();
  const FloatDecoder decode_a(op.a.fields()), decode_b(op.b.fields()), decode_c(op.c.fields());
  Scales scales(op.scale_a.fields(), op.scale_b.fields(), op.scale_block);
  HWY_ALIGN float x[max_instruction_k * max_lanes], y[max_instruction_k * max_lanes];
  const Products products(x, y, scales);
  const auto kept = hwy::AllocateAligned<float>(size_t(op.k) * lanes);
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    VF32 c = load_float(decode_c, batch.c(), first, dots);
    for (int element = 0; element < op.k; element += max_instruction_k) {
      const int count = HWY_MIN(max_instruction_k, op.k - element);
      load_floats(decode_a, batch.a(), first, dots, element, count, count, x);
      load_floats(decode_b, batch.b(), first, dots, element, count, count, y);
      scales.load(batch, first, dots, element, count);
      c = sum_window(d, order, products, element, count, c, kept.get());
    }
    c = sum_kept(d, order, products, c, kept.get());
    const uint64_t nan = op.d.fields().encode_nan();
    store_words(op.d.fields() == fp16_fields ? fp16_bits(c, nan) : canonical_bits(c, nan), dots, first, results);
  }
}

void ieee_fp64(const IeeeOrder& order, const Batch& batch, Column& results) {
  const DF64 d;
  const size_t lanes = hn::Lanes(d);
  const Op& op = batch.op();
  HWY_ALIGN double x[max_instruction_k * max_lanes / 2] = {}, y[max_instruction_k * max_lanes / 2] = {},
                                                     sum[max_lanes / 2] = {};
  const HostProducts<DF64> products(x, y, Scales({}, {}, 0));
  const auto kept = hwy::AllocateAligned<double>(size_t(op.k) * lanes);
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    std::memcpy(sum, batch.c().data() + first * 8, dots * 8);
    VF64 c = hn::Load(d, sum);
    for (int element = 0; element < op.k; element += max_instruction_k) {
      const int count = HWY_MIN(max_instruction_k, op.k - element);
      load_doubles(batch.a(), first, dots, element, count, count, x);
      load_doubles(batch.b(), first, dots, element, count, count, y);
      c = sum_window(d, order, products, element, count, c, kept.get());
    }
    c = sum_kept(d, order, products, c, kept.get());
    const auto nan = hn::BitCast(d, hn::Set(D64(), op.d.fields().encode_nan()));
    hn::Store(hn::IfThenElse(hn::IsNaN(c), nan, c), d, sum);
    std::memcpy(results.data() + first * 8, sum, dots * 8);
  }
}

bool ieee_batch(const IeeeOrder& order, const Batch& batch, Column& results) {
  const Op& op = batch.op();
  op.d.fields().width == 64      ? ieee_fp64(order, batch, results)
  : op.d.fields() == fp16_fields ? ieee_fp32<HalfProducts>(order, batch, results)
  : op.has_scales()              ? ieee_fp32<ScaledProducts>(order, batch, results)
                                 : ieee_fp32<HostProducts<DF32>>(order, batch, results);
  return true;
}

#else

bool ieee_batch(const IeeeOrder&, const Batch&, Column&) { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {
namespace {

/// Appends the additions of a sum by halves over products [first, last), as ieee_dot.h groups them, which leave the sum
/// in product `first`.
void add_halves(int first, int last, std::vector<std::pair<int, int>>& additions) {
  if (last - first == 1) return;
  const int middle = first + (last - first) / 2;
  add_halves(first, middle, additions);
  add_halves(middle, last, additions);
  additions.emplace_back(first, middle);
}

}  // namespace

HWY_EXPORT(ieee_batch);

IeeeDotSimd::IeeeDotSimd(const Op& op, DotOrder order) : order_{order, {}} {
  if (order == DotOrder::pairwise) add_halves(0, op.k, order_.additions);
}

bool IeeeDotSimd::supports(const Op& op) {
  const FormatFields &a = op.a.fields(), &b = op.b.fields(), &c = op.c.fields(), &d = op.d.fields();
  if (op.kind != OpKind::dot || op.rounding != Rounding::nearest_even || op.saturate || op.flush_to_zero) return false;
  if (d == fp64_fields) return a == d && b == d && c == d && !op.has_scales();
  if (!fits_fp32(a) || !fits_fp32(b) || !fits_fp32(c)) return false;
  if (d == fp32_fields) return !op.has_scales() || scales_fit_fp64(a, b, op.scale_a.fields(), op.scale_b.fields());
  const bool has_exact_products =
      a.precision() + b.precision() <= 24 && a.emax() + b.emax() < 126 && a.subnormal_bit() + b.subnormal_bit() >= -149;
  return d == fp16_fields && c == d && has_exact_products && !op.has_scales();
}

bool IeeeDotSimd::run(const Batch& batch, Column& results) const {
  return default_float_environment() && HWY_DYNAMIC_DISPATCH(ieee_batch)(order_, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
