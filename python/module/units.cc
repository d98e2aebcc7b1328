#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "core/ulps.h"
#include "oracles/models/model_rows.h"
#include "plan/default_fields.h"
#include "plan/named_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/unit_alias.h"
#include "python/module/bindings.h"
#include "python/module/callable_unit.h"
#include "python/module/evaluate.h"

namespace mmafuzz::python {
namespace {

using Field = std::tuple<std::string, std::string, int>;  ///< name, format and count of a FieldShape
Field field_of(const FieldShape& field) { return {field.name, field.format.name(), field.count}; }
std::vector<Field> fields_of(const std::vector<FieldShape>& shapes) {
  std::vector<Field> fields;
  for (const FieldShape& shape : shapes) fields.push_back(field_of(shape));
  return fields;
}

/// The op line of a model's or twin's row; nullopt for other units.
std::optional<std::string> op_of_row(const std::string& unit) {
  const UnitName name(unit);
  if (name.backend != "model" && name.backend != "twin") return std::nullopt;
  const ModelRow* row = find_model_row(name.path);
  return row ? std::optional(to_text(row->op)) : std::nullopt;
}

BoundUnit bind_unit(const AllUnits& registry, const std::string& name, const Op& op) {
  return {bind_or_fail(registry, name, op), op};
}

/// The names that patterns and short names stand for on an op (matching_units); without patterns, all units of this
/// machine that take the op, except referees, which are slow.
std::vector<std::string> names_for(const AllUnits& registry, const Op& op, const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  if (patterns.empty()) {
    names = UnitIndex(registry).accepting(op);
    std::erase_if(names, [&](const std::string& name) { return registry.role_of(name) == Role::referee; });
    return names;
  }
  for (const std::string& pattern : patterns) names.push_back(unit_of_alias(pattern, op));
  return matching_units(registry, op, names);
}

/// The class of the distance of each x[i] and y[i] as a byte: an index into ulp_class_names, 255 where both are NaN.
nb::bytes ulp_classes(const std::string& format_name, const Codes& x, const Codes& y) {
  const FormatFields fields = format(format_name).fields();
  const int bytes = static_cast<int>(x.itemsize());
  std::vector<uint8_t> classes(x.size());
  const auto code_at = [&](const Codes& codes, size_t i) {
    uint64_t code = 0;
    std::memcpy(&code, static_cast<const uint8_t*>(codes.data()) + i * size_t(bytes), size_t(bytes));
    return code;
  };
  for (size_t i = 0; i < classes.size(); ++i) {
    const uint64_t first = code_at(x, i), second = code_at(y, i);
    const bool both_nan =
        decode(fields, first).cls == NumberClass::nan && decode(fields, second).cls == NumberClass::nan;
    classes[i] = both_nan ? 255 : static_cast<uint8_t>(ulp_class(ulp_gap(fields, first, second)));
  }
  return nb::bytes(classes.data(), classes.size());
}

std::vector<FieldArray> field_arrays(const Op& op, const std::vector<Codes>& codes) {
  std::vector<FieldArray> fields;
  const std::vector<FieldShape> shapes = op.inputs();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool one_number = (op.kind == OpKind::dot && i == 2) || (op.is_of_blocks() && i > 0);
    fields.emplace_back(codes[i], one_number ? 0 : op.kind == OpKind::gemm ? 2 : 1);
  }
  return fields;
}

void bind_evaluation(nb::class_<BoundUnit>& unit) {
  unit.def_prop_ro("name", [](const BoundUnit& b) { return b.unit->name(); })
      .def_prop_ro("op", [](const BoundUnit& b) { return b.op; })
      .def_prop_ro("instruction_k", [](const BoundUnit& b) { return b.unit->model() ? b.unit->model()->k : 0; })
      .def(
          "evaluate",
          [](const BoundUnit& b, const std::vector<Codes>& codes, size_t cases, const Results& results,
             const std::optional<Results>& flags, unsigned threads) {
            const std::vector<FieldArray> fields = field_arrays(b.op, codes);
            const nb::gil_scoped_release unlocked;
            return evaluate(b, fields, cases, static_cast<uint8_t*>(results.data()),
                            flags ? static_cast<uint8_t*>(flags->data()) : nullptr, threads);
          },
          nb::arg("fields"), nb::arg("cases"), nb::arg("results"), nb::arg("flags").none(), nb::arg("threads"));
}

size_t multiply_arrays(const std::vector<std::pair<const BoundUnit*, int>>& steps, const Codes& a, const Codes& b,
                       const std::optional<Codes>& c, const std::optional<Codes>& scale_a,
                       const std::optional<Codes>& scale_b, const Results& results, unsigned threads) {
  std::vector<ChainStep> chain;
  for (const auto& [bound, first] : steps) chain.push_back({*bound, first});
  const auto matrices = [](const std::optional<Codes>& codes) {
    return codes ? std::optional<Matrices>(*codes) : std::nullopt;
  };
  size_t batches = 1;
  for (size_t i = 0; i + 2 < a.ndim(); ++i) batches *= a.shape(i);
  const MatrixProducts products{.a = Matrices(a),
                                .b = Matrices(b),
                                .c = matrices(c),
                                .scale_a = matrices(scale_a),
                                .scale_b = matrices(scale_b),
                                .batches = batches,
                                .results = static_cast<uint8_t*>(results.data())};
  const nb::gil_scoped_release unlocked;
  return multiply(chain, products, threads);
}

/// The parts of a DLPack array: a view of its bits as unsigned integers, the code of its dtype, and the dtype's bits.
nb::object from_dlpack(const nb::ndarray<nb::ro>& array) {
  if (array.device_type() != nb::device::cpu::value)
    throw BadInput("the array is on a device: move it to the CPU first");
  if (array.dtype().lanes != 1) throw BadInput("an array of vectors: pass one of numbers");
  const nb::dlpack::dtype dtype = array.dtype();
  std::vector<size_t> shape;
  std::vector<int64_t> strides;
  for (size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(array.shape(i));
    strides.push_back(array.stride(i));
  }
  const nb::dlpack::dtype bits{static_cast<uint8_t>(nb::dlpack::dtype_code::UInt),
                               static_cast<uint8_t>(dtype.bits < 8 ? 8 : dtype.bits), 1};
  const nb::ndarray<nb::numpy, nb::ro> view(array.data(), shape.size(), shape.data(), nb::cast(array), strides.data(),
                                            bits);
  return nb::make_tuple(view, dtype.code, dtype.bits);
}

}  // namespace

