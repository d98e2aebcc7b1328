// The streaming reader. Memory use does not depend on the file's size.
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/case_text.h"

namespace mmafuzz {
namespace {

constexpr size_t chunk_bytes = size_t{1} << 18;
constexpr size_t block_bytes = size_t{1} << 22;   // text per block, so that wide cases come in smaller blocks
constexpr size_t longest_line = size_t{1} << 25;  // a gemm case of a million fp64 elements fits; more is a mistake
constexpr std::string_view header = "mmafuzz-cases 1";

constexpr std::array<uint8_t, 256> make_hex_table() {
  std::array<uint8_t, 256> table{};
  for (auto& entry : table) entry = 0xff;
  for (int i = 0; i < 10; ++i) table[size_t('0' + i)] = uint8_t(i);
  for (int i = 0; i < 6; ++i) table[size_t('a' + i)] = uint8_t(10 + i);
  return table;
}
constexpr std::array<uint8_t, 256> hex_table = make_hex_table();

std::string quoted(std::string_view text) {
  constexpr size_t longest = 40;
  std::string shown;
  for (const char ch : text.substr(0, longest)) shown += ch >= ' ' && ch < 127 ? ch : '?';
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace

std::string CaseTextError::to_string() const {
  std::string text = file;
  if (line) text += ":" + std::to_string(line) + ":" + std::to_string(column);
  return text + ": " + message;
}

struct CaseReader::Input {
  gzFile file = nullptr;
  std::vector<char> buffer;
  size_t begin = 0, end = 0;
  bool at_end = false;

  ~Input() {
    if (file) gzclose(file);
  }
};

CaseReader::CaseReader(const std::string& path) : path_(path == "-" ? "<stdin>" : path), input_(std::make_unique<Input>()) {
  if (path == "-") {
    input_->file = gzdopen(dup(0), "rb");
  } else {
    struct stat info;
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      fail(0, "is a folder, expected a case file");
      return;
    }
    errno = 0;
    input_->file = gzopen(path.c_str(), "rb");
  }
  if (!input_->file) {
    fail(0, std::string("cannot open: ") + std::strerror(errno ? errno : ENOMEM));
    return;
  }
  gzbuffer(input_->file, 1 << 17);
  input_->buffer.resize(chunk_bytes);
  std::string_view text;
  if (!read_line(text)) {
    if (!error_) {
      line_ = 1;
      fail(0, "empty file, expected the first line 'mmafuzz-cases 1'");
    }
  } else if (text != header) {
    fail(0, "expected the first line 'mmafuzz-cases 1', found " + quoted(text));
  }
}

CaseReader::~CaseReader() = default;

bool CaseReader::fail(size_t column, std::string message) {
  error_ = CaseTextError{path_, line_, line_ ? column + 1 : 0, std::move(message)};
  return false;
}

bool CaseReader::read_line(std::string_view& text) {
  Input& in = *input_;
  size_t searched = 0;
  for (;;) {
    const char* begin = in.buffer.data() + in.begin;
    const size_t have = in.end - in.begin;
    const void* newline = have > searched ? std::memchr(begin + searched, '\n', have - searched) : nullptr;
    if (newline || (in.at_end && have)) {
      size_t length = newline ? size_t(static_cast<const char*>(newline) - begin) : have;
      in.begin += length + (newline ? 1 : 0);
      ++line_;
      if (length && begin[length - 1] == '\r') --length;
      text = std::string_view(begin, length);
      return true;
    }
    if (in.at_end) return false;
    searched = have;
    if (have > longest_line) {
      ++line_;
      return fail(longest_line, "line longer than " + std::to_string(longest_line >> 20) + " MiB");
    }
    if (in.begin) {
      std::memmove(in.buffer.data(), begin, have);
      in.begin = 0;
      in.end = have;
    }
    if (in.buffer.size() - in.end < chunk_bytes) in.buffer.resize(in.end + chunk_bytes);
    const int got = gzread(in.file, in.buffer.data() + in.end, chunk_bytes);
    int code = Z_OK;
    const char* reason = gzerror(in.file, &code);
    if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END)) {
      ++line_;
      return fail(0, code == Z_BUF_ERROR ? "gzip data is truncated"
                                         : std::string("cannot read: ") + (code == Z_ERRNO ? std::strerror(errno) : reason));
    }
    if (got == 0) {
      in.at_end = true;
    } else {
      in.end += size_t(got);
    }
  }
}

bool CaseReader::read_directive(std::string_view text) {
  if (text.starts_with("unit ")) {
    unit_ = text.substr(5);
    if (unit_.find_first_not_of(' ') == std::string::npos) return fail(5, "expected a unit name");
    return true;
  }
  if (text.starts_with("property ")) {
    property_ = text.substr(9);
    return true;
  }
  if (text.starts_with("op ")) {
    size_t column = 0;
    Result<Op> parsed = parse_op(text.substr(3), column);
    if (!parsed) return fail(3 + column, parsed.refusal().reason);
    op_ = *parsed;
    fields_ = op_->inputs();
    fields_.push_back(op_->result());
    return true;
  }
  return fail(0, "expected a case, a comment, 'unit', 'op' or 'property', found " + quoted(text));
}

