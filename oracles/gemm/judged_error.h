// What a bound of a matrix product says of one element.
#pragma once

namespace mmafuzz::gemm {

struct JudgedError {
  double ratio = 0;   ///< the error over its bound
  double bound = -1;  ///< -1: nothing is said of the element
};

}  // namespace mmafuzz::gemm
