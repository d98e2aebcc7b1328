// The C++ interface of mmafuzz, whole: batches of cases, units that evaluate them, checks against expected results, and
// the search for cases on which units differ. docs/library.md walks through it.
#pragma once

#include <mmafuzz/batch.h>
#include <mmafuzz/check.h>
#include <mmafuzz/search.h>
#include <mmafuzz/unit.h>
