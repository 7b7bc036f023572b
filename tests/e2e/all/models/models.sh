#!/usr/bin/env bash
# Six networks against ONNX Runtime's outputs: ref, onednn with ref, and at least a quarter of the
# nodes on devsim, with at least two copies each way and both its streams used.
# Error bound: 1e-4 of the output's largest magnitude.
set -u
cd "$(dirname "$0")/../../../.."
models=(lenet squeezenet resnet50 minilm ppocr_det ppocr_rec)
devsim="build/release/lib/samples/devsim.so"
passed=0 failed=0
# compare ARGUMENTS...: one run of compare.py, its counts added.
compare() {
  local text
  text=$(build/venv/bin/python tools/bench/compare.py --models "${models[@]}" "$@" 2>&1)
  echo "$text"
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}
build/venv/bin/python tools/bench/models.py "${models[@]}" || failed=$((failed + 1))
build/venv/bin/python tools/bench/reference.py "${models[@]}" || failed=$((failed + 1))
compare --engines ref
compare --engines onednn,ref
compare --engines "ref,./$devsim:take=60;price=30;link_latency_ns=50;link_gbps=1000" \
  --need devsim=0.25 --transfers devsim=2 --streams devsim=2
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
