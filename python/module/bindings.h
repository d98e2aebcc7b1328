// The parts of mmafuzz._core: bind_units() is in units.cc, and so on. The module takes and returns bytes and names;
// dtypes, shapes and messages to people are up to the Python side.
#pragma once

#include <nanobind/nanobind.h>

#include "core/registry.h"

namespace mmafuzz::python {

namespace nb = nanobind;

/// Ops, formats, units and their evaluation.
void bind_units(nb::module_& m);
/// Reading and writing case text.
void bind_case_files(nb::module_& m);
/// search, minimize and explain.
void bind_findings(nb::module_& m);

/// The bytes of a column: of one field of many cases.
inline nb::bytes bytes_of(const Column& column) { return nb::bytes(column.data(), column.cases() * column.stride()); }

/// The bytes of each input field of a batch.
nb::list bytes_of(const Batch& batch);

/// The batch whose input fields have these bytes. Throws BadInput where their number or lengths do not fit the op.
Batch batch_of(const Op& op, const std::vector<nb::bytes>& fields);

}  // namespace mmafuzz::python
