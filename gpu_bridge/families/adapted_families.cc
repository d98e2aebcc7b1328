// Units that run another unit and change its outcomes, for claims of instructions that differ from that unit in one
// respect: except_nan:<unit> has no answer for a case with a NaN among its operands, and cases without an answer are
// not compared; relu:<unit> has +0 in place of negative results and -0.
#include "core/function_unit.h"
#include "gpu_bridge/families/device_units.h"

namespace mmafuzz {
namespace {

struct Adaptation {
  std::string_view prefix;
  const char* text;
  void (*change)(const Batch& batch, Outcomes& outcomes);
};

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

void leave_out_nans(const Batch& batch, Outcomes& outcomes) {
  if (outcomes.answered.empty()) outcomes.answered.assign(batch.size(), 1);
  for (size_t i = 0; i < batch.size(); ++i)
    if (has_nan(batch, i)) outcomes.answered[i] = 0;
}

/// The PTX ISA says of .relu: negative numbers become 0, NaNs the canonical NaN. An H200 gives +0 for -0, too.
void clamp_negative(const Batch& batch, Outcomes& outcomes) {
  const FormatFields& d = batch.op().d.fields();
  for (size_t i = 0; i < batch.size(); ++i)
    for (int e = 0; e < outcomes.results.count(); ++e) {
      const Number x = decode(d, outcomes.results.get(i, e));
      if (x.cls == NumberClass::nan || !x.negative) continue;
      outcomes.results.set(i, e, d.encode_zero(false));
    }
}

constexpr Adaptation except_nan{"except_nan:", "the unit's results, but no answer where an operand is a NaN",
                                leave_out_nans};
constexpr Adaptation relu{"relu:", "the unit's results, +0 where they are negative or -0", clamp_negative};

class AdaptedUnit final : public Unit {
 public:
  AdaptedUnit(const Adaptation& adaptation, std::unique_ptr<Unit> whole)
      : adaptation_(adaptation), whole_(std::move(whole)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    whole_->run(batch, outcomes);
    adaptation_.change(batch, outcomes);
  }

 private:
  const Adaptation& adaptation_;
  std::unique_ptr<Unit> whole_;
};

class AdaptedFamily final : public Family {
 public:
  explicit AdaptedFamily(const Adaptation& adaptation) : adaptation_(adaptation) {}

  bool owns(std::string_view name) const override { return has_more_after(adaptation_.prefix, name); }

  Role role(const std::string&) const override { return Role::other; }

  std::string stands_for(const std::string& name) const override { return name.substr(adaptation_.prefix.size()); }

  std::vector<UnitInfo> list() const override {
    return {{std::string(adaptation_.prefix) + "<unit>", adaptation_.text}};
  }

  /// All, because bind_over() binds the other unit through the registry, which asks that unit's own family.
  Attributes honours(const std::string&, const Op&) const override { return every_attribute; }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    return declined(name + " stands for another unit: it needs a registry");
  }

  Result<std::unique_ptr<Unit>> bind_over(const Registry& registry, const std::string& name,
                                          const Op& op) const override {
    if (&adaptation_ == &relu && op.d.fields().integer) return declined(name + " has results in floating point only");
    Result<std::unique_ptr<Unit>> whole = registry.bind(stands_for(name), op);
    if (!whole) return whole.refusal();
    const std::string full = std::string(adaptation_.prefix) + (*whole)->name();
    return named(std::make_unique<AdaptedUnit>(adaptation_, std::move(*whole)), full);
  }

 private:
  const Adaptation& adaptation_;
};

}  // namespace

std::unique_ptr<Family> make_except_nan_family() { return std::make_unique<AdaptedFamily>(except_nan); }
std::unique_ptr<Family> make_relu_family() { return std::make_unique<AdaptedFamily>(relu); }

}  // namespace mmafuzz
