#!/usr/bin/env bash
# Language models at 1 to 40 tokens against ONNX Runtime, in each instruction set that this host has:
# products of few rows take other ways than those of many, and each set its own.
set -u
cd "$(dirname "$0")/../../../.."
unset OPENBLAS_CORETYPE  # it would go above the caps
passed=0 failed=0
for isa in sse4.2 avx2 avx512; do
  case $isa in
    sse4.2) flag=sse4_2 ;;
    avx512) flag=avx512bw ;;
    *) flag=$isa ;;
  esac
  grep -qw "$flag" /proc/cpuinfo || continue
  for threads in 1 2; do
    text=$(GE_MAX_ISA=$isa python3 tests/e2e/all/models/sizes.py minilm bert_base --tokens 40 \
      --engines native,onednn,openblas,ref --threads $threads)
    echo "$text" | sed -e '$d' -e "s/^/$isa, $threads threads: /"
    if [[ $(echo "$text" | tail -n 1) =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
      passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
      failed=$((failed + 1))
    fi
  done
done
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
