// Many cases of one op, as columns packed in each format's own width.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "core/op.h"

namespace mmafuzz {

/// Calls `body` with a zero of the unsigned type of 1, 2, 4 or 8 bytes. Only the type matters: a memcpy of its constant
/// size compiles to one load or store.
template <class Body>
[[gnu::always_inline]] inline auto with_integer(int bytes, const Body& body) {
  switch (bytes) {
    case 1: return body(uint8_t{});
    case 2: return body(uint16_t{});
    case 4: return body(uint32_t{});
    default: return body(uint64_t{});
  }
}

template <class T>
T loaded(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// One field of many cases: `count` encodings of each case, case after case, in 1, 2, 4 or 8 bytes each, little-endian.
/// Cases and elements are counted from 0; the stride is the number of bytes of one case.
class Column {
 public:
  Column() = default;
  Column(const Format& format, int count) : bytes_(format.storage_bytes()), count_(count) {}

  int element_bytes() const { return bytes_; }
  int count() const { return count_; }
  size_t cases() const { return data_.size() / stride(); }
  size_t stride() const { return static_cast<size_t>(bytes_) * static_cast<size_t>(count_); }
  void resize(size_t cases) { data_.resize(cases * stride()); }
  const uint8_t* data() const { return data_.data(); }
  const uint8_t* end() const { return data_.data() + data_.size(); }
  uint8_t* data() { return data_.data(); }

  uint64_t get(size_t index, int element = 0) const {
    const uint8_t* from = data_.data() + index * stride() + size_t(element) * size_t(bytes_);
    return with_integer(bytes_, [&]<class T>(T) -> uint64_t { return loaded<T>(from); });
  }
  void set(size_t index, int element, uint64_t value) {
    uint8_t* to = data_.data() + index * stride() + size_t(element) * size_t(bytes_);
    with_integer(bytes_, [&]<class T>(T) { std::memcpy(to, &value, sizeof(T)); });
  }
  /// Unpacks the encodings of case `index` into out[count()].
  void unpack(size_t index, uint64_t* out) const {
    const uint8_t* from = data_.data() + index * stride();
    with_integer(bytes_, [&]<class T>(T) {
      for (int i = 0; i < count_; ++i) out[i] = loaded<T>(from + sizeof(T) * size_t(i));
    });
  }
  /// Packs from[count()] as the encodings of case `index`.
  void pack(size_t index, const uint64_t* from) {
    uint8_t* to = data_.data() + index * stride();
    with_integer(bytes_, [&]<class T>(T) {
      for (int i = 0; i < count_; ++i) {
        const T value = static_cast<T>(from[i]);
        std::memcpy(to + sizeof(T) * size_t(i), &value, sizeof(T));
      }
    });
  }

 private:
  int bytes_ = 1;
  int count_ = 1;
  std::vector<uint8_t> data_;
};

/// The inputs of cases of one op: one column for each field of Op::inputs(), in that order. Recorded results stand
/// beside a batch (CaseBlock), computed ones in Outcomes.
class Batch {
 public:
  Batch() = default;
  /// All encodings of the cases are 0.
  explicit Batch(const Op& op, size_t cases = 0);

  const Op& op() const { return op_; }
  size_t size() const { return size_; }
  void resize(size_t cases);

  std::vector<Column>& inputs() { return inputs_; }
  const std::vector<Column>& inputs() const { return inputs_; }
  // The fields of a dot and, as far as c, of a gemm. The scales exist only where op().has_scales().
  const Column& a() const { return inputs_[0]; }
  const Column& b() const { return inputs_[1]; }
  const Column& c() const { return inputs_[2]; }
  const Column& scale_a() const { return inputs_[3]; }
  const Column& scale_b() const { return inputs_[4]; }

  /// The encodings of a case, one column after the other: equal for cases that are the same.
  std::string bytes_of(size_t index) const;
  /// Appends case `index` of another batch of the same op.
  void append(const Batch& other, size_t index);
  /// A copy of the cases first .. first + count - 1.
  Batch part(size_t first, size_t count = 1) const;

 private:
  Op op_;
  size_t size_ = 0;
  std::vector<Column> inputs_;
};

/// Copies case `from` of one batch over case `to` of another batch of the same op, or of the same batch.
void copy_case(const Batch& source, size_t from, Batch& target, size_t to);

/// Exchanges two elements of case `index`.
inline void swap_elements(Column& column, size_t index, int x, int y) {
  const uint64_t at_x = column.get(index, x);
  column.set(index, x, column.get(index, y));
  column.set(index, y, at_x);
}

/// Results of one run, one entry per case. A result is meaningless where has_answer() is false.
struct Outcomes {
  Column results;
  std::vector<uint8_t> flags;     ///< sums of flag:: (arithmetic/round.h); empty where the unit reports none
  std::vector<uint8_t> answered;  ///< 0 marks a case that the unit has no answer for; empty: it answered all
  std::vector<uint8_t> failed;    ///< 1 marks a case on which the unit broke, as in a crash; empty: it broke on none
  std::string how_failed;         ///< how the unit broke first: "closed the connection (it died of Aborted)"

  bool has_answer(size_t index) const { return answered.empty() || answered[index]; }
  bool has_failed(size_t index) const { return !failed.empty() && failed[index]; }
};

}  // namespace mmafuzz
