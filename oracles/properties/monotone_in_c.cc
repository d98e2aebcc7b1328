// Raising c does not lower the result. Truncating units fail it by design: c = 1 - 2^-24 with four products 2^-24 gives
// more than c = 1 does on Volta (Fasi et al. 2021). A failure of a unit that claims it is a bug.
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class MonotoneInC final : public Property {
 public:
  MonotoneInC() : Property("monotone_in_c", "raising c to the next number does not lower the result") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::dot && op.c.fields().has_negative_zero() && has_rising_results(op.d.fields());
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const FormatFields& f = of.op().c.fields();
    const uint64_t c = of.cases.c().get(of.index);
    const Number n = decode(f, c);
    uint64_t next;
    if (!is_number(n.cls)) return std::nullopt;
    if (!encode_rank(f, rank(f, c) + 1, next)) {
      if (!f.has_infinity()) return std::nullopt;
      next = f.encode_infinity(false);
    }
    changed[0].inputs()[2].set(of.index, 0, next);
    return Changed{};
  }
  bool holds(const Pair& pair) const override { return does_not_fall(pair.op(), pair.before, pair.after); }
};

}  // namespace

std::unique_ptr<Property> make_monotone_in_c() { return std::make_unique<MonotoneInC>(); }

}  // namespace mmafuzz
