#!/usr/bin/env bash
# Each function over Tensors on 100 examples that hypothesis draws, against array_api_strict; 400 keys of
# indexing against numpy.
set -u
cd "$(dirname "$0")/../../../.." || exit 2
source tests/counted.sh
source tests/python_wheel.sh
export GE_CACHE_DIR=off GE_PROBE=fixed
wheel || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
theirs=$(build/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
counted "functions" env "PYTHONPATH=$theirs" "$python" tests/e2e/python/python_functions.py --examples 100
counted "indexing" env "PYTHONPATH=$theirs" "$python" tests/e2e/python/python_indexing.py --examples 400
total
