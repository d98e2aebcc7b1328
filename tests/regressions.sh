#!/bin/bash
# Replays every promoted witness (mmafuzz promote): regressions.sh MMAFUZZ CORPUS. Where a unit gives another result than the file has,
# it prints the file's bucket and the explanation of the case, and ends with exit code 1. Exit code 77: there are none yet.
set -u
mmafuzz=$1
corpus=$2
shopt -s nullglob
files=("$corpus"/*/regressions/*.cases)
[ ${#files[@]} -gt 0 ] || { echo "no regressions in $corpus"; exit 77; }

report=$("$mmafuzz" check "${files[@]}")
code=$?
printf '%s\n' "$report"
grep -E '^.*:[0-9]+: expected ' <<<"$report" | while IFS= read -r mismatch; do
  where=${mismatch%%: expected *}
  file=${where%:*}
  units=$(sed -n 's/^property [^ ]* //p' "$file" | head -n 1 | tr ' ' ',')
  printf '\n%s\n%s\n' "$mismatch" "$(sed -n '2,/^[^#]/{/^#/p}' "$file")"
  "$mmafuzz" explain "$file" --line "${where##*:}" --units "$units"
done
exit $code
