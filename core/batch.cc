#include "core/batch.h"

namespace mmafuzz {

Batch::Batch(const Op& op) : op_(op) {
  for (const FieldShape& field : op.inputs()) inputs_.emplace_back(field.format, field.count);
}

void Batch::resize(size_t cases) {
  size_ = cases;
  for (Column& column : inputs_) column.resize(cases);
}

void Batch::append(const Batch& other, size_t index) {
  resize(size_ + 1);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Column& to = inputs_[i];
    std::memcpy(to.data() + (size_ - 1) * to.stride(), other.inputs_[i].data() + index * to.stride(), to.stride());
  }
}

Batch Batch::part(size_t first, size_t count) const {
  if (first == 0 && count == size_) return *this;
  Batch part(op_);
  for (size_t i = first; i < first + count; ++i) part.append(*this, i);
  return part;
}

}  // namespace mmafuzz
