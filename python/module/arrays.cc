#include "python/module/arrays.h"

#include <algorithm>

namespace mmafuzz::python {
namespace {

/// The same positions in the same order on fewer axes: neighbours that one stride covers become one axis.
std::vector<Axis> merged(const std::vector<Axis>& axes) {
  std::vector<Axis> all;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!all.empty() && all.back().stride == axis.stride * axis.extent)
      all.back() = {all.back().extent * axis.extent, axis.stride};
    else all.push_back(axis);
  }
  return all;
}

}  // namespace

Walk::Walk(const std::vector<Axis>& axes, size_t index) : axes_(axes), at_(axes.size()) {
  for (size_t i = axes.size(); i-- > 0;) {
    at_[i] = static_cast<int64_t>(index % static_cast<size_t>(axes[i].extent));
    index /= static_cast<size_t>(axes[i].extent);
    offset_ += at_[i] * axes[i].stride;
  }
}

void Walk::next() {
  for (size_t i = axes_.size(); i-- > 0;) {
    offset_ += axes_[i].stride;
    if (++at_[i] < axes_[i].extent) return;
    offset_ -= axes_[i].extent * axes_[i].stride;
    at_[i] = 0;
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
  std::vector<Axis> batch, one;
  for (size_t i = 0; i < codes.ndim(); ++i)
    (i + case_dimensions < codes.ndim() ? batch : one)
        .push_back({static_cast<int64_t>(codes.shape(i)), codes.stride(i) * bytes_});
  batch_ = merged(batch);
  one_ = merged(one);
}

void FieldArray::copy(size_t first, size_t count, Column& to) const {
  const bool plain_case = one_.empty() || (one_.size() == 1 && one_[0].stride == bytes_);
  const int64_t stride = static_cast<int64_t>(to.stride());
  if (plain_case && batch_.size() == 1 && batch_[0].stride == stride) {
    std::memcpy(to.data(), data_ + static_cast<int64_t>(first) * stride, count * to.stride());
    return;
  }
  const Axis inner = one_.empty() ? Axis{1, bytes_} : one_.back();
  const std::vector<Axis> outer(one_.begin(), one_.empty() ? one_.end() : one_.end() - 1);
  const size_t rows = size_t(to.count()) / size_t(inner.extent);
  Walk of_case(batch_, first);
  uint8_t* out = to.data();
  for (size_t i = 0; i < count; ++i, of_case.next()) {
    Walk of_row(outer, 0);
    for (size_t row = 0; row < rows; ++row, of_row.next(), out += inner.extent * bytes_)
      gather(data_ + of_case.offset() + of_row.offset(), inner.stride, size_t(inner.extent), int(bytes_), out);
  }
}

}  // namespace mmafuzz::python
