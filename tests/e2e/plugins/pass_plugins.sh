#!/usr/bin/env bash
# Passes of plugins: a rewrite that is kept where it pays, entries and states that are added, rules
# of operators; and each way to be refused, rolled back or caught.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/plugins/pass_plugins.py
