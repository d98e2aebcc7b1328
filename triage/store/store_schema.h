// The tables of a store, as scripts that make each version from the one before. The build compiles docs/store.sql in.
#pragma once

#include "triage/store/database.h"

namespace mmafuzz {

// A set of bins as bytes: bit n % 8, from the lowest, of byte n / 8 stands for bin number n.

/// Makes `bytes` longer where needed.
void set_bit(std::string& bytes, size_t bit);
/// False beyond the end of `bytes`.
bool has_bit(const std::string& bytes, size_t bit);

/// The kind of a store's file. Its application id is "mmaf" in ASCII.
const DatabaseKind& store_kind();

}  // namespace mmafuzz
