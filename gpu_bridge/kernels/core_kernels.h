// The interface of core.cu to the device child: one launcher for each row of core_instructions.def.h, in that order.
// Pointers are the device's; launches are asynchronous.
#pragma once

#include <span>

#include "gpu_bridge/device/bulk_request.h"

namespace mmafuzz {

/// operands: `arity` encodings per case, case by case.
using LaunchCore = void (*)(const uint64_t* operands, int arity, uint64_t* results, uint64_t count);

std::span<const LaunchCore> core_launches();

/// Converts `count` sources; writes one result and one byte of flags for each.
void launch_bulk(const BulkRequest& request, const uint32_t* sources, uint32_t* results, uint8_t* flags,
                 uint64_t count);

}  // namespace mmafuzz
