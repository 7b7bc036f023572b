#!/usr/bin/env bash
# ge-test --coverage: an operator that only ref has is named beyond the bound, one that another
# engine has is not, and a model that cannot be explained is told apart from both.
set -eu
cd "$(dirname "$0")/../../.."
test=${GE_BUILD:-build/release}/bin/ge-test
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GE_CACHE_DIR=off GE_PROBE=fixed

failed=0
# wanted NAME CODE TEXT MODEL [ARGUMENTS]: exit code and a piece of what is printed.
wanted() {
  local name=$1 code=$2 text=$3 found=0 said
  shift 3
  said=$("$test" --coverage "$@" 2>&1) || found=$?
  if [[ $found == "$code" && $said == *"$text"* ]]; then return; fi
  echo "FAILED $name: exit code $found, wanted $code and '$text' in: $said"
  failed=1
}

# model NAME EXPRESSION: x: f32[2,64,64] -> y
model() {
  printf 'ge 1\nopset "" 28\nfn main(x: f32[2,64,64]) -> (y) {\n  a = Relu(x)\n  y = %s\n}\nentry infer "main" = main\n' \
    "$2" > "$folder/$1.gt"
}
model pool "LpPool(a) {kernel_shape=[3]}"
model product "MatMul(a, x)"
echo nonsense > "$folder/broken.gt"

wanted "an operator of ref alone" 1 "beyond 2 %" "$folder/pool.gt"
wanted "it is named" 1 "LpPool " "$folder/pool.gt"
wanted "a bound above it" 0 "LpPool " "$folder/pool.gt" --bound 100
wanted "operators of other engines" 0 "product: 0.0 % of" "$folder/product.gt"
wanted "a broken model" 2 "broken.gt" "$folder/broken.gt" "$folder/product.gt"
wanted "a folder without models" 2 "no .onnx file in" "$folder"
wanted "a word too many" 2 "wants models or folders" "$folder/pool.gt" --bound none
wanted "no model" 2 "wants models or folders"
[[ $failed == 0 ]] && echo "8 passed, 0 failed, 0 skipped"
exit $failed
