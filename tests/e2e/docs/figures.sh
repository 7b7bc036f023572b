#!/usr/bin/env bash
# Figures of README.md and docs/: those that count or size are counted again, and none lacks a command.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/docs/figures.py "$@"
