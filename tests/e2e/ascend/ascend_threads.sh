#!/usr/bin/env bash
# ascend_threads.sh [SESSIONS]: another user of AscendCL in the process, and so many sessions (40) at
# the caps of a simulated device; see ascend_threads.c.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
sessions=${1:-40}
out=$build/ascend_threads
passed=0 failed=0
if ! cc -std=c11 -O1 -Wall -Wextra -D_GNU_SOURCE -Isdk/include tests/e2e/ascend/ascend_threads.c \
  -o "$out" -L"$build/lib" -lgraphengine -ldl -lpthread -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
python3 tools/bench/models.py mlp tinychain >/dev/null || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GE_CACHE_DIR=off GE_PROBE=fixed LD_LIBRARY_PATH=$PWD/$build/lib/sim/ascend
count() {  # options of the simulator, arguments of the program
  local text options=$1
  shift
  text=$(GE_SIM_ASCEND="$options;reports=$folder/reports" timeout 600 "$out" "$@" 2>&1)
  echo "$text" | sed '$d' | sed 's/^/  /'
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
  if [[ -s $folder/reports ]]; then
    echo "FAILED  the simulator reports: $(head -5 "$folder/reports")"
    failed=$((failed + 1))
    rm "$folder/reports"
  else
    passed=$((passed + 1))
  fi
}
for schedule in eager lazy adversarial seeded; do
  count "schedule=$schedule" threads first
  count "schedule=$schedule" threads second
done
# Streams for one session. Events of sessions are not of the kind that the cap counts: one is enough.
count "streams=4;events=1" sessions "$sessions"
count "streams=64;events=1" sessions "$((sessions / 10))"
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
