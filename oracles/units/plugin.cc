// The family `plugin:<file.so>`: units in shared libraries behind the C interface of plugin_abi.h.
#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

#include "oracles/families.h"
#include "core/child_process.h"
#include "core/function_unit.h"
#include "core/text.h"
#include "core/unit_name.h"
#include "oracles/units/plugin_abi.h"
#include "oracles/units/process_unit.h"

namespace mmafuzz {
namespace {

constexpr std::string_view plugin_prefix = "plugin:";

/// A loaded plugin. Never unloaded: a simulator may keep threads and exit handlers.
struct Library {
  decltype(&mmafuzz_plugin_abi) abi = nullptr;
  decltype(&mmafuzz_plugin_name) name = nullptr;
  decltype(&mmafuzz_plugin_supports) supports = nullptr;
  decltype(&mmafuzz_plugin_run) run = nullptr;
  decltype(&mmafuzz_plugin_equals) equals = nullptr;  ///< optional
};

template <class Function>
bool find_symbol(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

Result<Library> load(const std::string& path) {
  // A name without a slash would be searched in the system's folders; a unit is a file.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return declined(std::string("cannot load plugin: ") + dlerror());
  Library library;
  for (const char* missing :
       {find_symbol(handle, "mmafuzz_plugin_abi", library.abi) ? nullptr : "mmafuzz_plugin_abi",
        find_symbol(handle, "mmafuzz_plugin_name", library.name) ? nullptr : "mmafuzz_plugin_name",
        find_symbol(handle, "mmafuzz_plugin_supports", library.supports) ? nullptr : "mmafuzz_plugin_supports",
        find_symbol(handle, "mmafuzz_plugin_run", library.run) ? nullptr : "mmafuzz_plugin_run"})
    if (missing) return declined(path + " is no mmafuzz plugin: it does not export " + missing);
  find_symbol(handle, "mmafuzz_plugin_equals", library.equals);
  if (library.abi() != MMAFUZZ_PLUGIN_ABI)
    return declined(path + " was built for plugin interface " + std::to_string(library.abi()) + ", this is " +
                    std::to_string(MMAFUZZ_PLUGIN_ABI));
  return library;
}

class PluginUnit final : public Unit {
 public:
  PluginUnit(const Library& library, const Op& op) : library_(library), op_(op) {
    op_view_.kind = op.kind == OpKind::dot ? "dot" : op.kind == OpKind::convert ? "convert" : "scalar";
    op_view_.operation = op_.kind == OpKind::scalar ? name_of(op_.scalar) : "";
    op_view_.a = op_.a.name().c_str();
    op_view_.b = op_.b.name().c_str();
    op_view_.c = op_.c.name().c_str();
    op_view_.d = op_.d.name().c_str();
    op_view_.scale_a = op_.scale_a.name().c_str();
    op_view_.scale_b = op_.scale_b.name().c_str();
    op_view_.rounding = name_of(op_.rounding);
    op_view_.k = op_.k;
    op_view_.scale_block = op_.scale_block;
  }

  Result<bool> supported() const {
    char reason[256] = "";
    if (library_.supports(&op_view_, reason, sizeof reason)) return true;
    reason[sizeof reason - 1] = 0;
    return declined(std::string(library_.name()) + ": " + (reason[0] ? reason : "op not supported"));
  }

  std::vector<Claim> claims_of_library() const {
    const char* equal = library_.equals ? library_.equals(&op_view_) : nullptr;
    return equal ? std::vector<Claim>{{"equals_model", equal}} : std::vector<Claim>{};
  }

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    std::vector<std::vector<uint64_t>> columns;
    for (const Column& column : batch.inputs()) {
      std::vector<uint64_t>& values = columns.emplace_back(batch.size() * size_t(column.count()));
      for (size_t i = 0; i < batch.size(); ++i) column.unpack(i, values.data() + i * size_t(column.count()));
    }
    std::vector<uint64_t> results(batch.size());
    const auto column = [&](size_t i) { return i < columns.size() ? columns[i].data() : nullptr; };
    const mmafuzz_batch batch_view{.n = batch.size(),
                                   .a = column(0),
                                   .b = column(1),
                                   .c = column(2),
                                   .scale_a = column(3),
                                   .scale_b = column(4),
                                   .result = results.data()};
    if (const int code = library_.run(&op_view_, &batch_view); code != 0)
      throw std::runtime_error(name() + " failed with code " + std::to_string(code));
    const uint64_t mask = op_.d.fields().container_mask();
    for (size_t i = 0; i < batch.size(); ++i) {
      if (results[i] & ~mask)
        throw std::runtime_error(name() + " gave a result with bits above the width of " + op_.d.name());
      outcomes.results.set(i, 0, results[i]);
    }
  }

 private:
  Library library_;
  Op op_;
  mmafuzz_op op_view_{};
};

class PluginFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return has_more_after(plugin_prefix, name); }

  Role role(const std::string&) const override { return Role::plugin; }

  std::vector<UnitInfo> list() const override {
    return {{"plugin:<file.so>", "a unit in a shared library (docs/plugins.md)"}};
  }

  FamilyParameters parameters() const override {
    return {"plugin:",
            {{"isolated", "1: in a process of its own, so that a crash is a finding; 0: in this one", "0 or 1 (1)"},
             {timeout_setting, std::string(timeout_meaning) + ", with isolated=1", "0.01 to 86400 (10)"},
             {fresh_setting, fresh_meaning, "0 or 1 (0)"}}};
  }

  /// The attributes for which the interface (plugin_abi.h) has a member.
  Attributes honours(const std::string&, const Op&) const override { return {.rounding = true}; }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (op.kind > OpKind::scalar) return declined("plugins evaluate dot, convert and scalar ops");
    UnitName parts(name);
    bool isolated = true;
    ProcessSettings process;
    for (const auto& [setting, value] : parts.each_setting()) {
      if (setting == "isolated" && (value == "0" || value == "1")) {
        isolated = value == "1";
        continue;
      }
      const Result<bool> is_taken = process.take(name, setting, value);
      if (!is_taken) return is_taken.refusal();
      if (!*is_taken)
        return invalid("unit " + mmafuzz::in_quotes(name) +
                       ": a plugin takes isolated=0 or 1, fresh=0 or 1, and timeout=SECONDS");
    }
    // A name is one word in records and witnesses, whatever the file is called.
    const Result<std::string> file = decode_command(parts.path);
    if (!file) return invalid("unit " + mmafuzz::in_quotes(name) + ": " + file.refusal().reason);
    if (std::filesystem::is_directory(*file))
      return invalid("unit " + mmafuzz::in_quotes(name) + ": " + mmafuzz::in_quotes(*file) +
                     " is a folder; a plugin is a shared library, as in plugin:./mine.so");
    parts.path = encode_command(*file);
    if (isolated || process.is_fresh)
      return bind_process(parts.text(), {own_command(), "serve", parts.plain() + "?isolated=0"}, process, op);
    const Result<Library> library = load(*file);
    if (!library) return library.refusal();
    auto unit = std::make_unique<PluginUnit>(*library, op);
    const Result<bool> supported = unit->supported();
    if (!supported) return supported.refusal();
    std::vector<Claim> claims = unit->claims_of_library();
    return named(std::move(unit), parts.text(), std::move(claims));
  }
};

}  // namespace

std::unique_ptr<Family> make_plugin_family() { return std::make_unique<PluginFamily>(); }

}  // namespace mmafuzz
