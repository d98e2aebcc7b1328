// The private parts of the classes of the C++ interface.
#pragma once

#include <exception>
#include <mmafuzz/unit.h>

#include "core/registry.h"

namespace mmafuzz::v1 {

struct Batch::Content {
  ::mmafuzz::Batch cases;
  Column expected;                        ///< expected results by case; zero where there is none
  std::vector<uint8_t> has_expected;      ///< by case, 0 or 1
  std::vector<uint8_t> flags, has_flags;  ///< expected status flags by case, and 0 or 1
  std::string op, unit;                   ///< op_words(); unit line, empty if none
  std::vector<Field> fields;
  Field result;
};

struct Unit::Content {
  std::string name, op;
  Function function;   ///< empty: a unit of mmafuzz
  std::string equals;  ///< name of the unit that a function claims to equal; empty: no claim
  std::unique_ptr<::mmafuzz::Unit> unit;
};

/// The only friend of the interface's classes: gives this library access to their content.
struct Access {
  static const Batch::Content& content(const Batch& batch) { return *batch.content_; }
  static Batch::Content& content(Batch& batch) { return *batch.content_; }
  static const Unit::Content& content(const Unit& unit) { return *unit.content_; }
  /// Cases as a batch of the interface.
  static Batch batch(::mmafuzz::Batch cases);
};

/// The family of the caller's functions, as units called "function:NAME".
std::unique_ptr<Family> make_function_family(std::vector<Unit> units);

/// What a function of the caller threw, on its way through mmafuzz.
struct Thrown {
  std::exception_ptr exception;
};

/// Runs a function of the caller.
template <class Call>
auto called(Call call) {
  try {
    return call();
  } catch (...) {
    throw Thrown{std::current_exception()};
  }
}

/// Runs body(). A std::runtime_error, which reports a mistake of the caller, is rethrown as an Error; a
/// std::logic_error, which reports one of mmafuzz, passes, and what a function of the caller threw.
template <class Body>
auto guarded(Body body) {
  try {
    return body();
  } catch (const Thrown& thrown) {
    std::rethrow_exception(thrown.exception);
  } catch (const std::runtime_error& e) {
    throw Error(e.what());
  }
}

}  // namespace mmafuzz::v1
