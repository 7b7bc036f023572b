#!/usr/bin/env bash
# Misbehaving engines are refused or contained; a stranger's engine wins where it underbids.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plugins/plugins.py
