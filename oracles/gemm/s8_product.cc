#include "oracles/gemm/s8_product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mmafuzz::gemm {
namespace {

void portable_product(size_t m, size_t n, size_t k, const int8_t* a, const int8_t* b, int32_t* c) {
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      uint32_t sum = 0;
      for (size_t l = 0; l < k; ++l) sum += static_cast<uint32_t>(int32_t{a[i * k + l]} * b[j * k + l]);
      c[i * n + j] = static_cast<int32_t>(sum);
    }
}

#if defined(__x86_64__)

constexpr size_t lanes = 16, panel = 2 * lanes, max_rows = 12;  // 24 of the 32 registers hold sums

/// The sums of `Rows` rows of a with a panel of columns: `b` has, for each four of k, the four bytes of each column,
/// increased by 128, since VPDPBUSD multiplies unsigned bytes by signed ones.
template <int Rows>
__attribute__((target("avx512f,avx512vnni"))) void tile(const int8_t* a, size_t stride, const uint8_t* b, size_t fours,
                                                        int32_t (*sums)[panel]) {
  __m512i sum[Rows][2];
  for (auto& row : sum) row[0] = row[1] = _mm512_setzero_si512();
  for (size_t l = 0; l < fours; ++l, b += 4 * panel) {
    const __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + 4 * lanes);
    for (int r = 0; r < Rows; ++r) {
      int32_t four;
      std::memcpy(&four, a + size_t(r) * stride + 4 * l, 4);
      const __m512i x = _mm512_set1_epi32(four);
      sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], left, x);
      sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], right, x);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    _mm512_storeu_si512(sums[r], sum[r][0]);
    _mm512_storeu_si512(sums[r] + lanes, sum[r][1]);
  }
}

void vnni_product(size_t m, size_t n, size_t k, const int8_t* a, const int8_t* b, int32_t* c) {
  const size_t fours = (k + 3) / 4, stride = 4 * fours;
  std::vector<int8_t> rows(m * stride, 0);  // the rows of a, padded with zeros
  std::vector<uint32_t> excess(m);          // 128 times the sum of each row, to be subtracted
  for (size_t i = 0; i < m; ++i) {
    std::memcpy(&rows[i * stride], a + i * k, k);
    int32_t sum = 0;
    for (size_t l = 0; l < k; ++l) sum += a[i * k + l];
    excess[i] = static_cast<uint32_t>(sum) * 128;
  }
  std::vector<uint8_t> columns(panel * stride);
  for (size_t first = 0; first < n; first += panel) {
    const size_t columns_here = std::min(panel, n - first);
    std::fill(columns.begin(), columns.end(), uint8_t{128});
    for (size_t j = 0; j < columns_here; ++j) {
      const int8_t* column = b + (first + j) * k;
      for (size_t l = 0; l < k; ++l)
        columns[l / 4 * 4 * panel + 4 * j + l % 4] = static_cast<uint8_t>(static_cast<uint8_t>(column[l]) ^ 0x80);
    }
    int32_t sums[max_rows][panel];
    for (size_t i = 0; i < m;) {
      const size_t rows_here = m - i >= max_rows ? max_rows : m - i >= 4 ? 4 : 1;
      const int8_t* first_row = &rows[i * stride];
      if (rows_here == max_rows) tile<max_rows>(first_row, stride, columns.data(), fours, sums);
      else if (rows_here == 4) tile<4>(first_row, stride, columns.data(), fours, sums);
      else tile<1>(first_row, stride, columns.data(), fours, sums);
      for (size_t r = 0; r < rows_here; ++r)
        for (size_t j = 0; j < columns_here; ++j)
          c[(i + r) * n + first + j] = static_cast<int32_t>(static_cast<uint32_t>(sums[r][j]) - excess[i + r]);
      i += rows_here;
    }
  }
}

#endif

}  // namespace

void s8_product(size_t m, size_t n, size_t k, const int8_t* a, const int8_t* b, int32_t* c) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) return vnni_product(m, n, k, a, b, c);
#endif
  portable_product(m, n, k, a, b, c);
}

}  // namespace mmafuzz::gemm
