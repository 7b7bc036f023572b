#!/usr/bin/env bash
# Planted faults of a pass and of an engine, each beside a sound twin, named by ge bisect.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/capsule/whose_fault.py "$@"
