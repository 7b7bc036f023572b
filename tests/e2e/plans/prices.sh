#!/usr/bin/env bash
# Engines whose prices are tenfold wrong are found out: by one run, by --prices measure, by --replan.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plans/prices.py
