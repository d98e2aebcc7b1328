// The parts of a unit's name, backend:path?setting=value,setting=value. All code that takes names apart uses this file.
// And entries of any table by their names.
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
  std::string settings;  ///< "block=8"; the value of `on=` is all that follows, a unit that may have settings itself

  explicit UnitName(std::string_view text);

  /// The name without settings.
  std::string plain() const { return path.empty() ? backend : backend + ":" + path; }
  std::string text() const { return settings.empty() ? plain() : plain() + "?" + settings; }

  /// The settings (names and values) in their order. A setting without = has the value "".
  std::vector<std::pair<std::string, std::string>> each_setting() const;

  /// The name of a setting that stands there more than once; "" where none does.
  std::string repeated_setting() const;

  /// The same name under another backend, as "twin" for the twin of a model.
  UnitName under(std::string other_backend) const;
  /// The name with the settings of `more` at the end; they replace those of the same names.
  UnitName with(const std::string& more) const;
  /// The name with `unit` as the value of on=; unchanged where it has no on=.
  UnitName on(const std::string& unit) const;
};

/// The settings of "name=value,name=value,on=rest".
std::vector<std::pair<std::string, std::string>> settings_of(std::string_view text);

/// The text of settings: "name=value,name=value".
std::string settings_text(const std::vector<std::pair<std::string, std::string>>& settings);

/// The entry of that name in a table; nullptr where there is none.
template <class Rows>
auto entry_named(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
  for (const auto& row : rows)
    if (name == row.name) return &row;
  return nullptr;
}

/// The names of a table, in its order.
template <class Rows>
std::string names_in_table(const Rows& rows, const char* between) {
  std::string names;
  for (const auto& row : rows) names += std::string(names.empty() ? "" : between) + row.name;
  return names;
}

/// Unit names from arguments, each of which may have several, separated by commas. Commas between the settings of one
/// unit separate nothing: "a,b?x=1,y=2" is a and b?x=1,y=2.
std::vector<std::string> split_units(const std::vector<std::string>& arguments);

/// Whether the text is a pattern for matches_glob() and not a name: it has a *, or a ? but no = of settings.
bool is_glob(std::string_view text);

/// Shell-style match with * and ?; case-sensitive.
bool matches_glob(std::string_view pattern, std::string_view text);
bool matches_any_glob(const std::vector<std::string>& patterns, std::string_view text);

/// The minimum number of characters to insert, remove or replace that turns one text into the other.
size_t edit_distance(std::string_view x, std::string_view y);

}  // namespace mmafuzz
