#include "triage/store/store_schema.h"

#include <algorithm>
#include <store_sql.h>
#include <string>

namespace mmafuzz {
namespace {

std::string bytes_of(sqlite3_value* value) {
  const void* data = sqlite3_value_blob(value);
  return data ? std::string(static_cast<const char*>(data), static_cast<size_t>(sqlite3_value_bytes(value))) : "";
}

void give(sqlite3_context* context, const std::string& bytes) {
  sqlite3_result_blob(context, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
}

void unite(std::string& all, const std::string& more) {
  all.resize(std::max(all.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) all[i] = static_cast<char>(all[i] | more[i]);
}

/// The SQL function united(x, y): the union of two sets of bins.
void united(sqlite3_context* context, int, sqlite3_value** arguments) {
  std::string all = bytes_of(arguments[0]);
  unite(all, bytes_of(arguments[1]));
  give(context, all);
}

/// The SQL aggregate united_all(bits): the union over the records of a group.
void united_step(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto** bytes = static_cast<std::string**>(sqlite3_aggregate_context(context, sizeof(std::string*)));
  if (!*bytes) *bytes = new std::string;
  unite(**bytes, bytes_of(arguments[0]));
}
void united_end(sqlite3_context* context) {
  auto** bytes = static_cast<std::string**>(sqlite3_aggregate_context(context, 0));
  give(context, bytes && *bytes ? **bytes : "");
  if (bytes) delete *bytes;
}

void add_store_functions(sqlite3* connection) {
  constexpr int plain = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  sqlite3_create_function(connection, "united", 2, plain, nullptr, united, nullptr, nullptr);
  sqlite3_create_function(connection, "united_all", 1, plain, nullptr, nullptr, united_step, united_end);
}

}  // namespace

void set_bit(std::string& bytes, size_t bit) {
  if (bytes.size() <= bit / 8) bytes.resize(bit / 8 + 1);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] | 1 << bit % 8);
}

bool has_bit(const std::string& bytes, size_t bit) { return bit / 8 < bytes.size() && bytes[bit / 8] >> bit % 8 & 1; }

const DatabaseKind& store_kind() {
  // docs/store.sql is version 1. For a version 2, copy that text here and add the script that upgrades it.
  static const char* const upgrades[] = {store_sql};
  static const DatabaseKind kind{"mmafuzz store", 0x6d6d6166, upgrades, add_store_functions};
  return kind;
}

}  // namespace mmafuzz
