#!/usr/bin/env bash
# device_memory.sh [SESSIONS]: what a simulated device holds for many shapes, at a limit, and after so
# many sessions (200); see device_memory.c.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
sessions=${1:-200}
out=$build/device_memory
passed=0 failed=0
if ! cc -std=c11 -O1 -Wall -Wextra -D_DEFAULT_SOURCE -Isdk/include tests/e2e/engines/device_memory.c \
  -o "$out" -L"$build/lib" -lgraphengine -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
python3 tools/bench/models.py mlp lenet minilm tinychain >/dev/null || exit 1
export GE_CACHE_DIR=off GE_PROBE=fixed
devsim=$PWD/$build/lib/samples/devsim.so
count() {  # arguments of the program
  local text
  text=$("$out" "$@" 2>&1)
  echo "$text" | sed '$d' | sed 's/^/  /'
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}
count shapes "$devsim:wrap=native,ref"
count limit "$devsim:memory=1G,ref"
count turns "$devsim:wrap=native;memory=3000K,ref"
count sessions "$devsim,ref" "$sessions"
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
