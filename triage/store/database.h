// An SQLite file of one kind, which is checked when it is opened and upgraded in place. Nothing is written to a file
// that is damaged, newer than this program, or of another application.
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

// Every function below throws std::runtime_error on an error, with one line: the file, what is wrong, what to do.

enum class Access { read, write };

class Database;

/// A kind of file. A new file has version 0; the newest version is the number of scripts.
struct DatabaseKind {
  const char* name;                           ///< for messages: "mmafuzz store"
  uint32_t application_id;                    ///< in the header of every file of this kind
  std::span<const char* const> upgrades;      ///< by version from 0: the SQL script that makes the next version of it
  void (*add_functions)(sqlite3*) = nullptr;  ///< registers SQL functions that scripts and statements use
  int newest_version() const { return static_cast<int>(upgrades.size()); }
};

class Database {
 public:
  /// `write` creates the file where there is none. `read` leaves no changes and no new files: it also works on
  /// read-only files and folders, and upgrades a file of an older version in memory.
  Database(const std::string& path, Access access, const DatabaseKind& kind);

  const std::string& path() const { return path_; }

  void run(const char* sql) const;
  /// Runs `writes` as one transaction: all of them take effect or none, also when the process is killed. Inside another
  /// transaction it is part of that one.
  void atomically(const std::function<void()>& writes);
  /// Runs `reads` on one state of the file, whatever other processes write meanwhile.
  void in_one_state(const std::function<void()>& reads) const;

  /// Returns free pages to the file system; does nothing where the disk has no room for that.
  void shrink() const;
  /// The first column of the first row of a query, as an integer.
  int64_t number(const char* sql) const;

  /// Throws the error of an SQLite result code.
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
  mutable std::map<std::string, Prepared> idle_;  ///< unused, by text: preparing takes longer than a row
};

/// An argument that is bound as bytes, not as text.
struct Blob {
  std::string_view bytes;
};

/// One SQL statement, prepared once. Arguments are bound to its parameters by position.
class Statement {
 public:
  Statement(const Database& database, const char* sql) : database_(&database), statement_(database.prepared(sql)) {}
  ~Statement() { database_->keep(std::move(statement_)); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Runs the statement to its end.
  template <class... Arguments>
  void run(const Arguments&... arguments) {
    start(arguments...);
    while (next()) {}
  }
  /// Starts the statement again; next() then moves to the first row.
  template <class... Arguments>
  Statement& start(const Arguments&... arguments) {
    sqlite3_reset(statement_.get());
    int position = 0;
    (bind(++position, arguments), ...);
    return *this;
  }
  /// Runs the statement to its end, with the values of the current row of another statement as arguments.
  void run_with_row_of(const Statement& row);

  /// Moves to the next row; false at the end. Columns are numbered from 0.
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
