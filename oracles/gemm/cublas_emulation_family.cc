// The unit `ozaki:dgemm.cublas`: what cuBLAS's emulation of FP64 computes.
#include "core/function_unit.h"
#include "oracles/families.h"
#include "oracles/gemm/cublas_emulation.h"
#include "oracles/gemm/scheme_parameters.h"

namespace mmafuzz::gemm {
namespace {

constexpr const char* unit_name = "ozaki:dgemm.cublas";

const std::vector<SchemeParameter<CublasPlan>>& cublas_parameters() {
  static const std::vector<SchemeParameter<CublasPlan>> all = {
      number_parameter<&CublasPlan::bits>("bits", "significand bits that are retained",
                                          "a number up to 200, or auto: cuBLAS chooses them from the matrices",
                                          {1, 200}, {}, {{"auto", 0}}),
      number_parameter<&CublasPlan::max_bits>(
          "most",
          "bits=auto: with more bits than these cuBLAS multiplies in native arithmetic, and the unit has no answer",
          "a number up to 200", {1, 200}),
      number_parameter<&CublasPlan::offset>("offset", "bits=auto: added to the bits that the matrices need",
                                            "a number from -50 to 50", {-50, 50}),
  };
  return all;
}

struct NamedCublas {
  CublasPlan plan;
};
Result<NamedCublas> named_cublas(const std::string& unit) {
  Result<NamedCublas> named = with_settings(cublas_parameters(), UnitName(unit).settings, NamedCublas{});
  const CublasPlan usual;  // settings that are written out with their usual values say nothing else
  if (named && named->plan.bits != 0 && (named->plan.max_bits != usual.max_bits || named->plan.offset != usual.offset))
    return invalid("most= and offset= are of bits=auto");
  return named;
}

class CublasEmulationFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == unit_name; }
  Role role(const std::string&) const override { return Role::scheme; }

  std::vector<std::string> searched_by_default(const Op& op) const override {
    if (op.kind != OpKind::gemm) return {};
    std::vector<std::string> names = {std::string(unit_name), std::string(unit_name) + "?bits=31"};
    // Larger matrices of a search hardly ever have exponents that are near enough to each other to be emulated.
    if (op.m * op.n * op.k <= 32) names.push_back(std::string(unit_name) + "?bits=auto");
    return names;
  }

  std::vector<UnitInfo> list() const override {
    return {{std::string(unit_name), "dgemm as cuBLAS emulates it: bytes of a fixed-point number on INT8 units",
             "cuBLAS 13.1 on an H100; arXiv 2511.13778", claims(), ""}};
  }

  FamilyParameters parameters() const override { return scheme_parameters(unit_name, cublas_parameters()); }

  std::vector<Setting> settings(const std::string& name) const override {
    const Result<NamedCublas> plan = named_cublas(name);
    if (!plan) return {};
    return scheme_settings(cublas_parameters(), plan->plan);
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const Result<NamedCublas> plan = named_cublas(name);
    if (!plan) return invalid("unit " + name + ": " + plan.refusal().reason);
    const Format fp64 = format("fp64");
    if (!is_gemm_of(fp64, op)) return takes_gemm_of(fp64, unit_name);
    return named(std::make_unique<CublasEmulation>(plan->plan, op), name, claims());
  }

 private:
  static std::vector<Claim> claims() { return claims_of({"gemm_error_bound"}); }
};

}  // namespace
}  // namespace mmafuzz::gemm

namespace mmafuzz {
std::unique_ptr<Family> make_cublas_emulation_family() { return std::make_unique<gemm::CublasEmulationFamily>(); }
}  // namespace mmafuzz
