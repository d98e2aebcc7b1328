#include "campaign/corpus.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/case_text.h"
#include "core/fnv1a.h"
#include "search/byte_codec.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

std::string input_of(const Batch& batch, size_t index, size_t focus) {
  const std::vector<uint8_t> bytes =
      encode_case({.op = 0, .focus = static_cast<uint8_t>(focus), .selector = 0}, batch, index);
  return {bytes.begin(), bytes.end()};
}

void append_input(Batch& batch, std::string_view bytes) {
  batch.resize(batch.size() + 1);
  decode_operands(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), batch, batch.size() - 1);
}

}  // namespace

/// FNV-1a and a hash like it with another factor: 128 bits in hexadecimal.
std::string content_name(std::string_view bytes) {
  uint64_t second = 0x84222325cbf29ce4u;
  for (const char byte : bytes) second = (second ^ static_cast<uint8_t>(byte)) * 0x9e3779b97f4a7c15u;
  return fmt::format("{:016x}{:016x}", fnv1a(bytes), second);
}

void write_input_file(const std::string& folder, const std::string& bytes) {
  write_once(folder + "/" + content_name(bytes), bytes, O_EXCL);
}

/// One call, so that a reader, or a kill, hardly ever sees a part of an input. A part does no harm: in a file it is an
/// input whose other bytes are 0 (search/byte_codec.h), and in a pack it waits for the rest or is cut off.
void write_once(const std::string& file, const std::string& bytes, int flags) {
  const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (out < 0 && errno == EEXIST) return;
  const ssize_t written = out < 0 ? -1 : write(out, bytes.data(), bytes.size());
  bool good = written == static_cast<ssize_t>(bytes.size());
  int error = written < 0 ? errno : ENOSPC;  // only a part was written: the disk is full
  if (out >= 0 && close(out) != 0 && good) {
    good = false;
    error = errno;
  }
  if (!good) throw std::system_error(error, std::generic_category(), "cannot write " + file);
}

std::vector<std::string> sorted_files(const std::string& folder, std::string_view ending) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().string().ends_with(ending)) files.push_back(entry->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> new_files(const std::string& folder, std::set<std::string>& known) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (known.insert(entry->path().filename().string()).second) files.push_back(entry->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string content_of_file(const std::string& file, size_t offset) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  return {std::istreambuf_iterator<char>(in), {}};
}

void visit_packed_inputs(const std::string& folder, size_t record_bytes, size_t& offset,
                         const std::function<void(std::string)>& visit) {
  const std::string packed = content_of_file(folder + ".inputs", offset);
  for (size_t start = 0; start + record_bytes <= packed.size(); start += record_bytes) {
    offset += record_bytes;
    visit(packed.substr(start, record_bytes));
  }
}

void seed_corpus(const std::string& folder, const Op& op, const std::string& seeds, bool writes_files) {
  constexpr size_t cases_at_once = 1024, focuses = 256;  // an input has one byte for the number of its focus unit
  SharedCorpus corpus(folder, op, writes_files);
  size_t seed = 0;
  for (const std::string& file : sorted_files(seeds, ".cases"))
    visit_cases(file, cases_at_once, [&](const CaseBlock& block) {
      if (!(block.batch.op() == op)) return;
      for (size_t i = 0; i < block.batch.size(); ++i) corpus.add(block.batch, i, seed++ % focuses);
    });
  corpus.flush();
}

void seed_text_corpus(const std::string& folder, const std::string& seeds) {
  fs::create_directories(folder);
  for (const std::string& file : sorted_files(seeds))
    if (fs::is_regular_file(file)) fs::copy_file(file, fs::path(folder) / fs::path(file).filename());
}

SharedCorpus::SharedCorpus(std::string folder, const Op& op, bool writes_files)
    : folder_(std::move(folder)), op_(op), writes_files_(writes_files), record_bytes_(encoded_bytes(op)) {
  fs::create_directories(folder_);
  // Other workers append whole inputs, each with one call, so the part that is cut off was left by a killed process.
  const std::string pack = folder_ + ".inputs";
  std::error_code error;
  if (const uintmax_t size = fs::file_size(pack, error); !error && size % record_bytes_)
    fs::resize_file(pack, size - size % record_bytes_);
}

Batch SharedCorpus::read_new() {
  Batch batch(op_);
  visit_packed_inputs(folder_, record_bytes_, offset_, [&](const std::string& bytes) {
    if (!names_.insert(content_name(bytes)).second) return;
    append_input(batch, bytes);
    if (writes_files_) write_input_file(folder_, bytes);
  });
  for (const std::string& file : new_files(folder_, names_)) append_input(batch, content_of_file(file));
  return batch;
}

void SharedCorpus::add(const Batch& batch, size_t index, size_t focus) {
  const std::string bytes = input_of(batch, index, focus);
  if (!names_.insert(content_name(bytes)).second) return;
  pending_ += bytes;
  if (writes_files_) write_input_file(folder_, bytes);
}

void SharedCorpus::flush() {
  if (!pending_.empty()) write_once(folder_ + ".inputs", pending_, O_APPEND);
  pending_.clear();
}

void write_input(const std::string& folder, const Batch& batch, size_t index, size_t focus) {
  write_input_file(folder, input_of(batch, index, focus));
}

}  // namespace mmafuzz
