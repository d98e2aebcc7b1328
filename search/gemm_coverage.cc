#include "search/gemm_coverage.h"

#include <algorithm>
#include <bit>

#include "arithmetic/ieee_operations.h"

namespace mmafuzz {
namespace {

/// 0, 1, 2, 3-4, 5-8, 9-16, 17-64, 65+.
int slices_class(int slices) {
  if (slices <= 2) return slices;
  return slices <= 4 ? 3 : slices <= 8 ? 4 : slices <= 16 ? 5 : slices <= 64 ? 6 : 7;
}

/// Classes of a line's span in bits: zeros, one slice, below S-1, S-1, S, S+1, up to one slice more than S, up to 64
/// bits more, beyond; S being the bits that the slices hold.
int span_class(bool filled, int span, int width, int held) {
  if (!filled) return 0;
  if (span >= held - 1 && span <= held + 1) return 4 + span - held;
  if (span < held) return span <= width ? 1 : 2;
  return span <= held + width ? 6 : span <= held + 64 ? 7 : 8;
}

/// Classes of the bits that a sum leaves free below 2^bits: over the limit, 0, 1, 2, 3-4, 5-8, 9+; a zero sum.
int slack_class(uint64_t magnitude, int bits) {
  if (magnitude == 0) return 7;
  // 2^bits itself is still exact.
  const int left = bits - static_cast<int>(std::bit_width(magnitude - (std::has_single_bit(magnitude) ? 1 : 0)));
  if (left < 0) return 0;
  if (left <= 2) return 1 + left;
  return left <= 4 ? 4 : left <= 8 ? 5 : 6;
}

/// 0, 1, 2-4, 5-8, 9-26, 27-52, 53+: bits that cancel.
int cancel_class(int depth) {
  if (depth <= 1) return std::max(depth, 0);
  return depth <= 4 ? 2 : depth <= 8 ? 3 : depth <= 26 ? 4 : depth <= 52 ? 5 : 6;
}

/// 0, 1-2, 3-9, 10-53, 54-200, 201+: exponents between lines.
int spread_class(int spread) {
  return spread == 0 ? 0 : spread <= 2 ? 1 : spread <= 9 ? 2 : spread <= 53 ? 3 : spread <= 200 ? 4 : 5;
}

/// The least t for which |x| is below 2^t.
int top_of(const Number& x) { return x.exponent + static_cast<int>(std::bit_width(x.significand)); }

bool is_finite_nonzero(const Number& x) { return x.cls == NumberClass::finite && x.significand != 0; }

/// The signed digit of slice p, counted from 1.
int digit_of(const Number& x, int top, int width, int p) {
  const int shift = x.exponent - (top - p * width);
  if (!is_finite_nonzero(x) || shift >= width || shift <= -64) return 0;
  const uint64_t bits = shift >= 0 ? x.significand << shift : x.significand >> -shift;
  const int digit = static_cast<int>(bits & low_mask(width));
  return x.negative ? -digit : digit;
}

/// bins::remainder_class of a wide magnitude; `sticky`: nonzero bits lie below its last one.
int wide_remainder_class(uint128 magnitude, int dropped, bool sticky) {
  if (dropped <= 0) return sticky ? 2 : 0;
  const uint128 all = (uint128{1} << dropped) - 1, half = uint128{1} << (dropped - 1), rest = magnitude & all;
  if (rest == 0) return sticky ? 1 : 0;
  if (rest == half) return sticky ? 5 : 4;
  if (rest == all) return 7;
  if (rest == 1) return 1;
  if (rest + 1 == half) return 3;
  if (rest == half + 1) return 5;
  return rest < half ? 2 : 6;
}

}  // namespace

GemmCoverage::GemmCoverage(const Op& op, const Slicing& slicing)
    : op_(op), slicing_(slicing), rows_(size_t(op.m)), columns_(size_t(op.n)), c_(size_t(op.m) * size_t(op.n)) {
  for (std::vector<Line>* lines : {&rows_, &columns_})
    for (Line& line : *lines) {
      line.numbers.resize(size_t(op.k));
      for (std::vector<int>& of_slice : line.digits) of_slice.resize(size_t(op.k));
    }
}

void GemmCoverage::read(const Batch& batch, size_t index) {
  const size_t k = size_t(op_.k), n = size_t(op_.n);
  codes_.resize(std::max(rows_.size(), columns_.size()) * k + c_.size());
  batch.a().unpack(index, codes_.data());
  for (size_t i = 0; i < rows_.size(); ++i)
    for (size_t l = 0; l < k; ++l) rows_[i].numbers[l] = decode(op_.a.fields(), codes_[i * k + l]);
  batch.b().unpack(index, codes_.data());
  for (size_t j = 0; j < n; ++j)
    for (size_t l = 0; l < k; ++l) columns_[j].numbers[l] = decode(op_.b.fields(), codes_[l * n + j]);
  batch.c().unpack(index, codes_.data());
  for (size_t e = 0; e < c_.size(); ++e) c_[e] = decode(op_.c.fields(), codes_[e]);
}

int GemmCoverage::width_of(int side) const { return side == 0 ? slicing_.widths.a : slicing_.widths.b; }

int GemmCoverage::slices_of(int side) const {
  return usual_slices(slicing_, width_of(side), op_.input_format(size_t(side)).fields().precision());
}

void GemmCoverage::describe(int side, Line& line) const {
  const int width = width_of(side);
  line.filled = false;
  line.kind = 0;
  line.needed = line.left = 0;
  line.cut = line.negative = false;
  for (const Number& x : line.numbers) {
    line.kind = std::max(line.kind, bins::value_kind(x));
    if (!is_finite_nonzero(x)) continue;
    const int top = top_of(x), least = x.exponent + std::countr_zero(x.significand);
    if (!line.filled || top > line.top) line.negative = x.negative;
    line.top = line.filled ? std::max(line.top, top) : top;
    line.least = line.filled ? std::min(line.least, least) : least;
    line.filled = true;
  }
  for (int p : {1, 2})
    for (size_t l = 0; l < line.numbers.size(); ++l)
      line.digits[p - 1][l] = line.filled ? digit_of(line.numbers[l], line.top, width, p) : 0;
  if (!line.filled) return;
  line.needed = (line.top - line.least + width - 1) / width;
  line.cut = slicing_.slices > 0 && line.needed > slicing_.slices;
  const int end = line.top - slices_of(side) * width;
  for (const Number& x : line.numbers)
    if (is_finite_nonzero(x)) line.left = std::max(line.left, bins::lost_class(x.significand, x.exponent, end));
}

void GemmCoverage::note_line(int side, Line& line) {
  describe(side, line);
  const int width = width_of(side), held = slices_of(side) * width;
  hit(bins::GemmSpan::at(side, span_class(line.filled, line.top - line.least, width, held), line.left, line.negative));
}

void GemmCoverage::note_scale() {
  const auto tops = [](const std::vector<Line>& lines) {  // the least and the greatest
    std::pair<int, int> range = {INT32_MAX, INT32_MIN};
    for (const Line& line : lines)
      if (line.filled) range = {std::min(range.first, line.top), std::max(range.second, line.top)};
    return range;
  };
  const auto [least_a, top_a] = tops(rows_);
  const auto [least_b, top_b] = tops(columns_);
  if (top_a == INT32_MIN || top_b == INT32_MIN) return;
  const FormatFields& d = op_.d.fields();
  const int leading = top_a + top_b - 1;
  hit(bins::GemmScale::at(spread_class(top_a - least_a), spread_class(top_b - least_b),
                          leading < d.least_bit()   ? 0
                          : leading < d.emin()      ? 1
                          : leading < d.emax() - 1  ? 2
                          : leading <= d.emax() + 1 ? 3
                                                    : 4));
}

void GemmCoverage::note_element(const Line& row, const Line& column, const Number& c) {
  hit(bins::GemmSlices::at(slices_class(row.needed), slices_class(column.needed), row.cut + 2 * column.cut));
  hit(bins::GemmSpecial::at(row.kind, column.kind, bins::value_kind(c)));
  const size_t k = row.numbers.size(), block = size_t(std::max(slicing_.block, 1));
  int first_sign = 0;
  for (int pair = 0; pair < 4; ++pair) {
    const std::vector<int>&x = row.digits[pair / 2], &y = column.digits[pair % 2];
    int64_t all = 0, greatest = 0;
    for (size_t begin = 0; begin < k; begin += block) {
      int64_t sum = 0;
      for (size_t l = begin; l < std::min(k, begin + block); ++l) sum += int64_t{x[l]} * y[l];
      all += sum;
      if (std::abs(sum) > std::abs(greatest)) greatest = sum;
    }
    if (pair == 0) first_sign = all < 0 ? -1 : all > 0 ? 1 : 0;
    // A unit sums the blocks into one accumulator unless the scheme cuts k.
    if (std::abs(all) > std::abs(greatest)) greatest = all;
    hit(bins::GemmSlack::at(pair, slack_class(static_cast<uint64_t>(std::abs(greatest)), slicing_.bits), greatest < 0,
                            static_cast<int>(greatest & 1)));
  }
  if (row.filled && column.filled && row.kind < 3 && column.kind < 3 && bins::value_kind(c) < 3)
    note_sum(row, column, c, first_sign);
}

/// Computes the sum of an element in 128 bits, in units of 2^(row's top + column's top - 108): 20 bits are free above,
/// for carries and a c that is greater. `sticky`: more lies below.
void GemmCoverage::note_sum(const Line& row, const Line& column, const Number& c, int first_sign) {
  const int top = row.top + column.top, unit = top - 108;
  const size_t block = size_t(std::max(slicing_.block, 1)), k = row.numbers.size();
  __int128 sum = 0;
  bool sticky = false;
  int greatest = INT32_MIN;
  size_t greatest_at = 0, filled = 0, last_filled = SIZE_MAX;
  const auto add = [&](bool negative, uint128 significand, int exponent) {
    const int shift = exponent - unit;
    const uint128 kept = shift >= 0 ? significand << shift : shift > -128 ? significand >> -shift : 0;
    sticky |= shift <= -128 || (shift < 0 && (kept << -shift) != significand);
    sum += negative ? -static_cast<__int128>(kept) : static_cast<__int128>(kept);
  };
  for (size_t l = 0; l < k; ++l) {
    const Number &x = row.numbers[l], &y = column.numbers[l];
    if (!is_finite_nonzero(x) || !is_finite_nonzero(y)) continue;
    const uint128 product = uint128{x.significand} * y.significand;
    const int exponent = x.exponent + y.exponent, leading = exponent + bit_length128(product) - 1;
    if (leading > greatest) {
      greatest = leading;
      greatest_at = l;
    }
    if (l / block != last_filled) ++filled;
    last_filled = l / block;
    add(x.negative != y.negative, product, exponent);
  }
  if (greatest == INT32_MIN) return;
  hit(bins::GemmBlock::at(smaller(static_cast<int>(greatest_at / block), 4), filled == 1                        ? 0
                                                                             : filled < (k + block - 1) / block ? 1
                                                                                                                : 2));
  const int products_sign = sum < 0 ? -1 : sum > 0 ? 1 : 0;
  int of_c = 0;
  if (is_finite_nonzero(c)) {
    if (top_of(c) > top + 16) {
      of_c = 3;
    } else {
      of_c = c.negative == (products_sign < 0) ? 1 : 2;
      greatest = std::max(greatest, top_of(c) - 1);
      add(c.negative, c.significand, c.exponent);
    }
  }
  const auto magnitude = static_cast<uint128>(sum < 0 ? -sum : sum);
  const int leading = unit + bit_length128(magnitude) - 1;
  hit(bins::GemmCancel::at(magnitude == 0 ? 7 : cancel_class(greatest - leading),
                           first_sign == 0                 ? 0
                           : (first_sign < 0) == (sum < 0) ? 1
                                                           : 2,
                           of_c));
  if (magnitude == 0 || of_c == 3) return;
  const FormatFields& d = op_.d.fields();
  const int quantum = std::max(leading - d.fraction_bits, d.least_bit());
  if (quantum - unit > 126) return;  // the sum lies far below the range
  const int dropped = quantum - unit;
  const bool last = dropped >= 0 && (magnitude >> dropped & 1) != 0;
  hit(bins::GemmRound::at(sum < 0, last, wide_remainder_class(magnitude, dropped, sticky)));
}

const std::vector<int>& GemmCoverage::bins_of(const Batch& batch, size_t index) {
  bins_.clear();
  read(batch, index);
  for (Line& row : rows_) note_line(0, row);
  for (Line& column : columns_) note_line(1, column);
  note_scale();
  for (size_t i = 0; i < rows_.size(); ++i)
    for (size_t j = 0; j < columns_.size(); ++j) note_element(rows_[i], columns_[j], c_[i * columns_.size() + j]);
  return bins_;
}

}  // namespace mmafuzz
