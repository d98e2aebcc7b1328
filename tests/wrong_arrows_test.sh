#!/bin/bash
# Wrong includes, threads made by hand and a wrong picture are found: wrong_arrows_test.sh CHECK SCRATCH.
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
# The picture of the rooms, and the same upside down.
mkdir "$root/docs"
cp "$(dirname "$check")/../docs/architecture.md" "$root/docs/"
python3 "$check" "$root" >"$root/out" || { echo "refused: the picture"; cat "$root/out"; failed=1; }
{ echo '```'; awk '/^```/ { n++ } n == 1 && !/^```/' "$root/docs/architecture.md" | tac; echo '```'; } >"$root/fallen"
mv "$root/fallen" "$root/docs/architecture.md"
python3 "$check" "$root" | grep -q "does not show cli above arithmetic" || { echo "not found: a picture upside down"; failed=1; }
exit $failed
