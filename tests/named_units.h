// Rows of NVIDIA's that many tests ask, and one dot of a unit by its name.
#pragma once

#include <string>
#include <vector>

#include "plan/request.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {

inline const std::string volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32";
inline const std::string turing = "model:turing/mma.m16n8k8.f32.f16.f16.f32";
inline const std::string ampere = "model:ampere/mma.m16n8k16.f32.f16.f16.f32";
inline const std::string hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32";

inline uint64_t evaluate(const std::string& unit, const Op& op, const std::vector<uint64_t>& a,
                         const std::vector<uint64_t>& b, uint64_t c) {
  return run_one_dot(*bind_or_fail(unit, op), op, a, b, c);
}

}  // namespace mmafuzz
