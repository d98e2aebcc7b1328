#include "search/draw_block.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "core/block_case.h"

namespace mmafuzz {
namespace {

/// The encoding of a magnitude, significand * 2^exponent, moved up by `moved` encodings; kept finite and nonnegative.
uint64_t encoding_near(const FormatFields& f, uint64_t significand, int exponent, int moved) {
  const RoundingRule rule = {.rounding = Rounding::toward_zero, .overflow = Overflow::saturate};
  const uint64_t code = round_once(f, false, significand, exponent, rule).encoding >> f.ignored_low_bits;
  const int64_t moved_code = static_cast<int64_t>(code) + moved;
  return f.in_container(static_cast<uint64_t>(std::clamp<int64_t>(moved_code, 0, int64_t(f.greatest_magnitude()))));
}

/// The scale of the whole tensor for case `index`; 1 where the op has none.
/// Magnitude number `boundary` / 2 of a format, or for odd numbers the middle above it.
Number boundary_of(const FormatFields& element, uint64_t boundary) {
  Number n;
  n.cls = NumberClass::finite;
  if (element.integer) {
    n.significand = boundary;
    n.exponent = element_unit(element) - 1;
    return n;
  }
  const uint64_t code = boundary / 2;
  n = decode(element, element.in_container(code));
  if (boundary % 2 == 0) return n;
  const Number next = decode(element, element.in_container(code + 1));
  const int unit = n.cls == NumberClass::zero ? next.exponent : n.exponent;
  const uint64_t significand = n.cls == NumberClass::zero ? 0 : n.significand;
  n.cls = NumberClass::finite;
  n.significand = 2 * significand + 1;
  n.exponent = unit - 1;
  return n;
}

}  // namespace

uint64_t boundaries_of(const FormatFields& element) {
  return 2 * (element.integer ? low_mask(element.width - 1) : element.greatest_magnitude());
}

BlockSteps::BlockSteps(const Op& op)
    : from_(op.a.fields()), scale_(op.scale_a.fields()), greatest_(greatest_element(op.d.fields())) {
  first_exponent_ = from_.emin() - from_.fraction_bits;
  exponents_ = static_cast<uint64_t>(from_.emax() - first_exponent_ + 1);
  if (scale_.fraction_bits > 0) {
    count_ = scale_.width <= 16 ? boundaries_of(scale_) : exponents_;
    return;
  }
  for (int rule = 0; rule < scale_rule_count; ++rule)
    steps_.push_back(scale_step(static_cast<ScaleRule>(rule), op.d.fields()));
  count_ = exponents_ * steps_.size();
}

uint64_t BlockSteps::at(uint64_t n, int moved, const Number& tensor) const {
  n %= count_;
  if (scale_.fraction_bits == 0) {
    const ScaleStep& step = steps_[n % steps_.size()];
    const int leading = first_exponent_ + static_cast<int>(n / steps_.size());
    return encoding_near(from_, step.significand, leading - 63, moved);  // bit 63 is the leading one of a step
  }
  Number scale;
  if (scale_.width <= 16) {
    scale = boundary_of(scale_, n);
  } else {  // 1.5 * 2^(first_exponent_ + n), in units of the greatest element's last bit
    scale.significand = 3;
    scale.exponent = first_exponent_ + static_cast<int>(n) - 1 - greatest_.exponent;
  }
  return encoding_near(from_, scale.significand * greatest_.significand * tensor.significand,
                       scale.exponent + greatest_.exponent + tensor.exponent, moved);
}

void set_boundaries(const Op& op, uint64_t amax, int kept, uint64_t first, int moved, Batch& batch, size_t index) {
  const FormatFields &from = op.a.fields(), &element = op.d.fields();
  Column& source = batch.inputs()[0];
  const uint64_t boundaries = boundaries_of(element);
  // The scale follows from amax alone: a block of one element has the same one.
  Op of_one = op;
  of_one.k = 1;
  of_one.via = Format();
  Batch block(of_one, 1);
  block.inputs()[0].set(0, 0, amax);
  if (op.has_tensor_scale()) block.inputs()[1].set(0, 0, batch.inputs()[1].get(index));
  const Number scale = decode(op.scale_a.fields(), QuantizedBlock(of_one).scale(block, 0));
  const Number tensor = tensor_scale_of(batch, index);
  if (scale.cls != NumberClass::finite || tensor.cls != NumberClass::finite) return;
  for (int lane = 0, n = 0; lane < op.k; ++lane) {
    if (lane == kept) continue;
    const Number boundary = boundary_of(element, (first + static_cast<uint64_t>(n)) % boundaries);
    const bool negative = (n++ & 1) != 0;
    // Where the product is longer than a word, its lower bits are lost, which moves the result by at most one encoding.
    const Exact product = exact_product(exact_product(to_exact(boundary), to_exact(scale)), to_exact(tensor));
    uint64_t encoding = 0;
    if (product.cls == NumberClass::finite) {
      const RoundingRule rule = {.overflow = Overflow::saturate};
      const uint64_t code = round_exact(from, product, rule).encoding >> from.ignored_low_bits;
      const int64_t moved_code = static_cast<int64_t>(code) + moved;
      encoding = from.in_container(static_cast<uint64_t>(std::max<int64_t>(moved_code, 0)));
    }
    // amax stays the greatest magnitude.
    encoding = std::min(encoding, amax);
    source.set(index, lane, encoding | (negative ? travelling_sign(from) : 0));
  }
}

void clear_block(Batch& batch, size_t index) {
  const Op& op = batch.op();
  for (int lane = 0; lane < op.k; ++lane) batch.inputs()[0].set(index, lane, op.a.fields().encode_zero(false));
  if (op.has_tensor_scale()) batch.inputs()[1].set(index, 0, encode_near(op.scale_b.fields(), false, 0, 0));
}

void draw_block(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  const FormatFields& from = op.a.fields();
  Column& source = batch.inputs()[0];
  const auto draw_sign = [&] { return (rng.next() & 1) ? travelling_sign(from) : 0; };
  if (op.has_tensor_scale()) {
    const FormatFields& f = op.scale_b.fields();
    const uint64_t fraction = draw_fraction(f, rng);
    const int exponent = rng.one_in(8) ? rng.between(f.emin(), f.emax()) : rng.between(-12, 12);
    uint64_t tensor = rng.one_in(3) ? encode_near(f, false, 0, 0) : encode_near(f, false, exponent, fraction);
    if (rng.one_in(64)) tensor = draw_special(f, rng);
    batch.inputs()[1].set(index, 0, tensor);
  }
  for (int lane = 0; lane < op.k; ++lane) source.set(index, lane, from.encode_zero(rng.one_in(16)));
  if (rng.one_in(64)) return;  // zeros of both signs
  // Cases of one op follow each other, and its steps are the same for all of them.
  static thread_local std::pair<Op, BlockSteps> last{op, BlockSteps(op)};
  if (!(last.first == op)) last = {op, BlockSteps(op)};
  const BlockSteps& steps = last.second;
  uint64_t amax;
  switch (const uint32_t kind = rng.below(8); kind) {
    case 0: amax = rng.next() & from.container_mask(); break;
    case 1:
    case 2: {
      const uint64_t fraction = kind == 1 ? draw_fraction(from, rng) : rng.next() & from.fraction_mask();
      const int exponent = kind == 1 ? rng.between(from.emin() - from.fraction_bits, from.emax()) : rng.between(-4, 4);
      amax = encode_near(from, false, exponent, fraction);
      break;
    }
    default: {
      const uint64_t step = rng.next() % steps.count();
      const int moved = rng.between(-1, 1);
      const Number tensor = tensor_scale_of(batch, index);
      amax = steps.at(step, moved, tensor.cls == NumberClass::finite ? tensor : one_as_number());
    }
  }
  amax &= ~travelling_sign(from);
  const int lane_of_amax = rng.between(0, op.k - 1);
  if (!is_special(from, amax)) {
    switch (rng.below(5)) {
      case 0: break;  // one live element
      case 1:
      case 2: {
        const uint64_t first = rng.next() % boundaries_of(op.d.fields());
        const int moved = rng.between(-1, 1);
        set_boundaries(op, amax, lane_of_amax, first, moved, batch, index);
        break;
      }
      case 3:  // all of about the size of amax, none greater
        for (int lane = 0; lane < op.k; ++lane) {
          const uint64_t below = rng.next() & from.in_container(from.fraction_mask());
          source.set(index, lane, (amax > below ? amax - below : 0) | draw_sign());
        }
        break;
      default: {  // far below the one outlier
        const int top = leading_exponent(from, amax);
        for (int lane = 0; lane < op.k; ++lane) {
          const int exponent = top - rng.between(1, 24);
          const uint64_t fraction = draw_fraction(from, rng);
          source.set(index, lane, std::min(encode_near(from, false, exponent, fraction), amax) | draw_sign());
        }
      }
    }
  }
  source.set(index, lane_of_amax, amax | draw_sign());
  if (!rng.one_in(24)) return;
  const uint64_t special = draw_special(from, rng);
  source.set(index, rng.between(0, op.k - 1), special);
}

void draw_codes(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  for (int lane = 0; lane < op.k; ++lane)
    batch.inputs()[0].set(index, lane, rng.next() & op.a.fields().container_mask());
  for (size_t field = 1; field < batch.inputs().size(); ++field) {
    const FormatFields& f = op.input_format(field).fields();
    const uint64_t fraction = draw_fraction(f, rng);
    const int exponent = rng.one_in(2) ? rng.between(f.emin(), f.emax()) : rng.between(-8, 8);
    const bool any = rng.one_in(8);
    const uint64_t code = any ? rng.next() : encode_near(f, false, exponent, fraction);
    batch.inputs()[field].set(index, 0, code & f.container_mask());
  }
}

}  // namespace mmafuzz
