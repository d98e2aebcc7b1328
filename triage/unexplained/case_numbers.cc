#include "triage/unexplained/case_numbers.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "arithmetic/bins.h"
#include "arithmetic/corner_encodings.h"
#include "core/block_case.h"
#include "search/coverage.h"
#include "triage/operands.h"
#include "triage/unexplained/block_part.h"

namespace mmafuzz {
namespace {

constexpr const char* values[] = {"+0", "-0", "subnormal", "normal", "infinity", "NaN"};
constexpr const char* scales[] = {"zero or the least", "one", "the greatest", "NaN", "below one", "above one"};
constexpr const char* signs[] = {"positive", "negative"};
constexpr const char* signs_of_sums[] = {"zero", "positive", "negative"};
constexpr const char* zeros[] = {"not zero", "zero"};
constexpr const char* lost[] = {"nothing",     "its lowest bit alone", "less than half a unit",
                                "half a unit", "more than half",       "all ones"};
constexpr const char* rests[] = {"nothing", "its lowest bit alone", "less than half", "one below half",
                                 "half",    "one above half",       "more than half", "all ones"};
constexpr const char* parities[] = {"even", "odd"};
constexpr const char* sameness[] = {"another than", "the same as"};
constexpr const char* likenesses[] = {"of the exponent of", "minus", "the same as"};
constexpr const char* carries[] = {"one that does not carry out", "one that carries out"};
constexpr const char* classes[] = {"zero", "subnormal", "normal", "infinity or NaN"};
constexpr const char* specials[] = {"none", "an infinity", "a NaN", "infinity and NaN"};
constexpr const char* orders[] = {"less than", "equal to", "greater than"};
constexpr const char* results[] = {"+0",
                                   "-0",
                                   "the least subnormal",
                                   "subnormal",
                                   "the greatest subnormal",
                                   "the least normal",
                                   "normal",
                                   "the greatest finite number",
                                   "infinity",
                                   "NaN"};

constexpr int ending = 8;  ///< number of last bits of a sum; a text below has the same 8

/// The number of ones in a row, where they are most.
int longest_run(uint64_t bits) {
  int length = 0;
  for (; bits; bits &= bits << 1) ++length;
  return length;
}

int trailing_zeros(uint128 x) {
  const auto low = static_cast<uint64_t>(x);
  return low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<uint64_t>(x >> 64));
}

bool is_same_magnitude(const Exact& x, const Exact& y) {
  if (x.significand == 0 || y.significand == 0) return x.significand == y.significand;
  const int zeros_of_x = trailing_zeros(x.significand), zeros_of_y = trailing_zeros(y.significand);
  return x.significand >> zeros_of_x == y.significand >> zeros_of_y &&
         x.exponent + zeros_of_x == y.exponent + zeros_of_y;
}

bool is_aligned(const Step& s) {
  return s.aligned && (s.kind == Step::Kind::fused_sum || s.kind == Step::Kind::second_stage);
}

int value_kind(const FormatFields& f, uint64_t encoding) {
  const int kind = bins::value_kind(decode(f, encoding));
  return kind == 0 ? is_negative(f, encoding) : kind + 1;
}

}  // namespace

int64_t integer_value(const FormatFields& f, uint64_t encoding) {
  const Number n = decode(f, encoding);
  return n.negative ? -static_cast<int64_t>(n.significand) : static_cast<int64_t>(n.significand);
}

std::optional<Exact> exact_sum_of(const Step& s) {
  if (s.aligned) return Exact{NumberClass::finite, s.sum < 0, magnitude_of(s.sum), s.unit_exponent};
  constexpr int widest = 120;
  int low = INT32_MAX, high = INT32_MIN;
  for (int i = 0; i < s.count; ++i)
    if (const Addend& t = s.addend[i]; t.significand) {
      low = std::min(low, t.exponent);
      high = std::max(high, t.exponent + bit_length(t.significand));
    }
  if (low > high || high - low > widest) return std::nullopt;
  uint128 sum = 0;  // in two's complement
  for (int i = 0; i < s.count; ++i)
    if (const Addend& t = s.addend[i]; t.significand) {
      const uint128 part = uint128{t.significand} << (t.exponent - low);
      sum += t.negative ? 0 - part : part;
    }
  const bool negative = sum >> 127 != 0;
  return Exact{NumberClass::finite, negative, negative ? 0 - sum : sum, low};
}

CaseNumbers::CaseNumbers(const DotModel* model, const BlockPart* part, const Batch& cases, size_t index,
                         uint64_t result)
    : op_(cases.op()), model_(model), part_(part), one_(op_) {
  const Op& op = op_;
  if (op.kind == OpKind::dot) note_equals_and_steps(one_.load(cases, index));
  values_of(cases, index, result);
  is_listing_ = false;
}

