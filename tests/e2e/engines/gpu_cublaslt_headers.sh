#!/usr/bin/env bash
# Our declarations of cuBLASLt beside its own header, where that is installed: in $CUDA_HOME, in what
# tools/setup/install.sh gpu brings, or in the usual folder.
set -u
cd "$(dirname "$0")/../../.." || exit 2
headers=
for folder in "${CUDA_HOME:-}" build/venv/lib/python3*/site-packages/nvidia/cu13 /usr/local/cuda; do
  [[ -n $folder && -f $folder/include/cublasLt.h ]] && headers=$folder/include && break
done
if [[ -z $headers ]]; then
  echo "the header of cuBLASLt is not on this machine"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 tests/e2e/engines/gpu_cublaslt_headers.py >"$folder/same.cc" || exit 1
count=$(grep -c static_assert "$folder/same.cc")
if g++ -std=c++20 -fsyntax-only -I. "-I$headers" "$folder/same.cc" 2>"$folder/said"; then
  echo "$count passed, 0 failed, 0 skipped"
else
  grep -E "error" "$folder/said"
  wrong=$(grep -c "static assertion failed" "$folder/said")
  echo "0 passed, $((wrong > 0 ? wrong : 1)) failed, 0 skipped"
  exit 1
fi
