// The unit `bulk`: the vectorized codec (bulk_convert_simd.h), fp32 or bf16 to any format of at most 10 fraction bits.
#include "oracles/families.h"
#include "oracles/convert/bulk_convert_simd.h"
#include "core/function_unit.h"

namespace mmafuzz {
namespace {

class BulkUnit final : public Unit {
 public:
  explicit BulkUnit(const Op& op)
      : conversion_(op.d.fields(), op.rounding_rule(), op.seed, DrawBy::source),
        from_fp32_(op.a.fields().width == 32) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    outcomes.flags.resize(batch.size());
    const uint8_t* sources = batch.inputs()[0].data();
    if (from_fp32_) {
      convert<uint32_t>(sources, batch.size(), outcomes);
    } else {
      convert<uint16_t>(sources, batch.size(), outcomes);
    }
  }

 private:
  /// In parts, through buffers of the element's type: columns are bytes.
  template <class Source>
  void convert(const uint8_t* from, size_t count, Outcomes& outcomes) const {
    constexpr size_t part = 256;
    Source sources[part];
    alignas(4) uint8_t results[part * 4];
    const auto bytes = static_cast<size_t>(conversion_.result_bytes());
    for (size_t i = 0; i < count; i += part) {
      const size_t n = std::min(part, count - i);
      std::memcpy(sources, from + i * sizeof(Source), n * sizeof(Source));
      conversion_.run(sources, n, i, results, outcomes.flags.data() + i);
      std::memcpy(outcomes.results.data() + i * bytes, results, n * bytes);
    }
  }

  BulkConversion conversion_;
  bool from_fp32_;
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
    std::vector<Claim> all = claims_of_correct_rounding();
    all.push_back({"equals_model", "ieee"});
    all.push_back({"equals_model", "exact:mpfr"});
    return all;
  }
};

}  // namespace

std::unique_ptr<Family> make_bulk_family() { return std::make_unique<BulkFamily>(); }

}  // namespace mmafuzz
