// What stands behind the classes of the C++ interface.
#pragma once

#include <exception>
#include <mmafuzz/unit.h>

#include "core/registry.h"

namespace mmafuzz::v1 {

struct Batch::Content {
  ::mmafuzz::Batch cases;
  Column expected;
  std::vector<uint8_t> has_expected;
  std::string op, unit;
  std::vector<Field> fields;
  Field result;
};

struct Unit::Content {
  std::string name, op;
  Function function;  ///< empty: one of mmafuzz
  std::string equals;
  std::unique_ptr<::mmafuzz::Unit> unit;
};

/// The one friend of the interface's classes.
struct Access {
  static const Batch::Content& of(const Batch& batch) { return *batch.content_; }
  static Batch::Content& of(Batch& batch) { return *batch.content_; }
  static const Unit::Content& of(const Unit& unit) { return *unit.content_; }
  /// Cases as a batch of the interface.
  static Batch batch(::mmafuzz::Batch cases);
};

/// The family of functions: "function:NAME".
std::unique_ptr<Family> make_function_family(std::vector<Unit> units);

/// Runs something of mmafuzz; what people did wrong becomes an Error.
template <class Body>
auto guarded(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw Error(e.what());
  }
}

}  // namespace mmafuzz::v1
