#!/usr/bin/env bash
# 200 random moments for each kind of model, and 40 trainings.
set -u
cd "$(dirname "$0")/../../../.."
GE_TRIALS=200 GE_TRAININGS=40 exec bash tests/e2e/hostile/changing_files.sh
