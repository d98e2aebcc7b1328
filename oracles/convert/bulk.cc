// The unit `bulk`: the vectorized codec (bulk_convert_simd.h), fp32 or bf16 to any format of at most 10 fraction bits.
#include "oracles/families.h"
#include "oracles/convert/bulk_convert_simd.h"
#include "core/function_unit.h"

namespace mmafuzz {
namespace {

class BulkUnit final : public Unit {
 public:
  explicit BulkUnit(const Op& op) : conversion_(op.d.fields(), op.rounding_rule(), op.seed, DrawBy::source) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    outcomes.flags.resize(batch.size());
    const Column& sources = batch.inputs()[0];
    conversion_.run(sources.data(), sources.element_bytes(), batch.size(), 0, outcomes.results.data(),
                    outcomes.flags.data());
  }

 private:
  BulkConversion conversion_;
};

class BulkFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == "bulk"; }

  Role role(const std::string&) const override { return Role::other; }

  std::vector<std::string> searched_by_default(const Op&) const override { return {"bulk"}; }

  std::vector<UnitInfo> list() const override {
    return {{"bulk", "conversions of fp32 and bf16 to formats of at most 10 fraction bits, in vectors",
             "IEEE 754-2019; docs/cfloat.md", claims(), ""}};
  }

  Attributes honours(const std::string&, const Op&) const override {
    return {.rounding = true, .stochastic = true, .tiny = true, .saturate = true};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (name != "bulk") return invalid("unit " + name + ": bulk has no parameters");
    if (op.kind != OpKind::convert || !(op.a == format("fp32") || op.a == format("bf16")) ||
        !has_bulk_plan(op.d.fields()))
      return declined("bulk converts fp32 and bf16 to formats of at most 10 fraction bits");
    return named(std::make_unique<BulkUnit>(op), name, claims());
  }

 private:
  static std::vector<Claim> claims() {
    return with_equal(with_equal(claims_of_correct_rounding(), "ieee"), "exact:mpfr");
  }
};

}  // namespace

std::unique_ptr<Family> make_bulk_family() { return std::make_unique<BulkFamily>(); }

}  // namespace mmafuzz
