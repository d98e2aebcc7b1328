// The streaming reader. Memory use does not depend on the file's size.
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "arithmetic/round.h"
#include "core/case_text.h"
#include "core/text.h"

namespace mmafuzz {
namespace {

constexpr size_t chunk_bytes = size_t{1} << 18;
constexpr size_t block_bytes = size_t{1} << 22;   // text of a block, after which it ends before `limit` cases
constexpr size_t longest_line = size_t{1} << 25;  // above the widest gemm: 4 * max_elements, 17 characters of fp64 each
constexpr std::string_view header = std::string_view(case_text_start, sizeof case_text_start - 2);

constexpr std::array<uint8_t, 256> make_hex_table() {
  std::array<uint8_t, 256> table{};
  for (auto& entry : table) entry = 0xff;
  for (int i = 0; i < 10; ++i) table[size_t('0' + i)] = uint8_t(i);
  for (int i = 0; i < 6; ++i) table[size_t('a' + i)] = uint8_t(10 + i);
  return table;
}
constexpr std::array<uint8_t, 256> hex_table = make_hex_table();

}  // namespace

std::string CaseTextError::to_string() const {
  std::string text = file;
  if (line) text += ":" + std::to_string(line) + ":" + std::to_string(column);
  return text + ": " + message;
}

/// The text of a file, inflated where its content is gzip (one member or several). `buffer` has the text, raw_ what was
/// read of the file.
struct CaseReader::Input {
  std::FILE* file = nullptr;
  bool owned = false;
  std::vector<char> buffer;  ///< bytes begin .. end - 1 are text that read_line has not returned
  size_t begin = 0, end = 0;
  bool at_end = false;
  std::string error;  ///< why no more can be read; reported after the text that was read before

  ~Input() {
    if (gzip_) inflateEnd(&stream_);
    if (file && owned) std::fclose(file);
  }

  /// Appends up to chunk_bytes of text behind `end`; sets at_end or error when there is no more.
  void fill() {
    if (buffer.size() - end < chunk_bytes) buffer.resize(end + chunk_bytes);
    const size_t before = end;
    while (end == before && !at_end && error.empty()) {
      if (!started_) start();
      if (!gzip_) {
        const size_t kept = std::min(raw_end_ - raw_begin_, chunk_bytes);  // start() read it to look for gzip
        std::memcpy(buffer.data() + end, raw_.data() + raw_begin_, kept);
        raw_begin_ += kept;
        end += kept;
        if (!kept) end += read_file(buffer.data() + end, chunk_bytes, at_end);
      } else {
        inflate_some();
      }
    }
  }

 private:
  size_t read_file(void* to, size_t bytes, bool& ended) {
    const size_t count = std::fread(to, 1, bytes, file);
    if (count == 0) {
      if (std::ferror(file)) error = std::string("cannot read: ") + std::strerror(errno);
      ended = true;
    }
    return count;
  }

  void start() {
    started_ = true;
    raw_.resize(chunk_bytes);
    raw_end_ = read_file(raw_.data(), raw_.size(), raw_ended_);
    // The first two bytes of gzip. Of 15 + 16, 15 is the window, 2^15 bytes, and 16 asks zlib for gzip's header.
    gzip_ = raw_end_ >= 2 && raw_[0] == 0x1f && raw_[1] == 0x8b && inflateInit2(&stream_, 15 + 16) == Z_OK;
    if (raw_ended_ && !gzip_) at_end = true;
  }

  void inflate_some() {
    if (raw_begin_ == raw_end_ && !raw_ended_) {
      raw_begin_ = 0;
      raw_end_ = read_file(raw_.data(), raw_.size(), raw_ended_);
    }
    if (raw_begin_ == raw_end_) {
      if (!between_members_ && error.empty()) error = "gzip data is truncated";
      at_end = true;
      return;
    }
    between_members_ = false;
    stream_.next_in = raw_.data() + raw_begin_;
    stream_.avail_in = static_cast<uInt>(raw_end_ - raw_begin_);
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data() + end);
    stream_.avail_out = static_cast<uInt>(chunk_bytes);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    end += chunk_bytes - stream_.avail_out;
    raw_begin_ = raw_end_ - stream_.avail_in;
    if (code == Z_STREAM_END) {
      between_members_ = true;
      inflateReset(&stream_);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      error = std::string("gzip data is corrupt") + (stream_.msg ? std::string(": ") + stream_.msg : "");
    }
  }

  bool started_ = false, gzip_ = false, raw_ended_ = false, between_members_ = false;
  std::vector<unsigned char> raw_;
  size_t raw_begin_ = 0, raw_end_ = 0;
  z_stream stream_{};
};

CaseReader::CaseReader(const std::string& path)
    : path_(path == "-" ? "<stdin>" : path), input_(std::make_unique<Input>()) {
  if (path == "-") {
    input_->file = stdin;
  } else {
    struct stat info;
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      fail(0, "is a folder, expected a case file");
      return;
    }
    input_->file = std::fopen(path.c_str(), "rb");
    input_->owned = true;
  }
  if (!input_->file) {
    fail(0, std::string("cannot open: ") + std::strerror(errno));
    return;
  }
  read_header();
}

