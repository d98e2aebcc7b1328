// The family `except_nan:<unit>`: the unit's results, but no answer to a case with a NaN among its operands. For claims
// that hold elsewhere only: what has no answer is not compared.
#include "gpu_bridge/families/device_units.h"

namespace mmafuzz {
namespace {

constexpr std::string_view except_nan_prefix = "except_nan:";

bool has_nan(const Batch& batch, size_t index) {
  const std::vector<FieldShape> shapes = batch.op().inputs();
  for (size_t field = 0; field < shapes.size(); ++field) {
    const FormatFields& f = shapes[field].format.fields();
    if (f.integer) continue;
    for (int e = 0; e < shapes[field].count; ++e)
      if (decode(f, batch.inputs()[field].get(index, e)).cls == NumberClass::nan) return true;
  }
  return false;
}

class ExceptNanUnit final : public Unit {
 public:
  explicit ExceptNanUnit(std::unique_ptr<Unit> whole) : whole_(std::move(whole)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    whole_->run(batch, outcomes);
    if (outcomes.answered.empty()) outcomes.answered.assign(batch.size(), 1);
    for (size_t i = 0; i < batch.size(); ++i)
      if (has_nan(batch, i)) outcomes.answered[i] = 0;
  }

 private:
  std::unique_ptr<Unit> whole_;
};

class ExceptNanFamily final : public Family {
 public:
  bool owns(std::string_view name) const override {
    return name.starts_with(except_nan_prefix) && name.size() > except_nan_prefix.size();
  }

  Role role(const std::string&) const override { return Role::other; }

  std::string stands_for(const std::string& name) const override { return name.substr(except_nan_prefix.size()); }

  std::vector<UnitInfo> list() const override {
    return {{"except_nan:<unit>", "the unit's results, but no answer where an operand is a NaN", "", {}, ""}};
  }

  /// Whatever the unit honours: it is bound by the registry itself.
  Attributes honours(const std::string&, const Op&) const override { return every_attribute; }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    return declined(name + " stands for another unit: it needs a registry");
  }

  Result<std::unique_ptr<Unit>> bind_over(const Registry& registry, const std::string& name,
                                          const Op& op) const override {
    Result<std::unique_ptr<Unit>> whole = registry.bind(name.substr(except_nan_prefix.size()), op);
    if (!whole) return whole.refusal();
    auto unit = std::make_unique<ExceptNanUnit>(std::move(*whole));
    unit->describe(name, {});
    return std::unique_ptr<Unit>(std::move(unit));
  }
};

}  // namespace

std::unique_ptr<Family> make_except_nan_family() { return std::make_unique<ExceptNanFamily>(); }

}  // namespace mmafuzz
