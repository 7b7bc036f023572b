#!/usr/bin/env bash
# Each call about a file of the model, of its states or of the cache fails once, in each way it can.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/failing_files
client "$out" c++ -std=c++20 tests/e2e/hostile/failing_files.cc -ldl
python3 tools/bench/models.py lenet >/dev/null || exit 1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export GE_PROBE=fixed
for run in "build/models/lenet.onnx native,ref" "tests/e2e/models/two_entries.gt ref scale" "tests/e2e/models/outside.gt ref"; do
  read -r model engines entry <<<"$run"
  folder=$root/$(basename "$model")
  mkdir -p "$folder/tmp"
  cp "$model" "$folder/"
  head -c 1048576 /dev/zero | tr '\0' '>' >"$folder/outside.bin"  # 0.186 as f32
  echo "$model under $engines"
  printed=$(GE_CACHE_DIR=$folder/cache TMPDIR=$folder/tmp \
    "$out" "$folder" "$folder/$(basename "$model")" "$engines" ${entry:+"$entry"} 2>&1)
  ran "$model under $engines" $? "$printed"
  echo "$printed" | sed '$d' | head -n 60
done
sum_up
