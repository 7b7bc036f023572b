#!/usr/bin/env bash
# As a user runs it: all engines, prices from a cache that starts empty and then is warm, a machine
# that is probed, default threads. Plans may differ from those of the other tests, numbers may not.
set -u
cd "$(dirname "$0")/../../.." || exit 2
source tests/counted.sh
build=${GE_BUILD:-build/release}
engines=native,onednn,openblas,ref
unset GE_PROBE
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GE_CACHE_DIR=$folder/cache
shipped() { counted "$1" "$build/bin/ge-test" --shipped "${@:2}"; }
# A network by default options gives what ref gives, within 1e-4 of the greatest output, five times
# in one process; those that are not here (tools/bench/models.py) are left out.
network() {
  local file=build/models/$1.onnx
  if [[ ! -f $file ]]; then echo "0 passed, 0 failed, 1 skipped"; return; fi
  "$build/bin/ge" run "$file" --input "$2" --engines ref --output "$folder/ref" &&
    "$build/bin/ge" run "$file" --input "$2" --repeat 5 --output "$folder/shipped" &&
    build/venv/bin/python - "$folder/ref" "$folder/shipped" <<'PYTHON'
import pathlib, sys
import numpy as np
for path in pathlib.Path(sys.argv[1]).glob("*.npy"):
    want, got = np.load(path), np.load(pathlib.Path(sys.argv[2]) / path.name)
    apart = float(np.max(np.abs(got - want)))
    if got.shape != want.shape or not apart <= 1e-4 * float(np.max(np.abs(want))):
        sys.exit(f"FAILED  {path.name} is off by {apart}")
PYTHON
  [[ $? == 0 ]] && echo "1 passed, 0 failed, 0 skipped"
  rm -rf "$folder/ref" "$folder/shipped"
}
networks() {
  counted "$1 cache: lenet" network lenet x=3x1x28x28:rand
  counted "$1 cache: squeezenet" network squeezenet x=1x3x224x224:rand
  counted "$1 cache: minilm, 7 tokens" network minilm ids=1x7:rand
  counted "$1 cache: lstm" network lstm x=9x5x128:rand
}
shipped "empty cache: large cases" --random 150 --large --engines "$engines"
shipped "random models" --random-models 12 --engines "$engines"
networks empty
[[ -n $(ls -A "$GE_CACHE_DIR") ]] || { echo "FAILED  the cache stayed empty"; failed=1; }
shipped "warm cache: text cases" tests/text
shipped "warm cache: large cases" --random 150 --large --engines "$engines"
shipped "warm cache: node tests" --onnx-node build/node-tests/node --engines "$engines"
networks warm
total
