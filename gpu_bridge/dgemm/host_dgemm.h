// The host's twin of kernels/dgemm.cu: the same steps in loops, with another's products in place of those of cuBLAS.
#pragma once

#include <functional>

#include "gpu_bridge/dgemm/dgemm.h"

namespace mmafuzz {

/// A call in host memory, as CublasRow and BlasGemm say.
using HostProduct =
    std::function<void(const BlasGemm& call, const uint8_t* first, const uint8_t* second, uint8_t* result)>;

/// Throws std::invalid_argument where wrong_with says why.
DgemmAnswer dgemm_on_host(const DgemmRequest& request, const HostProduct& product);

}  // namespace mmafuzz
