// The kernels of kernels/dgemm.cu, as nvcc compiled them and tests/ptx_to_c.py translated them, beside their host twin:
// the same elements drawn, the same products to the bit. Prints how many agreed; exit code 1 where they differ.
#include <bit>
#include <cstdio>
#include <vector>

#include "gpu_bridge/dgemm/drawn_matrix.h"
#include "tests/host_dgemm.h"

#define KERNEL(name)                                                                                       \
  extern "C" void kernel_##name(const uint8_t* parameters, uint32_t block, uint32_t thread, uint32_t grid, \
                                uint32_t size)
KERNEL(draw_matrix);
KERNEL(find_tops);
KERNEL(7S8Digit);
KERNEL(9Fp16Digit);
KERNEL(add_productsIi);
KERNEL(add_productsIf);
#undef KERNEL

using namespace mmafuzz;

namespace {

template <class Parameters>
void launch(decltype(kernel_draw_matrix)* kernel, uint32_t blocks, const Parameters& parameters) {
  for (uint32_t b = 0; b < blocks; ++b)
    for (uint32_t t = 0; t < 256; ++t) kernel(reinterpret_cast<const uint8_t*>(&parameters), b, t, blocks, 256);
}
uint32_t blocks_for(size_t threads) { return static_cast<uint32_t>((threads + 255) / 256); }

// Any function of digits does in place of a product: both sides have the same.
void product(const DgemmRequest& request, const BlasGemm& call, const uint8_t* first, const uint8_t* second,
             uint8_t* result) {
  const bool integer = cublas_rows()[size_t(request.row)].operand.fields().integer;
  const auto digit = [&](const uint8_t* from, size_t at) {
    return integer ? int{reinterpret_cast<const int8_t*>(from)[at]}
                   : static_cast<int16_t>(reinterpret_cast<const uint16_t*>(from)[at]) % 1024;
  };
  const auto k = size_t(call.k);
  for (size_t j = 0; j < size_t(call.columns); ++j)
    for (size_t i = 0; i < size_t(call.rows); ++i) {
      int32_t sum = 0;
      for (size_t l = 0; l < k; ++l) sum += digit(first, i * k + l) * digit(second, j * k + l);
      const size_t at = j * size_t(call.rows) + i;
      if (integer) reinterpret_cast<int32_t*>(result)[at] = sum;
      else reinterpret_cast<float*>(result)[at] = static_cast<float>(sum);
    }
}

struct KernelMachine {
  const DgemmRequest& request;
  bool integer;
  uint32_t n, elements;
  std::vector<uint64_t> a, b;
  std::vector<int32_t> tops_a, tops_b;
  std::vector<uint16_t> digits_a, digits_b;  // wide enough for both types
  std::vector<uint32_t> products;
  std::vector<double> sums;

  explicit KernelMachine(const DgemmRequest& r)
      : request(r),
        integer(cublas_rows()[size_t(r.row)].operand.fields().integer),
        n(uint32_t(r.n)),
        elements(n * n),
        a(elements),
        b(elements),
        tops_a(n, top_of_zero),
        tops_b(n, top_of_zero),
        digits_a(size_t(elements) * size_t(r.slices.count)),
        digits_b(digits_a.size()),
        products(digits_a.size()),
        sums(elements, -1) {
    struct {
      uint64_t seed;
      uint32_t spread, elements;
      uint64_t* to;
    } draw{seed_of_a(r), r.spread, elements, a.data()};
    launch(kernel_draw_matrix, blocks_for(elements), draw);
    draw.seed = seed_of_b(r);
    draw.to = b.data();
    launch(kernel_draw_matrix, blocks_for(elements), draw);
  }
  void split() {
    split(a, tops_a, request.slices.widths.a, digits_a);
    split(b, tops_b, request.slices.widths.b, digits_b);
  }
  void split(std::vector<uint64_t>& matrix, std::vector<int32_t>& tops, int width, std::vector<uint16_t>& digits) {
    const struct {
      const uint64_t* matrix;
      int length;
      int32_t* tops;
    } find{matrix.data(), int(n), tops.data()};
    launch(kernel_find_tops, n, find);
    const struct {
      const uint64_t* matrix;
      uint32_t elements, length;
      const int32_t* tops;
      int width, count;
      void* to;
    } cut{matrix.data(), elements, n, tops.data(), width, request.slices.count, digits.data()};
    launch(integer ? kernel_7S8Digit : kernel_9Fp16Digit, blocks_for(elements / elements_at_once), cut);
  }
  void multiply(int p, int partners) {
    const size_t at = size_t(p - 1) * elements * (integer ? 1 : 2);
    product(request, call_for(request, partners), reinterpret_cast<const uint8_t*>(digits_a.data()) + at,
            reinterpret_cast<const uint8_t*>(digits_b.data()), reinterpret_cast<uint8_t*>(products.data()));
  }
  void add(const SliceProducts& which) {
    const struct {
      SliceProducts which;
      const void* products;
      uint32_t elements, n;
      const int32_t *tops_a, *tops_b;
      double* sums;
    } add{which, products.data(), elements, n, tops_a.data(), tops_b.data(), sums.data()};
    launch(integer ? kernel_add_productsIi : kernel_add_productsIf, blocks_for(elements), add);
  }
};

}  // namespace

int main() {
  uint64_t agree = 0, differ = 0;
  const auto compare = [&](uint64_t got, uint64_t expected) { ++(got == expected ? agree : differ); };
  for (const char* row : {"gemmex.fp16", "gemmex.s8"})
    for (const double phi : {0.1, 4.0})
      for (const int count : {1, 5, 8}) {
        DgemmRequest request;
        request.row = find_cublas_row(row);
        request.n = 36;
        request.spread = spread_of(phi);
        request.slices = {widest_slices(cublas_rows()[size_t(request.row)], request.n), count, count != 5};
        request.samples = 4096;
        KernelMachine machine(request);
        for (uint32_t e = 0; e < machine.elements; ++e) {
          compare(machine.a[e], drawn_element(seed_of_a(request), e, request.spread));
          compare(machine.b[e], drawn_element(seed_of_b(request), e, request.spread));
        }
        multiply_in_slices(request.slices, machine);
        const DgemmAnswer expected =
            dgemm_on_host(request, [&](const BlasGemm& call, const uint8_t* first, const uint8_t* second,
                                       uint8_t* result) { product(request, call, first, second, result); });
        for (int s = 0; s < request.samples; ++s) {
          const Cell cell = sampled_cell(request, s);
          compare(std::bit_cast<uint64_t>(machine.sums[size_t(cell.column) * machine.n + size_t(cell.row)]),
                  expected.sampled[size_t(s)]);
        }
      }
  std::printf("%llu agree, %llu differ\n", static_cast<unsigned long long>(agree),
              static_cast<unsigned long long>(differ));
  return differ != 0;
}
