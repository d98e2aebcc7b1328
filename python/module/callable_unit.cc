#include "python/module/callable_unit.h"

#include <nanobind/stl/string.h>

#include <cstring>

#include "core/function_unit.h"
#include "plan/registry.h"

namespace mmafuzz::python {
namespace nb = nanobind;
namespace {

constexpr char prefix[] = "callable:";

class CallableUnit final : public Unit {
 public:
  CallableUnit(const nb::object& call, const Op& op) : call_(call), text_(to_text(op)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (batch.size() == 0) return;
    const nb::gil_scoped_acquire lock;
    nb::list fields;
    for (const Column& column : batch.inputs())
      fields.append(nb::bytearray(column.data(), column.stride() * batch.size()));
    const nb::bytes results = nb::cast<nb::bytes>(call_(text_, fields, batch.size()));
    if (results.size() != outcomes.results.stride() * batch.size())
      throw std::runtime_error(name() + ": a result of wrong size");
    std::memcpy(outcomes.results.data(), results.data(), results.size());
  }

 private:
  const nb::object& call_;  ///< owned by the family, because units are also destroyed without the interpreter's lock
  std::string text_;
};

class CallableFamily final : public Family {
 public:
  explicit CallableFamily(std::vector<NamedCallable> callables) : callables_(std::move(callables)) {}

  bool owns(std::string_view name) const override { return find(name) != nullptr; }
  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const NamedCallable& callable : callables_) all.push_back({prefix + callable.name, "a Python callable"});
    return all;
  }
  Role role(const std::string&) const override { return Role::plugin; }
  /// The callable gets the op line: whether it honours these attributes is up to the user.
  Attributes honours(const std::string&, const Op&) const override { return every_attribute; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const NamedCallable* callable = find(name);
    if (!callable) return unknown("there is no callable " + name);
    std::vector<Claim> claims;
    for (const std::string& unit : callable->equals) claims.push_back({"equals_model", unit});
    return named(std::make_unique<CallableUnit>(callable->call, op), name, std::move(claims));
  }

 private:
  const NamedCallable* find(std::string_view name) const {
    for (const NamedCallable& callable : callables_)
      if (name == prefix + callable.name) return &callable;
    return nullptr;
  }

  std::vector<NamedCallable> callables_;
};

}  // namespace

AllUnits::AllUnits(std::vector<NamedCallable> callables) : Registry(make_registry()) {
  add(std::make_unique<CallableFamily>(std::move(callables)));
}

}  // namespace mmafuzz::python
