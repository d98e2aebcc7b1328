#include "python/module/evaluate.h"

#include <algorithm>
#include <numeric>

#include "core/dot_grid.h"
#include "core/parallel.h"
#include "plan/request.h"

namespace mmafuzz::python {
namespace {

// Limits of what a unit evaluates in one call, so that it stays in the cache: elements of the widest field and cases of
// evaluate(), dots and rows of a product.
constexpr size_t elements_at_once = 1 << 16;
constexpr size_t cases_at_once = 4096;
constexpr size_t dots_at_once = 512;
constexpr size_t rows_of_grid = 64;
constexpr size_t least_rows = 64;  ///< the minimum of rows for one thread, which packs b once for all of them

/// The number of cases without an answer.
size_t unanswered(const Outcomes& outcomes) {
  return static_cast<size_t>(std::count(outcomes.answered.begin(), outcomes.answered.end(), uint8_t{0}));
}

/// The part of a product that one thread computes: some rows and columns of one of the matrices.
class ProductPart {
 public:
  ProductPart(const std::vector<ChainStep>& chain, const MatrixProducts& products, size_t batch, size_t first_column,
              size_t columns)
      : chain_(chain), products_(products), batch_(batch), first_column_(first_column), columns_(columns) {}

  /// Computes the products of these rows. Returns the number of dots without an answer.
  size_t run(size_t first_row, size_t rows) const {
    size_t without_answer = 0;
    for (const ChainStep& step : chain_)
      if (!run_grids(step, first_row, rows)) without_answer += run_dots(step, first_row, rows);
    return without_answer;
  }

 private:
  /// Runs a step on a unit that decodes an operand once for all of its dots. False, with nothing stored, where the unit
  /// or the op does not allow it.
  bool run_grids(const ChainStep& step, size_t first_row, size_t rows) const {
    const Op& op = step.bound.op;
    const auto* unit = dynamic_cast<const GridUnit*>(step.bound.unit.get());
    if (!unit || !(op.c == op.d)) return false;
    const size_t at_once = std::min(rows, rows_of_grid);
    Column a(op.a, op.k), b(op.b, op.k), sums(op.d, 1);
    a.resize(at_once);
    b.resize(columns_);
    sums.resize(at_once * columns_);
    pack_columns(products_.b, step.first, /*times=*/1, b);
    for (size_t row = first_row; row < first_row + rows; row += at_once) {
      const size_t count = std::min(at_once, first_row + rows - row);
      pack_rows(products_.a, step.first, row, count, /*times=*/1, a);
      pack_addends(step, row, count, sums);
      if (!unit->run_grid({a.data(), b.data(), count, columns_, sums.data()})) return false;
      store(sums, row, count);
    }
    return true;
  }

  /// Runs a step as batches of dots. Returns the number of dots without an answer.
  size_t run_dots(const ChainStep& step, size_t first_row, size_t rows) const {
    const Op& op = step.bound.op;
    size_t without_answer = 0;
    const size_t at_once = std::min(rows, std::max<size_t>(1, dots_at_once / columns_));
    Batch dots(op, at_once * columns_);
    const int first_scale = op.has_scales() ? step.first / op.scale_block : 0;
    pack_columns(products_.b, step.first, at_once, dots.inputs()[1]);
    if (op.has_scales()) pack_columns(*products_.scale_b, first_scale, at_once, dots.inputs()[4]);
    Outcomes outcomes;
    for (size_t row = first_row; row < first_row + rows; row += at_once) {
      const size_t count = std::min(at_once, first_row + rows - row);
      if (count < at_once) dots.resize(count * columns_);
      pack_rows(products_.a, step.first, row, count, columns_, dots.inputs()[0]);
      if (op.has_scales()) pack_rows(*products_.scale_a, first_scale, row, count, columns_, dots.inputs()[3]);
      pack_addends(step, row, count, dots.inputs()[2]);
      step.bound.unit->run(dots, outcomes);
      without_answer += unanswered(outcomes);
      store(outcomes.results, row, count);
    }
    return without_answer;
  }

  /// Packs the columns of b from element `first` on, each as one case, and all of them `times` times in sequence.
  void pack_columns(const Matrices& b, int first, size_t times, Column& to) const {
    const uint8_t* from = b.matrix(batch_) + first * b.rows.stride + int64_t(first_column_) * b.columns.stride;
    for (size_t j = 0; j < columns_; ++j)
      gather(from + int64_t(j) * b.columns.stride, b.rows.stride, size_t(to.count()), b.bytes,
             to.data() + j * to.stride());
    repeat(to.data(), columns_ * to.stride(), times);
  }

  /// Packs the rows of a from element `first` on, each `times` times in sequence.
  void pack_rows(const Matrices& a, int first, size_t first_row, size_t rows, size_t times, Column& to) const {
    const uint8_t* from = a.matrix(batch_) + first * a.columns.stride + int64_t(first_row) * a.rows.stride;
    uint8_t* entry = to.data();
    for (size_t i = 0; i < rows; ++i, entry += times * to.stride()) {
      gather(from + int64_t(i) * a.rows.stride, a.columns.stride, size_t(to.count()), a.bytes, entry);
      repeat(entry, to.stride(), times);
    }
  }

