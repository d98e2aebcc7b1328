#include "oracles/gemm/cublas_emulation.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>

#include "arithmetic/corner_encodings.h"
#include "core/function_unit.h"
#include "core/host_number.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/rounded_up.h"
#include "oracles/gemm/times_power.h"

namespace mmafuzz::gemm {
namespace {

using Part = CublasEmulation::Part;

constexpr int tile = 128;              ///< rows, columns and products along k of a tile
constexpr int shortest_split = 1024;   ///< a shorter k is one part
constexpr int max_parts = 32;          ///< parts of all tiles of the result together, for a short k
constexpr int longest_part = 64;       ///< in tiles of 128 products; a part has fewer than twice as many
constexpr int summed_exactly = 32768;  ///< products of digits of one diagonal, at most
constexpr int span_block = 64;         ///< products in a block of the estimate of the exponents' span
constexpr int bits_without_span = 54;

int tiles(int extent) { return (extent + tile - 1) / tile; }

/// The tiles along k, divided as evenly as they can be; the last parts have one more.
std::vector<Part> parts_of(const Op& op) {
  if (op.k < shortest_split) return {{0, op.k}};
  const int along_k = tiles(op.k), results = tiles(op.m) * tiles(op.n);
  const int parts = std::max(std::min(along_k, (max_parts + results - 1) / results), along_k / longest_part);
  const int shorter_parts = parts - along_k % parts;
  std::vector<Part> all;
  for (int part = 0, first = 0; part < parts; ++part) {
    const int length = std::min((along_k / parts + (part >= shorter_parts ? 1 : 0)) * tile, op.k - first);
    all.push_back({first, length});
    first += length;
  }
  return all;
}

/// The lines of a matrix: the rows of a or the columns of b.
struct Lines {
  const uint64_t* numbers;
  int count;
  size_t stride, step;
  uint64_t at(int line, int l) const { return numbers[size_t(line) * stride + size_t(l) * step]; }
};

constexpr uint64_t magnitude_bits = ~uint64_t{0} >> 1, sign_bit = ~magnitude_bits, quiet_bit = uint64_t{1} << 51,
                   infinity_bits = uint64_t{2047} << 52;
constexpr int exponent_field(uint64_t encoding) { return static_cast<int>((encoding & magnitude_bits) >> 52); }

/// The scale of a part of a line: every |x| is below 127/128 * 2^scale, so that the first digit is a signed byte also
/// with the carry of the lower ones. Where the greatest number is subnormal, the scale is that of 2^-1023 to 2^-1022.
int scale_of(const Lines& m, int line, Part part) {
  uint64_t greatest = 0;
  for (int l = part.first; l < part.first + part.length; ++l)
    greatest = std::max(greatest, m.at(line, l) & magnitude_bits);
  if (greatest == 0) return 0;
  const bool leading_ones = ((greatest >> 46) & 63) == 63;
  return exponent_field(greatest) + 1 - 1023 + (leading_ones ? 1 : 0);
}

constexpr int exponent_of_zero = -100000;  ///< an exponent far below all others

/// The greatest and the least exponent of each block of a line.
struct Extents {
  std::vector<int> greatest, least;
  int overall = exponent_of_zero;
};
Extents extents(const FormatFields& f, const Lines& m, int line, int k) {
  Extents e;
  for (int first = 0; first < k; first += span_block) {
    int greatest = INT_MIN, least = INT_MAX;
    for (int l = first; l < std::min(k, first + span_block); ++l) {
      const uint64_t number = m.at(line, l);
      const int exponent = is_zero(f, number) ? exponent_of_zero : leading_exponent(f, number);
      greatest = std::max(greatest, exponent);
      least = std::min(least, exponent);
    }
    e.greatest.push_back(greatest);
    e.least.push_back(least);
    e.overall = std::max(e.overall, greatest);
  }
  return e;
}

/// The exponent span capacity: the maximum, over rows and columns, of the exponent of the product of their greatest
/// numbers minus a lower bound on that of their greatest product. In a block, the greatest product is at least one
/// line's greatest number times the other line's least.
int span(const FormatFields& f, const Lines& a, const Lines& b, int k) {
  std::vector<Extents> rows, columns;
  for (int i = 0; i < a.count; ++i) rows.push_back(extents(f, a, i, k));
  for (int j = 0; j < b.count; ++j) columns.push_back(extents(f, b, j, k));
  int most = 0;
  for (const Extents& x : rows)
    for (const Extents& y : columns) {
      if (x.overall == exponent_of_zero || y.overall == exponent_of_zero) continue;
      int product = INT_MIN;
      for (size_t block = 0; block < x.greatest.size(); ++block)
        product = std::max({product, x.greatest[block] + y.least[block], x.least[block] + y.greatest[block]});
      most = std::max(most, x.overall + y.overall - product);
    }
  return most;
}

/// The digits of one part of all lines, [slice][line][l]; scales as in Cut.
std::vector<int16_t> digits_of(const FormatFields& f, const Lines& m, Part part, const std::vector<int>& scales,
                               int slices) {
  const auto length = static_cast<size_t>(part.length), count = static_cast<size_t>(m.count);
  std::vector<int16_t> digits(static_cast<size_t>(slices) * count * length);
  for (size_t line = 0; line < count; ++line) {
    const int last = scales[line] - 7 - 8 * (slices - 1);  // 2^last is the weight of the last digit
    for (size_t l = 0; l < length; ++l) {
      const Number x = decode(f, m.at(static_cast<int>(line), part.first + static_cast<int>(l)));
      if (x.cls == NumberClass::zero) continue;
      const int sign = x.negative ? -1 : 1, lowest = x.exponent - last;
      int carry = 0;
      for (int slice = slices - 1; slice >= 0; --slice) {
        const int shift = 8 * (slices - 1 - slice) - lowest;  // brings the digit's last bit to the end
        const uint64_t rest = shift >= 64 || shift <= -64 ? 0
                              : shift >= 0                ? x.significand >> shift
                                                          : x.significand << -shift;
        const int value = sign * static_cast<int>(rest & 255) + carry;
        const int digit = slice > 0 ? static_cast<int8_t>(static_cast<uint8_t>(value)) : value;
        carry = (value - digit) / 256;
        digits[(static_cast<size_t>(slice) * count + line) * length + l] = static_cast<int16_t>(digit);
      }
    }
  }
  return digits;
}

/// How many pairs of slices of a diagonal (all pairs with one sum of indices) are summed exactly together.
int pairs_at_once(Part part) { return summed_exactly / part.length; }

Lines rows_of(const Op& op, const std::vector<uint64_t>& a) { return {a.data(), op.m, size_t(op.k), 1}; }
Lines columns_of(const Op& op, const std::vector<uint64_t>& b) { return {b.data(), op.n, 1, size_t(op.n)}; }

}  // namespace

CublasEmulation::CublasEmulation(const CublasPlan& plan, const Op& op)
    : plan_(plan), op_(op), parts_(parts_of(op)), scalars_(op) {}

std::optional<CublasEmulation::Cut> CublasEmulation::cut(const std::vector<uint64_t>& a,
                                                         const std::vector<uint64_t>& b) const {
  const FormatFields& f = op_.a.fields();
  const auto special = [&](uint64_t encoding) { return is_special(f, encoding); };
  if (std::any_of(a.begin(), a.end(), special) || std::any_of(b.begin(), b.end(), special)) return {};
  const Lines rows = rows_of(op_, a), columns = columns_of(op_, b);
  int bits = plan_.bits;
  if (bits == 0) {
    bits = bits_without_span + span(f, rows, columns, op_.k) + plan_.offset;
    if (bits > plan_.max_bits) return {};
  }
  Cut cut;
  cut.slices = (bits + 1 + 7) / 8;  // bytes that hold the bits and a sign
  for (const Part& part : parts_) {
    std::vector<int>&of_rows = cut.row_scales.emplace_back(), &of_columns = cut.column_scales.emplace_back();
    for (int i = 0; i < op_.m; ++i) of_rows.push_back(scale_of(rows, i, part));
    for (int j = 0; j < op_.n; ++j) of_columns.push_back(scale_of(columns, j, part));
  }
  return cut;
}

void CublasEmulation::add_products(const GemmCase& matrices, const Cut& cut, double alpha,
                                   std::vector<double>& d) const {
  const auto m = size_t(op_.m), n = size_t(op_.n);
  const Lines rows = rows_of(op_, matrices.a), columns = columns_of(op_, matrices.b);
  for (size_t p = 0; p < parts_.size(); ++p) {
    const auto length = size_t(parts_[p].length);
    const std::vector<int16_t> a = digits_of(op_.a.fields(), rows, parts_[p], cut.row_scales[p], cut.slices),
                               b = digits_of(op_.b.fields(), columns, parts_[p], cut.column_scales[p], cut.slices);
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        // Diagonals from the greatest weight on; those beyond the last slice are left out. In each, as many pairs of
        // slices as fit are summed exactly; diagonals begin alternately with b's first slice and with a's.
        const int pairs = pairs_at_once(parts_[p]);
        double sum = 0;
        for (int diagonal = 0; diagonal < cut.slices; ++diagonal)
          for (int first = 0; first <= diagonal; first += pairs) {
            int32_t whole = 0;
            for (int pair = first; pair <= std::min(diagonal, first + pairs - 1); ++pair) {
              const int slice_a = diagonal % 2 ? pair : diagonal - pair, slice_b = diagonal - slice_a;
              const int16_t* x = &a[(size_t(slice_a) * m + i) * length];
              const int16_t* y = &b[(size_t(slice_b) * n + j) * length];
              for (size_t l = 0; l < length; ++l) whole += x[l] * y[l];
            }
            sum += times_power(whole, -8 * diagonal);
          }
        double& element = d[i * n + j];
        element = std::fma(alpha, std::ldexp(sum, cut.row_scales[p][i] + cut.column_scales[p][j] - 14), element);
      }
  }
}

