#include "core/batch.h"

namespace mmafuzz {

Batch::Batch(const Op& op, size_t cases) : op_(op) {
  for (const FieldShape& field : op.inputs()) inputs_.emplace_back(field.format, field.count);
  resize(cases);
}

void Batch::resize(size_t cases) {
  size_ = cases;
  for (Column& column : inputs_) column.resize(cases);
}

std::string Batch::bytes_of(size_t index) const {
  std::string bytes;
  for (const Column& column : inputs_)
    bytes.append(reinterpret_cast<const char*>(column.data()) + index * column.stride(), column.stride());
  return bytes;
}

void Batch::append(const Batch& other, size_t index) {
  resize(size_ + 1);
  copy_case(other, index, *this, size_ - 1);
}

Batch Batch::part(size_t first, size_t count) const {
  if (first == 0 && count == size_) return *this;
  Batch part(op_);
  for (size_t i = first; i < first + count; ++i) part.append(*this, i);
  return part;
}

void copy_case(const Batch& source, size_t from, Batch& target, size_t to) {
  for (size_t column = 0; column < source.inputs().size(); ++column) {
    const Column& values = source.inputs()[column];
    std::memcpy(target.inputs()[column].data() + to * values.stride(), values.data() + from * values.stride(),
                values.stride());
  }
}

}  // namespace mmafuzz
