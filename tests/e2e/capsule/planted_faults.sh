#!/usr/bin/env bash
# Two dozen planted faults of passes, kernels, memory, packs and models, named by ge bisect and ge replay.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/capsule/planted_faults.py "$@"
