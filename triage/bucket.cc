#include "triage/bucket.h"

#include <fmt/core.h>

#include <tuple>

#include "core/fnv1a.h"
#include "core/case_text.h"
#include "core/text.h"

namespace mmafuzz {

const char* name_of(BucketStatus status) {
  switch (status) {
    case BucketStatus::new_bucket: return "new";
    case BucketStatus::known: return "known";
    case BucketStatus::expected: return "expected";
    case BucketStatus::fixed: return "fixed";
  }
  return "";
}

std::string Bucket::id() const { return fmt::format("{:016x}", fnv1a(line())).substr(0, 10); }

std::vector<std::string> reproduction_words(const Bucket& bucket) {
  const std::string units = joined(bucket.key.units, ",");
  std::string op;
  std::vector<std::string> cases;
  for (const std::string& line : words_of(bucket.witness, '\n')) {
    if (line.starts_with("op ")) op = line.substr(3);
    else if (!op.empty() && line[0] != '#') cases.insert(cases.end(), {"--case", line});
  }
  if (cases.empty()) return {};
  if (is_of_sequence(bucket.cause)) cases.push_back("--sequence");
  std::vector<std::string> words = {"explain", "--units", units, "--op", op};
  words.insert(words.end(), cases.begin(), cases.end());
  return words;
}

std::string reproduction_command(const Bucket& bucket, const std::string& program) {
  std::string command;
  for (const std::string& word : reproduction_words(bucket)) command += " " + shell_word(word);
  return command.empty() ? "" : program + command;
}

std::string head_of_witness(const Bucket& b) {
  return case_text_start + ("# " + b.line()) + "\n# " + b.detail + "\n# severity " + name_of(b.severity) + "\n";
}

bool is_minimized(const Bucket& b) { return !b.witness.empty() && b.witness.find(not_minimized) == std::string::npos; }

bool is_accepted(const Bucket& b) { return b.status == BucketStatus::known || b.status == BucketStatus::expected; }

bool came_again(const Bucket& b) { return b.status == BucketStatus::fixed && b.last_seen > b.status_set; }

bool is_grave(const Bucket& b) { return b.severity != Severity::semantic || is_strange(b.cause); }

bool listed_before(const Bucket& x, const Bucket& y) {
  const auto rank = [](const Bucket& b) {
    const int explained = b.cause == unexplained ? 0 : is_strange(b.cause) ? 1 : 2;
    return std::make_tuple(static_cast<int>(b.severity), explained, b.line());
  };
  return rank(x) < rank(y);
}

namespace {
constexpr char extent_words[] = " in structured cases: ";
}

std::string extent_mark(const std::string& fact) { return "; " + fact + extent_words; }

std::string extent_of(const std::string& fact, const std::string& detail) {
  const std::string mark = extent_mark(fact);
  const size_t at = detail.find(mark);
  if (at == std::string::npos) return "";
  return detail.substr(at + mark.size(), detail.find(';', at + 1) - at - mark.size());
}

std::string without_extents(const std::string& detail) {
  const size_t at = detail.find(extent_words);
  return at == std::string::npos ? detail : detail.substr(0, detail.rfind("; ", at));
}

}  // namespace mmafuzz
