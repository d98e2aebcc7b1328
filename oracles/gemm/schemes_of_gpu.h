// The schemes that compute a DGEMM or SGEMM from narrow products, on the units of one generation of GPUs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz::gemm {

/// Names of units `ozaki:` and `ozaki2:` for matrices of fp64 (`dgemm`) or fp32 (`sgemm`), on the rows of `arch`: of
/// each format the instruction with the most products, of integers the unit `integer`. Slices in fast mode, which
/// leaves out the products below the last slice.
std::vector<std::string> schemes_on(std::string_view arch, const std::string& kind);

}  // namespace mmafuzz::gemm
