#!/usr/bin/env bash
# Files of models and data that others cut short, write to or replace at random moments of load, run,
# reset and training: GE_TRIALS of them for each kind of model, drawn by GE_SEED.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
trials=${GE_TRIALS:-12} seed=${GE_SEED:-20261127} trainings=${GE_TRAININGS:-4}
out=$build/changing_files ge=$PWD/$build/bin/ge
client "$out" c++ -std=c++20 tests/e2e/hostile/changing_files.cc -lpthread
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GE_CACHE_DIR=off GE_PROBE=fixed
build/venv/bin/python tests/e2e/hostile/changing_files.py models "$folder" || exit 1
for name in file other; do
  "$ge" dump "$folder/inline/$name.onnx" --to load --format proto -o "$folder/own/$name.gepb" \
    >/dev/null || exit 1
done
while read -r kind model file other; do
  for engines in $(engine_lists); do
    text=$("$out" "$folder/$kind/$model" "$folder/$kind/$file" "$folder/$kind/$other" "$engines" \
      "$trials" "$seed" 2>&1)
    ran "$kind under $engines" $? "$text"
    grep -v ' passed, ' <<<"$text" | sed "s/^/$kind under $engines: /" | head -n 20
  done
done <<'KINDS'
inline file.onnx file.onnx other.onnx
branches file.onnx file.onnx other.onnx
outside model.onnx file.bin other.bin
own file.gepb file.gepb other.gepb
text model.gt file.bin other.bin
KINDS
text=$(build/venv/bin/python tests/e2e/hostile/changing_files.py train "$folder" "$ge" "$trainings" "$seed")
ran "trainings" $? "$text"
grep -v ' passed, ' <<<"$text" | head -n 20
sum_up
