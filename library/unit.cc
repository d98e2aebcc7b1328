#include <mmafuzz/unit.h>

#include <algorithm>
#include <cctype>

#include "core/function_unit.h"
#include "library/access.h"
#include "plan/default_fields.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/version.h"

namespace mmafuzz::v1 {
namespace {

/// A function of the user's as a unit of mmafuzz.
class UserFunctionUnit final : public ::mmafuzz::Unit {
 public:
  explicit UserFunctionUnit(const Function& function) : function_(function) {}

  void run(const ::mmafuzz::Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (batch.size() == 0) return;
    const Batch cases = Access::batch(batch);
    const size_t count = cases.result().count;
    std::vector<uint64_t> results(batch.size() * count);
    called([&] { function_(cases, results); });
    if (results.size() != batch.size() * count)
      throw Error(name() + ": a function may not change the number of results");
    for (size_t i = 0; i < results.size(); ++i) {
      const auto element = static_cast<int>(i % count);
      const Format& format = batch.op().result_format(element);
      if (results[i] & ~format.fields().container_mask())
        throw Error(name() + ": a result is wider than " + format.name());
      outcomes.results.set(i / count, element, results[i]);
    }
  }

 private:
  Function function_;
};

/// Binds the functions by name, so that searches, claims and minimization find them in the registry.
class FunctionFamily final : public Family {
 public:
  explicit FunctionFamily(std::vector<Unit> units) : units_(std::move(units)) {}

  bool owns(std::string_view name) const override { return find(name) != nullptr; }
  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const Unit& unit : units_) all.push_back({unit.name(), "a function of the caller"});
    return all;
  }
  Role role(const std::string&) const override { return Role::plugin; }
  /// All: the caller chose the op, and the function is responsible for its attributes.
  Attributes honours(const std::string&, const Op&) const override { return every_attribute; }
  Result<std::unique_ptr<::mmafuzz::Unit>> bind(const std::string& name, const Op& op) const override {
    const Unit* unit = find(name);
    if (!unit) return unknown("there is no function " + name);
    const auto& content = Access::content(*unit);
    if (op_words(op) != content.op) return declined(name + " is of the op '" + content.op + "'");
    std::vector<Claim> claims;
    if (!content.equals.empty()) claims.push_back({"equals_model", content.equals});
    return named(std::make_unique<UserFunctionUnit>(content.function), name, std::move(claims));
  }

 private:
  const Unit* find(std::string_view name) const {
    for (const Unit& unit : units_)
      if (unit.name() == name) return &unit;
    return nullptr;
  }
  std::vector<Unit> units_;
};

}  // namespace

std::unique_ptr<Family> make_function_family(std::vector<Unit> units) {
  return std::make_unique<FunctionFamily>(std::move(units));
}

Unit::Unit(const std::string& name, const std::string& op) {
  content_ = guarded([&] {
    const Op parsed = op_from_text(op);
    auto content = std::make_shared<Content>();
    content->op = op_words(parsed);
    content->unit = bind_or_fail(name, parsed);
    content->name = content->unit->name();
    return content;
  });
}

Unit::Unit(const std::string& name, const std::string& op, Function function, const std::string& equals) {
  const bool is_word = !name.empty() && std::all_of(name.begin(), name.end(),
                                                    [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!is_word) throw Error("a function's name has letters, digits and _: '" + name + "'");
  if (!function) throw Error("the function " + name + " is empty");
  content_ = guarded([&] {
    const Op parsed = op_from_text(op);
    auto content = std::make_shared<Content>();
    content->op = op_words(parsed);
    content->name = "function:" + name;
    content->function = std::move(function);
    if (!equals.empty()) content->equals = bind_or_fail(equals, parsed)->name();
    content->unit = named(std::make_unique<UserFunctionUnit>(content->function), content->name);
    return content;
  });
}

Unit::Unit(const Unit& other) = default;
Unit& Unit::operator=(const Unit& other) = default;
Unit::~Unit() = default;

const std::string& Unit::name() const { return content_->name; }
const std::string& Unit::op() const { return content_->op; }

Results Unit::run(const Batch& batch) const {
  if (batch.op() != op()) throw Error(name() + " is of the op '" + op() + "', the batch of '" + batch.op() + "'");
  return guarded([&] {
    const Outcomes outcomes = content_->unit->outcomes_of(Access::content(batch).cases);
    Results results;
    results.count = batch.result().count;
    results.flags = outcomes.flags;
    for (size_t i = 0; i < batch.size(); ++i) {
      results.answered.push_back(outcomes.has_answer(i) && !outcomes.has_failed(i));
      for (size_t j = 0; j < results.count; ++j)
        results.encodings.push_back(outcomes.results.get(i, static_cast<int>(j)));
    }
    return results;
  });
}

std::vector<std::string> unit_names(const std::string& op) {
  return guarded([&] {
    if (!op.empty()) return UnitIndex(registry()).accepting(op_from_text(op));
    std::vector<std::string> names;
    for (const UnitInfo& info : registry().list()) names.push_back(info.name);
    return names;
  });
}

std::string version() { return version_text(); }

}  // namespace mmafuzz::v1
