#!/usr/bin/env bash
# Plugins of ABI 1.0 in hosts that stand for 1.1 and 1.7, plugins of 1.7 in a host of 1.0: structs that
# have grown, rubbish in what is new, extensions that may be skipped and that must be understood; under
# the address sanitizer.
set -eu
cd "$(dirname "$0")/../../../.."
build=${GE_BUILD:-build/release}
ninja -C "$build" ge ref minimal op kernels square scaffold_pass_c >"$build/abi_versions.log" 2>&1 || {
  tail -n 20 "$build/abi_versions.log"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}
exec python3 tests/e2e/all/plugins/abi_versions.py --build "$build" "$@"
