#!/usr/bin/env bash
# What engines of devices share: no vendor's name stands in plugins/device and plugins/units, and
# what the engine ascend has of its own, beside its declarations and its simulator, stays small.
set -eu
cd "$(dirname "$0")/../../.."
bound=1500 # lines

failed=0
# names FOLDER...: lines of these folders that name a vendor or an interface of one's.
names() {
  grep -rnwiE 'cuda[a-z]*|cudnn[a-z]*|cublas[a-z]*|nvidia|nvcc|huawei|ascend|ascendcl|cann|acl[a-z]*|davinci' "$@" || true
}
# lines FOLDER: of C++ in it, without api/ and sim/.
lines() {
  find "$1" \( -path "$1/api" -o -path "$1/sim" \) -prune -o \( -name '*.cc' -o -name '*.h' \) -type f -print0 |
    xargs -0 cat | wc -l
}

found=$(names plugins/device plugins/units)
[[ -z $found ]] || { echo "FAILED a vendor's name where every engine reads: $found"; failed=$((failed + 1)); }
count=$(lines plugins/ascend)
(( count <= bound )) || { echo "FAILED plugins/ascend has $count lines, wanted $bound at most"; failed=$((failed + 1)); }

# What is looked for is found where it is.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/named" "$folder/free/api" "$folder/free/sim"
printf '// as cuBLASLt does\n' > "$folder/named/a.h"
printf '// by aclrtMalloc\n' > "$folder/named/b.cc"
printf '// ascending; cannot; oracle\nint x;\n' > "$folder/free/c.h"
cp "$folder/named/a.h" "$folder/free/api"
cp "$folder/named/b.cc" "$folder/free/sim"
[[ $(names "$folder/named" | wc -l) == 2 && -z $(names "$folder/free/c.h") ]] ||
  { echo "FAILED the search for names: $(names "$folder")"; failed=$((failed + 1)); }
[[ $(lines "$folder/free") == 2 ]] || { echo "FAILED the count of lines: $(lines "$folder/free")"; failed=$((failed + 1)); }
echo "$count lines of $bound"
echo "$((4 - failed)) passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
