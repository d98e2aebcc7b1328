#include "plan/version.h"

namespace mmafuzz {

const char* version_number() { return MMAFUZZ_VERSION; }

}  // namespace mmafuzz
