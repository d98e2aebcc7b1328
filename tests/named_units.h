// Rows of NVIDIA's that many tests ask.
#pragma once

#include <string>

namespace mmafuzz {

inline const std::string volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32";
inline const std::string turing = "model:turing/mma.m16n8k8.f32.f16.f16.f32";
inline const std::string ampere = "model:ampere/mma.m16n8k16.f32.f16.f16.f32";
inline const std::string hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32";

}  // namespace mmafuzz