/// Notes the steps of the case that determines the list, and its operands that are equal.
void CaseNumbers::note_equals_and_steps(const DotOperands& in) {
  const Op& op = op_;
  if (model_) steps_ = recorded_steps(*model_, in);
  const auto code = [&](bool of_b, int lane) { return (of_b ? in.b : in.a)[lane]; };
  constexpr size_t max_live = 6;
  for (int lane = 0; lane < op.k && !op.a.fields().integer && live_.size() < max_live; ++lane)
    if (!is_zero(op.a.fields(), in.a[lane]) && !is_zero(op.b.fields(), in.b[lane])) live_.push_back(lane);
  const bool comparable = op.a == op.b;
  for (int n = 0; n < 2 * op.k; ++n)
    for (int m = n + 1; m < 2 * op.k; ++m) {
      const Pair p{n >= op.k, m >= op.k, n % op.k, m % op.k};
      if (p.is_first_of_b != p.is_second_of_b && (!comparable || p.first != p.second)) continue;
      const uint64_t x = code(p.is_first_of_b, p.first);
      if (x == code(p.is_second_of_b, p.second) && !is_zero((p.is_first_of_b ? op.b : op.a).fields(), x))
        equal_.push_back(p);
    }
}

void CaseNumbers::enter(Group group, int member) {
  group_ = group;
  member_ = member;
}

void CaseNumbers::put(Kind kind, Where where, const char* prefix, Name name, int64_t value, const char* const* names,
                      int width) {
  values_.push_back(value);
  if (!is_listing_) return;
  const std::string number = name.number < 0 ? "" : std::to_string(name.number);
  const std::string second = name.second ? name.second : "";
  std::string in_any = name.text;
  for (const char* which : {" of step ", " from lane "})
    if (group_ != Group::none && group_ != Group::lane) in_any = in_any.substr(0, in_any.find(which));
  all_.push_back({kind, where, group_, member_, prefix, name.text + number + (name.second ? second + number : ""),
                  in_any + second, "", names, width});
}

void CaseNumbers::operand(const FormatFields& f, Name name, uint64_t encoding, bool of_scale) {
  const uint64_t code = encoding >> f.ignored_low_bits;
  if (f.integer) {
    put(Kind::number, Where::operand, "", name, integer_value(f, encoding));
    if (f.has_sign()) put(Kind::choice, Where::operand, "", name, is_negative(f, encoding), signs);
    put(Kind::bits, Where::operand, "", name, static_cast<int64_t>(code), nullptr, f.width);
    return;
  }
  if (of_scale) put(Kind::choice, Where::operand, "", name, bins::scale_kind(f, encoding), scales);
  else put(Kind::choice, Where::operand, "", name, value_kind(f, encoding), values);
  if (f.has_sign()) put(Kind::choice, Where::operand, "", name, is_negative(f, encoding), signs);
  put(Kind::field, Where::operand, "the exponent field of ", name,
      static_cast<int64_t>(code >> f.fraction_bits & static_cast<uint64_t>(f.top_exponent_field())));
  if (f.fraction_bits)
    put(Kind::bits, Where::operand, "the fraction of ", name, static_cast<int64_t>(code & f.fraction_mask()), nullptr,
        f.fraction_bits);
  if (f.ignored_low_bits)
    put(Kind::bits, Where::operand, "what is ignored of ", name,
        static_cast<int64_t>(encoding & low_mask(f.ignored_low_bits)), nullptr, f.ignored_low_bits);
}

const std::vector<int64_t>& CaseNumbers::values_of(const Batch& cases, size_t index, uint64_t result) {
  values_.clear();
  if (op_.kind == OpKind::dot) {
    dot(one_.load(cases, index));
  } else if (part_) {
    block(cases, index, Operands(op_, cases, index));
  } else {
    const Operands x(op_, cases, index);
    for (size_t at = 0; at < x.size(); ++at) {
      const std::string name = operand_name(op_, at);
      operand(x.format(at), {name.c_str()}, x[at], false);
      const FormatFields& f = x.format(at);
      const int width = f.width - f.fraction_bits - f.ignored_low_bits - (f.has_sign() ? 1 : 0);
      if (!f.integer)  // as bits: tables and shifts go by some of them
        put(Kind::bits, Where::operand, "the exponent field, in binary, of ", {name.c_str()},
            static_cast<int64_t>(x[at] >> f.ignored_low_bits >> f.fraction_bits & low_mask(width)), nullptr, width);
    }
    if (x.size() > 1) relations(x, result);
    rounding(cases, index);
  }
  const FormatFields& d = op_.d.fields();
  const int bits = model_ ? result_fraction_bits(*model_) : d.fraction_bits;
  const bool is_scale = part_ && part_->is_scale();
  const Name name = {is_scale ? "the scale" : part_ && part_->quantizes() ? "the code" : "the result"};
  if (!d.integer && !is_scale) put(Kind::choice, Where::result, "", name, bins::result_value(d, bits, result), results);
  const size_t before = values_.size();
  operand(d, name, result, is_scale);
  for (size_t n = before; part_ && is_listing_ && n < all_.size(); ++n) all_[n].where = Where::result;
  return values_;
}

