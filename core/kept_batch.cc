#include "core/kept_batch.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "core/case_text.h"

namespace mmafuzz {

std::string keep_batch(const char* folder_variable, const std::string& kind, const std::string& unit,
                       const Batch& batch, const std::string& reason) {
  static std::atomic<int> number = 0;
  const char* folder = std::getenv(folder_variable);
  const std::string file = std::string(folder ? folder : ".") + "/" + kind + "-" + std::to_string(getpid()) + "-" +
                           std::to_string(number++) + ".cases";
  try {
    CaseWriter writer(file);
    writer.comment("in flight when " + reason);
    writer.unit(unit);
    writer.op(batch.op());
    for (size_t i = 0; i < batch.size(); ++i) writer.one_case(batch, i);
    writer.finish();
  } catch (const std::exception& e) {
    return std::string("not kept: ") + e.what();
  }
  return "kept in " + file;
}

}  // namespace mmafuzz
