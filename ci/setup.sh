# Sourced by the scripts of this folder: goes to the checkout's root and installs what is missing, by Debian 12 package
# name. Needs root or sudo only when something is missing. A script that needs more names it in MMAFUZZ_PACKAGES.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(cmake ninja-build g++ ccache python3 libmpfr-dev libgmp-dev libboost-dev libgtest-dev libgmock-dev libbenchmark-dev
  libcli11-dev libfmt-dev nlohmann-json3-dev zlib1g-dev libhwy-dev libsqlite3-dev libkainjow-mustache-dev ${MMAFUZZ_PACKAGES:-})

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}"
  sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "error: not root and no sudo; install these packages: ${missing[*]}" >&2; exit 2; }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# Configures once, and again after an installation (an engine or a library may have come), and builds what is out of date; extra arguments are targets.
build_preset() {
  local preset=$1
  shift
  if [ ! -f "build/$preset/build.ninja" ] || [ ${#missing[@]} -gt 0 ]; then cmake --preset "$preset" >/dev/null; fi
  if [ $# -gt 0 ]; then
    cmake --build --preset "$preset" --target "$@"
  else
    cmake --build --preset "$preset"
  fi
}

# An environment for Python in build/venv, with what the package is built and tested with, and the release preset configured
# for it; extra arguments are cmake's.
configure_with_python() {
  [ -x build/venv/bin/pip ] || python3 -m venv build/venv
  build/venv/bin/pip install -q --disable-pip-version-check nanobind typing_extensions numpy ml_dtypes pytest
  cmake --preset release -DMMAFUZZ_PYTHON=ON -DPython_EXECUTABLE="$PWD/build/venv/bin/python" "$@" >/dev/null
}

# The rows of the table of targets.
fuzz_target_names() { sed -n 's/^MMAFUZZ_TARGET(\([a-z_]*\),.*/\1/p' plan/targets.def.h; }
