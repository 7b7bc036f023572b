#!/usr/bin/env bash
# c_client.sh with 1,000 runs a thread for minilm, too (tens of minutes under ref).
set -eu
cd "$(dirname "$0")/../../../.."
GE_SLOW_RUNS=1000 exec bash tests/e2e/clients/c_client.sh
