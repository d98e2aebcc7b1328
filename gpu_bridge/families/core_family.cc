// The units `cuda:add.f32` and its siblings: CUDA-core instructions of this machine's GPU; and `cuda:bulk`, mmafuzz's
// conversions (arithmetic/convert_bulk.h) on it.
#include <algorithm>

#include "core/function_unit.h"
#include "gpu_bridge/instructions/core_instructions.h"
#include "gpu_bridge/device/device_child.h"
#include "gpu_bridge/device/device_unit.h"
#include "gpu_bridge/families/device_units.h"
#include "gpu_bridge/instructions/instructions.h"

namespace mmafuzz {
namespace {

constexpr std::string_view core_prefix = "cuda:";
constexpr const char* bulk_name = "cuda:bulk";

std::unique_ptr<Unit> make_core_unit(std::shared_ptr<DeviceChild> child, int instruction) {
  return make_device_unit([child, instruction](const Batch& batch, Outcomes& outcomes) {
    const Column& operands = batch.inputs()[0];
    std::vector<uint64_t> all(batch.size() * static_cast<size_t>(operands.count()));
    for (size_t i = 0; i < batch.size(); ++i) operands.unpack(i, &all[i * static_cast<size_t>(operands.count())]);
    const std::vector<uint64_t> results = child->scalar(instruction, all, batch.size());
    for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, results[i]);
  });
}

std::unique_ptr<Unit> make_bulk_unit(std::shared_ptr<DeviceChild> child, const Op& op) {
  const BulkRequest request{make_bulk_plan(op.d.fields(), op.rounding_rule()), op.seed, op.a.fields().width == 16};
  return make_device_unit([child, request](const Batch& batch, Outcomes& outcomes) {
    std::vector<uint32_t> sources(batch.size());
    for (size_t i = 0; i < sources.size(); ++i) sources[i] = static_cast<uint32_t>(batch.inputs()[0].get(i, 0));
    std::vector<uint32_t> results;
    child->convert(request, sources, results, outcomes.flags);
    for (size_t i = 0; i < results.size(); ++i) outcomes.results.set(i, 0, results[i]);
  });
}

/// The ops of a unit's rows that exist on any of `archs` (bits of namespace arch), as text: "op ...; op ...".
std::string taken_by(std::string_view unit, unsigned archs) {
  std::string all;
  for (const CoreInstruction& i : core_instructions())
    if (i.unit == unit && (i.archs & archs)) all += (all.empty() ? "" : "; ") + to_text(i.op);
  return all;
}

/// The claims of a row for ops with nan=any.
std::vector<Claim> claims_of(const CoreInstruction& i) {
  if (!equals_its_reference(i)) return {};
  return {{"equals_model", reference_of(i)}};
}

class CoreFamily final : public Family {
 public:
  explicit CoreFamily(std::shared_ptr<DeviceChild> child) : child_(std::move(child)) {}

  bool owns(std::string_view name) const override {
    return name == bulk_name || (name.starts_with(core_prefix) && is_core_unit(name.substr(core_prefix.size())));
  }

  Role role(const std::string&) const override { return Role::device; }

  std::vector<UnitInfo> list() const override {
    const Result<DeviceInfo> device = child_->info();
    const std::string no_device = device ? "" : device.refusal().reason;
    std::vector<UnitInfo> all;
    for (const CoreInstruction& i : core_instructions()) {
      const std::string name = std::string(core_prefix) + i.unit;
      if (all.empty() || all.back().name != name) {
        const unsigned device_arch = device ? arch_of_capability(device->major, device->minor) : 0;
        const std::string here = taken_by(i.unit, device_arch);
        all.push_back({name, here.empty() ? taken_by(i.unit, ~0u) : here, "PTX ISA", {}, no_device});
        if (device && here.empty()) all.back().unavailable = device_lacks(*device);
      }
      std::vector<Claim>& claims = all.back().claims;
      for (const Claim& claim : claims_of(i))
        if (std::none_of(claims.begin(), claims.end(), [&](const Claim& c) { return c.detail == claim.detail; }))
          claims.push_back(claim);
    }
    all.push_back({bulk_name, "the conversions of `bulk` on the device", "IEEE 754-2019; docs/cfloat.md", bulk_claims(),
                   no_device});
    return all;
  }

  /// A row of core_instructions.def.h fixes rounding, ftz and saturate; cuda:bulk honours what `bulk` does.
  Attributes honours(const std::string& name, const Op&) const override {
    return {.rounding = true,
            .stochastic = name == bulk_name,
            .tiny = name == bulk_name,
            .ftz = name != bulk_name,
            .saturate = true};
  }

  std::vector<std::string> searched_by_default(const Op& op) const override {
    std::vector<std::string> names;
    for (size_t i = 0; i < core_instructions().size(); ++i) {
      const CoreInstruction& row = core_instructions()[i];
      if (equals_its_reference(row) && find_core_instruction(row.unit, op) == static_cast<int>(i))
        names.push_back(std::string(core_prefix) + row.unit);
    }
    return names;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (!UnitName(name).settings.empty())
      return invalid("unit " + name + ": a CUDA-core instruction has no parameters");
    return name == bulk_name ? bind_bulk(op) : bind_core(name, op);
  }

 private:
  Result<std::unique_ptr<Unit>> bind_core(const std::string& name, const Op& op) const {
    const std::string unit = name.substr(core_prefix.size());
    const int index = find_core_instruction(unit, op);
    if (index < 0) return declined(name + " takes '" + taken_by(unit, ~0u) + "'");
    const CoreInstruction& i = core_instructions()[static_cast<size_t>(index)];
    const Result<DeviceInfo> device = child_->info();
    if (!device) return declined(device.refusal().reason);
    if (!(i.archs & arch_of_capability(device->major, device->minor)))
      return declined("unit " + name + ": " + device_lacks(*device));
    // None where NaN encodings count: a GPU's NaNs are 0x7fffffff and 0x7fff, the reference's the canonical one.
    std::vector<Claim> claims;
    if (op.nan == NanPolicy::any) claims = claims_of(i);
    return named(make_core_unit(child_, index), name, std::move(claims));
  }

  Result<std::unique_ptr<Unit>> bind_bulk(const Op& op) const {
    if (op.kind != OpKind::convert || !(op.a == format("fp32") || op.a == format("bf16")) ||
        !has_bulk_plan(op.d.fields()))
      return declined("cuda:bulk converts fp32 and bf16 to formats of at most 10 fraction bits");
    const Result<DeviceInfo> device = child_->info();
    if (!device) return declined(device.refusal().reason);
    return named(make_bulk_unit(child_, op), bulk_name, bulk_claims());
  }

  static std::vector<Claim> bulk_claims() { return {{"equals_model", "ieee"}, {"equals_model", "bulk"}}; }

  std::shared_ptr<DeviceChild> child_;
};

}  // namespace

std::unique_ptr<Family> make_core_family(std::shared_ptr<DeviceChild> child) {
  return std::make_unique<CoreFamily>(std::move(child));
}

}  // namespace mmafuzz