void CaseNumbers::dot(const DotOperands& in) {
  equal_operands(in);
  for (int lane = 0; lane < op_.k; ++lane) {
    enter(Group::lane, lane);
    operand(op_.a.fields(), {"a", lane}, in.a[lane], false);
    operand(op_.b.fields(), {"b", lane}, in.b[lane], false);
    if (op_.a.fields().integer) continue;  // they have their products
    product(decode(op_.a.fields(), in.a[lane]), decode(op_.b.fields(), in.b[lane]), {"a", lane, "*b"});
    likenesses_of(in, lane);
    if (model_) continue;  // steps have their exponents
    const bool number = decode(op_.a.fields(), in.a[lane]).cls == NumberClass::finite &&
                        decode(op_.b.fields(), in.b[lane]).cls == NumberClass::finite;
    put(Kind::number, Where::addend, "the exponent of ", {"a", lane, "*b"},
        number ? leading_exponent(op_.a.fields(), in.a[lane]) + leading_exponent(op_.b.fields(), in.b[lane]) : none);
  }
  enter(Group::none, 0);
  operand(op_.c.fields(), {"c"}, in.c, false);
  for (int block = 0; op_.has_scales() && block < op_.scales(); ++block) {
    operand(op_.scale_a.fields(), {"the scale of a ", block}, in.scale_a[block], true);
    operand(op_.scale_b.fields(), {"the scale of b ", block}, in.scale_b[block], true);
    scales_together(in, block);
  }
  distances(in);
  if (op_.a.fields().integer) integer_sums(in);
  else counts(in), adjacent_products(in), greatest_of_groups(in);
  if (model_) steps(in);
}

/// Whether two adjacent products cancel, where no step aligns them.
void CaseNumbers::adjacent_products(const DotOperands& in) {
  for (const Step& s : steps_)
    if (is_aligned(s) && s.count > 1 && s.addend[0].source == Addend::Source::product) return;
  const auto exact = [&](int lane) {
    const FormatFields &a = op_.a.fields(), &b = op_.b.fields();
    return exact_product(to_exact(decode(a, in.a[lane])), to_exact(decode(b, in.b[lane])));
  };
  for (int lane = 0; lane + 1 < op_.k; lane += 2) {
    const Exact x = exact(lane), y = exact(lane + 1);
    const bool numbers = is_number(x.cls) && is_number(y.cls), zero = x.significand == 0 && y.significand == 0;
    const bool cancels = x.negative != y.negative && is_same_magnitude(x, y);
    put(Kind::choice, Where::sum, "", {"the sum of the two products from lane ", lane},
        numbers ? zero || cancels : none, zeros);
  }
}

/// The class of the greatest magnitude of 2, 4 or 8 adjacent a, or b.
void CaseNumbers::greatest_of_groups(const DotOperands& in) {
  static constexpr const char* names[2][3] = {
      {"the greatest a of the 2 lanes from lane ", "the greatest a of the 4 lanes from lane ",
       "the greatest a of the 8 lanes from lane "},
      {"the greatest b of the 2 lanes from lane ", "the greatest b of the 4 lanes from lane ",
       "the greatest b of the 8 lanes from lane "}};
  for (const bool of_b : {false, true})
    for (int size = 0; size < 3; ++size)
      for (int first = 0, lanes = 2 << size; first + lanes <= op_.k; first += lanes) {
        int greatest = 0;
        for (int lane = first; lane < first + lanes; ++lane) {
          const Number n = decode((of_b ? op_.b : op_.a).fields(), (of_b ? in.b : in.a)[lane]);
          const bool is_zero = n.cls == NumberClass::zero, is_finite = n.cls == NumberClass::finite;
          greatest = std::max(greatest, is_zero ? 0 : !is_finite ? 3 : n.subnormal ? 1 : 2);
        }
        put(Kind::choice, Where::operand, "", {names[of_b][size], first}, greatest, classes);
      }
}

/// Whether rounding makes a power of two of a significand of ones.
void CaseNumbers::carry_of(const Rounded& r, bool is_there, Name name) {
  const FormatFields d = model_ ? step_format(*model_) : op_.d.fields();
  const bool carries_out =
      r.rounded_away && !is_zero(d, r.encoding) && (r.encoding >> d.ignored_low_bits & d.fraction_mask()) == 0;
  put(Kind::choice, Where::sum, "the rounding of ", name, is_there ? carries_out : none, carries);
}

