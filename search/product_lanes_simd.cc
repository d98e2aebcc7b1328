// One vector lane is one product of a case, in 32 bits where both formats have no more.
#include "search/dot_builder.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/product_lanes_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/draws-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

static_assert(HWY_MAX_BYTES / 4 <= most_lanes);

/// What both widths of lanes have.
template <class Word>
struct LanesOf {
  using D = hn::ScalableTag<Word>;
  using DI = hn::RebindToSigned<D>;
  using V = hn::Vec<D>;
  using VI = hn::Vec<DI>;

  static HWY_INLINE V word(Word value) { return hn::Set(D(), value); }
  static HWY_INLINE VI number(int value) { return hn::Set(DI(), value); }
  static HWY_INLINE V bits_of(VI x) { return hn::BitCast(D(), x); }
  static HWY_INLINE VI number_of(V x) { return hn::BitCast(DI(), x); }
  static HWY_INLINE auto bit(V x, int position) { return hn::TestBit(x, word(Word{1} << position)); }
  static HWY_INLINE auto less(VI x, VI limit) { return hn::RebindMask(D(), hn::Lt(x, limit)); }
  static HWY_INLINE auto less(V x, int limit) { return less(number_of(x), number(limit)); }
  /// Bits first .. first+bits-1.
  template <int first, int bits>
  static HWY_INLINE V field(V x) {
    return hn::And(hn::ShiftRight<first>(x), word((Word{1} << bits) - 1));
  }
  /// Uniform in 0..n-1, of the bits of a field. bits and those of n are 32 at most together.
  template <int first, int bits>
  static HWY_INLINE V below(V x, V n) {
    return hn::ShiftRight<bits>(small_product(field<first, bits>(x), n));
  }

  static HWY_INLINE V small_product(V x, V y) {
    if constexpr (sizeof(Word) == 8) return multiply_halves(x, y);
    else return hn::Mul(x, y);
  }
  static HWY_INLINE VI load(const int* from) {
    const hn::Rebind<int32_t, DI> d;
    if constexpr (sizeof(Word) == 8) return hn::PromoteTo(DI(), hn::LoadU(d, from));
    else return hn::LoadU(d, from);
  }
};

/// Draw `index` of a case, in every lane one.
HWY_INLINE V64 hash(uint64_t key, V64 index) {
  return mix(hn::Add(hn::Set(D64(), key), multiply(index, hn::Set(D64(), CounterRng::golden))));
}
/// Constants of the mixer: lowbias32 of C. Wellons' hash-prospector.
HWY_INLINE LanesOf<uint32_t>::V hash(uint64_t key, LanesOf<uint32_t>::V index) {
  using L = LanesOf<uint32_t>;
  L::V x = hn::Add(hn::Mul(index, L::word(0x9e3779b1u)), L::word(static_cast<uint32_t>(key)));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Add(hn::Mul(x, L::word(0x7feb352du)), L::word(static_cast<uint32_t>(key >> 32)));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), L::word(0x846ca68bu));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

/// An operand's format in every lane.
template <class Word>
struct OperandLanes : LanesOf<Word> {
  using L = LanesOf<Word>;
  using V = typename L::V;
  using VI = typename L::VI;

  explicit OperandLanes(const FormatFields& f)
      : fields(f),
        mask(L::word(static_cast<Word>(f.fraction_mask()))),
        last(L::word(static_cast<Word>(1 & f.fraction_mask()))),
        middle(L::word(static_cast<Word>(f.fraction_mask() ^ f.fraction_mask() >> 1))),
        implicit(L::word(MagnitudeNear<Word>(f).implicit)),
        greatest(L::word(static_cast<Word>(f.greatest_magnitude()))),
        ignored(L::word(static_cast<Word>(ignored_bits(f)))),
        sign(L::word(static_cast<Word>(f.sign_bit()))),
        negative_zero(L::word(static_cast<Word>(f.has_negative_zero() ? f.sign_bit() : 0))),
        fraction_bits(L::number(f.fraction_bits)),
        emin(L::number(f.emin())),
        emax(L::number(f.emax())),
        offset(L::number(MagnitudeNear<Word>(f).offset)) {}

