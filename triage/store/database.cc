#include "triage/store/database.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr int busy_timeout_ms = 10000;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

uintmax_t size_of(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

bool is_writable(const std::string& path) { return access(path.c_str(), W_OK) == 0; }
std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

/// Whether SQLite has a transaction in a -wal or -journal file: the database file alone is then incomplete.
bool has_pending_writes(const std::string& path) {
  return size_of(path + "-wal") > 0 || size_of(path + "-journal") > 0;
}

std::string damaged(const std::string& detail) {
  return "the store is damaged (" + detail +
         "); nothing was changed: restore a copy of it, or merge the stores that went into it again";
}

std::string foreign(const DatabaseKind& kind) {
  return std::string("not a ") + kind.name + "; nothing was changed: give another file name";
}

constexpr int header_bytes = 100;
using Header = std::array<char, header_bytes>;

/// Reads the first bytes of the file; false where it is shorter. It uses SQLite's file functions: a plain close() would
/// drop the locks that this process has on the file through another connection
/// (https://www.sqlite.org/howtocorrupt.html, section 2.2).
bool read_header(const std::string& path, Header& header) {
  sqlite3_initialize();
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  const std::unique_ptr<const char, void (*)(sqlite3_filename)> name(
      sqlite3_create_filename(path.c_str(), "", "", 0, nullptr), sqlite3_free_filename);
  std::vector<char> memory(static_cast<size_t>(system->szOsFile));
  sqlite3_file* file = reinterpret_cast<sqlite3_file*>(memory.data());
  int code = system->xOpen(system, name.get(), file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nullptr);
  if (code != SQLITE_OK) refuse(path, "cannot be read");
  code = file->pMethods->xRead(file, header.data(), header_bytes, 0);
  file->pMethods->xClose(file);
  return code == SQLITE_OK;
}

/// Checks the header before SQLite opens the file (layout: https://www.sqlite.org/fileformat2.html, section 1.3).
void check_header(const std::string& path, const DatabaseKind& kind) {
  Header header{};
  const bool whole = read_header(path, header);
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(header[at + i]);
    return value;
  };
  if (!whole || std::memcmp(header.data(), "SQLite format 3", 16) != 0)
    refuse(path, foreign(kind) + " (or its header is damaged)");
  const uint32_t page_field = number(16) >> 16, page_size = page_field == 1 ? 65536 : page_field;
  const uintmax_t pages = number(28), size = size_of(path);
  if (!has_pending_writes(path) && pages * page_size > size)
    refuse(path, damaged("truncated: " + std::to_string(size) + " of " + std::to_string(pages * page_size) + " bytes"));
}

/// A URI that declares the file as one that no process writes: SQLite then needs no locks and no files beside it.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
  return uri + "?immutable=1";
}

/// Whether the disk has room for the small files that readers share beside a store: the -shm file has 32 KiB at first.
bool has_room(const std::string& path) {
  constexpr uintmax_t least = 1 << 17;  // bytes
  std::error_code error;
  const fs::space_info space = fs::space(folder_of(path), error);
  return error || space.available >= least;
}

}  // namespace