nb::list bytes_of(const Batch& batch) {
  nb::list fields;
  for (const Column& column : batch.inputs()) fields.append(bytes_of(column));
  return fields;
}

Batch batch_of(const Op& op, const std::vector<nb::bytes>& fields) {
  Batch batch(op);
  if (fields.size() != batch.inputs().size())
    throw BadInput("'" + to_text(op) + "' has " + std::to_string(batch.inputs().size()) + " fields, not " +
                   std::to_string(fields.size()));
  batch.resize(fields[0].size() / batch.inputs()[0].stride());
  for (size_t i = 0; i < fields.size(); ++i) {
    Column& column = batch.inputs()[i];
    if (fields[i].size() != column.stride() * batch.size()) throw BadInput("a field of wrong size");
    std::memcpy(column.data(), fields[i].data(), fields[i].size());
  }
  return batch;
}

void bind_units(nb::module_& m) {
  nb::class_<Op>(m, "Op")
      .def("__init__", [](Op* op, const std::string& text) { new (op) Op(op_from_text(text)); })
      .def_prop_ro("text", [](const Op& op) { return to_text(op); })
      .def_prop_ro("kind", [](const Op& op) { return name_of(op.kind); })
      .def_ro("m", &Op::m)
      .def_ro("n", &Op::n)
      .def_ro("k", &Op::k)
      .def_ro("scale_block", &Op::scale_block)
      .def_prop_ro("has_flags", &Op::has_flags)
      .def_prop_ro("fields", [](const Op& op) { return fields_of(op.inputs()); })
      .def_prop_ro("result", [](const Op& op) { return field_of(op.result()); })
      .def_prop_ro("results", [](const Op& op) { return fields_of(op.results()); });

  nb::class_<BoundUnit> unit(m, "BoundUnit");
  bind_evaluation(unit);

  nb::class_<AllUnits>(m, "Registry")
      .def("__init__",
           [](AllUnits* self,
              const std::vector<std::tuple<std::string, nb::object, std::vector<std::string>>>& named_calls) {
             std::vector<NamedCallable> callables;
             for (const auto& [name, call, equals] : named_calls) callables.push_back({name, call, equals});
             new (self) AllUnits(std::move(callables));
           })
      .def("bind", &bind_unit, nb::arg("name"), nb::arg("op"), nb::keep_alive<0, 1>())
      .def("knows", [](const AllUnits& r,
                       const std::string& name) { return is_alias(name) || r.knows(unit_of_alias(name, Op())); })
      .def("nearest", &AllUnits::nearest)
      .def("is_scheme", [](const AllUnits& r, const std::string& name) { return r.role_of(name) == Role::scheme; })
      .def("names_for", &names_for, nb::arg("op"), nb::arg("patterns"))
      .def("list", [](const AllUnits& r) {
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> all;
        for (const UnitInfo& info : r.list()) all.emplace_back(info.name, info.summary, info.source, info.unavailable);
        return all;
      });

  m.def("op_of_row", &op_of_row);
  m.def("ulp_classes", &ulp_classes, nb::arg("format"), nb::arg("x"), nb::arg("y"));
  m.attr("ulp_class_names") =
      nb::cast(std::vector<std::string>(std::begin(ulp_class_names), std::end(ulp_class_names)));
  m.def("unit_of_alias", &unit_of_alias);
  m.def("take_rows", &take_rows);
  m.def("matches_glob", [](const std::string& glob, const std::string& text) { return matches_glob(glob, text); });
  m.def("multiply", &multiply_arrays, nb::arg("steps"), nb::arg("a"), nb::arg("b"), nb::arg("c").none(),
        nb::arg("scale_a").none(), nb::arg("scale_b").none(), nb::arg("results"), nb::arg("threads"));
  m.def("from_dlpack", &from_dlpack);
  m.def("default_ops", [] {
    std::vector<std::string> all;
    for (const OpKind kind :
         {OpKind::dot, OpKind::scalar, OpKind::convert, OpKind::gemm, OpKind::quantize, OpKind::dequantize})
      for (const Op& op : default_ops(kind)) all.push_back(to_text(op));
    for (const Op& op : ops_of_models())
      if (std::find(all.begin(), all.end(), to_text(op)) == all.end()) all.push_back(to_text(op));
    return all;
  });
  m.def("format_names", &format_names);
  m.def("format_fields", [](const std::string& name) {
    const Result<Format> format = parse_format(name);
    if (!format) throw BadInput(format.refusal().reason);
    const FormatFields& f = format->fields();
    nb::dict d;
    d["width"] = int(f.width);
    d["storage_bytes"] = format->storage_bytes();
    d["fraction_bits"] = int(f.fraction_bits);
    d["ignored_low_bits"] = int(f.ignored_low_bits);
    d["sign_bit"] = f.sign_bit();
    d["integer"] = f.integer;
    return d;
  });
  m.def("model_of_provenance", [](const std::string& provenance) {
    const Result<std::string> model = model_of_provenance(provenance);
    if (!model) throw BadInput(model.refusal().reason);
    return *model;
  });
}

}  // namespace mmafuzz::python
