#!/usr/bin/env bash
# --precision bf16: what it refuses, what it says where no engine rounds, and where one does how far
# outputs are from float32's and how large packed weights are.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
ge=$build/bin/ge
passed=0 failed=0 skipped=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

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

# A convolution, a product and a function; weights of many sizes, odd depth.
python3 - "$folder/net.gt" <<'PY'
import random
import sys
numbers = random.Random(7)


def const(name, dims):
    count = 1
    for d in dims:
        count *= d
    values = ", ".join(f"{numbers.gauss(0, 0.1):.6g}" for _ in range(count))
    return f"const {name} : f32[{','.join(map(str, dims))}] = [{values}]\n"


text = 'ge 1\nopset "" 28\n' + const("k", [32, 16, 3, 3]) + const("w", [97, 65])
text += """fn main(x: f32[1,16,40,40], a: f32[9,97]) -> (y, z) {
  c = Conv(x, k) {pads=[1, 1, 1, 1]}
  y = Relu(c)
  z = MatMul(a, w)
}
entry infer "main" = main
"""
open(sys.argv[1], "w").write(text)
PY
net=$folder/net.gt
check "float16" 2 "--precision is 'f16', which no engine here multiplies in" \
  "$ge" run "$net" --precision f16
check "a word that is none" 2 "--precision is 'f8', wanted f32 or bf16" \
  "$ge" explain "$net" --precision f8
check "exact numerics" 2 "exact numerics forbid that" \
  "$ge" run "$net" --precision bf16 --numerics exact
check "accuracy of float32" 2 "add --precision bf16" "$ge" run "$net" --accuracy
check "an instruction set without it" 0 "no engine offers to round" \
  "$ge" run "$net" --precision bf16 --isa avx2
check "the same, explained" 0 "no engine offers to round" \
  "$ge" explain "$net" --precision bf16 --isa avx2
check "denormals kept" 0 "no engine offers to round" \
  "$ge" run "$net" --precision bf16 --denormals keep
check "float32 says nothing of it" 0 '"rounded_nodes":0' "$ge" run "$net" --json

# judge WHAT OPTIONS...: of the report's JSON on stdin; what is wrong, or nothing.
judge() {
  local what=$1 wrong
  shift
  wrong=$("$ge" run "$net" --seed 3 --prices analytic --precision bf16 --accuracy --json "$@" \
    2>/dev/null | python3 -c '
import json, sys
j = json.load(sys.stdin)
if j["rounded_nodes"] < int(sys.argv[1]):
    print(j["rounded_nodes"], "nodes round")
for output in j["accuracy"]:
    if output["unlike"] or not 0 < output["relative"] <= 2 ** -8:
        print(output)
if len(j["accuracy"]) != 2:
    print("outputs:", len(j["accuracy"]))
' "$what")
  if [[ -z $wrong ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $*: $wrong"
  fi
}
if grep -q avx512_bf16 /proc/cpuinfo && [[ ${GE_MAX_ISA:-native} == @(native|avx512) ]]; then
  # Shared by sixteen threads a convolution as small as this one is as cheap in float32.
  judge 2 --threads 2
  judge 2 --threads 1
  judge 2 --threads 2 --no-fuse
  check "explain says so" 0 "of offers that round" "$ge" explain "$net" --precision bf16
  packed() { "$ge" run "$net" --engines native,ref --precision "$1" --json 2>/dev/null |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["packed_bytes"])'; }
  whole=$(packed f32) half=$(packed bf16)
  if ((half < whole)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  packed weights take $half bytes rounded and $whole in float32"
  fi
else
  skipped=5
  echo "skipped: this processor has no AVX512-BF16, or GE_MAX_ISA leaves it out"
fi

# MatMulNBits: accuracy_level 4 permits steps of 8 bits, by which answers are a little off; exact
# numerics forbid them, and no other level asks for them.
python3 - "$folder" <<'PY'
import random
import sys
numbers = random.Random(5)
for level in (0, 3, 4):
    codes = ", ".join(str(numbers.randrange(256)) for _ in range(50 * 3 * 16))
    scales = ", ".join(f"{numbers.uniform(0.01, 0.02):.6g}" for _ in range(150))
    with open(f"{sys.argv[1]}/level{level}.gt", "w") as f:
        f.write(f"""ge 1
opset "" 28
opset "com.microsoft" 1
const b : u8[50,3,16] = [{codes}]
const s : f32[150] = [{scales}]
fn main(x: f32[9,90]) -> (y) {{
  y = com.microsoft.MatMulNBits(x, b, s) {{K=90, N=50, block_size=32, accuracy_level={level}}}
}}
entry infer "main" = main
""")
    numbers.seed(5)
PY
# off LEVEL OPTIONS...: how far outputs are from those of level 0, relative to the largest of these.
off() {
  local level=$1
  shift
  "$ge" run "$folder/level0.gt" --seed 3 --output "$folder/want" >/dev/null 2>&1 || return
  "$ge" run "$folder/level$level.gt" --seed 3 --output "$folder/got" "$@" >/dev/null 2>&1 || return
  build/venv/bin/python -c '
import sys, numpy as np
want, got = (np.load(f"{sys.argv[1]}/{at}/y.npy") for at in ("want", "got"))
print(np.abs(got - want).max() / np.abs(want).max())' "$folder"
}
# between WHAT LEAST MOST LEVEL OPTIONS...
between() {
  local what=$1 least=$2 most=$3 far
  shift 3
  far=$(off "$@")
  if python3 -c 'import sys; a, b, c = map(float, sys.argv[1:]); sys.exit(not a <= b <= c)' \
    "$least" "${far:-nan}" "$most"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $what: off by '$far', wanted $least to $most"
  fi
}
between "accuracy_level 3" 0 0 3
between "accuracy_level 4, exact numerics" 0 0 4 --numerics exact
if grep -q avx2 /proc/cpuinfo && [[ ${GE_MAX_ISA:-native} != sse4.2 ]]; then
  between "accuracy_level 4" 1e-4 1e-2 4
  between "accuracy_level 4, AVX2" 1e-4 1e-2 4 --isa avx2
else
  skipped=$((skipped + 2))
  echo "skipped: without AVX2 nothing multiplies in 8 bits"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
