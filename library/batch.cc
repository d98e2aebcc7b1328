#include <mmafuzz/batch.h>

#include "core/case_text.h"
#include "library/access.h"
#include "plan/request.h"
#include "plan/typed_case.h"

namespace mmafuzz::v1 {
namespace {

Field field_of(const FieldShape& shape) {
  return {shape.name, shape.format.name(), static_cast<size_t>(shape.count), shape.format.fields().width};
}

}  // namespace

Error::~Error() = default;

Batch Access::batch(::mmafuzz::Batch cases) {
  Batch made(to_text(cases.op()));
  made.content_->cases = std::move(cases);
  made.resize(made.content_->cases.size());  // gives the columns of expected results their length
  return made;
}

Batch::Batch(const std::string& op, size_t cases) : content_(std::make_unique<Content>()) {
  guarded([&] {
    const Op parsed = op_from_text(op);
    content_->cases = ::mmafuzz::Batch(parsed);
    const FieldShape result = parsed.result();
    content_->expected = Column(result.format, result.count);
    content_->op = op_words(parsed);
    for (const FieldShape& shape : parsed.inputs()) content_->fields.push_back(field_of(shape));
    content_->result = field_of(result);
  });
  resize(cases);
}

std::vector<Batch> Batch::read(const std::string& file) {
  return guarded([&] {
    std::vector<Batch> batches;
    CaseReader reader(file);
    for (CaseBlock block; reader.next(block, SIZE_MAX);) {
      Batch batch = Access::batch(std::move(block.batch));
      batch.content_->unit = block.unit;
      batch.content_->expected = std::move(block.expected);
      batch.content_->has_expected = std::move(block.has_expected);
      batch.content_->flags = std::move(block.expected_flags);
      batch.content_->has_flags = std::move(block.has_flags);
      batches.push_back(std::move(batch));
    }
    if (reader.error()) throw Error(reader.error()->to_string());
    return batches;
  });
}

Batch::Batch(const Batch& other) : content_(std::make_unique<Content>(*other.content_)) {}
Batch& Batch::operator=(const Batch& other) { return *this = Batch(other); }  // *this may have been moved from
Batch::Batch(Batch&& other) noexcept = default;
Batch& Batch::operator=(Batch&& other) noexcept = default;
Batch::~Batch() = default;

const std::string& Batch::op() const { return content_->op; }
const std::string& Batch::unit() const { return content_->unit; }
size_t Batch::size() const { return content_->cases.size(); }
const std::vector<Field>& Batch::fields() const { return content_->fields; }
const Field& Batch::result() const { return content_->result; }

void Batch::resize(size_t cases) {
  content_->cases.resize(cases);
  content_->expected.resize(cases);
  for (auto* by_case : {&content_->has_expected, &content_->flags, &content_->has_flags}) by_case->resize(cases);
}

void Batch::add(const std::string& line) {
  guarded([&] {
    const Op& op = content_->cases.op();
    CaseReader reader("case", case_text_start + to_text(op) + "\n" + typed_case(op, line).line + "\n");
    CaseBlock block;
    if (!reader.next(block, /*limit=*/2) || block.batch.size() != 1 || reader.error())
      throw Error(reader.error() ? reader.error()->to_string() : "'" + line + "' is not one case");
    const size_t index = size();
    content_->cases.append(block.batch, 0);
    content_->expected.resize(index + 1);
    content_->has_expected.push_back(block.has_expected[0]);
    content_->flags.push_back(block.expected_flags[0]);
    content_->has_flags.push_back(block.has_flags[0]);
    for (size_t i = 0; i < content_->result.count; ++i)
      content_->expected.set(index, static_cast<int>(i), block.expected.get(0, static_cast<int>(i)));
  });
}

std::string Batch::line(size_t index) const {
  if (index >= size()) throw Error("there is no case " + std::to_string(index));
  if (!content_->has_expected[index]) return case_line(content_->cases, index);
  Outcomes expected;
  expected.results = content_->expected;
  if (content_->has_flags[index]) expected.flags = content_->flags;
  return case_line(content_->cases, index, &expected);
}

uint64_t Batch::get(size_t index, size_t field, size_t element) const {
  if (index >= size() || field >= content_->fields.size() || element >= content_->fields[field].count)
    throw Error("there is no element " + std::to_string(element) + " of field " + std::to_string(field) + " of case " +
                std::to_string(index));
  return content_->cases.inputs()[field].get(index, static_cast<int>(element));
}

void Batch::set(size_t index, size_t field, size_t element, uint64_t encoding) {
  get(index, field, element);  // throws where there is no such element
  const Field& asked = content_->fields[field];
  if (asked.width < 64 && encoding >> asked.width)
    throw Error("an encoding of " + asked.format + " has " + std::to_string(asked.width) + " bits");
  content_->cases.inputs()[field].set(index, static_cast<int>(element), encoding);
}

bool Batch::has_expected(size_t index) const { return index < size() && content_->has_expected[index]; }

std::vector<uint64_t> Batch::expected(size_t index) const {
  if (!has_expected(index)) throw Error("case " + std::to_string(index) + " has no expected result");
  std::vector<uint64_t> encodings;
  for (size_t i = 0; i < content_->result.count; ++i)
    encodings.push_back(content_->expected.get(index, static_cast<int>(i)));
  return encodings;
}

}  // namespace mmafuzz::v1
