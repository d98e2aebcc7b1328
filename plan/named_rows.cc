#include "plan/named_rows.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "core/unit_name.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/unit_alias.h"

namespace mmafuzz {
namespace {

constexpr char first_line[] = "mmafuzz-rows 1";
constexpr char op_word[] = "op";  ///< begins an op line: no row may have this name
constexpr std::string_view on_word = " on ";

/// The files that take_rows() read, and their rows. Threads that read or add hold the lock, because a Python program
/// may take a file while other threads use names. Rows are never moved or changed: pointers to them stay valid.
struct TakenRows {
  std::mutex lock;
  std::vector<std::string> files;
  std::deque<NamedRow> rows;
};
TakenRows& taken_rows() {
  static TakenRows taken;
  return taken;
}

bool same_formats(Op x, const Op& y) {
  x.k = y.k;
  x.nan = y.nan;
  return x == y;
}

void check_name(const std::string& name) {
  const bool plain = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
                     std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; });
  if (!plain) throw BadInput("'" + name + "' is no name of a row: a letter, then letters, digits and _ - .");
  if (name == op_word) throw BadInput("'" + name + "' begins an op line: no row has this name");
  if (name == default_word || registry().knows(name) || (is_alias(name) && !find_named_row(name)))
    throw BadInput("'" + name + "' is the name of another unit");
}

/// The name and the settings: "mychip" and "block=8" of "mychip?block=8".
std::pair<std::string, std::string> split_settings(const std::string& text) {
  const size_t mark = text.find('?');
  return {text.substr(0, mark), mark == std::string::npos ? "" : text.substr(mark + 1)};
}

std::string with_settings(const std::string& unit, const std::string& settings) {
  if (settings.empty()) return unit;
  return unit + (unit.find('?') == std::string::npos ? "?" : ",") + settings;
}

template <typename Rows>
bool has_row(const Rows& rows, const std::string& name, const Op& op) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const NamedRow& row) { return row.name == name && same_formats(row.op, op); });
}

/// The rows, of those that were taken, for which fits(row) is true.
template <typename Fits>
std::vector<const NamedRow*> rows_that(const Fits& fits) {
  TakenRows& taken = taken_rows();
  const std::lock_guard guard(taken.lock);
  std::vector<const NamedRow*> found;
  for (const NamedRow& row : taken.rows)
    if (fits(row)) found.push_back(&row);
  return found;
}

/// Whether the file is missing or empty, so that a saved row begins it.
bool is_new(const std::string& path) { return std::ifstream(path).peek() == std::ifstream::traits_type::eof(); }

bool ends_with_newline(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  file.seekg(-1, std::ios::end);
  return file.get() == '\n';
}

}  // namespace

