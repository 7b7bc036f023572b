#!/usr/bin/env bash
# The models of Debian's libonnx-testdata, written by onnx 1.12 and older: node tests, and those that
# PyTorch exported. GE_TESTDATA is their folder. Of the 932 node tests at least 900 must pass.
set -u
cd "$(dirname "$0")/../../.."
data=${GE_TESTDATA:-/usr/share/libonnx-testdata/data}
[[ -d $data/node ]] || { echo "no $data/node; run: tools/setup/install.sh all"; exit 1; }
export GE_PLUGIN_PATH=$PWD/build/release/lib/graphengine GE_CACHE_DIR=off GE_PROBE=fixed
passed=0 failed=0 skipped=0
for folder in node simple pytorch-converted pytorch-operator; do
  text=$(build/release/bin/ge-test --onnx-node "$data/$folder")
  echo "$folder:" && echo "$text"
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
    if [[ $folder == node && ${BASH_REMATCH[1]} -lt 900 ]]; then
      echo "FAILED  ${BASH_REMATCH[1]} node tests pass, wanted 900" && failed=$((failed + 1))
    fi
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
