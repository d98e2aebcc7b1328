// Products of drawn fp64 matrices on the device: native, emulated by cuBLAS, or by the Ozaki scheme around a narrow
// product of cuBLAS; how long they take, and some elements of the result.
#pragma once

#include <vector>

#include "core/result.h"
#include "gpu_bridge/dgemm/ozaki_steps.h"
#include "gpu_bridge/instructions/cublas_gemm.h"

namespace mmafuzz {

/// d = a * b, n x n each. Plain data.
struct DgemmRequest {
  int32_t row = 0;     ///< of cublas_gemm.def.h: a product of fp64, or that of the slices
  int32_t n = 0;       ///< a multiple of 4, at most 32768
  OzakiSlices slices;  ///< count 0: no slices
  int32_t bits = 55;   ///< BlasGemm::bits
  uint64_t seed = 1;
  uint32_t spread = 0;  ///< of drawn_element
  int32_t samples = 0;  ///< elements that are sent back
  double seconds = 1;   ///< for repetitions
};

/// Seconds on the device.
struct DgemmTimes {
  int32_t runs = 0;  ///< after one that does not count
  double median = 0, least = 0;
  double split = 0, products = 0, sums = 0;  ///< of one more run: where the time of a scheme goes
};

struct DgemmAnswer {
  DgemmTimes times;
  std::vector<uint64_t> sampled;  ///< encodings
};

/// Why a request is none; empty: it is one.
std::string wrong_with(const DgemmRequest& request);

/// The widest slices whose products of length n the row's product sums exactly.
SliceWidths widest_slices(const CublasRow& row, int n);

/// Device memory that a request takes, in bytes, without that of cuBLAS.
uint64_t memory_of(const DgemmRequest& request);

/// The seeds of a and b, and where element l of row i of a, or of column j of b, stands in its matrix: at vector * n +
/// l.
inline uint64_t seed_of_a(const DgemmRequest& request) { return 2 * request.seed; }
inline uint64_t seed_of_b(const DgemmRequest& request) { return 2 * request.seed + 1; }

struct Cell {
  int32_t row = 0, column = 0;
};
/// Element `sample` of those that are sent back. The result is column-major.
Cell sampled_cell(const DgemmRequest& request, int sample);

/// A call of cuBLAS for slice products, or for the whole product: see BlasGemm.
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
