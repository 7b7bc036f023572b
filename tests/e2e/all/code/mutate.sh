#!/usr/bin/env bash
# Changes the product in one place at a time, three places of a file: tests must notice 95 % of them.
# Without arguments, as ./test --all calls it, a sample is judged, 62 mutants, of each folder one or two.
# Folders are those that rooms.txt calls mutated. The whole sweep, which goes on where it was stopped, takes 1.7 s of a processor a mutant in its first pass (200
# of them, AVX2): tests/e2e/all/code/mutate.py --rough --quick, then mutate.py --again --scripts
set -eu
cd "$(dirname "$0")/../../../.."
[[ $# -gt 0 ]] || set -- --fresh --sample 62
exec python3 tests/e2e/all/code/mutate.py --scripts "$@"
