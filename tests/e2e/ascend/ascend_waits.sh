#!/usr/bin/env bash
# A few random models on the simulated vendor of the engine ascend: waits that are dropped, judged by an
# oracle. The whole is tests/e2e/all/engines/ascend_waits.sh.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/ascend/vendor_waits.py --models 2 --host-models 1 --orders "lazy,seeded;seed=1" "$@"
