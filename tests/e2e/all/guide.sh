#!/usr/bin/env bash
# All installed pages, docs/plugin-guide.md among them word for word, beside what `cmake --install` writes
# and beside the Debian package that dpkg has installed, each in a root where nothing else of ours is.
set -u
cd "$(dirname "$0")/../../.." || exit 2
source tests/counted.sh
for how in tree deb; do
  counted "$how" python3 tests/e2e/pages.py --as "$how" --pages README,training,text-format,guide "$@"
done
total
