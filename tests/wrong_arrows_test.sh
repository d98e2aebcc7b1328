#!/bin/bash
# A wrong include, in any kind of file, and a thread made by hand are found: wrong_arrows_test.sh CHECK SCRATCH.
set -u
check=$1 root=$2
failed=0
expect() {  # expect FILE LINE: a tree with this file is refused
  rm -rf "$root"
  mkdir -p "$root/$(dirname "$1")"
  printf '%s\n' "$2" >"$root/$1"
  if python3 "$check" "$root" >"$root/out"; then
    echo "not found: $1: $2"
    failed=1
  fi
}
expect core/a.cc '#include "oracles/families.h"'
expect core/a.h '#include "plan/registry.h"'
expect gpu_bridge/kernels/a.cuh '#include "oracles/families.h"'
expect gpu_bridge/kernels/a.cu '#include "cli/command.h"'
expect arithmetic/a.h '#include <vector>'
expect campaign/a.cc '#include "cli/command.h"'
expect triage/a.cc 'std::vector<std::thread> threads;'
rm -rf "$root"
mkdir -p "$root/core"
echo '#include "arithmetic/round.h"' >"$root/core/a.cc"
python3 "$check" "$root" >"$root/out" || { echo "refused: a right include"; failed=1; }
exit $failed
