// Rounding to a format between source and destination first changes no result. Correct arithmetic fails it (fp64 to
// fp32 to fp16 can differ from fp64 to fp16): a failure shows an input on which a unit rounds once and a detour would
// not. A unit that never fails it makes the detour itself.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class SurvivesDetour final : public Property {
 public:
  SurvivesDetour()
      : Property("survives_detour", "rounding the source to fp32 or bf16 first does not change the result") {}
  bool applies(const Op& op, const Unit&) const override {
    return is_conversion(op) && op.rounding != Rounding::stochastic &&
           (op.a == format("fp64") || op.a == format("fp32")) && holds_every_number(detour(op).fields(), op.d.fields());
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Op& op = of.op();
    const Number x = source_of(of.cases, of.index);
    if (x.cls != NumberClass::finite) return std::nullopt;
    const FormatFields between = detour(op).fields();
    const Number rounded = decode(between, convert_number(between, x, op.rounding_rule()).encoding);
    if (rounded.cls != NumberClass::finite) return std::nullopt;
    changed[0].inputs()[0].set(of.index, 0, convert_number(op.a.fields(), rounded, {}).encoding);
    return Changed{};
  }
  bool holds(const Pair& pair) const override { return same_number(pair.op(), pair.before, pair.after); }

 private:
  static const Format& detour(const Op& op) {
    static const Format fp32 = format("fp32"), bf16 = format("bf16");
    return op.a.fields().width == 64 ? fp32 : bf16;
  }
};

}  // namespace

std::unique_ptr<Property> make_survives_detour() { return std::make_unique<SurvivesDetour>(); }

}  // namespace mmafuzz
