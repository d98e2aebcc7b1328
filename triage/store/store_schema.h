// The tables of a store, version by version: docs/store.sql, which the build makes a text of the program.
#pragma once

#include "triage/store/database.h"

namespace mmafuzz {

/// Bins of a campaign's subject: bit n of the blob is bin number n.
void set_bit(std::string& bytes, size_t bit);
bool has_bit(const std::string& bytes, size_t bit);

/// A store's file: application id "mmaf", one upgrade script a version.
const DatabaseKind& store_kind();

}  // namespace mmafuzz
