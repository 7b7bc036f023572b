#!/usr/bin/env bash
# Runs leave the floating-point mode of the application's threads as it was, OpenMP's workers
# included, and denormals count as zero or not as the session says, on each engine.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -O1 -fopenmp -Wall -Wextra -Werror "${flags[@]}" -Isdk/include \
  tests/e2e/clients/float_mode.c -o "$build/float_mode" -L"$build/lib" -lgraphengine \
  -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
passed=0 failed=0
for engines in ref native,ref onednn,ref openblas,ref onednn,native,openblas,ref \
  "$PWD/$build/lib/samples/devsim.so:wrap=ref"; do
  for workers in fresh used; do
    text=$("$build/float_mode" tests/e2e/models/float_mode.gt "$engines" $workers 2>&1)
    code=$?
    if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
      passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
      failed=$((failed + 1))
      echo "FAILED (exit $code): $engines $workers"
    fi
    echo "$text" | grep -v ' passed, '
  done
done

# check WHAT CODE TEXT COMMAND...: the command's exit code, and a text that it prints.
check() {
  local what=$1 wanted=$2 part=$3 text code
  shift 3
  text=$("$@" 2>&1)
  code=$?
  if [[ $code == "$wanted" && $text == *"$part"* ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $what: exit $code: $text"
  fi
}
ge=$build/bin/ge model=tests/e2e/models/float_mode.gt
check "a word that is none" 2 "--denormals is 'zero', wanted flush or keep" \
  "$ge" run $model --denormals zero
check "a word that is none" 2 "--numerics is 'slow', wanted fast or exact" \
  "$ge" run $model --numerics slow
check "the option that engines had" 2 "--denormals keep" \
  "$ge" run $model --engines onednn:denormals=keep,ref
check "denormals kept" 0 "y " "$ge" run $model --denormals keep

# Exact numerics reach offers: native asks for a direct convolution, which costs it more.
conv=$(mktemp --suffix=.gt)
trap 'rm -f "$conv"' EXIT
cat >"$conv" <<'GT'
ge 1
opset "" 28
const w : f32[64,64,3,3] = splat 0.01
fn main(x: f32[1,64,56,56]) -> (y) {
  y = Conv(x, w) {pads=[1, 1, 1, 1]}
}
entry infer "main" = main
GT
price() {
  "$ge" explain "$conv" --engines native,ref --input x=1x64x56x56:zeros --prices analytic \
    --numerics "$1" --json |
    python3 -c 'import json, sys; print(int(json.load(sys.stdin)["nodes"][0]["price_ns"]))'
}
fast=$(price fast) exact=$(price exact)
if ((exact > fast + fast / 2)); then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAILED  native asks $fast ns with fast and $exact ns with exact numerics"
fi
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
