#include "oracles/gemm/split.h"

#include <algorithm>
#include <bit>

#include "arithmetic/decode.h"
#include "oracles/gemm/times_power.h"

namespace mmafuzz::gemm {

RowSplitter::RowSplitter(const FormatFields& format, const uint64_t* encodings, const Layout& layout, int width,
                         SubnormalReading subnormals) {
  rows_.rows = layout.rows;
  rows_.length = layout.length;
  rows_.width = width;
  rows_.top.assign(size_t(layout.rows), 0);
  rows_.needed.assign(size_t(layout.rows), 0);
  rows_.special.assign(size_t(layout.rows), 0);
  numbers_.reserve(size_t(layout.rows) * size_t(layout.length));
  for (int i = 0; i < layout.rows; ++i) {
    int top = INT32_MIN, least = INT32_MAX;
    for (int l = 0; l < layout.length; ++l) {
      Number x = decode(format, encodings[size_t(i) * layout.row_stride + size_t(l) * layout.element_stride]);
      if (!is_number(x.cls)) rows_.special[size_t(i)] = 1;
      if (x.cls != NumberClass::finite || (x.subnormal && subnormals == SubnormalReading::flushed)) x.significand = 0;
      if (x.subnormal && subnormals == SubnormalReading::halved) --x.exponent;
      numbers_.push_back({x.significand, x.exponent, x.negative});
      if (x.significand == 0) continue;
      top = std::max(top, x.exponent + static_cast<int>(std::bit_width(x.significand)));
      least = std::min(least, x.exponent + std::countr_zero(x.significand));
    }
    if (top == INT32_MIN) continue;
    rows_.top[size_t(i)] = top;
    rows_.needed[size_t(i)] = (top - least + width - 1) / width;
  }
}

int RowSplitter::max_needed() const {
  return rows_.needed.empty() ? 0 : *std::max_element(rows_.needed.begin(), rows_.needed.end());
}

double RowSplitter::magnitude(int row, int element) const {
  const FiniteNumber& x = number(row, element);
  return times_power(static_cast<double>(x.significand), x.exponent - rows_.top[size_t(row)]);
}

double RowSplitter::remainder(int row, int element, int slices) const {
  const FiniteNumber& x = number(row, element);
  const int rest_bits = rows_.top[size_t(row)] - slices * rows_.width - x.exponent;
  const uint64_t rest = rest_bits <= 0 ? 0 : x.significand & low_mask(rest_bits);
  return rest == 0 ? 0 : times_power(static_cast<double>(rest), x.exponent - rows_.top[size_t(row)]);
}

SlicedRows RowSplitter::cut(int slices, bool with_digits) const {
  SlicedRows cut = rows_;
  cut.slices = slices;
  if (with_digits) cut.digits.assign(size_t(slices) * size_t(cut.rows) * size_t(cut.length), 0);
  cut.filled.assign(size_t(slices) * size_t(cut.rows), 0);
  const uint64_t mask = low_mask(cut.width);
  for (int i = 0; i < cut.rows; ++i) {
    const int top = cut.top[size_t(i)];
    for (int l = 0; l < cut.length; ++l) {
      const FiniteNumber& x = number(i, l);
      if (x.significand == 0) continue;
      // The slices that its first and its last bit fall into.
      const int first = (top - x.exponent - static_cast<int>(std::bit_width(x.significand))) / cut.width + 1;
      const int last = (top - x.exponent - std::countr_zero(x.significand) + cut.width - 1) / cut.width;
      for (int p = first; p <= std::min(last, slices); ++p) {
        const int shift = x.exponent - (top - p * cut.width);  // to the left, of the significand
        const uint64_t bits = shift >= 0 ? x.significand << shift : x.significand >> -shift;
        const auto digit = static_cast<int16_t>(bits & mask);
        if (with_digits) cut.slice(p, i)[l] = x.negative ? static_cast<int16_t>(-digit) : digit;
        cut.filled[size_t(p - 1) * size_t(cut.rows) + size_t(i)] |= digit != 0;
      }
    }
  }
  return cut;
}

}  // namespace mmafuzz::gemm
