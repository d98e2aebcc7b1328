// What a build without CUDA has in place of device units: the family `cuda:`, which declines everything.
#include "gpu_bridge/register.h"

namespace mmafuzz {
namespace {

class NoCuda final : public Family {
 public:
  bool owns(std::string_view name) const override { return name.starts_with("cuda:") && name.size() > 5; }
  std::vector<UnitInfo> list() const override {
    return {{"cuda:<instruction>", "NVIDIA tensor cores and CUDA cores of the GPU at hand", "", {}, reason}};
  }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    return declined("unit " + name + ": " + reason);
  }

 private:
  static constexpr const char* reason = "this build has no device units";
};

}  // namespace

void add_device_units(Registry& registry) { registry.add(std::make_unique<NoCuda>()); }

}  // namespace mmafuzz
