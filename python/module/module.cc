// mmafuzz._core: what the Python package uses of the C++ libraries. BadInput becomes a ValueError.
#include "core/contradiction.h"
#include "plan/request.h"
#include "python/module/bindings.h"

NB_MODULE(_core, m) {
  nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const mmafuzz::BadInput& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });
  mmafuzz::python::bind_units(m);
  mmafuzz::python::bind_case_files(m);
  mmafuzz::python::bind_findings(m);
}