/// Whether operands of a lane are like those of the lane after, each other or c. Zeros are like nothing.
void CaseNumbers::likenesses_of(const DotOperands& in, int lane) {
  const auto likeness = [&](const FormatFields& f, const char* name, uint64_t x, uint64_t y, const std::string& other,
                            const char* other_in_any) {
    const uint64_t sign = f.in_container(f.sign_bit());
    const bool same_exponent = ((x ^ y) & ~sign) >> f.ignored_low_bits >> f.fraction_bits == 0;
    const bool alike = same_exponent && !is_zero(f, x) && !is_zero(f, y);
    put(Kind::choice, Where::operand, "", {name, lane}, !alike ? none : x == y ? 2 : (x ^ y) == sign, likenesses);
    if (is_listing_) all_.back().suffix = other, all_.back().suffix_in_any = other_in_any;
  };
  const FormatFields &a = op_.a.fields(), &b = op_.b.fields();
  const bool is_last = lane + 1 == op_.k;
  const auto other = [&](const char* name, int of_lane) {
    return is_listing_ ? name + std::to_string(of_lane) : std::string();
  };
  likeness(a, "a", in.a[lane], is_last ? 0 : in.a[lane + 1], other(" a", lane + 1), " a of the lane after");
  likeness(b, "b", in.b[lane], is_last ? 0 : in.b[lane + 1], other(" b", lane + 1), " b of the lane after");
  if (op_.a == op_.b) likeness(a, "a", in.a[lane], in.b[lane], other(" b", lane), " b");
  if (op_.a == op_.c) likeness(a, "a", in.a[lane], in.c, " c", " c");
}

/// What rounding drops of a significand, from its first bit on.
void CaseNumbers::dropped_bits(uint128 significand, int dropped, Name name) {
  const bool any = dropped > 0 && dropped < 128;
  const uint128 bits = any ? significand << (128 - dropped) : 0;
  put(Kind::leading, Where::sum, "the bits that rounding drops of ", name,
      any ? static_cast<int64_t>(static_cast<uint64_t>(bits >> 64)) : none);
}

/// The digits of a product before any rounding.
void CaseNumbers::product(const Number& x, const Number& y, Name name) {
  const uint128 p =
      x.cls == NumberClass::finite && y.cls == NumberClass::finite ? uint128{x.significand} * y.significand : 0;
  const int length = bit_length128(p);
  put(Kind::leading, Where::addend, "the bits that begin ", name,
      p ? static_cast<int64_t>(static_cast<uint64_t>(p << (128 - length) >> 64)) : none);
  put(Kind::number, Where::addend, "the length in bits of ", name, p ? length : none);
  put(Kind::number, Where::addend, "the number of zeros that end ", name, p ? trailing_zeros(p) : none);
}

/// The product of a block's two scales, and whether scales are those of the block before.
void CaseNumbers::scales_together(const DotOperands& in, int block) {
  const Number x = decode(op_.scale_a.fields(), in.scale_a[block]), y = decode(op_.scale_b.fields(), in.scale_b[block]);
  const bool numbers = x.cls == NumberClass::finite && y.cls == NumberClass::finite;
  put(Kind::number, Where::operand, "the exponent of the product of ", {"scales ", block},
      numbers ? x.scale_exponent + y.scale_exponent : none);
  if (op_.scale_a == op_.scale_b) {
    put(Kind::choice, Where::operand, "", {"the scale of a ", block}, in.scale_a[block] == in.scale_b[block], sameness);
    if (is_listing_) all_.back().suffix = " that of b";
  }
  if (block == 0) return;
  for (const bool of_b : {false, true}) {
    const uint64_t* codes = of_b ? in.scale_b : in.scale_a;
    put(Kind::choice, Where::operand, "", {of_b ? "the scale of b " : "the scale of a ", block},
        codes[block] == codes[block - 1], sameness);
    if (is_listing_) all_.back().suffix = " the one before";
  }
}

/// How operands of a scalar operation stand to each other, and to its result.
void CaseNumbers::relations(const Operands& x, uint64_t result) {
  const FormatFields& f = x.format(0);
  bool numbers = true;
  for (size_t at = 0; at < x.size(); ++at) numbers &= is_number(decode(f, x[at]).cls);
  // As the field says it: zeros and subnormals share that of the least normal numbers.
  const auto exponent = [&](size_t at) {
    return std::max(f.emin(), is_zero(f, x[at]) ? f.emin() : leading_exponent(f, x[at]));
  };
  const auto choice = [&](const char* name, int value, const char* const* words, const char* suffix) {
    put(Kind::choice, Where::operand, "", {name}, value, words);
    if (is_listing_) all_.back().suffix = suffix;
  };
  const uint64_t a = x[0] & ~f.sign_bit(), b = x[1] & ~f.sign_bit();
  choice("b", x[0] == x[1], sameness, " a");
  choice("the magnitude of a", a < b ? 0 : a == b ? 1 : 2, orders, " that of b");
  choice("the sign of a", is_negative(f, x[0]) == is_negative(f, x[1]), sameness, " that of b");
  const bool multiplies = op_.scalar == ScalarOperation::mul || op_.scalar == ScalarOperation::fma;
  const int first = !numbers ? 0 : multiplies ? exponent(0) + exponent(1) : exponent(0);
  const size_t other = x.size() - 1;  // of an addition or division b, of a multiply-add c
  if (multiplies) {
    put(Kind::number, Where::addend, "the exponent of ", {"a*b"}, numbers ? first : none);
    product(decode(f, x[0]), decode(f, x[1]), {"a*b"});
  }
  if (op_.scalar == ScalarOperation::mul) return;
  const int64_t distance = numbers ? first - exponent(other) : none;
  put(Kind::number, Where::addend, "the exponent of ", {multiplies ? "a*b less that of c" : "a less that of b"},
      distance);
  put(Kind::number, Where::addend, "the distance of ",
      {multiplies ? "the exponents of a*b and c" : "the exponents of a and b"}, numbers ? std::abs(distance) : none);
  if (op_.scalar == ScalarOperation::div || compares(op_.scalar)) return;
  const bool cancels = numbers && decode(f, result).cls == NumberClass::finite;
  put(Kind::number, Where::sum, "the number of leading bits that cancel in ", {"the sum"},
      cancels ? std::max(first, exponent(other)) - leading_exponent(f, result) : none);
}

