// What the rules of block quantizers say, in rational numbers: the oracle of quantize and dequantize. It is written
// from the rules' texts (docs/quantizers.md), and shares nothing with arithmetic/quantize_block.h but the formats.
#pragma once

#include <memory>

#include "core/unit.h"

namespace mmafuzz::exact {

std::unique_ptr<Unit> make_exact_quantizer(const Op& op);
std::unique_ptr<Unit> make_exact_dequantizer(const Op& op);

}  // namespace mmafuzz::exact
