#!/usr/bin/env bash
# Small models by ge run and by a client of ge.h under limits of address space, processes and
# descriptors: the right result, or a sentence and exit 2 or 3; no signal, no hang. Of 40 steps of
# each limit every GE_EVERYth is taken. Processes are limited for another user than root alone.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
every=${GE_EVERY:-8}
ge=$PWD/$build/bin/ge client=$PWD/$build/limits_client
client "$client" cc -std=c11 tests/e2e/hostile/limits_client.c -lm
python3 tools/bench/models.py lenet >/dev/null || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
export GE_CACHE_DIR=off GE_PROBE=fixed
ulimit -c 0
cp build/models/lenet.onnx "$folder/"
cat >"$folder/products.gt" <<'TEXT'
ge 1
opset "" 28
const w : f32[256,256] = splat 0.001
fn main(x: f32[64,256]) -> (y) {
  h = MatMul(x, w)
  y = MatMul(h, w)
}
entry infer "main" = main
TEXT

# check NAME CODE PATTERN: one count; the code is right, and the output has the pattern.
check() {
  if [[ $2 == yes ]]; then passed=$((passed + 1)); return; fi
  failed=$((failed + 1))
  echo "FAILED: $1"
  tail -n 5 <<<"$3" | cut -c 1-300
}
# limited NAME COMMAND...: the command's limit is in it. 600 s is no bound of speed: nothing here
# takes one, and what hangs must end. The loader answers 127 itself.
limited() {
  local name=$1 text code good=no
  shift
  text=$(timeout -k 5 600 "$@" 2>&1)
  code=$?
  case $code in
    0) if grep -qE '^result |^  [A-Za-z]' <<<"$text"; then good=yes; fi ;;
    2 | 3) if grep -qE '^(ge|client): .{20,}' <<<"$text"; then good=yes; fi ;;
    127) if grep -q 'error while loading shared libraries' <<<"$text"; then good=yes; fi ;;
  esac
  if [[ $text == *"terminate called"* ]]; then good=no; fi
  check "$name: exit $code" $good "$text"
}
# each LIMIT UNIT FIRST LAST PREFIX...: both programs and all models at the steps of one limit,
# which the shell sets behind the prefix. Each model: file, engines, threads.
each() {
  local unit=$1 option=$2 first=$3 last=$4 i at model engines threads
  shift 4
  for ((i = 0; i < 40; i += every)); do
    at=$((first + i * (last - first) / 39))
    for run in "${runs[@]}"; do
      read -r model engines threads wanted <<<"$run"
      limited "ge run $model, $unit $at" "$@" bash -c 'ulimit "$0" "$1"; shift; exec "$@"' \
        "$option" "$at" "$ge" run "$folder/$model" --engines "$engines" --threads "$threads"
      limited "client, $model, $unit $at" "$@" bash -c 'ulimit "$0" "$1"; shift; exec "$@"' \
        "$option" "$at" "$client" "$folder/$model" "$engines" "$threads" "$wanted"
    done
  done
}

all=$(engine_lists | tail -n 1)
runs=()
for run in "lenet.onnx $all 2" "products.gt openblas,ref 2" "products.gt $all 300"; do
  read -r model engines threads <<<"$run"
  if [[ $engines == openblas,* && ! -e $build/lib/graphengine/openblas.so ]]; then continue; fi
  text=$("$client" "$folder/$model" "$engines" 1 2>&1)
  code=$?
  check "$model without limits: exit $code" "$([[ $code == 0 ]] && echo yes)" "$text"
  runs+=("$run ${text##*result }")
done

each KiB -v 100000 2000000
each descriptors -n 3 64
other=(setpriv --reuid=54321 --regid=54321 --clear-groups)
if [[ $(id -u) == 0 ]] && "${other[@]}" test -x "$ge" -a -r "$folder/lenet.onnx" 2>/dev/null; then
  each processes -u 1 40 "${other[@]}"
  # The pool takes the threads that it gets, and says so.
  text=$("${other[@]}" bash -c 'ulimit -u 3; exec "$@"' _ "$ge" run "$folder/lenet.onnx" \
    --threads 8 -v 2>&1)
  good=no
  if [[ $? == 0 && $text == *"8 compute threads were asked for, and the system gave "* ]]; then
    good=yes
  fi
  check "three processes say so at -v" $good "$text"
  # A time limit that no thread can watch is said, not left out.
  text=$("${other[@]}" bash -c 'ulimit -u 1; exec "$@"' _ "$ge" run "$folder/lenet.onnx" \
    --time-limit 100 2>&1)
  code=$?
  good=no
  if [[ $code == 3 && $text == *"no thread can be made that watches"* ]]; then good=yes; fi
  check "a time limit without a thread: exit $code" $good "$text"
else
  skipped=$((skipped + 1))
fi

# More threads than ge.h takes, and what is no number of threads.
for command in run explain bench; do
  text=$("$ge" "$command" "$folder/lenet.onnx" --threads 4097 2>&1)
  code=$?
  good=no
  if [[ $code == 2 && $text == *"threads is 4097, wanted at most 4096"* ]]; then good=yes; fi
  check "$command --threads 4097: exit $code" $good "$text"
done
for threads in -1 1.5 99999999999 x; do
  text=$("$ge" run "$folder/lenet.onnx" --threads "$threads" 2>&1)
  code=$?
  good=no
  if [[ $code == 2 && $text == *--threads* ]]; then good=yes; fi
  check "--threads $threads: exit $code" $good "$text"
done
text=$("$client" "$folder/lenet.onnx" ref 4097 2>&1)
code=$?
good=no
if [[ $code == 3 && $text == *"threads is 4097, wanted at most 4096"* ]]; then good=yes; fi
check "4097 threads by ge.h: exit $code" $good "$text"
sum_up
