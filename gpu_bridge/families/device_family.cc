// The family `cuda:`: the matrix instructions of this machine's GPU, one device child for all of its units.
#include "gpu_bridge/families/device_units.h"

#include "core/function_unit.h"
#include "core/text.h"
#include "gpu_bridge/instructions/core_instructions.h"
#include "gpu_bridge/device/device_child.h"
#include "gpu_bridge/device/device_unit.h"

namespace mmafuzz {
namespace {

constexpr std::string_view device_prefix = "cuda:";

/// A parameter after `?` in a unit's name. Parsing, listing and messages use one table of them.
struct DeviceParameter {
  const char *name, *meaning;
  bool WgmmaModifiers::*modifier;  ///< of wgmma, 0 or 1; nullptr: the placement

  const char* values() const { return modifier ? "0 | 1" : "0 or more"; }
  uint64_t greatest() const { return modifier ? 1 : 999'999'999'999'999'999; }
};

constexpr DeviceParameter device_parameters[] = {
    {"placement", "another one: other rows, columns and neighbours in the tiles", nullptr},
    {"scale_d", "wgmma: 0 leaves c out", &WgmmaModifiers::scale_d},
    {"negate_a", "wgmma: a with the other sign", &WgmmaModifiers::negate_a},
    {"negate_b", "wgmma: b with the other sign", &WgmmaModifiers::negate_b},
    {"shared_a", "wgmma: 1 reads a from shared memory", &WgmmaModifiers::shared_a},
    {"transpose_a", "wgmma of 16-bit types with shared_a=1: a transposed in shared memory",
     &WgmmaModifiers::transpose_a},
    {"transpose_b", "wgmma of 16-bit types: b transposed in shared memory", &WgmmaModifiers::transpose_b},
};

std::unique_ptr<Unit> make_matrix_unit(std::shared_ptr<DeviceChild> child, int instruction,
                                       const DeviceParameters& parameters) {
  return make_device_unit([child, instruction, parameters](const Batch& batch, Outcomes& outcomes) {
    const Instruction& i = instructions()[static_cast<size_t>(instruction)];
    TileBuffers tiles = place_cases(i, batch, parameters.placement);
    child->run(instruction, tiles, parameters.wgmma);
    collect_results(i, tiles, parameters.placement, batch.size(), outcomes.results);
  });
}

/// Declines modifiers for which wgmma has no form (PTX ISA, wgmma.mma_async).
Result<bool> has_form(const Instruction& i, const WgmmaModifiers& modifiers) {
  if ((modifiers.negate_a || modifiers.negate_b) && i.op.a.fields().integer)
    return declined(i.name + " has no negations: its types are integers");
  if ((modifiers.transpose_a || modifiers.transpose_b) && i.shape.operand_bits != 16)
    return declined(i.name + " has no transposed operands: only 16-bit types have");
  if (modifiers.transpose_a && !modifiers.shared_a)
    return declined("transpose_a=1 needs shared_a=1: a in registers is not transposed");
  return true;
}

/// Declines an op that the instruction cannot compute, alone or as a sequence of steps along k.
Result<bool> fits(const Instruction& i, const Op& op) {
  const Op& step = i.op;
  const bool is_one_step = !(step.c == step.d);  // the d of one step is the c of the next, so that formats must agree
  if (op.kind != OpKind::dot || !op.has_formats_of(step) || (is_one_step && op.k > step.k))
    return declined(i.name + " takes '" + to_text(step) + (is_one_step ? "' or a shorter k" : "' (any k)"));
  // Padding to whole steps of this k could add a step to the mma that the compiler makes of it.
  if (i.shape.family == TileFamily::wmma && op.k % step.k != 0)
    return declined(i.name + " takes multiples of k=" + std::to_string(step.k));
  return true;
}

class DeviceFamily final : public Family {
 public:
  explicit DeviceFamily(std::shared_ptr<DeviceChild> child) : child_(std::move(child)) {}

  bool owns(std::string_view name) const override {
    return has_more_after(device_prefix, name) && !is_core_unit(name.substr(device_prefix.size()));
  }

  Role role(const std::string&) const override { return Role::device; }

