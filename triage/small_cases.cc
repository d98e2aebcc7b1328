#include "triage/small_cases.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"

namespace mmafuzz {
namespace {

constexpr size_t tried_cases = 6144;  ///< for each number of addends

/// Draws the shift of an addend below the greatest exponent, often near the edge of the kept bits.
int draw_shift(CounterRng& rng, int fraction_bits) {
  switch (rng.below(8)) {
    case 0:
    case 1: return 0;
    case 2:
    case 3: return fraction_bits + rng.between(-1, 2);
    case 4: return rng.between(0, 4);
    case 5: return rng.between(20, 27);
    case 6: return rng.between(0, fraction_bits + 4);
    default: return rng.between(8, 14);
  }
}

/// Draws a fraction field: most often 0, else one bit, the lowest three bits, or any fraction.
uint64_t draw_simple_fraction(const FormatFields& f, CounterRng& rng) {
  const uint64_t mask = f.fraction_mask();
  switch (rng.below(8)) {
    case 0: return uint64_t{1} << rng.below(f.fraction_bits + 1u) & mask;
    case 1: return rng.below(8) & mask;
    case 2: return draw_fraction(f, rng);
    default: return 0;
  }
}

/// The cases of a list in the order in which they are drawn, which is the same for every caller.
std::vector<Operands> small_cases(const Op& op, int addends, int fraction_bits, bool has_special) {
  std::vector<Operands> list;
  if (op.kind != OpKind::dot || addends > op.k + 1 || op.a.fields().integer) return list;
  Batch empty(op, 1);
  const Operands blank = cleared(Operands(op, empty, 0));
  const size_t k = static_cast<size_t>(op.k);
  const FormatFields &a = op.a.fields(), &b = op.b.fields();
  for (size_t number = 0; number < tried_cases; ++number) {
    CounterRng rng(0x5ca1ab1e + static_cast<uint64_t>(addends), number);
    Operands c = blank;
    const bool has_c = addends > op.k || rng.one_in(2);
    const size_t products = static_cast<size_t>(addends - has_c);
    // Most often about 1; sometimes anywhere, at the range's ends too.
    const int greatest =
        rng.one_in(2) ? rng.between(-2, 2) : rng.between(a.least_bit() + b.least_bit(), a.emax() + b.emax());
    const auto place = [&](size_t at, int exponent) {
      const FormatFields& f = c.format(at);
      const uint64_t fraction = draw_simple_fraction(f, rng);
      const bool negative = f.has_sign() && rng.one_in(2);
      c[at] = encode_near(f, negative, exponent, fraction);
    };
    // Products are adjacent, in one block, or as far apart as possible, in several blocks.
    const size_t stride = products >= 2 && rng.one_in(3) ? k / products : 1;
    for (size_t i = 0; i < products; ++i) {
      const int exponent = greatest - draw_shift(rng, fraction_bits);
      const int first = FactorShare(a, b, exponent, true).nearest(exponent / 2);
      place(i * stride, first);
      place(k + i * stride, exponent - first);
      if (rng.one_in(4)) {  // 1.5 * 1.5: a significand of 2 or more
        c[i * stride] = encode_near(a, a.has_sign() && rng.one_in(2), first,
                                    a.fraction_bits ? uint64_t{1} << (a.fraction_bits - 1) : 0);
        c[k + i * stride] =
            encode_near(b, false, exponent - first, b.fraction_bits ? uint64_t{1} << (b.fraction_bits - 1) : 0);
      }
    }
    const bool cancels = products >= 2 && rng.one_in(3);
    if (cancels) {  // the second product takes the first one away
      c[stride] = c[0] ^ a.in_container(a.sign_bit());
      c[k + stride] = c[k];
    }
    if (has_c) {
      const FormatFields& f = op.c.fields();
      const bool is_anywhere = rng.one_in(cancels ? 2 : 8);
      int exponent = is_anywhere ? rng.between(f.least_bit(), f.emax()) : greatest - draw_shift(rng, fraction_bits);
      if (!is_anywhere && rng.one_in(4)) exponent += fraction_bits;
      place(2 * k, exponent);
    }
    if (has_special) {
      size_t factor = products ? stride * rng.below(static_cast<uint32_t>(products)) : 2 * k;
      if (products && rng.one_in(2)) factor += k;
      const size_t at = has_c && rng.one_in(3) ? 2 * k : factor;
      c[at] = draw_special(c.format(at), rng);
    }
    if (static_cast<int>(c.nonzero_addends().size()) == addends) list.push_back(std::move(c));
  }
  return list;
}

void make_list(SmallCases::List& list, const Op& op, int addends, int fraction_bits, bool has_special) {
  struct Candidate {
    Operands operands;
    CaseCost cost;
  };
  std::vector<Candidate> candidates;
  for (Operands& operands : small_cases(op, addends, fraction_bits, has_special)) {
    const CaseCost cost = operands.cost();
    candidates.push_back({std::move(operands), cost});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& x, const Candidate& y) { return is_simpler(x.operands, x.cost, y.operands, y.cost); });
  list.cases = Batch(op);
  list.cases.resize(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].operands.store(list.cases, i);
    list.costs.push_back(candidates[i].cost);
  }
}

}  // namespace

const SmallCases::List& SmallCases::cases_of(const Op& op, int addends, int fraction_bits, bool has_special) {
  Slot* slot = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Slot>& at = slots_[{to_text(op), addends, fraction_bits, has_special}];
    if (!at) at = std::make_unique<Slot>();
    slot = at.get();
  }
  std::call_once(slot->made, [&] { make_list(slot->list, op, addends, fraction_bits, has_special); });
  return slot->list;
}

}  // namespace mmafuzz
