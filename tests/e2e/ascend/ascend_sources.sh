#!/usr/bin/env bash
# docs/ascend/sources.md names the source of every name that plugins/ascend/api declares:
# ascend_sources.py.
set -u
cd "$(dirname "$0")/../../.." || exit 2
exec python3 tests/e2e/ascend/ascend_sources.py
