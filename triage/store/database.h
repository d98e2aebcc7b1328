// An SQLite file of one kind: opened with care, upgraded in place, and errors that say what to do. Nothing is written
// to a file that is damaged, newer than this program, or somebody else's.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mmafuzz {

/// Errors of everything here are std::runtime_error with one line: the file, what is wrong, what to do.
enum class Access { read, write };

class Database;

/// What a file must be. Script number i upgrades version i to i + 1; a new file runs them all.
struct DatabaseKind {
  const char* name;  ///< for messages: "mmafuzz store"
  uint32_t application_id;
  std::span<const char* const> upgrades;
  void (*add_functions)(sqlite3*) = nullptr;  ///< of its own, which its scripts and statements use
  int newest_version() const { return static_cast<int>(upgrades.size()); }
};

class Database {
 public:
  /// `write` creates the file where there is none. `read` changes and creates nothing that stays: it also works on
  /// files and in folders that are read-only, and a file of an older version is upgraded in memory.
  Database(const std::string& path, Access access, const DatabaseKind& kind);

  const std::string& path() const { return path_; }

  void run(const char* sql) const;
  /// All writes or none, also when the process is killed. Inside of another atomically() it is part of that one.
  void atomically(const std::function<void()>& writes);
  /// What is read inside is one state of the file, whoever writes meanwhile.
  void in_one_state(const std::function<void()>& reads) const;

  /// Gives free pages back, where there is room to do so.
  void shrink() const;
  int64_t number(const char* sql) const;

  [[noreturn]] void fail(int code) const;

 private:
  friend class Statement;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;
  Prepared prepared(const char* sql) const;
  void keep(Prepared statement) const;

  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  void check(const DatabaseKind& kind) const;
  std::string first_damage() const;
  void upgrade(const DatabaseKind& kind);
  void copy_to_memory();
  void within(const char* begin, const std::function<void()>& body) const;

  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
  mutable std::map<std::string, Prepared> idle_;  ///< statements by their text: preparing one takes longer than a row
};

/// An argument that is bytes, not text.
struct Blob {
  std::string_view bytes;
};

/// One SQL statement, prepared once; arguments stand for its question marks in order.
class Statement {
 public:
  Statement(const Database& database, const char* sql) : database_(&database), statement_(database.prepared(sql)) {}
  ~Statement() { database_->keep(std::move(statement_)); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Runs it to its end.
  template <class... Arguments>
  void run(const Arguments&... arguments) {
    start(arguments...);
    while (next()) {}
  }
  /// Begins anew; next() then moves to the first row.
  template <class... Arguments>
  Statement& start(const Arguments&... arguments) {
    sqlite3_reset(statement_.get());
    int position = 0;
    (bind(++position, arguments), ...);
    return *this;
  }
  /// Passes all values of another statement's row.
  void run_with_row_of(const Statement& row);

  bool next();
  int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  uint64_t natural(int column) const { return static_cast<uint64_t>(integer(column)); }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  std::string text(int column) const;

 private:
  void bind(int position, std::string_view value);
  void bind(int position, Blob value);
  void bind(int position, double value);
  void bind(int position, int64_t value);
  void bind(int position, uint64_t value) { bind(position, static_cast<int64_t>(value)); }

  const Database* database_;
  Database::Prepared statement_;
};

}  // namespace mmafuzz
