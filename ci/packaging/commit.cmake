# Writes ${output}: the commit that is built, as a C++ source. The file is touched only where the commit has changed, so that
# nothing else is linked again. Usage: cmake -Dsource=... -Doutput=... -P commit.cmake
find_program(GIT git)
set(commit "")
if(GIT AND EXISTS ${source}/.git)
  execute_process(COMMAND ${GIT} describe --always --dirty=+ --abbrev=10 --exclude * WORKING_DIRECTORY ${source}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit AND DEFINED ENV{MMAFUZZ_COMMIT})  # of a source package
  set(commit $ENV{MMAFUZZ_COMMIT})
endif()
file(CONFIGURE OUTPUT ${output} CONTENT [[#include "plan/version.h"

namespace mmafuzz {
const char* build_commit() { return "@commit@"; }
}  // namespace mmafuzz
]] @ONLY)
