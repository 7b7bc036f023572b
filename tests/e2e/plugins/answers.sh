#!/usr/bin/env bash
# What docs/plugin-guide.md answers under "Questions", asked of the host by an engine.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plugins/answers.py "$@"
