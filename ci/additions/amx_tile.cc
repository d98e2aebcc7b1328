// A family that a stranger adds: one element of a tile product in the way of AMX's TDPBF16PS, pairs of bf16 in IEEE
// steps. Even and odd products run in two chains of fp32 fused multiply-adds from +0; their sum joins c. Every step
// rounds to nearest even, and subnormal operands and results are zeros (Intel SDM, volume 2, TDPBF16PS).
#include "arithmetic/ieee_operations.h"
#include "core/function_unit.h"
#include "oracles/families.h"

namespace mmafuzz {
namespace {

/// A number with subnormals as zeros of their sign.
Number flushed(const FormatFields& f, uint64_t x) {
  const Number n = decode(f, x);
  return decode(f, n.cls == NumberClass::finite && n.subnormal ? x & f.sign_bit() : x);
}

uint64_t tile_element(const Op& op, const DotOperands& in) {
  const FormatFields& fp32 = op.c.fields();
  uint64_t chain[2] = {0, 0};
  for (int i = 0; i < in.k; ++i) {
    uint64_t& sum = chain[i % 2];  // bf16 is the upper half of fp32
    sum = ieee_fma(fp32, flushed(fp32, in.a[i] << 16), flushed(fp32, in.b[i] << 16), flushed(fp32, sum), {}).encoding;
  }
  const uint64_t pair = ieee_add(fp32, flushed(fp32, chain[0]), flushed(fp32, chain[1]), {}).encoding;
  const uint64_t d = ieee_add(fp32, flushed(fp32, in.c), flushed(fp32, pair), {}).encoding;
  return is_special(fp32, d) || flushed(fp32, d).cls != NumberClass::zero ? d : d & fp32.sign_bit();
}

class AmxFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == "amx:tdpbf16ps"; }
  Role role(const std::string&) const override { return Role::hypothesis; }
  std::vector<UnitInfo> list() const override {
    return {{"amx:tdpbf16ps", "bf16 pairs in IEEE steps", "Intel SDM, volume 2, TDPBF16PS"}};
  }
  std::vector<std::string> searched_by_default(const Op&) const override { return {"amx:tdpbf16ps"}; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const Format bf16 = format("bf16"), fp32 = format("fp32");
    if (op.kind != OpKind::dot || op.a != bf16 || op.b != bf16 || op.c != fp32 || op.d != fp32 || op.k % 2)
      return declined(name + " takes 'op dot a=bf16 b=bf16 c=fp32 d=fp32' with an even k");
    return named(make_dot_unit([op](const DotOperands& in) { return tile_element(op, in); }), name);
  }
};

}  // namespace

std::unique_ptr<Family> make_amx_family() { return std::make_unique<AmxFamily>(); }

}  // namespace mmafuzz