  /// What encode_near makes of patterned_fraction, without sign; `any`: 6 where no patterns are wanted.
  HWY_INLINE V near(VI exponent, V draw, V any) const {
    const V fraction = patterned(draw, any), odd = hn::And(fraction, L::word(1));
    const VI at = hn::Max(exponent, emin), shift = hn::Sub(at, exponent);
    const V steps = L::bits_of(hn::Add(hn::Min(at, hn::Add(emax, L::number(1))), offset));
    V code = hn::Shr(hn::Or(implicit, fraction), L::bits_of(hn::Min(shift, L::number(8 * sizeof(Word) - 1))));
    code = hn::Add(hn::ShiftLeftSame(steps, fields.fraction_bits), code);
    code = hn::Or(code, hn::IfThenElseZero(L::less(fraction_bits, shift), odd));
    const V limit = hn::Sub(greatest, hn::IfThenElseZero(L::less(emax, at), odd));
    return L::bits_of(hn::Min(L::number_of(code), L::number_of(limit)));
  }

  /// In its container, with noise in bits that no unit looks at in one of four.
  HWY_INLINE V contained(V code, V draw, V where) const {
    if (ignored_bits(fields) == 0) return code;
    const V noise = hn::And(ignored, hn::IfThenElse(L::bit(where, 24), hn::ShiftRight<9>(draw), ignored));
    return hn::Or(hn::ShiftLeftSame(code, fields.ignored_low_bits),
                  hn::IfThenElseZero(L::less(L::template field<25, 2>(where), 1), noise));
  }

  HWY_INLINE V patterned(V draw, V any) const {
    const V pick = hn::Or(draw, any);
    const V one = hn::Shl(L::word(1), L::template below<3, 6>(draw, L::bits_of(fraction_bits)));
    const V random = hn::ShiftRightSame(hn::ShiftRight<1>(draw), 8 * int{sizeof(Word)} - 1 - fields.fraction_bits);
    const auto odd = L::bit(pick, 0), second = L::bit(pick, 1);
    const V lower =
        hn::IfThenElse(second, hn::IfThenElse(odd, last, hn::Xor(mask, last)), hn::IfThenElseZero(odd, mask));
    const V upper = hn::IfThenElse(second, random, hn::IfThenElse(odd, hn::And(mask, one), middle));
    return hn::IfThenElse(L::bit(pick, 2), upper, lower);
  }

  const FormatFields fields;
  const V mask, last, middle, implicit, greatest, ignored, sign, negative_zero;
  const VI fraction_bits, emin, emax, offset;
};

/// Of a's exponent: half of the product's or nearly so.
template <class Word, class VI, class V>
HWY_INLINE VI half(const OperandLanes<Word>& a, VI target, V share) {
  using L = LanesOf<Word>;
  const VI slack = hn::Sub(L::number_of(hn::ShiftRight<10>(L::small_product(share, L::word(5)))), L::number(2));
  const VI least = hn::Sub(a.emin, a.fraction_bits);
  return hn::Min(hn::Max(hn::Add(hn::ShiftRight<1>(target), slack), least), a.emax);
}
/// Anything for which both factors are normal numbers, where there is such.
template <class Word, class VI, class V>
HWY_INLINE VI any_share(const OperandLanes<Word>& a, const OperandLanes<Word>& b, VI target, V share) {
  using L = LanesOf<Word>;
  const VI low = hn::Max(a.emin, hn::Sub(target, b.emax)), high = hn::Min(a.emax, hn::Sub(target, b.emin));
  const V count = L::bits_of(hn::Sub(hn::Add(high, L::number(1)), low));
  const VI any = hn::Add(low, L::number_of(hn::ShiftRight<10>(L::small_product(share, count))));
  const VI middle = hn::Min(hn::Max(hn::ShiftRight<1>(target), a.emin), a.emax);
  return L::number_of(hn::IfThenElse(L::less(high, low), L::bits_of(middle), L::bits_of(any)));
}