  uint8_t* result(size_t row, int bytes) const {
    const size_t m = size_t(products_.a.rows.extent), n = size_t(products_.b.columns.extent);
    return products_.results + ((batch_ * m + row) * n + first_column_) * size_t(bytes);
  }

  /// Packs the addends of these rows: c for the first step, the results so far for the others.
  void pack_addends(const ChainStep& step, size_t first_row, size_t rows, Column& to) const {
    const bool is_first = step.first == 0;
    const size_t bytes = size_t(to.element_bytes());
    if (is_first && !products_.c) {
      to.set(0, 0, step.bound.op.c.fields().encode_zero(false));
      repeat(to.data(), bytes, rows * columns_);
      return;
    }
    for (size_t i = 0; i < rows; ++i) {
      uint8_t* out = to.data() + i * columns_ * bytes;
      if (is_first) {
        const Matrices& c = *products_.c;
        gather(c.matrix(batch_) + int64_t(first_row + i) * c.rows.stride + int64_t(first_column_) * c.columns.stride,
               c.columns.stride, columns_, c.bytes, out);
      } else {
        std::memcpy(out, result(first_row + i, to.element_bytes()), columns_ * bytes);
      }
    }
  }

  void store(const Column& results, size_t first_row, size_t rows) const {
    const size_t row_bytes = columns_ * results.stride();
    for (size_t i = 0; i < rows; ++i)
      std::memcpy(result(first_row + i, results.element_bytes()), results.data() + i * row_bytes, row_bytes);
  }

  const std::vector<ChainStep>& chain_;
  const MatrixProducts& products_;
  size_t batch_, first_column_, columns_;
};

size_t ceiling(size_t x, size_t y) { return (x + y - 1) / y; }

}  // namespace

Matrices::Matrices(const Codes& codes)
    : bytes(static_cast<int>(codes.itemsize())), data_(static_cast<const uint8_t*>(codes.data())) {
  const auto axis = [&](size_t i) { return Axis{static_cast<int64_t>(codes.shape(i)), codes.stride(i) * bytes}; };
  for (size_t i = 0; i + 2 < codes.ndim(); ++i) batch_axes_.push_back(axis(i));
  rows = axis(codes.ndim() - 2);
  columns = axis(codes.ndim() - 1);
}

size_t evaluate(const BoundUnit& bound, const std::vector<FieldArray>& fields, size_t cases, uint8_t* results,
                uint8_t* flags, unsigned threads) {
  size_t elements = 1;
  for (const FieldShape& field : bound.op.inputs()) elements = std::max(elements, size_t(field.count));
  const size_t at_once = std::clamp<size_t>(elements_at_once / elements, 1, cases_at_once);
  const size_t blocks = ceiling(cases, at_once);
  const size_t parts = std::min(blocks, size_t{4} * threads);  // a part reuses its columns from block to block
  std::atomic<size_t> without_answer = 0;
  in_parallel(threads, parts, [&](size_t part) {
    Batch batch(bound.op);
    Outcomes outcomes;
    for (size_t block = part * blocks / parts; block < (part + 1) * blocks / parts; ++block) {
      const size_t first = block * at_once, count = std::min(at_once, cases - first);
      batch.resize(count);
      for (size_t i = 0; i < fields.size(); ++i) fields[i].copy(first, count, batch.inputs()[i]);
      bound.unit->run(batch, outcomes);
      without_answer += unanswered(outcomes);
      std::memcpy(results + first * outcomes.results.stride(), outcomes.results.data(),
                  count * outcomes.results.stride());
      if (!flags) continue;
      if (outcomes.flags.empty()) throw BadInput("unit " + bound.unit->name() + " reports no flags");
      std::memcpy(flags + first, outcomes.flags.data(), count);
    }
  });
  return without_answer;
}

size_t multiply(const std::vector<ChainStep>& chain, const MatrixProducts& products, unsigned threads) {
  const size_t m = size_t(products.a.rows.extent), n = size_t(products.b.columns.extent);
  if (m == 0 || n == 0 || products.batches == 0) return 0;
  const size_t columns = std::min(n, dots_at_once), column_blocks = ceiling(n, columns);
  const size_t row_blocks_wanted = threads == 1 ? 1 : ceiling(size_t{2} * threads, products.batches * column_blocks);
  const size_t rows = std::min(m, std::max(least_rows, ceiling(m, row_blocks_wanted)));
  const size_t row_blocks = ceiling(m, rows);
  std::atomic<size_t> without_answer = 0;
  in_parallel(threads, products.batches * column_blocks * row_blocks, [&](size_t part) {
    const size_t row_block = part % row_blocks, column_block = part / row_blocks % column_blocks;
    const size_t first_row = row_block * rows, first_column = column_block * columns;
    const ProductPart product_part(chain, products, part / row_blocks / column_blocks, first_column,
                                   std::min(columns, n - first_column));
    without_answer += product_part.run(first_row, std::min(rows, m - first_row));
  });
  return without_answer;
}

}  // namespace mmafuzz::python
