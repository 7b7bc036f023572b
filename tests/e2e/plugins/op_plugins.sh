#!/usr/bin/env bash
# Operators that plugins bring run on every list of engines and equal plain answers; without their
# plugin, and from plugins that are not legal, they are refused by name.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/plugins/op_plugins.py
