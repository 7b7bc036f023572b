#!/usr/bin/env bash
# How plugins are found, filtered, allowed and listed, and what a manifest says of them.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plugins/discovery.py
