// The error of one element of a matrix product, compared with its bound.
#pragma once

namespace mmafuzz::gemm {

struct JudgedError {
  double ratio = 0;   ///< the error over its bound
  double bound = -1;  ///< the error bound; -1: none is known for the element
};

}  // namespace mmafuzz::gemm
