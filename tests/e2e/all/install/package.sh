#!/usr/bin/env bash
# The Debian package: what it holds, what it depends on, and that its tree runs where it is unpacked.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/install/package.py "$@"
