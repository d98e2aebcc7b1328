// A result is no farther from the exact value than the bound of the unit's arithmetic, proved by hand, allows
// (docs/bounds.md). A failure on a row means that kernel and bound do not describe the same arithmetic; on a device or
// plugin, that it does not compute what the row it claims does, whatever its bits. The bound needs MPFR and takes time:
// one case in eight is judged, chosen by a hash of its operands.
#include "core/dot_case.h"
#include "oracles/bounds/error_bound.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class ErrorBoundHolds final : public Property {
 public:
  ErrorBoundHolds() : Property("error_bound", "the result lies within the unit's error bound of the exact value") {}
  bool applies(const Op& op, const Unit& unit) const override {
    return static_cast<bool>(ErrorBounds::of_unit(op, unit));
  }

 protected:
  /// The changed case is the case itself.
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>&) const override {
    if (digest(of.cases, of.index) % looked_at_one_in != 0) return std::nullopt;
    DotCase one(of.op());
    return changed_if(ErrorBounds::has_bound_for(of.op(), one.load(of.cases, of.index)));
  }
  bool holds(const Pair& pair) const override {
    DotCase one(pair.op());
    ErrorBound bound(pair.op());
    ErrorBounds::of_unit(pair.op(), pair.subject.unit)
        ->evaluate(one.load(pair.subject.cases, pair.subject.index), bound);
    return bound.admits(pair.op().d, pair.before);
  }
  Severity unclaimed() const override { return Severity::accuracy; }

 private:
  static constexpr uint64_t looked_at_one_in = 8;
};

}  // namespace

std::unique_ptr<Property> make_error_bound() { return std::make_unique<ErrorBoundHolds>(); }

}  // namespace mmafuzz
