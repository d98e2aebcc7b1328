#include "gpu_bridge/dgemm/dgemm.h"

#include "gpu_bridge/dgemm/drawn_matrix.h"

namespace mmafuzz {

namespace {

/// The b for which the row's result format holds all integers up to 2^b in magnitude (an integer format below 2^b).
int exact_bits(const CublasRow& row) {
  const FormatFields& d = row.result.fields();
  return d.integer ? d.width - 1 : d.precision();
}

}  // namespace

std::string wrong_with(const DgemmRequest& r) {
  if (r.row < 0 || size_t(r.row) >= cublas_rows().size()) return "no such product of cuBLAS";
  const CublasRow& row = cublas_rows()[size_t(r.row)];
  if (r.n < elements_at_once || r.n > 32768 || r.n % elements_at_once != 0)
    return "n = " + std::to_string(r.n) + ": expected a multiple of 4, at most 32768";
  if (r.spread > greatest_spread) return "the spread leaves no room for products";
  if (r.samples < 0 || r.samples > 4096) return "at most 4096 elements are sent back";
  if (r.slices.count == 0) return row.operand == format("fp64") ? "" : row.name + " does not multiply fp64 matrices";
  if (row.operand != format("fp16") && row.operand != format("s8")) return row.name + " does not multiply slices";
  const int bits = digit_bits(row.operand.fields());
  const SliceWidths& w = r.slices.widths;
  if (w.a < 1 || w.b < 1 || w.a > bits || w.b > bits)
    return "a slice of " + row.operand.name() + " has 1 to " + std::to_string(bits) + " bits";
  const int exact = exact_bits(row);
  if (!sums_exactly(r.n, w, exact))
    return std::to_string(r.n) + " products of digits of " + std::to_string(w.a) + " and " + std::to_string(w.b) +
           " bits do not fit in " + std::to_string(exact) + " bits";
  if (r.slices.count < 0 || r.slices.count > 32) return "at most 32 slices";
  return "";
}

SliceWidths widest_slices(const CublasRow& row, int n) {
  return slice_widths(n, exact_bits(row), digit_bits(row.operand.fields()));
}

uint64_t memory_of(const DgemmRequest& r) {
  const CublasRow& row = cublas_rows()[size_t(r.row)];
  const uint64_t elements = uint64_t(r.n) * uint64_t(r.n), slices = uint64_t(r.slices.count);
  return elements * (3 * sizeof(double) + slices * 2 * uint64_t(row.operand.storage_bytes()) +
                     slices * uint64_t(row.result.storage_bytes()));
}

Cell sampled_cell(const DgemmRequest& r, int sample) {
  CounterRng rng(r.seed, ~static_cast<uint64_t>(sample));
  Cell cell;
  cell.row = static_cast<int32_t>(rng.below(static_cast<uint32_t>(r.n)));
  cell.column = static_cast<int32_t>(rng.below(static_cast<uint32_t>(r.n)));
  return cell;
}

BlasGemm call_for(const DgemmRequest& r, int partners) {
  BlasGemm call;
  call.rows = r.n;
  call.columns = r.n * partners;  // slices of b lie one behind the other
  call.k = r.n;
  call.bits = r.bits;
  call.alpha = one_of(cublas_rows()[size_t(r.row)].result);
  return call;
}

}  // namespace mmafuzz
