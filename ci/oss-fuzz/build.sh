#!/bin/bash -eu
# OSS-Fuzz and ClusterFuzzLite call this with $SRC, $OUT, $CC, $CXX, $CFLAGS, $CXXFLAGS and $LIB_FUZZING_ENGINE.
cd "$SRC/mmafuzz"
# Libraries of the distribution speak its own C++ library, not clang's.
export CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}
ci/package-fuzzers

# Targets run where nothing is installed: what they need beside libc lies beside them.
mkdir -p "$OUT/lib"
for program in "$OUT"/*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  ldd "$program" | awk '$3 ~ /lib(mpfr|gmp|hwy|sqlite3|z|fmt|stdc\+\+)\.so/ { print $3 }' | xargs -r cp -Lu -t "$OUT/lib"
  patchelf --force-rpath --set-rpath '$ORIGIN/lib' "$program"
done
