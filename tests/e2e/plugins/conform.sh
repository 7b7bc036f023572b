#!/usr/bin/env bash
# ge-conform: minimal at L0-L3, ref and native at L0-L2, its own refusals, and that faults are caught.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plugins/conform.py
