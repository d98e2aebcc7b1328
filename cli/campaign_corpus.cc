#include "cli/campaign_corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "search/byte_codec.h"

namespace mmafuzz::cli {
namespace {

namespace fs = std::filesystem;

/// FNV-1a over two starts: 128 bits name an input.
std::string content_name(const std::vector<uint8_t>& bytes) {
  uint64_t first = 0xcbf29ce484222325u, second = 0x84222325cbf29ce4u;
  for (const uint8_t byte : bytes) {
    first = (first ^ byte) * 0x100000001b3u;
    second = (second ^ byte) * 0x100000001b3u;
  }
  return fmt::format("{:016x}{:016x}", first, second);
}

}  // namespace

CorpusFolder::CorpusFolder(std::string folder, std::string scratch, const Op& op) : folder_(std::move(folder)), scratch_(std::move(scratch)), op_(op) {
  fs::create_directories(folder_);
}

Batch CorpusFolder::read_new(size_t limit) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!known_.contains(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  if (names.size() > limit) names.resize(limit);
  Batch batch(op_);
  for (const std::string& name : names) {
    known_.insert(name);
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    if (!file) continue;  // an engine may have removed it
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    batch.resize(batch.size() + 1);
    decode_operands(bytes.data(), bytes.size(), batch, batch.size() - 1);
  }
  return batch;
}

void CorpusFolder::write(const Batch& batch, size_t index, size_t focus) {
  const std::vector<uint8_t> bytes = encode_case({0, static_cast<uint8_t>(focus), 0}, batch, index);
  const std::string name = content_name(bytes);
  if (!known_.insert(name).second) return;
  std::ofstream file(scratch_, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + scratch_ + ": disk full?");
  fs::rename(scratch_, folder_ + "/" + name);
}

}  // namespace mmafuzz::cli
