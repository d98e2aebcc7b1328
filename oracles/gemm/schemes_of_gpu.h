// The schemes that compute a DGEMM or SGEMM from narrow products, on the units of one generation of GPUs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz::gemm {

/// Names of units `ozaki:` (in fast mode) and `ozaki2:` for matrices of fp64 (kind `dgemm`) or fp32 (`sgemm`), on the
/// models of `arch`: for each format the instruction with the most products, for integers the unit `integer`.
std::vector<std::string> schemes_on(std::string_view arch, const std::string& kind);

}  // namespace mmafuzz::gemm
