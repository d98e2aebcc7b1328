// How JSON is written, wherever it goes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace mmafuzz {

/// The version of what --json prints (docs/json.md). Raised when a key goes, or means something else; a new key leaves
/// it.
inline constexpr int json_version = 2;

/// Bytes that are no UTF-8, as the name of a file may have, become U+FFFD: nothing that was found is lost for them.
template <class Json>
std::string json_text(const Json& value, int indent = 2) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// What `make` gives of each item, as an array.
template <class Items, class Make>
nlohmann::json json_list(const Items& items, Make make) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

}  // namespace mmafuzz
