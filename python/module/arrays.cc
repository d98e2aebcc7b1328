#include "python/module/arrays.h"

#include <algorithm>

namespace mmafuzz::python {
namespace {

/// The same positions in the same order on fewer axes: neighbours that one stride covers become one axis.
std::vector<Axis> merged(const std::vector<Axis>& axes) {
  std::vector<Axis> fewer;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!fewer.empty() && fewer.back().stride == axis.stride * axis.extent)
      fewer.back() = {fewer.back().extent * axis.extent, axis.stride};
    else fewer.push_back(axis);
  }
  return fewer;
}

}  // namespace

Cursor::Cursor(const std::vector<Axis>& axes, size_t index) : axes_(axes), indices_(axes.size()) {
  for (size_t i = axes.size(); i-- > 0;) {
    indices_[i] = static_cast<int64_t>(index % static_cast<size_t>(axes[i].extent));
    index /= static_cast<size_t>(axes[i].extent);
    offset_ += indices_[i] * axes[i].stride;
  }
}

void Cursor::next() {
  for (size_t i = axes_.size(); i-- > 0;) {
    offset_ += axes_[i].stride;
    if (++indices_[i] < axes_[i].extent) return;
    offset_ -= axes_[i].extent * axes_[i].stride;
    indices_[i] = 0;
  }
}

void gather(const uint8_t* from, int64_t stride, size_t count, int bytes, uint8_t* to) {
  if (stride == bytes) {
    std::memcpy(to, from, count * size_t(bytes));
    return;
  }
  with_integer(bytes, [&]<class T>(T) {
    for (size_t i = 0; i < count; ++i, from += stride, to += sizeof(T)) std::memcpy(to, from, sizeof(T));
  });
}

void repeat(uint8_t* block, size_t bytes, size_t times) {
  for (size_t done = 1; done < times; done *= 2)
    std::memcpy(block + done * bytes, block, std::min(done, times - done) * bytes);
}

FieldArray::FieldArray(const Codes& codes, size_t case_dimensions)
    : data_(static_cast<const uint8_t*>(codes.data())), bytes_(static_cast<int64_t>(codes.itemsize())) {
  std::vector<Axis> batch_axes, case_axes;
  for (size_t i = 0; i < codes.ndim(); ++i)
    (i + case_dimensions < codes.ndim() ? batch_axes : case_axes)
        .push_back({static_cast<int64_t>(codes.shape(i)), codes.stride(i) * bytes_});
  batch_axes_ = merged(batch_axes);
  case_axes_ = merged(case_axes);
}

void FieldArray::copy(size_t first, size_t count, Column& to) const {
  const bool is_contiguous = case_axes_.empty() || (case_axes_.size() == 1 && case_axes_[0].stride == bytes_);
  const int64_t stride = static_cast<int64_t>(to.stride());
  if (is_contiguous && batch_axes_.size() == 1 && batch_axes_[0].stride == stride) {
    std::memcpy(to.data(), data_ + static_cast<int64_t>(first) * stride, count * to.stride());
    return;
  }
  const Axis inner = case_axes_.empty() ? Axis{1, bytes_} : case_axes_.back();
  const std::vector<Axis> outer(case_axes_.begin(), case_axes_.empty() ? case_axes_.end() : case_axes_.end() - 1);
  const size_t rows = size_t(to.count()) / size_t(inner.extent);
  Cursor case_start(batch_axes_, first);
  uint8_t* out = to.data();
  for (size_t i = 0; i < count; ++i, case_start.next()) {
    Cursor row_start(outer, 0);
    for (size_t row = 0; row < rows; ++row, row_start.next(), out += inner.extent * bytes_)
      gather(data_ + case_start.offset() + row_start.offset(), inner.stride, size_t(inner.extent), int(bytes_), out);
  }
}

}  // namespace mmafuzz::python