bool CaseReader::read_case(std::string_view text, CaseBlock& block) {
  const size_t index = block.batch.size();
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  const auto at = [&](const char* where) { return size_t(where - begin); };
  const auto skip_spaces = [&] {
    while (p < end && *p == ' ') ++p;
  };
  const auto read_encoding = [&](const FieldShape& field, uint64_t& value) {
    const int digits = field.format.digits();
    value = 0;
    int n = 0;
    for (; n < digits && p + n < end; ++n) {
      const uint8_t nibble = hex_table[static_cast<unsigned char>(p[n])];
      if (nibble > 15) break;
      value = value << 4 | nibble;
    }
    const char* after = p + n;
    if (n == digits && (after == end || *after == ' ' || *after == '|')) [[likely]] {
      if (value & ~field.format.fields().container_mask())
        return fail(at(p), std::string("field ") + field.name + ": does not fit " +
                               std::to_string(field.format.fields().width) + " bits");
      p = after;
      return true;
    }
    const char* stop = p;
    while (stop < end && *stop != ' ' && *stop != '|') ++stop;
    return fail(at(p), std::string("field ") + field.name + ": expected " + std::to_string(digits) +
                           " lower-case hex digits of " + field.format.name() + ", found " +
                           quoted(std::string_view(p, size_t(stop - p))));
  };

  block.batch.resize(index + 1);
  const auto drop = [&] {
    block.batch.resize(index);
    return false;
  };
  const size_t inputs = fields_.size() - 1;
  for (size_t f = 0; f < inputs; ++f) {
    const FieldShape& field = fields_[f];
    Column& column = block.batch.inputs()[f];
    for (int i = 0; i < field.count; ++i) {
      skip_spaces();
      if (p == end || *p == '|') {
        fail(at(p), std::string("field ") + field.name + ": expected " + std::to_string(field.count) +
                        " encodings, found " + std::to_string(i));
        return drop();
      }
      uint64_t value;
      if (!read_encoding(field, value)) return drop();
      column.set(index, i, value);
    }
    skip_spaces();
    if (f + 1 == inputs && p == end) break;
    if (p == end) {
      fail(at(p), std::string("expected '|' and field ") + fields_[f + 1].name);
      return drop();
    }
    if (*p != '|') {
      fail(at(p), std::string("field ") + field.name + ": more than " + std::to_string(field.count) + " encodings");
      return drop();
    }
    ++p;
  }
  bool has_expected = false, has_flags = false;
  uint64_t flags = 0;
  block.expected.resize(index + 1);
  skip_spaces();
  if (p != end) {
    has_expected = true;
    const FieldShape& field = fields_.back();
    for (int i = 0; i < field.count; ++i) {
      skip_spaces();
      uint64_t value;
      if (!read_encoding(field, value)) {
        block.expected.resize(index);
        return drop();
      }
      block.expected.set(index, i, value);
    }
    skip_spaces();
    if (p != end && *p == '|' && op_->has_flags()) {
      ++p;
      skip_spaces();
      static const FieldShape flag_field{"flags", mmafuzz::format("u8"), 1};
      if (!read_encoding(flag_field, flags)) {
        block.expected.resize(index);
        return drop();
      }
      has_flags = true;
      skip_spaces();
    }
    if (p != end) {
      block.expected.resize(index);
      fail(at(p), "expected the end of the line, found " + quoted(std::string_view(p, size_t(end - p))));
      return drop();
    }
  }
  block.has_expected.push_back(has_expected);
  block.has_flags.push_back(has_flags);
  block.expected_flags.push_back(static_cast<uint8_t>(flags));
  block.line.push_back(line_);
  return true;
}

bool CaseReader::next(CaseBlock& block, size_t limit) {
  block = CaseBlock{};
  bool started = false;
  const auto start = [&] {
    block.unit = unit_;
    block.property = property_;
    block.batch = Batch(*op_);
    const FieldShape result = op_->result();
    block.expected = Column(result.format, result.count);
    started = true;
  };
  if (has_pending_ && !error_) {
    has_pending_ = false;
    start();
    if (!read_case(pending_, block)) return false;
  }
  bool directive_seen = false;
  size_t bytes = 0;
  std::string_view text;
  while (!error_ && block.batch.size() < limit && bytes < block_bytes && read_line(text)) {
    bytes += text.size();
    if (text.empty() || text[0] == '#') continue;
    const bool is_case = hex_table[static_cast<unsigned char>(text[0])] <= 15 || text[0] == ' ' || text[0] == '|';
    // "a..f" begin both words and encodings; directives are known words followed by a blank.
    if (!is_case || text.starts_with("unit ") || text.starts_with("op ") || text.starts_with("property ")) {
      if (!read_directive(text)) break;
      directive_seen = true;
      continue;
    }
    if (!op_) {
      fail(0, "a case before any 'op' line");
      break;
    }
    if (started && directive_seen) {  // another unit or op: keep the line for the next block
      pending_ = text;
      has_pending_ = true;
      return true;
    }
    if (!started) start();
    directive_seen = false;
    if (!read_case(text, block)) break;
  }
  return started && block.batch.size() > 0;
}

}  // namespace mmafuzz
