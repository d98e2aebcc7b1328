#include "gpu_bridge/instructions/cublas_gemm.h"

#include <cmath>
#include <cstring>

#include "arithmetic/counter_rng.h"
#include "core/unit_name.h"
#include "gpu_bridge/instructions/cublas_gemm.def.h"

namespace mmafuzz {
namespace {

/// T is float or double, the type of operands and result; the first factors are about 2^exponent.
template <class T>
Probe probe_of(const BlasGemm& call, uint64_t count, int exponent) {
  const auto rows = static_cast<size_t>(call.rows), columns = static_cast<size_t>(call.columns),
             k = static_cast<size_t>(call.k);
  Probe probe;
  probe.operands.first.resize(count * rows * k * sizeof(T));
  probe.operands.second.resize(count * columns * k * sizeof(T));
  probe.operands.result.resize(count * rows * columns * sizeof(T));
  probe.native.resize(probe.operands.result.size());
  const auto put = [](std::vector<uint8_t>& matrix, size_t element, T value) {
    std::memcpy(&matrix[element * sizeof(T)], &value, sizeof(T));
  };
  for (size_t number = 0; number < count; ++number) {
    CounterRng rng(1, number);
    const auto significand = [&] { return static_cast<T>(1 + std::ldexp(static_cast<double>(rng.next() >> 12), -52)); };
    std::vector<T> left(rows), right(columns);
    for (size_t i = 0; i < rows; ++i) {
      left[i] = std::ldexp(significand(), exponent);
      if (k > 1) put(probe.operands.first, (number * rows + i) * k, 1);  // times the zeros of second
      put(probe.operands.first, (number * rows + i) * k + k - 1, left[i]);
    }
    for (size_t j = 0; j < columns; ++j)
      put(probe.operands.second, (number * columns + j) * k + k - 1, right[j] = significand());
    for (size_t j = 0; j < columns; ++j)
      for (size_t i = 0; i < rows; ++i) put(probe.native, (number * columns + j) * rows + i, left[i] * right[j]);
  }
  return probe;
}

}  // namespace

const std::vector<CublasRow>& cublas_rows() {
  using Arithmetic = CublasRow::Arithmetic;
  static const std::vector<CublasRow> all = {
#define ROW(unit, a, d, compute, a_type, d_type, arithmetic) \
  {unit, format(#a), format(#d), #compute, Arithmetic::arithmetic},
      MMAFUZZ_CUBLAS(ROW)
#undef ROW
  };
  return all;
}

int find_cublas_row(std::string_view name) {
  const CublasRow* row = entry_named(cublas_rows(), name);
  return row ? static_cast<int>(row - cublas_rows().data()) : -1;
}

uint64_t one_of(const Format& format) {
  const FormatFields& f = format.fields();
  return f.integer ? 1 : f.in_container(uint64_t(f.bias) << f.fraction_bits);
}

Probe make_probe(const CublasRow& row, const BlasGemm& call, uint64_t count) {
  return row.result == format("fp64") ? probe_of<double>(call, count, -300) : probe_of<float>(call, count, -20);
}

}  // namespace mmafuzz
