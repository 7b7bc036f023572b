#!/usr/bin/env bash
# What runs for long or for ever ends soon after a cancel, a time limit or Ctrl-C, in every stage.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/clients/cancel.py
