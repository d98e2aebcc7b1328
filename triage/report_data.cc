#include "triage/report_data.h"

#include <stdexcept>

namespace mmafuzz {

ReportData read_report_data(const std::string& store) { throw std::runtime_error(store + ": reading a findings store is not built yet"); }

}  // namespace mmafuzz