/// The block as the claim sees it, and of a code its element and what rounding does to it.
void CaseNumbers::block(const Batch& cases, size_t index, const Operands& x) {
  const Op& op = part_->op;
  const FormatFields &from = op.a.fields(), &scale_format = op.scale_a.fields();
  const size_t k = static_cast<size_t>(op.k), lane = static_cast<size_t>(std::max(part_->lane(), 0));
  if (op.has_tensor_scale()) operand(op.scale_b.fields(), {"the tensor's scale"}, x[x.size() - 1], true);
  if (!part_->quantizes()) {
    operand(from, {"the element"}, x[lane], false);
    return operand(scale_format, {"the scale"}, x[k], true);
  }
  const auto magnitude = [&](size_t i) { return x[i] & ~from.in_container(from.sign_bit()); };
  size_t amax = k, special = 0, live = 0, greatest = 0;  // amax: k where no element is a number
  for (size_t i = 0; i < k; ++i) {
    const NumberClass cls = decode(from, x[i]).cls;
    if (!is_number(cls)) special |= cls == NumberClass::nan ? 2 : 1;
    else if (amax == k || magnitude(i) > magnitude(amax)) amax = i, greatest = 1;
    else greatest += magnitude(i) == magnitude(amax);
    live += cls != NumberClass::zero;
  }
  const uint64_t code = amax == k ? 0 : x[amax];
  operand(from, {"amax"}, code, false);
  put(Kind::number, Where::operand, "the lane of ", {"amax"}, is_zero(from, code) ? none : static_cast<int64_t>(amax));
  put(Kind::number, Where::operand, "the number of ", {"elements as great as amax"}, static_cast<int64_t>(greatest));
  put(Kind::number, Where::operand, "the number of ", {"elements that are not zero"}, static_cast<int64_t>(live));
  put(Kind::choice, Where::operand, "", {"the block's special value"}, static_cast<int64_t>(special), specials);
  if (part_->is_scale()) return;
  QuantizedBlock block(op);
  const uint64_t scale = block.scale(cases, index);
  operand(scale_format, {"the scale"}, scale, true);
  operand(from, {"the element"}, x[lane], false);
  const Number element = decode(from, x[lane]);
  const bool numbers = element.cls == NumberClass::finite && decode(scale_format, scale).cls == NumberClass::finite;
  put(Kind::number, Where::addend, "the exponent of ", {"amax less that of the element"},
      numbers ? leading_exponent(from, code) - leading_exponent(from, x[lane]) : none);
  const Rounded r = block.code_under(scale, cases, index, part_->lane());
  int rest = bins::remainder_class(r.guard, r.sticky);
  if (numbers && scale_format.fraction_bits == 0 && !op.d.fields().integer)  // all bits of the element are at hand
    rest = bins::remainder_class(element.significand,
                                 r.quantum - element.exponent + leading_exponent(scale_format, scale));
  put(Kind::choice, Where::sum, "what rounding drops of ", {"the scaled element"}, rest, rests);
  put(Kind::choice, Where::sum, "the last bit that is kept of ", {"the scaled element"}, r.last, parities);
}

