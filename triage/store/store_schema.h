// The tables of a store, version by version (docs/store.md has every column).
#pragma once

#include "triage/store/database.h"

namespace mmafuzz {

/// A store's file: application id "mmaf", one upgrade script a version.
const DatabaseKind& store_kind();

}  // namespace mmafuzz