CaseReader::CaseReader(const std::string& name, std::string_view text)
    : path_(name), input_(std::make_unique<Input>()) {
  input_->buffer.assign(text.begin(), text.end());
  input_->end = text.size();
  input_->at_end = true;
  read_header();
}

void CaseReader::read_header() {
  std::string_view text;
  if (!read_line(text)) {
    if (!error_) {
      line_ = 1;
      fail(0, "empty file, expected the first line " + in_quotes(header));
    }
  } else if (text != header) {
    fail(0, "expected the first line " + in_quotes(header) + ", found " + in_quotes(text));
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
    if (newline || (in.at_end && have && in.error.empty())) {
      size_t length = newline ? size_t(static_cast<const char*>(newline) - begin) : have;
      in.begin += length + (newline ? 1 : 0);
      ++line_;
      if (length && begin[length - 1] == '\r') --length;
      text = std::string_view(begin, length);
      return true;
    }
    if (in.at_end || !in.error.empty()) {
      if (in.error.empty()) return false;
      ++line_;
      return fail(0, in.error);
    }
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
    in.fill();
  }
}

bool CaseReader::read_directive(std::string_view text) {
  if (text.starts_with("unit ")) {
    unit_ = text.substr(5);
    unit_.erase(0, unit_.find_first_not_of(' '));
    unit_.erase(unit_.find_last_not_of(' ') + 1);
    if (unit_.empty()) return fail(5, "expected a unit name");
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
    results_ = op_->results();
    return true;
  }
  return fail(0, "expected a case, a comment, 'unit', 'op' or 'property', found " + in_quotes(text));
}

bool CaseReader::read_case(std::string_view text, CaseBlock& block) {
  const size_t index = block.batch.size();
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  const auto offset = [&] { return size_t(p - begin); };
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
        return fail(offset(), std::string("field ") + field.name + ": does not fit " +
                                  std::to_string(field.format.fields().width) + " bits");
      p = after;
      return true;
    }
    const char* stop = p;
    while (stop < end && *stop != ' ' && *stop != '|') ++stop;
    return fail(offset(), std::string("field ") + field.name + ": expected " + std::to_string(digits) +
                              " lower-case hex digits of " + field.format.name() + ", found " +
                              in_quotes(std::string_view(p, size_t(stop - p))));
  };

  block.batch.resize(index + 1);
  block.expected.resize(index + 1);
  const auto drop = [&] {
    block.batch.resize(index);
    block.expected.resize(index);
    return false;
  };
  const auto refuse = [&](std::string message) {
    fail(offset(), std::move(message));
    return drop();
  };
  const size_t inputs = fields_.size();
  for (size_t f = 0; f < inputs; ++f) {
    const FieldShape& field = fields_[f];
    Column& column = block.batch.inputs()[f];
    for (int i = 0; i < field.count; ++i) {
      skip_spaces();
      if (p == end || *p == '|')
        return refuse(std::string("field ") + field.name + ": expected " + std::to_string(field.count) +
                      " encodings, found " + std::to_string(i));
      uint64_t value;
      if (!read_encoding(field, value)) return drop();
      column.set(index, i, value);
    }
    skip_spaces();
    if (f + 1 == inputs && p == end) break;
    if (p == end)
      return refuse(std::string("expected '|' and field ") + (f + 1 < inputs ? fields_[f + 1] : results_[0]).name);
    if (*p != '|')
      return refuse(std::string("field ") + field.name + ": more than " + std::to_string(field.count) + " encodings");
    ++p;
  }
  const bool ends_in_separator = p == end && p != begin && text[text.find_last_not_of(' ')] == '|';
  bool has_expected = false, has_flags = false;
  uint64_t flags = 0;
  skip_spaces();
  if (ends_in_separator) return refuse("expected a result after the last '|'");
  if (p != end) {
    has_expected = true;
    int element = 0;
    for (const FieldShape& field : results_) {
      for (int i = 0; i < field.count; ++i) {
        skip_spaces();
        uint64_t value;
        if (!read_encoding(field, value)) return drop();
        block.expected.set(index, element++, value);
      }
    }
    skip_spaces();
    if (p != end && *p == '|' && op_->has_flags()) {
      ++p;
      skip_spaces();
      static const FieldShape flag_field{"flags", mmafuzz::format("u8"), 1};
      const char* const start = p;
      if (!read_encoding(flag_field, flags)) return drop();
      if (flags & ~uint64_t{flag::all}) {
        p = start;
        return refuse("expected flags, a sum of 01, 02, 04, 08, 10 and 20");
      }
      has_flags = true;
      skip_spaces();
    }
    if (p != end)
      return refuse("expected the end of the line, found " + in_quotes(std::string_view(p, size_t(end - p))));
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
    if (started && directive_seen) {  // another unit, property or op: keep the line for the next block
      pending_ = text;
      has_pending_ = true;
      return true;
    }
    if (!started) start();
    directive_seen = false;
    bytes += text.size();
    if (!read_case(text, block)) break;
  }
  return started && block.batch.size() > 0;
}

void visit_cases(const std::string& path, size_t limit, const std::function<void(const CaseBlock&)>& visit) {
  CaseReader reader(path);
  for (CaseBlock block; reader.next(block, limit);) visit(block);
  if (reader.error()) throw std::runtime_error(reader.error()->to_string());
}

}  // namespace mmafuzz
