#!/usr/bin/env bash
# `cmake --install` into a folder that then is moved: what is there runs with an empty environment,
# programs link it, and each scaffold of `ge plugin new` builds against it and runs.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/install/install.py "$@"
