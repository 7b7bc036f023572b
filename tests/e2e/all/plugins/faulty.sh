#!/usr/bin/env bash
# ge-conform finds out engines that are faulty in one way each, at the level and in the words of
# faulty.txt.
set -eu
cd "$(dirname "$0")/../../../.."
build=${GE_BUILD:-build/release}
ninja -C "$build" ge-conform graphengine faulty-engines >"$build/faulty-engines.log" 2>&1 || {
  tail -n 20 "$build/faulty-engines.log"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}
exec python3 tests/e2e/all/plugins/faulty.py --build "$build"
