#include "core/divergence_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "core/case_text.h"
#include "core/fnv1a.h"

namespace mmafuzz {
namespace {

constexpr std::string_view severity_word = "# severity ";
constexpr int max_records = 256;         ///< of one key in one segment
constexpr int records_with_before = 16;  ///< how many of them have the earlier cases

/// What a new writer puts first: the header in a new file, and a line end behind half a record of a killed process. A
/// reader finds both records before one end line; it takes the last key there, which is that of the complete record.
std::string opening_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (text.empty()) return case_text_start;
  return text.ends_with(record_end) || text == case_text_start ? "" : "\n# cut off\n";
}

/// The record in the text between two end lines; nullopt where there is no complete one.
std::optional<LoggedDivergence> parse_record(std::string_view body) {
  const size_t key = body.rfind("# mmafuzz: divergence ");  // half a record may stand before the complete one
  if (key == std::string_view::npos) return {};
  LoggedDivergence d;
  d.text = std::string(body.substr(key));
  const size_t key_end = d.text.find('\n');
  const size_t severity = d.text.find(severity_word);
  // A record that was cut off before its last line break, or lacks a part, is not complete.
  if (key_end == std::string::npos || severity == std::string::npos || d.text.back() != '\n' ||
      d.text.find("\nop ") == std::string::npos)
    return {};
  d.key = d.text.substr(2, key_end - 2);
  const std::string_view word = std::string_view(d.text).substr(severity + severity_word.size());
  d.severity = word.starts_with("contract")   ? Severity::contract
               : word.starts_with("accuracy") ? Severity::accuracy
                                              : Severity::semantic;
  return d;
}

}  // namespace

std::string divergence_record(const Divergence& d, bool before) {
  const Op& op = d.cases.op();
  std::string text = "# " + d.key.to_string() + "\n" + std::string(severity_word) + name_of(d.severity) + "\n# results";
  for (const uint64_t result : d.results) text += " " + to_hex(op.result_format(d.element), result);
  text += "\nproperty " + d.key.property;
  for (const std::string& unit : d.key.units) text += " " + unit;
  text += "\n" + to_text(op) + "\n";
  for (size_t i = 0; i < d.cases.size(); ++i) text += case_line(d.cases, i) + "\n";
  for (size_t i = 0; before && i < d.before.size(); ++i)
    text += std::string(before_word) + case_line(d.before, i) + "\n";
  return text;
}

DivergenceLog::DivergenceLog(const std::string& path) : path_(path) {
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  const std::string start = opening_line(path);
  if (write(file_, start.data(), start.size()) != static_cast<ssize_t>(start.size()))
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  read_segment(path, 0, [&](const LoggedDivergence& d) {
    Written& written = keys_[d.key];
    ++written.records;
    written.earlier.insert(fnv1a(d.text.substr(0, d.text.find(before_word))));
  });
}

DivergenceLog::~DivergenceLog() { close(file_); }

bool DivergenceLog::add(const Divergence& divergence, uint64_t count) {
  const auto [entry, is_new] = keys_.try_emplace(divergence.key.to_string());
  Written& written = entry->second;
  if (!written.seen.add(count)) return is_new;
  std::string record = divergence_record(divergence);
  if (const auto same = written.earlier.find(fnv1a(record)); same != written.earlier.end()) {
    written.earlier.erase(same);
    return is_new;
  }
  if (written.records >= max_records) return is_new;
  ++written.records;
  if (written.records <= records_with_before) record = divergence_record(divergence, /*before=*/true);
  record += record_end;
  if (write(file_, record.data(), record.size()) != static_cast<ssize_t>(record.size()))
    throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
  return is_new;
}

std::string_view record_line(std::string_view text, std::string_view word) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (text.substr(at).starts_with(word)) return text.substr(at, end - at);
    at = end + 1;
  }
  return {};
}

size_t read_segment(const std::string& path, size_t offset, const std::function<void(LoggedDivergence)>& record) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return offset;
  file.seekg(static_cast<std::streamoff>(offset));
  constexpr size_t piece = size_t{1} << 20;  // a segment may be larger than memory
  std::string text;
  size_t done = offset;  // position in the file before which every record was delivered
  for (bool more = true; more;) {
    const size_t old_size = text.size();
    text.resize(old_size + piece);
    file.read(text.data() + old_size, piece);
    text.resize(old_size + static_cast<size_t>(file.gcount()));
    more = file.gcount() == static_cast<std::streamsize>(piece);
    size_t at = done == 0 && text.starts_with(case_text_start) ? std::string_view(case_text_start).size() : 0;
    for (size_t end = text.find(record_end, at); end != std::string::npos; end = text.find(record_end, at)) {
      const std::string_view body = std::string_view(text).substr(at, end - at);
      at = end + record_end.size();
      if (std::optional<LoggedDivergence> whole = parse_record(body)) record(std::move(*whole));
    }
    text.erase(0, at);
    done += at;
  }
  return done;
}

}  // namespace mmafuzz
