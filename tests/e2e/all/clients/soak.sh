#!/usr/bin/env bash
# soak.sh [SECONDS [THREADS]]: threads on two sessions do at random what ge.h allows, for so long
# (120) under ref alone and again under all engines. Meant for ThreadSanitizer: GE_BUILD is the build
# folder, build/tsan when it is not set. CFLAGS must then hold its -fsanitize.
set -u
cd "$(dirname "$0")/../../../.."
build=${GE_BUILD:-build/tsan}
seconds=${1:-120} threads=${2:-8}
out=$build/soak_client
passed=0 failed=0 skipped=0
if [[ ! -e $build/lib/libgraphengine.so ]]; then
  echo "skipped: $build is not built; cmake --preset $(basename "$build") and build it"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
flags=${CFLAGS:-}
[[ -n $flags || $build != *tsan ]] || flags=-fsanitize=thread
read -r -a flags <<<"$flags"
if ! cc -std=c11 -O1 -g -Wall -Wextra -Werror -pedantic "${flags[@]}" -Isdk/include \
  tests/e2e/all/clients/soak_client.c -o "$out" -L"$build/lib" -lgraphengine -lpthread \
  -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
export GE_CACHE_DIR=off GE_PROBE=fixed
all=ref
for engine in openblas onednn native; do
  if [[ -e $build/lib/graphengine/$engine.so ]]; then all=$engine,$all; fi
done

# soak ENGINES OPTIONS: OPTIONS are TSan's.
soak() {
  local text code
  text=$(TSAN_OPTIONS=$2 timeout $((${seconds%.*} + 600)) \
    "$out" tests/e2e/all/clients/soak.gt "$1" "$seconds" "$threads" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  fi
  [[ $code == 0 ]] || { failed=$((failed + 1)) && echo "FAILED (exit $code) under $1"; }
  echo "$text" | grep -v ' passed, ' | head -n 200
}

# Where it watches look-ups of thread-local storage, TSan's runtime itself dies after some thousand
# threads: it takes what lies before a block for the block's size.
common=halt_on_error=1:intercept_tls_get_addr=0
# Under ref alone every thread is ours: nothing is suppressed. The others' libraries bring threads
# that TSan cannot see into; what it overlooks of them is in the file, and what the loader does with
# their thread-local storage is left out as in c_client.sh.
soak ref "$common"
if [[ $all == ref ]]; then
  echo "skipped: no engine but ref is built"
  skipped=$((skipped + 1))
else
  foreign=history_size=7:ignore_noninstrumented_modules=1
  soak "$all" "$common:$foreign:suppressions=$PWD/tests/configs/tsan.supp"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
