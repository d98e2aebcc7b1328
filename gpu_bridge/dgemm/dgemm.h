// Timed products of random fp64 matrices on the device: native, emulated by cuBLAS, or by the Ozaki scheme
// (docs/ozaki.md), which cuts the matrices into slices of fp16 or s8 that cuBLAS multiplies. The answer has the times
// and some elements of the result.
#pragma once

#include <vector>

#include "core/result.h"
#include "gpu_bridge/dgemm/ozaki_steps.h"
#include "gpu_bridge/instructions/cublas_gemm.h"

namespace mmafuzz {

/// d = a * b, n x n each. Plain data.
struct DgemmRequest {
  int32_t row = 0;     ///< index in cublas_rows(), from 0: a product of fp64, or the product of the slices
  int32_t n = 0;       ///< a multiple of 4, at most 32768
  OzakiSlices slices;  ///< count 0: no slices, one product of the fp64 matrices
  int32_t bits = 55;   ///< BlasGemm::bits
  uint64_t seed = 1;
  uint32_t spread = 0;  ///< of the elements' magnitudes, as drawn_element takes it; 0: uniform from -0.5 to 0.5
  int32_t samples = 0;  ///< number of elements of the result that are sent back, at most 4096
  double seconds = 1;   ///< repetitions end once they took this long together, or after 1000
};

/// Times are seconds on the device.
struct DgemmTimes {
  int32_t runs = 0;                          ///< timed repetitions, after one that is not timed
  double median = 0, least = 0;              ///< of the repetitions
  double split = 0, products = 0, sums = 0;  ///< parts of one further run; 0 without slices
};

struct DgemmAnswer {
  DgemmTimes times;
  std::vector<uint64_t> sampled;  ///< fp64 encodings of sampled_cell(0), sampled_cell(1), ...
};

/// Why a request is invalid; empty: it is valid. The functions below need a valid request.
std::string wrong_with(const DgemmRequest& request);

/// The widest slices of which the row's product sums n products exactly.
SliceWidths widest_slices(const CublasRow& row, int n);

/// Device memory of a request in bytes: matrices, digits and products, without what cuBLAS allocates and the tops.
uint64_t memory_of(const DgemmRequest& request);

/// Seeds for drawn_element. Element l of row i of a has the index i * n + l, element l of column j of b j * n + l.
inline uint64_t seed_of_a(const DgemmRequest& request) { return 2 * request.seed; }
inline uint64_t seed_of_b(const DgemmRequest& request) { return 2 * request.seed + 1; }

struct Cell {
  int32_t row = 0, column = 0;
};
/// The cell of the result that is sent back as number `sample` (from 0). The result is column-major.
Cell sampled_cell(const DgemmRequest& request, int sample);

/// The cuBLAS call that multiplies a slice of a by `partners` slices of b side by side; without slices the whole
/// product (partners = 1).
BlasGemm call_for(const DgemmRequest& request, int partners);

/// The scheme on a machine that can
///   split()                        cut both matrices
///   multiply(p, partners)          slice p of a with slices 1 to `partners` of b
///   add(const SliceProducts&)      these products to the sums
template <class Machine>
void multiply_in_slices(const OzakiSlices& slices, Machine& machine) {
  machine.split();
  for (int p = slices.count; p >= 1; --p) {  // small slices first, as OzakiGemm
    const int partners = slices.partners(p);
    machine.multiply(p, partners);
    machine.add({slices.widths, p, partners, p == slices.count, p == 1});
  }
}

}  // namespace mmafuzz