  std::vector<UnitInfo> list() const override {
    const Result<DeviceInfo> device = child_->info();
    std::vector<UnitInfo> all;
    for (const Instruction& i : instructions()) {
      UnitInfo info{
          std::string(device_prefix) + i.name, to_text(i.op), "PTX ISA", {}, device ? "" : device.refusal().reason};
      if (device) {
        const unsigned device_arch = arch_of_capability(device->major, device->minor);
        if (!(i.archs & device_arch)) info.unavailable = device_lacks(*device);
        if (const std::string model = claimed_model(i, device_arch); !model.empty())
          info.claims.push_back({"equals_model", model});
      }
      all.push_back(std::move(info));
    }
    return all;
  }

  FamilyParameters parameters() const override {
    FamilyParameters all{"cuda: (matrix instructions)", {}};
    for (const DeviceParameter& p : device_parameters) all.parameters.push_back({p.name, p.meaning, p.values()});
    return all;
  }

  std::vector<std::string> searched_by_default(const Op& op) const override {
    std::vector<std::string> names;
    for (const Instruction& i : instructions())
      if (fits(i, op) && op.k % i.op.k == 0) names.push_back(std::string(device_prefix) + i.name);
    return names;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const UnitName parts(name);
    const int index = find_instruction(parts.path);
    for (const OutOfScope& out : out_of_scope)
      if (index < 0 && parts.path.starts_with(out.instruction))
        return declined(parts.plain() + " is out of scope: " + out.what);
    if (index < 0 && parts.path.starts_with("wgmma.m64n"))
      return declined(parts.plain() + ": of the widths of wgmma, n = 8, 64 and 256 are built");
    if (index < 0 && parts.path.starts_with("wgmma.sp.m64n"))
      return declined(parts.plain() + ": of the widths of sparse wgmma, n = 8 and 64 are built");
    if (index < 0) return unknown("no device unit " + parts.plain() + "; 'mmafuzz list --units cuda:*' has them");
    const Instruction& i = instructions()[static_cast<size_t>(index)];
    const Result<DeviceParameters> parameters = parse_device_parameters(parts.settings, i.shape.family);
    if (!parameters) return invalid("unit " + name + ": " + parameters.refusal().reason);
    const Result<bool> form = has_form(i, parameters->wgmma);
    if (!form) return form.refusal();
    const Result<bool> fit = fits(i, op);
    if (!fit) return fit.refusal();
    const Result<DeviceInfo> device = child_->info();
    if (!device) return declined(device.refusal().reason);
    const unsigned device_arch = arch_of_capability(device->major, device->minor);
    if (!(i.archs & device_arch)) return declined("unit " + name + ": " + device_lacks(*device));
    std::vector<Claim> claims;
    const std::string model = claimed_model(i, device_arch);
    const WgmmaModifiers& modifiers = parameters->wgmma;
    const bool is_plain_sum = modifiers.scale_d && !modifiers.negate_a && !modifiers.negate_b;
    if (!model.empty() && is_plain_sum && op.k % i.op.k == 0) claims.push_back({"equals_model", model});
    return named(make_matrix_unit(child_, index, *parameters), name, std::move(claims));
  }

 private:
  std::shared_ptr<DeviceChild> child_;
};

}  // namespace

std::string device_lacks(const DeviceInfo& device) {
  return "sm_" + std::to_string(device.major) + std::to_string(device.minor) + " (" + device.name +
         ") does not have this instruction";
}

Result<DeviceParameters> parse_device_parameters(std::string_view text, TileFamily family) {
  DeviceParameters parameters;
  for (const auto& [name, value] : settings_of(text)) {
    uint64_t number = 0;
    const bool is_number = parse_number(value, number);
    bool is_known = false;
    std::string known;
    for (const DeviceParameter& p : device_parameters) {
      if (p.modifier && family != TileFamily::wgmma) continue;
      known += std::string(known.empty() ? "" : ", ") + p.name + " (" + p.values() + ")";
      if (name != p.name || !is_number || number > p.greatest()) continue;
      if (p.modifier) parameters.wgmma.*p.modifier = number != 0;
      else parameters.placement = number;
      is_known = true;
    }
    if (!is_known) return invalid("'" + name + "=" + value + "': expected " + known);
  }
  return parameters;
}

std::unique_ptr<Family> make_device_family(std::shared_ptr<DeviceChild> child) {
  return std::make_unique<DeviceFamily>(std::move(child));
}

}  // namespace mmafuzz
