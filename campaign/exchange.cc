#include "campaign/exchange.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "campaign/corpus.h"
#include "core/fnv1a.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr char mark[4] = {'m', 'm', 'z', '\x01'};
constexpr size_t head_bytes = 16;  ///< mark, length, checksum
constexpr size_t greatest_input = 1 << 20;

void make_folders(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::system_error(error, "cannot write " + folder);
}

}  // namespace

std::string input_record(std::string_view input) {
  std::string record(mark, sizeof mark);
  const uint32_t length = static_cast<uint32_t>(input.size());
  const uint64_t sum = fnv1a(input);
  record.append(reinterpret_cast<const char*>(&length), sizeof length);
  record.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return record.append(input);
}

std::vector<std::string> inputs_of_records(std::string_view text, size_t& done) {
  std::vector<std::string> inputs;
  done = 0;
  for (size_t start = text.find(std::string_view(mark, sizeof mark)); start != std::string_view::npos;) {
    uint32_t length = 0;
    uint64_t sum = 0;
    const bool has_head = text.size() - start >= head_bytes;
    if (has_head) {
      std::memcpy(&length, text.data() + start + 4, sizeof length);
      std::memcpy(&sum, text.data() + start + 8, sizeof sum);
    }
    const bool whole = has_head && length <= greatest_input && text.size() - start - head_bytes >= length;
    const std::string_view input = whole ? text.substr(start + head_bytes, length) : "";
    if (whole && fnv1a(input) == sum) {
      inputs.emplace_back(input);
      done = start + head_bytes + length;
      start = text.find(std::string_view(mark, sizeof mark), done);
    } else {  // cut off, or not written to its end yet: a later record may be whole
      start = text.find(std::string_view(mark, sizeof mark), start + 1);
    }
  }
  return inputs;
}

Exchange::Exchange(std::string folder, std::string own, std::string shard, std::vector<ExchangedField> fields,
                   bool skip_present)
    : folder_(std::move(folder)), own_(std::move(own)), shard_(std::move(shard)), fields_(std::move(fields)) {
  make_folders(folder_ + "/told");
  for (const ExchangedField& field : fields_) {
    make_folders(folder_of(field));
    FieldState& state = states_[field.field];
    size_t done = 0;
    for (const std::string& input : inputs_of_records(content_of_file(sent_file(field)), done))
      state.known.insert(content_name(input));
    if (skip_present) gained(field, state);
  }
}

/// The inputs that this shard's workers added since the last call.
std::vector<std::string> Exchange::gained(const ExchangedField& field, FieldState& state) const {
  std::vector<std::string> inputs;
  const std::string corpus = own_ + "/corpus/" + field.field;
  if (field.record_bytes) {
    const std::string packed = content_of_file(corpus + ".inputs", state.packed);
    for (size_t start = 0; start + field.record_bytes <= packed.size(); start += field.record_bytes) {
      state.packed += field.record_bytes;
      std::string input = packed.substr(start, field.record_bytes);
      if (state.known.insert(content_name(input)).second) inputs.push_back(std::move(input));
    }
  }
  if (!field.with_files && field.record_bytes) return inputs;
  std::error_code error;
  for (fs::directory_iterator entry(corpus, error), end; !error && entry != end; entry.increment(error)) {
    if (!state.listed.insert(entry->path().filename().string()).second) continue;
    std::string input = content_of_file(entry->path().string());
    if (!input.empty() && input.size() <= greatest_input && state.known.insert(content_name(input)).second)
      inputs.push_back(std::move(input));
  }
  return inputs;
}

void Exchange::send(const ExchangedField& field, FieldState& state, const std::vector<std::string>& inputs) {
  if (inputs.empty()) return;
  std::string records;
  for (const std::string& input : inputs) records += input_record(input);
  try {
    write_once(sent_file(field), records, O_APPEND);
  } catch (...) {
    for (const std::string& input : inputs) state.known.erase(content_name(input));
    state.packed = 0;  // they are read again
    state.listed.clear();
    throw;
  }
  counts_.sent += inputs.size();
  counts_.bytes_sent += records.size();
}

/// Adds what other shards sent to the own corpus. Returns the content_name() of each input, new or not.
std::unordered_set<std::string> Exchange::receive(const ExchangedField& field, FieldState& state) {
  std::unordered_set<std::string> theirs;
  const std::string corpus = own_ + "/corpus/" + field.field;
  std::string packed;
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(field), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == shard_ + ".inputs") continue;
    size_t& offset = state.read[name];
    std::error_code gone;
    const uintmax_t size = fs::file_size(entry->path(), gone);
    if (gone || size <= offset) continue;
    const std::string text = content_of_file(entry->path().string(), offset);
    ++counts_.files_read;
    counts_.bytes_received += text.size();
    size_t done = 0;
    for (const std::string& input : inputs_of_records(text, done)) {
      std::string known_as = content_name(input);
      theirs.insert(known_as);
      if (!state.known.insert(known_as).second) continue;
      ++counts_.received;
      if (field.record_bytes && input.size() == field.record_bytes) packed += input;
      if (field.with_files || input.size() != field.record_bytes) {
        write_input_file(corpus, input);
        state.listed.insert(std::move(known_as));
      }
    }
    offset += done;
  }
  if (error) throw std::runtime_error("cannot read " + folder_of(field) + ": " + error.message());
  if (!packed.empty()) write_once(corpus + ".inputs", packed, O_APPEND);
  return theirs;
}

void Exchange::run() {
  for (const ExchangedField& field : fields_) {
    FieldState& state = states_[field.field];
    if (!fs::is_directory(folder_of(field))) throw std::runtime_error("the folder " + folder_of(field) + " is gone");
    std::vector<std::string> inputs = gained(field, state);
    const std::unordered_set<std::string> theirs = receive(field, state);
    std::erase_if(inputs, [&](const std::string& input) { return theirs.count(content_name(input)) > 0; });
    send(field, state, inputs);
  }
}

bool Exchange::claim(const std::string& line) {
  const std::string file = folder_ + "/told/" + content_name(line);
  const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (out < 0) return errno != EEXIST;
  const std::string text = line + "\n" + shard_ + "\n";
  (void)!write(out, text.data(), text.size());  // only the name of the file matters
  close(out);
  return true;
}

}  // namespace mmafuzz
