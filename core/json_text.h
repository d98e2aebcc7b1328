// How all JSON output is written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace mmafuzz {

/// The version of what --json prints (docs/json.md). It rises when a key goes or changes its meaning, not when a key is
/// added.
inline constexpr int json_version = 2;

/// `value` as text with a newline at its end. Bytes that are no UTF-8, which a file's name may have, become U+FFFD, so
/// that they do not make the output fail.
template <class Json>
std::string json_text(const Json& value, int indent = 2) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

/// A JSON array of make(item) for each item.
template <class Items, class Make>
nlohmann::json json_list(const Items& items, Make make) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

}  // namespace mmafuzz
