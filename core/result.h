// A value, or the reason why there is none: what is not supported is told to the caller, never a crash.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace mmafuzz {

/// The reason why a request has no value.
struct Refusal {
  enum class Kind {
    declined,  ///< known, but not for this op or not on this machine
    unknown,   ///< no such name
    invalid,   ///< the request itself is malformed
  };
  Kind kind = Kind::invalid;
  std::string reason;
};

inline Refusal declined(std::string reason) { return {Refusal::Kind::declined, std::move(reason)}; }
inline Refusal unknown(std::string reason) { return {Refusal::Kind::unknown, std::move(reason)}; }
inline Refusal invalid(std::string reason) { return {Refusal::Kind::invalid, std::move(reason)}; }

/// A T, or a Refusal. The value may be read only where the bool is true, refusal() only where it is false.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  Result(Refusal refusal) : content_(std::move(refusal)) {}

  explicit operator bool() const { return content_.index() == 0; }
  T& operator*() { return std::get<0>(content_); }
  const T& operator*() const { return std::get<0>(content_); }
  T* operator->() { return &std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }
  const Refusal& refusal() const { return std::get<1>(content_); }

 private:
  std::variant<T, Refusal> content_;
};

}  // namespace mmafuzz
