#!/usr/bin/env bash
# Memory over thousands of runs at random sizes, and what a size that was seen before costs beside a
# model of that size alone: a plain network, and one with control flow. GE_DYNAMIC_RUNS: 10000.
set -u
cd "$(dirname "$0")/../../../.."
build=build/release
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build/venv/bin/python tools/bench/models.py lenet vad >/dev/null || exit 1
build/venv/bin/python - "$folder" <<'PY' || exit 1
import sys
import onnx
for name in ("lenet", "vad"):
    model = onnx.load(f"build/models/{name}.onnx")
    for value in model.graph.input:
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            if name == "vad" and value.name == "input" and i == 1:
                dim.dim_value = 576
            elif not dim.HasField("dim_value"):
                dim.dim_value = 8
    onnx.save(model, f"{sys.argv[1]}/{name}.fixed.onnx")
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value == 8:
                dim.Clear()
                dim.dim_param = "N"
    onnx.save(model, f"{sys.argv[1]}/{name}.onnx")
PY
cc -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall -Wextra -Werror -Isdk/include \
  tests/e2e/all/clients/dynamic_client.c -o "$folder/client" -L"$build/lib" -lgraphengine \
  -Wl,-rpath,"$PWD/$build/lib" || exit 1
passed=0 failed=0
for name in lenet vad; do
  echo "$name"
  text=$("$folder/client" "$folder/$name.onnx" "$folder/$name.fixed.onnx" \
    native,onednn,openblas,ref "${GE_DYNAMIC_RUNS:-10000}" 32 2>&1)
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
  echo "$text" | grep -v ' passed, '
done
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
