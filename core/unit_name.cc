#include "core/unit_name.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace mmafuzz {

UnitName::UnitName(std::string_view text) {
  const std::string_view plain = text.substr(0, text.find('?'));
  if (plain.size() < text.size()) settings = text.substr(plain.size() + 1);
  const size_t colon = plain.find(':');
  backend = plain.substr(0, colon);
  if (colon != std::string_view::npos) path = plain.substr(colon + 1);
}

std::vector<std::pair<std::string, std::string>> settings_of(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> settings;
  while (!text.empty()) {
    const std::string_view one = text.starts_with("on=") ? text : text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t equals = std::min(one.find('='), one.size());
    settings.emplace_back(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
  }
  return settings;
}

std::string settings_text(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += (text.empty() ? "" : ",") + name + "=" + value;
  return text;
}

std::vector<std::pair<std::string, std::string>> UnitName::each_setting() const { return settings_of(settings); }

std::string UnitName::repeated_setting() const {
  std::set<std::string> seen;
  for (auto& [name, value] : each_setting())
    if (!seen.insert(name).second) return name;
  return "";
}

UnitName UnitName::under(std::string other_backend) const {
  UnitName name = *this;
  name.backend = std::move(other_backend);
  return name;
}

UnitName UnitName::with(const std::string& more) const {
  std::vector<std::pair<std::string, std::string>> all = each_setting();
  for (auto& setting : settings_of(more)) {
    std::erase_if(all, [&](const auto& earlier) { return earlier.first == setting.first; });
    all.push_back(std::move(setting));
  }
  UnitName name = *this;
  name.settings = settings_text(all);
  return name;
}

UnitName UnitName::on(const std::string& unit) const {
  const auto all = each_setting();
  return !all.empty() && all.back().first == "on" ? with("on=" + unit) : *this;
}

std::vector<std::string> split_units(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    bool first = true;
    for (size_t begin = 0; begin <= argument.size();) {
      const size_t end = std::min(argument.find(',', begin), argument.size());
      const std::string part = argument.substr(begin, end - begin);
      const bool is_setting = !first && names.back().find('?') != std::string::npos &&
                              part.find('=') < part.find_first_of(":/?");  // on=model:... is a setting too
      if (is_setting) names.back() += "," + part;
      else names.push_back(part);
      first = false;
      begin = end + 1;
    }
  }
  return names;
}

bool is_glob(std::string_view text) {
  const bool question = text.find('?') != text.npos && text.find('=') == text.npos;
  return text.find('*') != text.npos || question;
}

size_t edit_distance(std::string_view x, std::string_view y) {
  std::vector<size_t> row(y.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= x.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (x[i - 1] != y[j - 1])});
      diagonal = above;
    }
  }
  return row[y.size()];
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matches_any_glob(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return matches_glob(pattern, text); });
}

}  // namespace mmafuzz
