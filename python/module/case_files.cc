#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "core/case_text.h"
#include "plan/request.h"
#include "python/module/bindings.h"

namespace mmafuzz::python {
namespace {

nb::bytes flags_of(const std::vector<uint8_t>& flags) { return nb::bytes(flags.data(), flags.size()); }

/// The next cases as a tuple (op, unit, property, fields, results, has result, flags, has flags, lines), from `fields`
/// on as bytes; None at the end. Throws BadInput, which names file, line and column.
nb::object next_block(CaseReader& reader, size_t limit) {
  CaseBlock block;
  bool has_block;
  {
    const nb::gil_scoped_release unlocked;
    has_block = reader.next(block, limit);
  }
  if (!has_block) {
    if (reader.error()) throw BadInput(reader.error()->to_string());
    return nb::none();
  }
  return nb::make_tuple(to_text(block.batch.op()), block.unit, block.property, bytes_of(block.batch),
                        bytes_of(block.expected), flags_of(block.has_expected), flags_of(block.expected_flags),
                        flags_of(block.has_flags),
                        nb::bytes(block.line.data(), block.line.size() * sizeof(block.line[0])));
}

void write_block(CaseWriter& writer, const std::string& unit, const std::string& property, const Op& op,
                 const std::vector<nb::bytes>& fields, const std::optional<nb::bytes>& results,
                 const std::optional<nb::bytes>& flags) {
  const Batch batch = batch_of(op, fields);
  Outcomes outcomes;
  if (results) {
    outcomes.results = Column(op.result().format, op.result().count);
    outcomes.results.resize(batch.size());
    if (results->size() != batch.size() * outcomes.results.stride())
      throw BadInput("results of another length than the cases");
    std::memcpy(outcomes.results.data(), results->data(), results->size());
  }
  if (flags && flags->size() != batch.size()) throw BadInput("flags of another length than the cases");
  if (flags) outcomes.flags.assign(flags->c_str(), flags->c_str() + flags->size());
  const nb::gil_scoped_release unlocked;
  writer.unit(unit);
  writer.property(property);
  writer.op(op);
  for (size_t i = 0; i < batch.size(); ++i) writer.one_case(batch, i, results ? &outcomes : nullptr);
}

}  // namespace

void bind_case_files(nb::module_& m) {
  nb::class_<CaseReader>(m, "CaseReader").def(nb::init<const std::string&>()).def("next", &next_block);
  nb::class_<CaseWriter>(m, "CaseWriter")
      .def(nb::init<const std::string&>())
      .def("write", &write_block, nb::arg("unit"), nb::arg("property"), nb::arg("op"), nb::arg("fields"),
           nb::arg("results").none(), nb::arg("flags").none())
      .def("finish", &CaseWriter::finish, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace mmafuzz::python
