// The host's twin of kernels/dgemm.cu: the same steps in loops, with another's products in place of those of cuBLAS.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "gpu_bridge/dgemm/dgemm.h"
#include "gpu_bridge/dgemm/drawn_matrix.h"

namespace mmafuzz {

/// A call in host memory, as CublasRow and BlasGemm say.
using HostProduct =
    std::function<void(const BlasGemm& call, const uint8_t* first, const uint8_t* second, uint8_t* result)>;

template <class Digit, class Value>
class HostMachine {
 public:
  HostMachine(const DgemmRequest& request, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b,
              const HostProduct& product, std::vector<double>& sums)
      : request_(request), product_(product), elements_(a.size()), a_{a}, b_{b}, sums_(sums) {}

  void split() {
    for (Side* side : {&a_, &b_}) {
      const auto n = size_t(request_.n);
      side->tops.assign(n, top_of_zero);
      side->digits.resize(elements_ * size_t(request_.slices.count));
      for (size_t e = 0; e < elements_; ++e) side->tops[e / n] = std::max(side->tops[e / n], top_of(side->matrix[e]));
      const int width = side == &a_ ? request_.slices.widths.a : request_.slices.widths.b;
      for (size_t e = 0; e < elements_; e += elements_at_once)
        split_elements(&side->matrix[e], side->tops[e / n], width, request_.slices.count, &side->digits[e], elements_);
    }
  }
  void multiply(int p, int partners) {
    products_.resize(elements_ * size_t(partners));
    product_(call_for(request_, partners), reinterpret_cast<const uint8_t*>(&a_.digits[size_t(p - 1) * elements_]),
             reinterpret_cast<const uint8_t*>(b_.digits.data()), reinterpret_cast<uint8_t*>(products_.data()));
  }
  void add(const SliceProducts& which) {
    for (size_t e = 0; e < elements_; ++e)
      sums_[e] = add_slice_products(which, sums_[e], &products_[e], elements_, a_.tops[e % size_t(request_.n)],
                                    b_.tops[e / size_t(request_.n)]);
  }

 private:
  struct Side {
    const std::vector<uint64_t>& matrix;
    std::vector<int32_t> tops = {};
    std::vector<Digit> digits = {};
  };
  const DgemmRequest& request_;
  const HostProduct& product_;
  size_t elements_;
  Side a_, b_;
  std::vector<Value> products_;
  std::vector<double>& sums_;
};

/// Throws std::invalid_argument where wrong_with says why.
inline DgemmAnswer dgemm_on_host(const DgemmRequest& r, const HostProduct& product) {
  if (const std::string wrong = wrong_with(r); !wrong.empty()) throw std::invalid_argument(wrong);
  const size_t elements = size_t(r.n) * size_t(r.n);
  std::vector<uint64_t> a(elements), b(elements);
  for (size_t e = 0; e < elements; ++e) {
    a[e] = drawn_element(seed_of_a(r), e, r.spread);
    b[e] = drawn_element(seed_of_b(r), e, r.spread);
  }
  std::vector<double> d(elements);
  const auto start = std::chrono::steady_clock::now();
  const bool integers = cublas_rows()[size_t(r.row)].operand.fields().integer;
  if (r.slices.count == 0) {
    product(call_for(r, 1), reinterpret_cast<const uint8_t*>(a.data()), reinterpret_cast<const uint8_t*>(b.data()),
            reinterpret_cast<uint8_t*>(d.data()));
  } else if (integers) {
    HostMachine<S8Digit, int32_t> machine(r, a, b, product, d);
    multiply_in_slices(r.slices, machine);
  } else {
    HostMachine<Fp16Digit, float> machine(r, a, b, product, d);
    multiply_in_slices(r.slices, machine);
  }
  DgemmAnswer answer;
  answer.times.runs = 1;
  answer.times.median = answer.times.least =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (int i = 0; i < r.samples; ++i) {
    const Cell cell = sampled_cell(r, i);
    answer.sampled.push_back(std::bit_cast<uint64_t>(d[size_t(cell.column) * size_t(r.n) + size_t(cell.row)]));
  }
  return answer;
}

}  // namespace mmafuzz