uint64_t CublasEmulation::encoding_of(double d, uint64_t c) const {
  if (!std::isnan(d)) return std::bit_cast<uint64_t>(d);
  const auto is_nan = [](uint64_t encoding) { return (encoding & magnitude_bits) > infinity_bits; };
  for (const uint64_t operand : {scalars_.reads_c() ? c : 0, op_.beta.value_or(0), op_.alpha.value_or(0)})
    if (is_nan(operand)) return operand | quiet_bit;
  return infinity_bits | sign_bit | quiet_bit;
}

void CublasEmulation::run(const Batch& batch, Outcomes& outcomes) const {
  prepare(batch, outcomes);
  GemmCase matrices(op_);
  const auto elements = size_t(op_.m) * size_t(op_.n);
  const FormatFields& f = op_.d.fields();
  const double alpha = op_.alpha ? to_double(f, *op_.alpha) : 1, beta = op_.beta ? to_double(f, *op_.beta) : 1;
  std::vector<double> d(elements);
  for (size_t index = 0; index < batch.size(); ++index) {
    matrices.load(batch, index);
    for (size_t e = 0; e < elements; ++e) d[e] = scalars_.reads_c() ? beta * std::bit_cast<double>(matrices.c[e]) : 0;
    if (!scalars_.reads_products()) {
      for (double& element : d) element += 0.0;  // -0 becomes +0
    } else if (const std::optional<Cut> cuts = cut(matrices.a, matrices.b)) {
      add_products(matrices, *cuts, alpha, d);
    } else {
      if (outcomes.answered.empty()) outcomes.answered.assign(batch.size(), 1);
      outcomes.answered[index] = 0;
      continue;
    }
    for (size_t e = 0; e < elements; ++e) outcomes.results.set(index, int(e), encoding_of(d[e], matrices.c[e]));
  }
}