Database::Database(const std::string& path, Access access, const DatabaseKind& kind) {
  if (path.empty()) throw std::runtime_error("the file name of the store is empty");
  std::error_code error;
  const fs::path file = fs::weakly_canonical(fs::absolute(path), error);  // SQLite follows no link
  path_ = error ? fs::absolute(path).string() : file.string();
  error.clear();
  const fs::file_status status = fs::status(path_, error);
  const bool exists = fs::exists(status);
  if (exists && !fs::is_regular_file(status))
    refuse(path_, fs::is_directory(status) ? "is a folder, not a store" : "is no regular file");
  if (status.type() == fs::file_type::none || status.type() == fs::file_type::unknown)
    refuse(path_, "cannot be read: " + error.message());
  if (!exists && access == Access::read) refuse(path_, "no such store");
  if (exists && ::access(path_.c_str(), R_OK) != 0)
    refuse(path_, std::string("cannot be read: ") + std::strerror(errno));
  if (access == Access::write && !fs::is_directory(folder_of(path_)))
    refuse(path_, "cannot be written: its folder does not exist");
  if (access == Access::write && !(is_writable(folder_of(path_)) && (!exists || is_writable(path_))))
    refuse(path_,
           std::string("cannot be written: ") + std::strerror(errno) + "; copy the store to a folder that is writable");
  const bool is_new = size_of(path_) == 0 && !has_pending_writes(path_);  // or a process was killed as it created it
  if (is_new && access == Access::read) refuse(path_, "is empty, no store");
  if (!is_new && size_of(path_ + "-journal") == 0) check_header(path_, kind);

  const bool is_pending = has_pending_writes(path_);
  sqlite3* connection = nullptr;
  int code;
  const bool can_read_as_writer =
      is_writable(folder_of(path_)) && is_writable(path_) && (is_pending || has_room(path_));
  if (access == Access::write || can_read_as_writer) {
    code =
        sqlite3_open_v2(path_.c_str(), &connection, SQLITE_OPEN_READWRITE | (is_new ? SQLITE_OPEN_CREATE : 0), nullptr);
  } else if (is_pending) {
    code = sqlite3_open_v2(path_.c_str(), &connection, SQLITE_OPEN_READONLY, nullptr);
  } else {
    code = sqlite3_open_v2(immutable_uri(path_).c_str(), &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  }
  connection_.reset(connection);
  try {
    if (code != SQLITE_OK) fail(code);
    sqlite3_busy_timeout(connection, busy_timeout_ms);
    // A file that turns out to be damaged keeps its pending writes where they are.
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_pending ? 1 : 0, nullptr);
    if (kind.add_functions) kind.add_functions(connection);
    run("PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON");
    check(kind);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    const bool is_old = number("PRAGMA user_version") < kind.newest_version();
    if (access == Access::read && is_old) {
      copy_to_memory();
      if (kind.add_functions) kind.add_functions(connection_.get());
    }
    if (is_old) upgrade(kind);
    if (is_old && access == Access::write && !is_new) shrink();
    // Fails while another process opens the file, which then sets the mode.
    if (access == Access::write) sqlite3_exec(connection_.get(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (access == Access::read) run("PRAGMA query_only=ON");
  } catch (...) {
    idle_.clear();
    connection_.reset();
    if (!exists && size_of(path_) == 0) fs::remove(path_, error);
    throw;
  }
}

void Database::check(const DatabaseKind& kind) const {
  const int64_t version = number("PRAGMA user_version");
  const auto is_ours = [&] { return number("PRAGMA application_id") == static_cast<int32_t>(kind.application_id); };
  // is_ours() is asked twice: another process may have created the store in between.
  if (!is_ours() && (version != 0 || number("SELECT count(*) FROM sqlite_master") != 0) && !is_ours())
    refuse(path_, foreign(kind));
  if (version > kind.newest_version())
    refuse(path_, "written by a newer mmafuzz (version " + std::to_string(version) + " of the " + kind.name +
                      ", this one knows up to " + std::to_string(kind.newest_version()) +
                      "); nothing was changed: use that mmafuzz");
  std::string damage = first_damage();
  for (char& c : damage) c = c == '\n' ? ' ' : c;
  if (!damage.empty()) refuse(path_, damaged(damage));
}

/// The first line of SQLite's check; empty where nothing is wrong.
std::string Database::first_damage() const {
  Statement lines(*this, "PRAGMA quick_check(1)");
  lines.next();
  const std::string line = lines.text(0);
  return line == "ok" ? "" : line;
}

void Database::upgrade(const DatabaseKind& kind) {
  atomically([&] {
    // The version is read again, inside the transaction: another process may have upgraded the file.
    for (int64_t version = number("PRAGMA user_version"); version < kind.newest_version(); ++version)
      run(kind.upgrades[static_cast<size_t>(version)]);
    run(("PRAGMA application_id=" + std::to_string(kind.application_id) +
         "; PRAGMA user_version=" + std::to_string(kind.newest_version()))
            .c_str());
  });
}

void Database::copy_to_memory() {
  sqlite3* memory = nullptr;
  const int code = sqlite3_open(":memory:", &memory);
  std::unique_ptr<sqlite3, Close> copy(memory);
  if (code != SQLITE_OK) fail(code);
  sqlite3_backup* backup = sqlite3_backup_init(memory, "main", connection_.get(), "main");
  if (!backup) fail(sqlite3_errcode(memory));
  sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (finished != SQLITE_OK) fail(finished);
  idle_.clear();
  connection_ = std::move(copy);
}

/// A failure is ignored: a later call may have the room that VACUUM needs.
void Database::shrink() const { sqlite3_exec(connection_.get(), "VACUUM", nullptr, nullptr, nullptr); }

int64_t Database::number(const char* sql) const {
  Statement statement(*this, sql);
  statement.next();
  return statement.integer(0);
}

void Database::run(const char* sql) const {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Database::within(const char* begin, const std::function<void()>& body) const {
  if (sqlite3_get_autocommit(connection_.get()) == 0) return body();
  run(begin);
  try {
    body();
    run("COMMIT");
  } catch (...) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);  // done already after some errors
    throw;
  }
}

void Database::atomically(const std::function<void()>& writes) { within("BEGIN IMMEDIATE", writes); }

void Database::in_one_state(const std::function<void()>& reads) const { within("BEGIN", reads); }

void Database::fail(int code) const {
  sqlite3* connection = connection_.get();
  const std::string message = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  // A limit of file sizes shows as an error of writing; a full disk as SQLITE_FULL, or as a -shm file that cannot grow.
  const int extended = connection ? sqlite3_extended_errcode(connection) : 0;
  const bool cannot_grow = extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_SHMSIZE;
  switch (cannot_grow ? SQLITE_FULL : code & 0xff) {  // the low byte is the primary code
    case SQLITE_CORRUPT: refuse(path_, damaged(message));
    case SQLITE_NOTADB:
      refuse(path_, "not a store, or its header is damaged; nothing was changed: give another file name");
    case SQLITE_FULL:
      refuse(path_, "the disk is full or refuses writes; nothing was changed: free space and try again");
    case SQLITE_BUSY:
      refuse(path_, "another process writes the store for more than " + std::to_string(busy_timeout_ms / 1000) +
                        " s; try again later");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      refuse(path_, "cannot be opened or written (" + message +
                        "); copy the store and its -wal file to a folder that is writable");
    default: refuse(path_, message);
  }
}

Database::Prepared Database::prepared(const char* sql) const {
  if (const auto at = idle_.find(sql); at != idle_.end()) {
    Prepared statement = std::move(at->second);
    idle_.erase(at);
    return statement;
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return Prepared(statement);
}

/// Keeps a statement for reuse, reset and without arguments, so that one that ended early does not lock the file.
void Database::keep(Prepared statement) const {
  sqlite3_reset(statement.get());
  sqlite3_clear_bindings(statement.get());
  if (sqlite3_db_handle(statement.get()) == connection_.get())
    idle_[sqlite3_sql(statement.get())] = std::move(statement);
}

bool Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_->fail(code);
  sqlite3_reset(statement_.get());
  return false;
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  return data ? std::string(static_cast<const char*>(data),
                            static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)))
              : "";
}

void Statement::run_with_row_of(const Statement& row) {
  sqlite3_reset(statement_.get());
  for (int i = 0; i < sqlite3_column_count(row.statement_.get()); ++i)
    sqlite3_bind_value(statement_.get(), i + 1, sqlite3_column_value(row.statement_.get(), i));
  while (next()) {}
}

void Statement::bind(int position, std::string_view value) {
  sqlite3_bind_text(statement_.get(), position, value.data() ? value.data() : "", static_cast<int>(value.size()),
                    SQLITE_TRANSIENT);
}
void Statement::bind(int position, Blob value) {
  sqlite3_bind_blob(statement_.get(), position, value.bytes.data() ? value.bytes.data() : "",
                    static_cast<int>(value.bytes.size()), SQLITE_TRANSIENT);
}
void Statement::bind(int position, double value) { sqlite3_bind_double(statement_.get(), position, value); }
void Statement::bind(int position, int64_t value) { sqlite3_bind_int64(statement_.get(), position, value); }

}  // namespace mmafuzz
