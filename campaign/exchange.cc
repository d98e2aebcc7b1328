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

constexpr std::string_view mark("mmz\x01", 4);
constexpr size_t length_at = 4, sum_at = 8, head_bytes = 16;  ///< bytes of a record before length, checksum and input
constexpr size_t greatest_input = 1 << 20;                    ///< bytes

void make_folders(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::system_error(error, "cannot write " + folder);
}

}  // namespace

std::string input_record(std::string_view input) {
  std::string record(mark);
  const uint32_t length = static_cast<uint32_t>(input.size());
  const uint64_t sum = fnv1a(input);
  record.append(reinterpret_cast<const char*>(&length), sizeof length);
  record.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return record.append(input);
}

std::vector<std::string> inputs_of_records(std::string_view text, size_t& read_bytes) {
  std::vector<std::string> inputs;
  read_bytes = 0;
  for (size_t start = text.find(mark); start != std::string_view::npos;) {
    uint32_t length = 0;
    uint64_t sum = 0;
    const bool has_head = text.size() - start >= head_bytes;
    if (has_head) {
      std::memcpy(&length, text.data() + start + length_at, sizeof length);
      std::memcpy(&sum, text.data() + start + sum_at, sizeof sum);
    }
    const bool whole = has_head && length <= greatest_input && text.size() - start - head_bytes >= length;
    const std::string_view input = whole ? text.substr(start + head_bytes, length) : "";
    if (whole && fnv1a(input) == sum) {
      inputs.emplace_back(input);
      read_bytes = start + head_bytes + length;
      start = text.find(mark, read_bytes);
    } else {  // cut off, or not written to its end yet: a later record may be whole
      start = text.find(mark, start + 1);
    }
  }
  return inputs;
}

Exchange::Exchange(std::string folder, std::string campaign, std::string shard, std::vector<ExchangedField> fields,
                   bool skips_present)
    : folder_(std::move(folder)), campaign_(std::move(campaign)), shard_(std::move(shard)), fields_(std::move(fields)) {
  make_folders(folder_ + "/told");
  for (const ExchangedField& field : fields_) {
    make_folders(folder_of(field));
    FieldState& state = states_[field.field];
    size_t read_bytes = 0;
    for (const std::string& input : inputs_of_records(content_of_file(sent_file(field)), read_bytes))
      state.known.insert(content_name(input));
    if (skips_present) gained(field, state);
  }
}

/// The inputs that this shard's workers added since the last call.
std::vector<std::string> Exchange::gained(const ExchangedField& field, FieldState& state) const {
  std::vector<std::string> inputs;
  const std::string corpus = corpus_of(field);
  const auto add = [&](std::string input) {
    if (state.known.insert(content_name(input)).second) inputs.push_back(std::move(input));
  };
  if (field.record_bytes) visit_packed_inputs(corpus, field.record_bytes, state.packed_bytes, add);
  if (!field.has_files && field.record_bytes) return inputs;
  for (const std::string& file : new_files(corpus, state.listed)) {
    std::string input = content_of_file(file);
    if (!input.empty() && input.size() <= greatest_input) add(std::move(input));
  }
  return inputs;
}

void Exchange::send(const ExchangedField& field, const std::vector<std::string>& inputs) {
  if (inputs.empty()) return;
  std::string records;
  for (const std::string& input : inputs) records += input_record(input);
  write_once(sent_file(field), records, O_APPEND);
  counts_.sent += inputs.size();
  counts_.bytes_sent += records.size();
}

/// Adds what other shards sent to the shard's corpus. Returns the content_name() of each input, new or not.
std::unordered_set<std::string> Exchange::receive(const ExchangedField& field, FieldState& state) {
  std::unordered_set<std::string> theirs;
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(field), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == shard_ + ".inputs") continue;
    size_t& offset = state.bytes_of_file[name];
    std::error_code gone;
    const uintmax_t size = fs::file_size(entry->path(), gone);
    if (gone || size <= offset) continue;
    const std::string text = content_of_file(entry->path().string(), offset);
    size_t read_bytes = 0;
    std::string packed;
    std::unordered_set<std::string> added;
    for (const std::string& input : inputs_of_records(text, read_bytes)) {
      const std::string name_of_input = content_name(input);
      theirs.insert(name_of_input);
      if (state.known.contains(name_of_input) || !added.insert(name_of_input).second) continue;
      if (field.record_bytes && input.size() == field.record_bytes) packed += input;
      if (field.has_files || input.size() != field.record_bytes) {
        write_input_file(corpus_of(field), input);
        state.listed.insert(name_of_input);
      }
    }
    if (!packed.empty()) write_once(corpus_of(field) + ".inputs", packed, O_APPEND);
    // Only what is written counts as read: after a failure the next call reads the file again from the same place.
    ++counts_.files_read;
    counts_.bytes_received += text.size();
    counts_.received += added.size();
    state.known.merge(added);
    offset += read_bytes;
  }
  if (error) throw std::runtime_error("cannot read " + folder_of(field) + ": " + error.message());
  return theirs;
}

void Exchange::run() {
  for (const ExchangedField& field : fields_) {
    FieldState& state = states_[field.field];
    if (!fs::is_directory(folder_of(field))) throw std::runtime_error("the folder " + folder_of(field) + " is gone");
    std::vector<std::string> inputs = gained(field, state);
    try {
      const std::unordered_set<std::string> theirs = receive(field, state);
      std::erase_if(inputs, [&](const std::string& input) { return theirs.count(content_name(input)) > 0; });
      send(field, inputs);
    } catch (...) {  // nothing was sent: the next call reads the inputs again
      for (const std::string& input : inputs) state.known.erase(content_name(input));
      if (!inputs.empty()) {
        state.packed_bytes = 0;
        state.listed.clear();
      }
      throw;
    }
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