/// What the one rounding of a conversion or scalar operation has to do.
void CaseNumbers::rounding(const Batch& cases, size_t index) {
  const Rounded r = round_scalar_case(op_, cases, index);
  int rest = bins::remainder_class(r.guard, r.sticky);
  if (op_.kind == OpKind::convert || op_.scalar == ScalarOperation::mul) {  // all bits of the result are at hand
    const Column& values = cases.inputs()[0];
    Exact x = to_exact(decode(op_.a.fields(), values.get(index, 0)));
    if (op_.kind == OpKind::scalar) x = exact_product(x, to_exact(decode(op_.a.fields(), values.get(index, 1))));
    const bool number = x.cls == NumberClass::finite;
    const int dropped = r.quantum - x.exponent;
    if (number && op_.kind == OpKind::convert && !op_.rounds_to_integer())
      rest = bins::remainder_class(static_cast<uint64_t>(x.significand), dropped);
    dropped_bits(x.significand, number ? dropped : 0, {"the exact result"});
    put(Kind::number, Where::sum, "the number of bits that rounding drops of ", {"the exact result"},
        number ? dropped : none);
  }
  put(Kind::choice, Where::sum, "what rounding drops of ", {"the exact result"}, rest, rests);
  put(Kind::choice, Where::sum, "the last bit that is kept of ", {"the exact result"}, r.last, parities);
  if (!op_.d.fields().integer) carry_of(r, true, {"the exact result"});
}

void CaseNumbers::steps(const DotOperands& in) {
  const std::vector<Step> own = recorded_steps(*model_, in);
  const FormatFields f = step_format(*model_);
  int additions = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step::Kind kind = steps_[i].kind;
    if (kind == Step::Kind::ieee_add || kind == Step::Kind::ieee_fma || kind == Step::Kind::ieee_multiply)
      carry_of((i < own.size() ? own[i] : steps_[i]).rounded, i < own.size() && own[i].kind == kind,
               {"step ", static_cast<int>(i) + 1});
    if ((kind == Step::Kind::ieee_add || kind == Step::Kind::ieee_fma) && i + 1 < steps_.size()) {
      const bool is_there = i < own.size() && own[i].kind == kind;
      const Name name{"the sum after addition ", ++additions};
      const uint64_t sum = is_there ? own[i].result : 0;
      put(Kind::choice, Where::sum, "", name, is_there ? value_kind(f, sum) : none, values);
      put(Kind::field, Where::sum, "the exponent field of ", name,
          is_there ? static_cast<int64_t>(sum >> f.fraction_bits & static_cast<uint64_t>(f.top_exponent_field()))
                   : none);
    }
    if (kind == Step::Kind::exact_sum)
      exact_sum(i < own.size() ? own[i] : steps_[i], i < own.size() && own[i].kind == kind,
                steps_.size() == 1 ? Name{"the sum"} : Name{"the sum of step ", static_cast<int>(i) + 1});
    if (!is_aligned(steps_[i])) continue;
    const bool is_there = i < own.size() && is_aligned(own[i]) && own[i].count == steps_[i].count;
    const int number = static_cast<int>(i);
    step(is_there ? own[i] : steps_[i], is_there, number);
    enter(steps_.size() == 1 ? Group::none : Group::step, number);
    sum(is_there ? own[i] : steps_[i], is_there,
        steps_.size() == 1 ? Name{"the sum"} : Name{"the sum of step ", number + 1});
    adjacent_sums(is_there ? own[i] : steps_[i], is_there);
    enter(Group::none, 0);
  }
}

/// Products, sums of two and of four adjacent products, which some units add first, and sums of all.
void CaseNumbers::integer_sums(const DotOperands& in) {
  std::vector<int64_t> products;
  for (int lane = 0; lane < op_.k; ++lane) {
    products.push_back(integer_value(op_.a.fields(), in.a[lane]) * integer_value(op_.b.fields(), in.b[lane]));
    enter(Group::lane, lane);
    put(Kind::number, Where::addend, "", {"a", lane, "*b"}, products.back());
    enter(Group::none, 0);
  }
  for (const auto& [count, name] :
       {std::pair{2, "the sum of the two products from lane "}, {4, "the sum of the four products from lane "}})
    for (int first = 0; first + count <= op_.k; first += count) {
      int64_t sum = 0;
      for (int i = first; i < first + count; ++i) sum += products[static_cast<size_t>(i)];
      put(Kind::number, Where::sum, "", {name, first}, sum);
    }
  int64_t all = 0;
  for (const int64_t product : products) all += product;
  put(Kind::number, Where::sum, "", {"the sum of all products"}, all);
  put(Kind::number, Where::sum, "", {"the sum of all products and c"}, all + integer_value(op_.c.fields(), in.c));
}

void CaseNumbers::equal_operands(const DotOperands& in) {
  for (const Pair& p : equal_) {
    const bool equal = (p.is_first_of_b ? in.b : in.a)[p.first] == (p.is_second_of_b ? in.b : in.a)[p.second];
    put(Kind::choice, Where::operand, "", {p.is_first_of_b ? "b" : "a", p.first}, equal, sameness);
    if (is_listing_) all_.back().suffix = (p.is_second_of_b ? " b" : " a") + std::to_string(p.second);
  }
}