std::vector<NamedRow> read_rows(const std::string& path) {
  if (path.empty()) throw BadInput("the name of the rows' file is empty");
  if (std::filesystem::is_directory(path)) throw BadInput(path + ": a folder, expected a file of rows");
  std::ifstream file(path);
  if (!file) throw BadInput(path + ": cannot be read");
  std::vector<NamedRow> rows;
  std::optional<Op> op;
  std::string line;
  int number = 0;
  try {
    while (std::getline(file, line)) {
      if (line.ends_with('\r')) line.pop_back();
      if (++number == 1 && line != first_line)
        throw BadInput(std::string("the first line is not '") + first_line + "'");
      if (number == 1 || line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      NamedRow row;
      words >> row.name >> row.unit;
      if (row.name == op_word) {
        op = op_from_text(line);
        continue;
      }
      std::string more;
      if (row.unit.empty() || words >> more) throw BadInput("expected 'NAME UNIT' or an op line");
      if (!op) throw BadInput("a row needs an op line before it");
      check_name(row.name);
      row.op = *op;
      row.unit = bind_or_fail(row.unit, row.op)->name();  // the whole name where the file has a short one
      if (has_row(rows, row.name, row.op))
        throw BadInput("the name " + row.name + " is given twice for '" + to_text(row.op) + "'");
      rows.push_back(std::move(row));
    }
  } catch (const BadInput& error) {
    throw BadInput(path + ":" + std::to_string(number) + ": " + error.what());
  }
  if (number == 0) throw BadInput(path + ": is empty");
  return rows;
}

void check_can_save(const std::string& path, const std::string& name, const Op& op) {
  check_name(name);
  if (path.empty()) throw BadInput("the name of the rows' file is empty");
  std::error_code ignored;
  if (std::filesystem::is_directory(path)) throw BadInput(path + ": a folder, expected a file of rows");
  const bool exists = std::filesystem::exists(path, ignored);
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  if (access(exists ? path.c_str() : folder.c_str(), exists ? R_OK | W_OK : W_OK) != 0)
    throw BadInput(path + ": cannot be written: " + std::strerror(errno));
  if (exists && !is_new(path) && has_row(read_rows(path), name, op))
    throw BadInput(path + " has a row " + name + " for '" + to_text(op) + "' already");
}

void save_row(const std::string& path, const NamedRow& row) {
  check_can_save(path, row.name, row.op);
  const bool begins = is_new(path), glued = !begins && !ends_with_newline(path);
  std::ofstream file(path, std::ios::app);
  if (begins) file << first_line << "\n";
  if (glued) file << "\n";
  file << to_text(row.op) << "\n" << row.name << " " << row.unit << "\n";
  if (!file.flush()) throw BadInput(path + ": cannot be written");
}

void take_rows(const std::string& path) {
  std::error_code ignored;
  const std::string whole = std::filesystem::weakly_canonical(path, ignored).string();
  TakenRows& taken = taken_rows();
  const auto has_file = [&] { return std::find(taken.files.begin(), taken.files.end(), whole) != taken.files.end(); };
  {
    const std::lock_guard guard(taken.lock);
    if (has_file()) return;
  }
  const std::vector<NamedRow> rows = read_rows(path);  // without the lock, which it takes to look names up
  const std::lock_guard guard(taken.lock);
  if (has_file()) return;
  for (const NamedRow& row : rows)
    if (has_row(taken.rows, row.name, row.op))
      throw BadInput(path + ": another file of rows has the name " + row.name + " for '" + to_text(row.op) + "' too");
  taken.rows.insert(taken.rows.end(), rows.begin(), rows.end());
  taken.files.push_back(whole);
}

std::vector<const NamedRow*> find_named_rows(const std::string& text) {
  const std::string name = split_settings(text).first;
  return rows_that([&](const NamedRow& row) { return row.name == name; });
}

const NamedRow* find_named_row(const std::string& text) {
  const std::vector<const NamedRow*> found = find_named_rows(text);
  return found.empty() ? nullptr : found.front();
}

std::optional<Op> op_of_row(const std::string& unit) {
  if (const NamedRow* named = find_named_row(unit)) return named->op;
  const ModelRow* row = find_model_row(UnitName(unit).path);
  return row ? std::optional(row->op) : std::nullopt;
}

std::string unit_of_named_row(const std::string& text, const Op& op) {
  const auto [name, settings] = split_settings(text);
  const std::string& wanted = name;
  const std::vector<const NamedRow*> found =
      rows_that([&](const NamedRow& row) { return row.name == wanted && same_formats(row.op, op); });
  return found.empty() ? "" : with_settings(found.front()->unit, settings);
}

std::vector<std::string> named_rows_of(const Op& op) {
  std::vector<std::string> units;
  for (const NamedRow* row : rows_that([&](const NamedRow& row) { return same_formats(row.op, op); }))
    units.push_back(row->unit);
  return units;
}

bool UnitOnFormats::takes(const Op& other) const { return same_formats(op, other); }

std::optional<UnitOnFormats> unit_on_formats(const std::string& text) {
  const size_t at = text.rfind(on_word);
  if (at == std::string::npos) return {};
  const Result<Op> op = parse_op(text.substr(at + on_word.size()));
  if (!op) return {};
  return UnitOnFormats{text.substr(0, at), *op};
}

std::vector<std::string> without_row_names(const std::vector<std::string>& patterns) {
  const std::vector<const NamedRow*> rows = rows_that([](const NamedRow&) { return true; });
  if (rows.empty()) return patterns;
  std::vector<std::string> whole;
  for (const std::string& pattern : patterns.empty() ? std::vector<std::string>{default_word} : patterns) {
    const auto [name, settings] = split_settings(pattern);
    const bool is_default = pattern == default_word;
    if (is_default || !find_named_row(name)) whole.push_back(pattern);
    for (const NamedRow* row : rows)
      if (is_default || row->name == name)
        whole.push_back(with_settings(row->unit, settings) + std::string(on_word) + op_words(row->op));
  }
  return whole;
}

}  // namespace mmafuzz
