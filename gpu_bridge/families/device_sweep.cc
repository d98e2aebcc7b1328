#include "gpu_bridge/families/device_sweep.h"

#include <algorithm>

#include "gpu_bridge/families/device_units.h"

namespace mmafuzz {

Result<bool> set_sweep_model(SweepSubject& s) {
  if (s.reference && !s.reference->model())
    return invalid("reference " + s.reference->name() + " has no row of parameters");
  s.request.any_nan = s.op.nan == NanPolicy::any;
  if (s.reference) {
    s.request.model = *s.reference->model();
    return true;
  }
  s.request.model.a = s.op.a.fields();  // integers need formats and k only
  s.request.model.b = s.op.b.fields();
  s.request.model.c = s.op.c.fields();
  s.request.model.d = s.op.d.fields();
  s.request.model.k = s.op.k;
  return true;
}

Result<SweepSubject> device_sweep(const Registry& registry, const std::shared_ptr<DeviceChild>& child,
                                  const std::string& unit, const std::string& reference) {
  SweepSubject s;
  const UnitName parts(unit);
  const int index = parts.backend == "cuda" ? find_instruction(parts.path) : -1;
  if (index < 0) return unknown("no device unit " + parts.plain() + "; 'mmafuzz list --units cuda:*' has them");
  const Instruction& i = instructions()[static_cast<size_t>(index)];
  s.op = i.op;
  Result<std::unique_ptr<Unit>> bound = registry.bind(unit, s.op);
  if (!bound) return bound.refusal();
  s.unit = std::move(*bound);
  const Result<DeviceInfo> device = child->info();
  if (!device) return device.refusal();
  // The unit with modifiers claims no model of its own; the sweep applies them to the model's operands.
  const std::string model =
      reference.empty() ? claimed_model(i, arch_of_capability(device->major, device->minor)) : reference;
  if (model.empty() && !s.op.d.fields().integer)
    return declined(unit + " claims no model here; name one with --reference");
  if (!model.empty()) {
    bound = registry.bind(model, s.op);
    if (!bound) return bound.refusal();
    s.reference = std::move(*bound);
  }
  s.request.instruction = index;
  s.request.shape = i.shape;
  s.request.modifiers = parse_device_parameters(parts.settings, i.shape.family)->wgmma;
  s.engine = [child](const SweepRequest& request, const std::vector<SweepDot>& parents) {
    return child->sweep(request, parents);
  };
  s.run_tiles = [child, index, modifiers = s.request.modifiers](TileBuffers& tiles) {
    child->run(index, tiles, modifiers);
  };
  constexpr uint64_t first_dots = uint64_t{1} << 21, greatest_dots = uint64_t{1} << 28;  // of an epoch
  const auto cells = static_cast<uint64_t>(i.shape.cells());
  s.first_epoch = std::min<uint64_t>(4096, first_dots / cells);
  s.greatest_epoch = greatest_dots / cells;
  const Result<bool> modelled = set_sweep_model(s);
  if (!modelled) return modelled.refusal();
  return s;
}

}  // namespace mmafuzz