/// How far the exponents of two products, of their a and of their b stand apart.
void CaseNumbers::distances(const DotOperands& in) {
  const FormatFields &fa = op_.a.fields(), &fb = op_.b.fields();
  constexpr int last_bits = 6;
  const auto is_live = [&](int lane) {
    return decode(fa, in.a[lane]).cls == NumberClass::finite && decode(fb, in.b[lane]).cls == NumberClass::finite;
  };
  for (size_t i = 0; i < live_.size(); ++i)
    for (size_t j = i + 1; j < live_.size(); ++j) {
      const int x = live_[i], y = live_[j];
      const bool both = is_live(x) && is_live(y);
      const int a = leading_exponent(fa, in.a[x]) - leading_exponent(fa, in.a[y]),
                b = leading_exponent(fb, in.b[x]) - leading_exponent(fb, in.b[y]);
      const auto difference = [&](const char* first, const char* second = nullptr) {
        const auto text = [&](int lane) {
          return first + std::to_string(lane) + (second ? second + std::to_string(lane) : "");
        };
        return is_listing_ ? text(x) + " less that of " + text(y) : "";
      };
      const auto number = [&](const std::string& name, int value) {
        put(Kind::number, Where::addend, "the exponent of ", {name.c_str()}, both ? value : none);
      };
      number(difference("a"), a);
      number(difference("b"), b);
      const std::string products = difference("a", "*b");
      number(products, a + b);
      put(Kind::bits, Where::addend, "the last 6 bits of the exponent of ", {products.c_str()},
          both ? static_cast<int64_t>(static_cast<uint64_t>(a + b) & low_mask(last_bits)) : none, nullptr, last_bits);
    }
}

void CaseNumbers::counts(const DotOperands& in) {
  int subnormal[2] = {}, negative = 0, present = 0;
  for (int lane = 0; lane < op_.k; ++lane) {
    const Number x = decode(op_.a.fields(), in.a[lane]), y = decode(op_.b.fields(), in.b[lane]);
    subnormal[0] += x.subnormal && x.cls == NumberClass::finite;
    subnormal[1] += y.subnormal && y.cls == NumberClass::finite;
    const bool zero = x.cls == NumberClass::zero || y.cls == NumberClass::zero;
    present += !zero;
    negative += !zero && x.negative != y.negative;
  }
  put(Kind::number, Where::sum, "the number of subnormals among ", {"a"}, subnormal[0]);
  put(Kind::number, Where::sum, "the number of subnormals among ", {"b"}, subnormal[1]);
  put(Kind::number, Where::sum, "the number of ", {"products that are not zero"}, present);
  put(Kind::number, Where::sum, "the number of ", {"negative products"}, negative);
}

void CaseNumbers::step(const Step& s, bool is_there, int number) {
  const Name before = number > 0 ? Name{"the sum before step ", number + 1} : Name{"the sum before"};
  const Name c = number > 0 ? before : Name{"c"};  // later steps begin from the sum before
  for (int i = 0; i < s.count; ++i) {
    const Addend& t = s.addend[i];
    const bool product = t.source == Addend::Source::product;
    const Name name = product                                   ? Name{"a", t.index, "*b"}
                      : t.source == Addend::Source::c           ? c
                      : t.source == Addend::Source::group       ? Name{"the sum of group ", t.index}
                      : t.source == Addend::Source::partial_sum ? before
                                                                : Name{"the sum of products"};
    enter(product ? Group::lane : Group::none, product ? t.index : 0);
    const bool is_number = is_there && t.significand != 0;
    put(Kind::choice, Where::addend, "", name, is_there ? t.significand == 0 : none, zeros);
    put(Kind::choice, Where::addend, "", name, is_there ? t.negative : none, signs);
    put(Kind::number, Where::addend, "the exponent of ", name, is_number ? t.scale_exponent : none);
    put(Kind::number, Where::addend, "the shift of ", name, is_number ? t.shift : none);
    put(Kind::choice, Where::addend, "what alignment drops of ", name,
        is_number ? bins::lost_class(t.significand, t.exponent, s.unit_exponent) : none, lost);
  }
}