bool CublasEmulation::within_bound(const GemmCase& matrices, const Cut& cut, int row, int column,
                                   uint64_t result) const {
  const Element element = element_of(op_, matrices, size_t(row) * size_t(op_.n) + size_t(column));
  exact::Mpfr exact_value(element_precision);
  element_value(op_, element, exact_value.get());
  if (!mpfr_number_p(exact_value.get())) return true;
  const Bound u = Bound::power(-53), h = Bound::power(-1075), above_1 = Bound::power(0) + Bound::power(-6);
  Bound products, error, sizes;
  for (size_t p = 0; p < parts_.size(); ++p) {
    const int a = cut.row_scales[p][size_t(row)], b = cut.column_scales[p][size_t(column)], s = cut.slices;
    const Part part = parts_[p];
    Bound sum_a, sum_b;
    for (int l = part.first; l < part.first + part.length; ++l) {
      const Bound x = Bound::magnitude(op_.a, element.a[size_t(l)]), y = Bound::magnitude(op_.b, element.b[size_t(l)]);
      sum_a += x;
      sum_b += y;
      products += x * y;
    }
    // Truncation of a number loses less than the last digit's weight. Diagonals from s on are left out. Each group of a
    // diagonal is added with one rounding of a sum of at most above_1 * length * 2^(a+b); the scaling rounds once more.
    error += Bound::power(a - 7 - 8 * (s - 1)) * sum_b + Bound::power(b - 7 - 8 * (s - 1)) * sum_a;
    for (int diagonal = s; diagonal <= 2 * s - 2; ++diagonal)
      error += Bound::power(a + b - 8 * diagonal, static_cast<long>(2 * s - 1 - diagonal) * part.length);
    long sums = 0;
    for (int diagonal = 0; diagonal < s; ++diagonal) sums += diagonal / pairs_at_once(part) + 1;
    const Bound size = Bound::power(a + b, part.length) * above_1;
    error += Bound::power(-53, sums) * size + h;
    sizes += size;
  }
  const Bound alpha = Bound::scalar(op_, op_.alpha);
  Bound addend = Bound::scalar(op_, op_.beta) * Bound::magnitude(op_.c, element.c);
  if (!scalars_.reads_c()) addend = Bound();
  if (!scalars_.reads_products()) products = error = Bound();
  // beta * c is rounded, and so is each part's fused addition, of at most above_1 times all magnitudes together.
  const auto parts = static_cast<long>(parts_.size());
  const Bound total = (alpha * (products + error) + addend + Bound::power(-1075, parts)) * above_1;
  if (exceeds_range(total, op_.d) || exceeds_range(sizes + error, op_.d)) return true;
  const Bound bound = alpha * error + u * addend + h + Bound::power(-53, parts) * total + Bound::power(-1075, parts);
  return is_within(op_.d, result, exact_value.get(), bound);
}

const CublasEmulation* cublas_emulation_of(const Unit& unit) { return dynamic_cast<const CublasEmulation*>(&unit); }

}  // namespace mmafuzz::gemm
