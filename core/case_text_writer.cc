// The writer of case text. Reading its files gives the same bits.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "core/case_text.h"
#include "core/replace_file.h"

namespace mmafuzz {
namespace {

/// Appends `field.count` elements of case `index`, from element `first` on.
void append_field(std::string& line, const FieldShape& field, const Column& column, size_t index, int first = 0) {
  for (int i = 0; i < field.count; ++i) {
    if (first + i) line += ' ';
    line += to_hex(field.format, column.get(index, first + i));
  }
}

}  // namespace

std::string case_line(const Batch& batch, size_t index, const Outcomes* results) {
  std::string line;
  const std::vector<FieldShape> fields = batch.op().inputs();
  for (size_t f = 0; f < fields.size(); ++f) {
    if (f) line += " | ";
    append_field(line, fields[f], batch.inputs()[f], index);
  }
  if (results && results->has_answer(index)) {
    line += " | ";
    int first = 0;
    for (const FieldShape& part : batch.op().results()) {
      append_field(line, part, results->results, index, first);
      first += part.count;
    }
    if (!results->flags.empty() && batch.op().has_flags()) {
      line += " | " + to_hex(results->flags[index], 2);
    }
  }
  return line;
}

struct CaseWriter::Output {
  gzFile zipped = nullptr;
  std::FILE* plain = nullptr;
  bool owned = false;
  std::string temporary;  ///< the file that finish() renames to `target`; empty where the output is written in place
  std::string target;
  bool has_header = false;

  ~Output() {
    if (zipped) gzclose(zipped);
    if (plain && owned) std::fclose(plain);
    if (!temporary.empty()) std::remove(temporary.c_str());
  }
};

CaseWriter::CaseWriter(const std::string& path) : output_(std::make_unique<Output>()), path_(path) {
  if (path == "-") {
    output_->plain = stdout;
  } else {
    const OutputFile file = output_file(path);
    output_->owned = true;
    output_->target = file.path;
    if (file.descriptor < 0) output_->temporary = file.path + ".part" + std::to_string(getpid());
    const int descriptor = file.descriptor < 0
                               ? open(output_->temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                               : file.descriptor;
    if (descriptor >= 0 && path.ends_with(".gz")) output_->zipped = gzdopen(descriptor, "wb");
    else if (descriptor >= 0) output_->plain = fdopen(descriptor, "wb");
    if (descriptor >= 0 && !output_->plain && !output_->zipped) {
      const int error = errno;
      close(descriptor);
      errno = error;
    }
  }
  if (!output_->plain && !output_->zipped) throw std::runtime_error(path + ": cannot write: " + std::strerror(errno));
}

CaseWriter::~CaseWriter() = default;

void CaseWriter::put(const std::string& line) {
  const std::string text = output_->has_header ? line : case_text_start + line;
  output_->has_header = true;
  const size_t written = output_->zipped ? size_t(gzwrite(output_->zipped, text.data(), unsigned(text.size())))
                                         : std::fwrite(text.data(), 1, text.size(), output_->plain);
  if (written != text.size()) throw std::runtime_error(path_ + ": write error: " + std::strerror(errno));
}

void CaseWriter::comment(std::string_view text) { put("# " + std::string(text) + "\n"); }

void CaseWriter::unit(const std::string& name) {
  if (name == last_unit_ || name.empty()) return;
  last_unit_ = name;
  put("unit " + name + "\n");
}

void CaseWriter::property(const std::string& text) {
  if (text == last_property_ || text.empty()) return;
  last_property_ = text;
  put("property " + text + "\n");
}

void CaseWriter::op(const Op& op) {
  const std::string text = to_text(op);
  if (text == last_op_) return;
  last_op_ = text;
  put(text + "\n");
}

void CaseWriter::one_case(const Batch& batch, size_t index, const Outcomes* results) {
  put(case_line(batch, index, results) + "\n");
}

void CaseWriter::finish() {
  if (!output_->has_header) put("");
  bool failed = false;
  if (output_->zipped) {
    failed = gzclose(output_->zipped) != Z_OK;
    output_->zipped = nullptr;
  } else {
    failed = std::fflush(output_->plain) != 0;
  }
  if (!failed && !output_->temporary.empty()) {
    failed = std::rename(output_->temporary.c_str(), output_->target.c_str()) != 0;
    if (!failed) output_->temporary.clear();
  }
  if (failed) throw std::runtime_error(path_ + ": write error: " + std::strerror(errno));
}

}  // namespace mmafuzz
