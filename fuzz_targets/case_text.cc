// case_text: the parser of corpora, recordings and witnesses, on arbitrary bytes. A failure means that a file can crash
// the reader, that an error does not say where it is, or that a case does not survive being written and read again.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "core/case_text.h"
#include "fuzz_targets/status_file.h"
#include "fuzz_targets/target.h"

namespace mmafuzz {
namespace {

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "mmafuzz: divergence case_text parser %s\n%s\nDEDUP_TOKEN: case_text %s\n", what, text.c_str(),
               what);
  std::abort();
}

/// A file of case text with one case of the block, as the writer prints it.
std::string rewritten(const CaseBlock& block, size_t index) {
  std::string text = case_text_start + to_text(block.batch.op()) + "\n" + case_line(block.batch, index);
  if (block.has_expected[index]) text += " | " + to_hex(block.batch.op().d, block.expected.get(index));
  return text + "\n";
}

class CaseText final : public Target {
 public:
  explicit CaseText(const TargetOptions& options) : status_(options.status) {}

  void run(const uint8_t* data, size_t size) override {
    counts_.cases += read(std::string_view(reinterpret_cast<const char*>(data), size));
    if (++counts_.inputs % 1024 == 0 && status_.is_due()) status_.write(counts_);
  }
  void finish() override { status_.write(counts_); }

  size_t replay_cases(const std::string& path) override {
    const std::string text = bytes_of(path);
    return read(text);
  }
  std::vector<std::vector<uint8_t>> encode_cases(const std::string& path) override {
    const std::string text = bytes_of(path);
    return {std::vector<uint8_t>(text.begin(), text.end())};
  }
  std::string decode_input(const uint8_t* data, size_t size) override {
    return {reinterpret_cast<const char*>(data), size};
  }

 private:
  StatusFile status_;
  TargetCounts counts_;

  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static size_t read(std::string_view text) {
    CaseReader reader("input", text);
    CaseBlock block;
    size_t cases = 0;
    while (reader.next(block, 256)) {
      for (size_t i = 0; i < block.batch.size(); ++i) check(block, i);
      cases += block.batch.size();
    }
    if (reader.error() && (reader.error()->message.empty() || reader.error()->line == 0))
      fail("an error does not say what or where", reader.error()->to_string());
    return cases;
  }

  static void check(const CaseBlock& block, size_t index) {
    if (block.batch.op().result().count > 1) return;  // rewritten() prints one encoding as the result
    const std::string text = rewritten(block, index);
    CaseReader reader("rewritten", text);
    CaseBlock again;
    if (!reader.next(again, 2) || reader.error()) fail("a written case does not parse", text);
    if (again.batch.size() != 1 || !(again.batch.op() == block.batch.op())) fail("a written op reads otherwise", text);
    if (rewritten(again, 0) != text) fail("a written case reads otherwise", text);
  }
};

}  // namespace

std::unique_ptr<Target> make_target(const TargetOptions& options) { return std::make_unique<CaseText>(options); }

}  // namespace mmafuzz
