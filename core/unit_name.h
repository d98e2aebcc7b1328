// A unit's name apart: backend:path?setting=value,setting=value. Everything that looks into a name does it here.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mmafuzz {

struct UnitName {
  std::string backend;   ///< "model" of "model:volta/mma...?block=8"; "exact" of "exact"
  std::string path;      ///< "volta/mma..."; empty where the name has no colon
  std::string settings;  ///< "block=8"; the setting `on=` takes the rest, which may have settings of its own

  explicit UnitName(std::string_view text);

  /// The name without settings.
  std::string plain() const { return path.empty() ? backend : backend + ":" + path; }
  std::string text() const { return settings.empty() ? plain() : plain() + "?" + settings; }

  /// The settings in their order. A setting without = has an empty value.
  std::vector<std::pair<std::string, std::string>> each_setting() const;

  /// The same name under another backend: the twin of a model.
  UnitName under(std::string other_backend) const;
  /// With more settings; of those that are given twice the last counts.
  UnitName with(const std::string& more) const;
  /// The same name where it does not say on= what its unit runs, else with `unit` there: the full name of a short one.
  UnitName on(const std::string& unit) const;
};

/// The settings of "name=value,name=value,on=rest".
std::vector<std::pair<std::string, std::string>> settings_of(std::string_view text);

/// Settings as they are written.
std::string settings_text(const std::vector<std::pair<std::string, std::string>>& settings);

/// The row of that name in a table; null where there is none.
template <class Rows>
auto row_named(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
  for (const auto& row : rows)
    if (name == row.name) return &row;
  return nullptr;
}

/// The names of a table, in its order.
template <class Rows>
std::string names_of(const Rows& rows, const char* between) {
  std::string names;
  for (const auto& row : rows) names += std::string(names.empty() ? "" : between) + row.name;
  return names;
}

/// Unit names from arguments that may hold several, separated by commas. The commas between the settings of one unit
/// stay: "a,b?x=1,y=2" is a and b?x=1,y=2.
std::vector<std::string> split_units(const std::vector<std::string>& arguments);

/// Whether the text is a pattern for matches_glob, not a name.
bool is_glob(std::string_view text);

/// Shell-style match with * and ?; case-sensitive.
bool matches_glob(std::string_view pattern, std::string_view text);
bool matches_any_glob(const std::vector<std::string>& patterns, std::string_view text);

/// The least number of characters to insert, remove or replace.
size_t edit_distance(std::string_view x, std::string_view y);

}  // namespace mmafuzz