void CaseNumbers::sum(const Step& s, bool is_there, Name name) {
  int present = 0, negative = 0, live = 0, greatest = 0, one_below = 0, lossy = 0, raises = 0, highest = INT32_MIN;
  int64_t products = 0, least_shift = none, greatest_shift = none, exponent_of_rest = none;
  for (int i = 0; i < s.count; ++i) {
    const Addend& t = s.addend[i];
    if (t.significand == 0) continue;
    if (t.source == Addend::Source::product) products += t.kept;
    else exponent_of_rest = t.scale_exponent;
    ++present;
    live += t.kept != 0;
    negative += t.negative;
    greatest += t.shift == 0;
    one_below += t.shift == 1;
    if (t.shift > 0 && (least_shift == none || t.shift < least_shift)) least_shift = t.shift;
    greatest_shift = std::max<int64_t>(greatest_shift, t.shift);
    lossy += t.lost;
    raises += t.scale_exponent > highest;
    highest = std::max(highest, t.scale_exponent);
  }
  const auto number = [&](const char* what, int64_t value) {
    put(Kind::number, Where::sum, what, name, is_there ? value : none);
  };
  number("the number of addends, zeros left out, in ", present);
  number("the number of addends of which alignment leaves something in ", live);
  number("the number of negative addends in ", negative);
  number("the number of addends at the greatest exponent in ", greatest);
  number("the number of addends one below the greatest exponent in ", one_below);
  number("the number of addends that lose bits in ", lossy);
  number("the number of times that the greatest exponent rises from lane to lane in ", raises);
  number("the greatest exponent in ", s.greatest_exponent);
  // In two's complement, as the last addition sees it.
  number("the longest run of carries when the rest is added to the products in ",
         longest_run(static_cast<uint64_t>(products ^ (s.sum - products) ^ s.sum)));
  number("the greatest shift in ", greatest_shift);
  number("the least shift that is not 0 in ", least_shift);
  const bool both = products != 0 && exponent_of_rest != none;
  number("the exponent of the rest less that of the products' sum in ",
         both ? exponent_of_rest - s.unit_exponent - bit_length(magnitude_of(products)) + 1 : none);
  size_of(s.sum, is_there, name);
  size_of(products, is_there,
          name.number < 0 ? Name{"the sum of products without c"} : Name{"the sum of products of step ", name.number});
  const uint64_t magnitude = magnitude_of(s.sum);
  put(Kind::bits, Where::sum, "the last 8 bits of ", name,
      is_there ? static_cast<int64_t>(magnitude & low_mask(ending)) : none, nullptr, ending);
  put(Kind::choice, Where::sum, "what rounding drops of ", name,
      is_there && magnitude ? bins::remainder_class(magnitude, s.rounded.quantum - s.unit_exponent) : none, rests);
  put(Kind::choice, Where::sum, "the last bit that is kept of ", name, is_there ? s.rounded.last : none, parities);
  carry_of(s.rounded, is_there, name);
  dropped_bits(magnitude, is_there ? s.rounded.quantum - s.unit_exponent : 0, name);
}

/// A sum that is exact before its one rounding, where it is not too long.
void CaseNumbers::exact_sum(const Step& s, bool is_there, Name name) {
  const std::optional<Exact> x = is_there ? exact_sum_of(s) : std::nullopt;
  const uint128 m = x ? x->significand : 0;
  const int dropped = x ? s.rounded.quantum - x->exponent : 0;
  put(Kind::choice, Where::sum, "", name, x ? (m == 0 ? 0 : x->negative ? 2 : 1) : none, signs_of_sums);
  put(Kind::number, Where::sum, "the exponent of the last bit that is kept of ", name, x ? s.rounded.quantum : none);
  put(Kind::number, Where::sum, "the number of bits from the first to the last one of ", name,
      m ? bit_length128(m) - trailing_zeros(m) : none);
  put(Kind::choice, Where::sum, "the last bit that is kept of ", name, m ? s.rounded.last : none, parities);
  put(Kind::choice, Where::sum, "what rounding drops of ", name,
      m ? bins::remainder_class(s.rounded.guard, s.rounded.sticky) : none, rests);
  carry_of(s.rounded, m != 0, name);
  dropped_bits(m, dropped, name);
}

/// Sums of two and of four adjacent products, which some units add first.
void CaseNumbers::adjacent_sums(const Step& s, bool is_there) {
  for (const auto& [count, group, name] : {std::tuple{2, Group::two_lanes, "the sum of the two products from lane "},
                                           {4, Group::four_lanes, "the sum of the four products from lane "}})
    for (int first = 0; first + count <= s.count; first += count) {
      int64_t sum = 0;
      bool products = true;
      for (int i = first; i < first + count; ++i) {
        products &= s.addend[i].source == Addend::Source::product;
        sum += s.addend[i].significand ? s.addend[i].kept : 0;
      }
      if (!products) break;
      enter(group, s.addend[first].index / count);
      size_of(sum, is_there, {name, s.addend[first].index});
    }
}

void CaseNumbers::size_of(int64_t sum, bool is_there, Name name) {
  const uint64_t magnitude = magnitude_of(sum);
  const int length = bit_length(magnitude);
  const bool number = is_there && magnitude != 0;
  put(Kind::choice, Where::sum, "", name, is_there ? (sum == 0 ? 0 : sum > 0 ? 1 : 2) : none, signs_of_sums);
  put(Kind::number, Where::sum, "the length in bits of ", name, is_there ? length : none);
  put(Kind::field, Where::sum, "the magnitude, in units of the last digit, of ", name,
      is_there ? static_cast<int64_t>(magnitude) : none);
  put(Kind::number, Where::sum, "the number of zeros that end ", name, number ? std::countr_zero(magnitude) : none);
  put(Kind::number, Where::sum, "the number of ones in ", name, number ? std::popcount(magnitude) : none);
  put(Kind::leading, Where::sum, "the bits that begin ", name,
      number ? static_cast<int64_t>(magnitude << (64 - length)) : none);
}

}  // namespace mmafuzz