template <class Word>
HWY_INLINE void draw_case(const OperandLanes<Word>& a, const OperandLanes<Word>& b, const ProductPlan& plan, int first,
                          int count, Word* HWY_RESTRICT out_a, Word* HWY_RESTRICT out_b) {
  using L = LanesOf<Word>;
  using V = typename L::V;
  using VI = typename L::VI;
  const typename L::D d;
  const V any = L::word(plan.patterned ? 0 : 6), width = L::word(static_cast<Word>(plan.spread) + 1);
  const V signs = L::word(plan.one_sign ? 0 : ~Word{0});
  const int zeros = plan.sparse ? 171 : 0, repeats = plan.repeats ? 43 : 0;  // of 256
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
    const V at = hn::Iota(d, static_cast<Word>(first + i));
    const V own = hash(plan.key, hn::ShiftLeft<2>(at));
    const auto is_zero = L::less(L::template field<0, 8>(own), zeros);
    // Cancels or repeats an earlier product, perhaps one ulp off.
    const auto copies = hn::AndNot(L::less(at, 1), L::less(L::template field<8, 8>(own), repeats));
    const V change = hn::Or(hn::IfThenZeroElse(L::less(L::template field<24, 2>(own), 1), a.sign),
                            hn::IfThenElseZero(L::less(L::template field<26, 4>(own), 5), L::word(1)));
    const V source = hn::ShiftLeft<2>(hn::IfThenElse(copies, L::template below<16, 8>(own, at), at));
    const V where = hash(plan.key, hn::Or(source, L::word(1)));
    const V x = hash(plan.key, hn::Or(source, L::word(2))), y = hash(plan.key, hn::Or(source, L::word(3)));
    const VI target = plan.exponents
                          ? L::load(plan.exponents + i)
                          : hn::Sub(L::number(plan.reference), L::number_of(L::template below<0, 12>(where, width)));
    const V share = L::template field<12, 10>(where);
    const VI exponent_a = plan.any_share ? any_share(a, b, target, share) : half(a, target, share);
    V code_a = a.near(exponent_a, x, any), code_b = b.near(hn::Sub(target, exponent_a), y, any);
    code_a = hn::Or(code_a, hn::IfThenElseZero(L::bit(where, 22), hn::And(a.sign, signs)));
    code_b = hn::Or(code_b, hn::IfThenElseZero(L::bit(where, 23), hn::And(b.sign, signs)));
    code_a = hn::Xor(code_a, hn::IfThenElseZero(copies, change));
    if (plan.exponents) {
      const auto none = L::less(target, L::number(no_product + 1));
      code_a = hn::IfThenZeroElse(none, code_a);
      code_b = hn::IfThenZeroElse(none, code_b);
    }
    // Beside a zero stands a zero, or what is huge.
    const V zero_a = hn::IfThenElseZero(L::less(L::template field<0, 3>(own), 1), a.negative_zero);
    const V huge = hn::Or(b.greatest, hn::IfThenElseZero(L::bit(own, 30), b.sign));
    const V beside = hn::IfThenElse(L::bit(own, 31), huge, b.negative_zero);
    const V zero_b = hn::IfThenElseZero(L::less(L::template field<3, 2>(own), 1), beside);
    hn::StoreU(a.contained(hn::IfThenElse(is_zero, zero_a, code_a), x, where), d, out_a + i);
    hn::StoreU(b.contained(hn::IfThenElse(is_zero, zero_b, code_b), y, where), d, out_b + i);
  }
}

template <class Word>
void draw_in(const FormatFields& a, const FormatFields& b, const ProductPlan* plans, int cases, int first, int count,
             Column& to_a, Column& to_b, size_t index) {
  HWY_ALIGN Word out_a[products_at_a_time + most_lanes], out_b[products_at_a_time + most_lanes];
  const OperandLanes<Word> lanes_a(a), lanes_b(b);
  for (int i = 0; i < cases; ++i)
    draw_case(lanes_a, lanes_b, plans[i], first, count, out_a + i * count, out_b + i * count);
  to_a.pack(index, out_a, first, cases * count);
  to_b.pack(index, out_b, first, cases * count);
}

void draw_products(const FormatFields& a, const FormatFields& b, const ProductPlan* plans, int cases, int first,
                   int count, Column& to_a, Column& to_b, size_t index) {
  if (a.width > 32 || b.width > 32) draw_in<uint64_t>(a, b, plans, cases, first, count, to_a, to_b, index);
  else draw_in<uint32_t>(a, b, plans, cases, first, count, to_a, to_b, index);
}

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(draw_products);

void draw_products(const FormatFields& a, const FormatFields& b, const ProductPlan* plans, int cases, int first,
                   int count, Column& to_a, Column& to_b, size_t index) {
  HWY_DYNAMIC_DISPATCH(draw_products)(a, b, plans, cases, first, count, to_a, to_b, index);
}

}  // namespace mmafuzz
#endif
