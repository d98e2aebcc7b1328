// The unit `extended:serial`: a dot as a program for x87 computes it, in numbers of 64 bits of precision (IEEE
// 754-2019, 3.7, extended format; Intel SDM vol. 1, 8.1 and 8.2), with one more rounding to d at the end. x87's
// exponent range exceeds that of every product of fp64, so that only the precision matters.
#include "core/function_unit.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/families.h"

namespace mmafuzz {
namespace {

constexpr const char* unit_name = "extended:serial";

uint64_t extended_dot(const Op& op, const DotOperands& in) {
  constexpr mpfr_prec_t precision = 64;
  exact::Mpfr sum(precision), exact_product(256), product(precision);
  exact::set_operand(sum.get(), op, op.c, in.c);
  for (int i = 0; i < in.k; ++i) {
    exact::set_product(exact_product.get(), op, in, i);
    mpfr_set(product.get(), exact_product.get(), MPFR_RNDN);
    mpfr_add(sum.get(), sum.get(), product.get(), MPFR_RNDN);
  }
  return exact::rounded_result(op, sum.get()).encoding;
}

class ExtendedFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == unit_name; }
  Role role(const std::string&) const override { return Role::hypothesis; }

  std::vector<UnitInfo> list() const override {
    return {{unit_name,
             "dot: multiply, then add, in index order from c, each rounded to 64 bits, at last to d",
             "IEEE 754-2019, 3.7; Intel SDM vol. 1, 8",
             {},
             ""}};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const bool takes = op.kind == OpKind::dot && (op.d == format("fp32") || op.d == format("fp64")) && op.a == op.d &&
                       op.b == op.d && op.c == op.d && !op.has_scales();
    if (!takes) return declined(name + " takes dots whose formats are all fp32, or all fp64");
    return named(make_dot_unit([op](const DotOperands& in) { return extended_dot(op, in); }), name);
  }
};

}  // namespace

std::unique_ptr<Family> make_extended_family() { return std::make_unique<ExtendedFamily>(); }

}  // namespace mmafuzz
