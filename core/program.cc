#include "core/program.h"

#include "core/shell.h"

namespace mmafuzz {
namespace {

std::string called_as = "mmafuzz";

}  // namespace

const std::string& program_name() { return called_as; }
void set_program_name(const std::string& name) { called_as = shell_word(name); }

}  // namespace mmafuzz
