#!/usr/bin/env bash
# README, the pages of training and of the text form, and the guide of plugins word for word, typed beside
# the Debian package that dpkg has installed, in a root where nothing else of ours is.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/docs/pages.py --as deb --pages README,training,text-format,guide "$@"
