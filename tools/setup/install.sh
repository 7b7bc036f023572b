#!/usr/bin/env bash
# Installs what GraphEngine needs on Debian 12, and only what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat <<'TEXT'
usage: tools/setup/install.sh [base|gpu|test|all] [--check]

Installs missing Debian packages and a Python environment in build/venv.
  base   the compiler, the libraries, and a bare Python environment (default; ./quickstart)
  gpu    base and the compiler of the engine gpu's kernels (101 MB from PyPI); with nvcc of CUDA
         13.0 on PATH it is not needed
  test   base, clang-format, valgrind, onnx and onnxruntime (./test)
  all    test, openvino, highspy, libonnx-testdata and clang (./test --all)
  --check  install nothing; print what is missing and exit 1 if anything is

Without root it asks sudo; where there is no sudo it prints the command for an administrator.
GE_PYTHON names another Python (default: /usr/bin/python3).

examples:
  tools/setup/install.sh
  tools/setup/install.sh test
  tools/setup/install.sh gpu && cmake --preset release && cmake --build --preset release
  tools/setup/install.sh all --check
TEXT
}

level=base
check=no
for argument in "$@"; do
  case $argument in
    base | gpu | test | all) level=$argument ;;
    --check) check=yes ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done

packages=(
  g++ cmake ninja-build ccache pkg-config git
  protobuf-compiler libprotobuf-dev libboost-graph-dev libtbb-dev libdnnl-dev libopenblas0-openmp
  nlohmann-json3-dev libcli11-dev libfmt-dev libspdlog-dev libgtest-dev
  libdlpack-dev libhwy-dev libmd-dev libre2-dev libxxhash-dev libopencv-imgproc-dev
  libjpeg62-turbo-dev libopenjp2-7-dev libpng-dev libtiff-dev libwebp-dev zlib1g-dev
  python3 python3-dev python3-venv
)
if [[ $level == test || $level == all ]]; then packages+=(clang-format-14 valgrind dataset-fashion-mnist libsentencepiece-dev python3-sentencepiece libopenblas-openmp-dev); fi
if [[ $level == all ]]; then packages+=(dpkg-dev file libonnx-testdata chromium clang-14 clang-tidy-14 libclang-rt-14-dev llvm-14); fi

say() { echo "setup: $*"; }
die() { echo "install.sh: $*" >&2; exit 1; }

missing_packages() {
  local name
  for name in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    die "this is no Debian system; install the equivalents of: ${packages[*]}"
  local missing
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} == 0 ]]; then
    say "all ${#packages[@]} Debian packages are there"
    return
  fi
  if [[ $check == yes ]]; then
    say "missing Debian packages: ${missing[*]}"
    lacking=yes
    return
  fi
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      die "these Debian packages are missing and this user is not root; ask an administrator" \
        "for: apt-get update && apt-get install -y ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local log=build/setup-apt.log
  if ! {
    "${as_root[@]}" apt-get update -q &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    die "apt-get failed (whole log: $log); fix: see the lines above, then run this again"
  fi
}

# pip_install FILE: installs the requirements in FILE unless exactly these were installed before.
pip_install() {
  local stamp
  stamp=build/venv/.installed-$(basename "$1" .txt)
  if cmp -s "$1" "$stamp"; then
    say "Python packages of $1 are there"
    return
  fi
  if [[ $check == yes ]]; then
    say "missing Python packages: $1"
    lacking=yes
    return
  fi
  say "installing the Python packages of $1"
  build/venv/bin/python -m pip install --disable-pip-version-check --quiet --progress-bar off \
    --requirement "$1" ||
    die "pip could not install $1; fix: check the network and pip's index settings"
  cp "$1" "$stamp"
}

make_venv() {
  local python=${GE_PYTHON:-/usr/bin/python3}
  if build/venv/bin/python -m pip --version >/dev/null 2>&1; then return; fi
  if [[ $check == yes ]]; then
    say "missing Python environment: build/venv"
    lacking=yes
    return
  fi
  say "making the Python environment build/venv"
  "$python" -m venv --clear build/venv ||
    die "$python cannot make a virtual environment; fix: install python3-venv, or set GE_PYTHON"
}

lacking=no
mkdir -p build
install_packages
make_venv
if [[ $level == gpu ]]; then pip_install tools/setup/requirements-gpu.txt; fi
if [[ $level == test || $level == all ]]; then pip_install tools/setup/requirements-test.txt; fi
if [[ $level == all ]]; then pip_install tools/setup/requirements-all.txt; fi
[[ $lacking == no ]] || exit 1
