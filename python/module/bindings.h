// The parts of mmafuzz._core, each in the file of its name. The module speaks of bytes and names; dtypes, shapes and
// messages to people are the Python side's.
#pragma once

#include <nanobind/nanobind.h>

#include "core/registry.h"

namespace mmafuzz::python {

namespace nb = nanobind;

/// Ops, formats, units and their evaluation.
void bind_units(nb::module_& m);
/// Reading and writing case text.
void bind_case_files(nb::module_& m);
/// fuzz, minimize, explain.
void bind_findings(nb::module_& m);

/// The bytes of one field of many cases.
inline nb::bytes bytes_of(const Column& column) { return nb::bytes(column.data(), column.cases() * column.stride()); }

/// The input fields of a batch.
nb::list bytes_of(const Batch& batch);

/// The batch whose input fields these bytes are. Throws BadInput where their lengths do not fit.
Batch batch_of(const Op& op, const std::vector<nb::bytes>& fields);

}  // namespace mmafuzz::python
