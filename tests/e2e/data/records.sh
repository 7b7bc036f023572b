#!/usr/bin/env bash
# Records: what ge data pack writes, and each flipped bit named by ge data verify.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/records.py "$@"
