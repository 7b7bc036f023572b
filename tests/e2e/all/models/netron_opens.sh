#!/usr/bin/env bash
# Netron opens what we export.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/models/netron_opens.py "$@"
