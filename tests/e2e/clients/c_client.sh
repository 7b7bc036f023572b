#!/usr/bin/env bash
# The C API from a C11 program: states, buffers, async, cancel, bad arguments, and many threads on
# one session. GE_THREAD_RUNS and GE_SLOW_RUNS set the runs of each thread (lenet 1000, minilm 10),
# GE_BUILD the build folder.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
runs=${GE_THREAD_RUNS:-1000} slow_runs=${GE_SLOW_RUNS:-10}
out=$build/c_client
passed=0 failed=0 skipped=0

# add COMMAND...: runs it and adds its counts.
add() {
  local text code
  text=$("$@" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  fi
  if [[ $code != 0 || ! $text =~ passed ]]; then
    failed=$((failed + 1))
    echo "FAILED (exit $code): $*"
  fi
  echo "$text" | grep -v ' passed, '
}

read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -O1 -Wall -Wextra -Werror -pedantic "${flags[@]}" -I. -Isdk/include \
  tests/e2e/clients/c_client.c -o "$out" -L"$build/lib" -lgraphengine -lpthread -lm \
  -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

# Every function of ge.h is called by a client of one of these tests.
for name in $(grep -oE '\bge_[a-z_]+\(' sdk/include/ge/ge.h | tr -d '(' | sort -u); do
  if grep -q "\b$name(" tests/e2e/*/*_client.c tests/e2e/all/*/*_client.c; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $name is called by no client"
  fi
done

devsim=$PWD/$build/lib/samples/devsim.so
busy="$devsim:take=60;price=30;link_latency_ns=50"
two=tests/e2e/models/two_entries.gt
add "$out" bad $two
add "$out" states $two ref
add "$out" states $two "ref,$busy"
add "$out" cancel $two "ref,$devsim:take=60;price=1;link_latency_ns=0;delay=2;delay_us=60000"

for model in lenet minilm; do
  file=build/models/$model.onnx
  if [[ ! -e $file ]]; then
    python3 tools/bench/models.py $model >/dev/null || true
  fi
  n=$runs
  [[ $model == lenet ]] || n=$slow_runs
  for engines in ref onednn,ref "ref,$busy"; do
    if [[ ! -e $file ]]; then
      echo "skipped: $file is not there; tools/bench/models.py $model makes it"
      skipped=$((skipped + 1))
    elif [[ $engines == onednn* && ! -e $build/lib/graphengine/onednn.so ]]; then
      echo "skipped: $model under $engines: the engine is not built"
      skipped=$((skipped + 1))
    else
      # A simulated device computes what ref computes; another engine is compared with itself.
      wanted=$engines share=0
      [[ $engines == ref* ]] && wanted=ref
      # A run beside others has fewer threads, and without AVX-512 the parts in which oneDNN then
      # computes a product give other last bits (docs/numerics.md): a sum of 400 terms may be off by
      # 20 times 6e-8, and lenet has three behind each other.
      [[ $engines == ref* ]] || grep -qw avx512bw /proc/cpuinfo || share=4e-6
      # What the sanitizers get wrong about libgomp's workers, and nothing of ours: TSan sees no
      # order in how the loader reuses the thread-local storage of one for the next; LeakSanitizer
      # crashes in that storage while they live, unless ASan leaves the loader's look-ups alone.
      tsan=${TSAN_OPTIONS:-} asan=${ASAN_OPTIONS:-}
      [[ $engines == ref* ]] || tsan+=:ignore_noninstrumented_modules=1
      [[ $engines == ref* ]] || asan+=:intercept_tls_get_addr=0
      add env "TSAN_OPTIONS=$tsan" "ASAN_OPTIONS=$asan" "$out" threads $file "$engines" "$wanted" 8 "$n" $share
    fi
  done
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
