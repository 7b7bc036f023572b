#!/usr/bin/env bash
# ge-shardcheck: every way and pair of ways of every rule of passes/parallel against the whole on six
# meshes, every letter of every rule changed, and random nets and steps on ranks against one process: less
# than a minute, all of it. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
. tests/e2e/counted_step.bash
. tests/e2e/check_exit.bash

step() { counted ge-shardcheck "$@"; }

step --rules all
step --mutate all
step --programs 40
# What failed once, and what random programs seldom draw.
step --model tools/shardcheck/programs
# What it refuses.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check "a folder without cases" 2 "$build/bin/ge-shardcheck" --rules all --cases "$folder"
check "a name that nothing has" 1 "$build/bin/ge-shardcheck" --rules NoSuchOp
check "nothing asked for" 2 "$build/bin/ge-shardcheck"
check "a mesh that is none" 2 "$build/bin/ge-shardcheck" --rules Abs --meshes 0
# It notices: ways that are not stated, an operator and a rule without the other, lines that are no cases.
printf 'Softmax(f64[7,5]) | 0 -> 0 | 1 -> 1\n' >"$folder/wrong.txt"
check "a way that is not there" 1 "$build/bin/ge-shardcheck" --rules Softmax --cases "$folder"
printf 'Det(f64[7,3,3])\n' >"$folder/wrong.txt"
check "a case without a rule" 1 "$build/bin/ge-shardcheck" --rules Det --cases "$folder"
printf 'Abs(f64[7]) | 0 -> 0\n' >"$folder/wrong.txt"
check "a case that is right" 0 "$build/bin/ge-shardcheck" --rules Abs --cases "$folder"
check "a rule without a case" 1 "$build/bin/ge-shardcheck" --rules Abs,Exp --cases "$folder"
check "rules that say all there is" 0 grep -qx '0 more ways give the whole' \
  <("$build/bin/ge-shardcheck" --search MatMul,Gather,Softmax,Transpose,ReduceSum)
printf 'MaxPool(f64[7,5,4,4]) {kernel_shape=[2,2], strides=[2,2]} | 0 -> 0 | 1 -> 1\n' >"$folder/wrong.txt"
check "a rule that leaves something out" 0 grep -qx '2 more ways give the whole' \
  <("$build/bin/ge-shardcheck" --search MaxPool --cases "$folder")
# Programs: files that are none, one that ranks refuse, one that says nothing.
check "programs of a folder without any" 2 "$build/bin/ge-shardcheck" --model "$folder"
sed 's/# mesh .*/# mesh data/' tools/shardcheck/programs/plugin.gt >"$folder/wrong.gt"
check "a program whose mesh is none" 2 "$build/bin/ge-shardcheck" --model "$folder/wrong.gt"
sed 's/data,model refused/data,model/; s/k1=model,-/k1=-,-,-/' tools/shardcheck/programs/pins_of_values.gt \
  >"$folder/wrong.gt"
check "a program with a pin that cannot be" 1 "$build/bin/ge-shardcheck" --model "$folder/wrong.gt"
sed 's/w1 : .*/w1 : f64[3,4] = splat 1e9/' tools/shardcheck/programs/plugin.gt >"$folder/wrong.gt"
check "a program of numbers that are too large" 1 "$build/bin/ge-shardcheck" --model "$folder/wrong.gt"
for op in Rows Ninth Fails; do
  sed "s/acme.Half/acme.$op/; s/f64\[3,4\] = .*/f64[3,7] = splat 0.5/; s/label f64 7,4/label f64 7,7/" \
    tools/shardcheck/programs/plugin.gt >"$folder/wrong.gt"
  check "an operator acme.$op that states what is wrong" 0 grep -q "FAILED.*acme.$op: its function shard" \
    <("$build/bin/ge-shardcheck" --model "$folder/wrong.gt")
done
for line in 'Abs(f64[7) | 0 -> 0' 'Abs(f64[7]) | 0' 'Abs'; do
  printf '%s\n' "$line" >"$folder/wrong.txt"
  check "the line '$line'" 2 "$build/bin/ge-shardcheck" --rules Abs --cases "$folder"
done
# Redistributions of tensors that a file says.
tensor() { printf '{"cases": [{"mesh": "%s", "dims": %s, "element": 4, "from": %s, "to": %s}]}' "$@" >"$folder/t.json"; }
tensor a=2,b=2 '[5, 3]' '[0, 0]' '["whole", "whole"]'
check "a plan of one collective" 0 grep -q '"kind":"all-gather"' \
  <("$build/bin/ge-shardcheck" --redistributions "$folder/t.json")
refuses() {
  local words=$1
  shift
  tensor "$@"
  check "tensor $*" 2 "$build/bin/ge-shardcheck" --redistributions "$folder/t.json"
  check "tensor $*: $words" 0 grep -qF "$words" \
    <("$build/bin/ge-shardcheck" --redistributions "$folder/t.json" 2>&1)
}
refuses 'a place is 2, wanted one of the 2 dims' a=2 '[5, 3]' '[2]' '[0]'
refuses 'there are 1 places, wanted one for each axis' a=2,b=2 '[5, 3]' '[0]' '[0]'
refuses 'a dim is -1' a=2 '[-1]' '[0]' '["whole"]'
refuses 'its terms are of two kinds' a=2,b=2 '[5]' '["sum", "max"]' '[0, 0]'
refuses "axis 'b' has one rank" a=2,b=1 '[5]' '[0, 0]' '[0, 0]'
refuses "the mesh is 'a'" a '[5]' '[0]' '[0]'
refuses 'parse error' a=2 '[5' '[0]' '[0]'
check "a file that is not there" 2 "$build/bin/ge-shardcheck" --redistributions "$folder/none.json"
echo "$passed passed, $failed failed, $skipped skipped"
