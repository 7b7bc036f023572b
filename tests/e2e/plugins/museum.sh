#!/usr/bin/env bash
# Plugins of every published version of the ABI in today's host, and how versions may grow.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plugins/museum.py "$@"
