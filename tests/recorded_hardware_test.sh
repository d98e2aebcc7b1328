#!/usr/bin/env bash
# The models against 110,000 results of real V100, A100, Ada and H100 GPUs (recorded by Khattak and Mikaitis), where the
# recordings are at hand: MMAFUZZ_OBSERVATIONS, or ../shared/observations beside the checkout. Skips (77) otherwise.
set -eu
folder=${MMAFUZZ_OBSERVATIONS:-$(dirname "$0")/../../shared/observations}
if ! ls "$folder"/*.cases.gz >/dev/null 2>&1; then
  echo "no recordings in $folder: skipped"
  exit 77
fi
out=$("$MMAFUZZ" check "$folder"/*.cases.gz)
echo "$out" | tail -n 3
[ "$(echo "$out" | tail -n 1)" = "110000 cases, 0 mismatches" ]
