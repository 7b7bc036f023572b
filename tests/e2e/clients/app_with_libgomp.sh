#!/usr/bin/env bash
# An application that has libgomp itself, as those with OpenCV do: our engines and what they call stay
# on the session's threads, and the numbers are those without it. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/app_with_libgomp
client "$out" cc -std=gnu11 -Werror -pedantic tests/e2e/clients/app_with_libgomp.c -Wl,--no-as-needed -l:libgomp.so.1
plain=$build/app_without_libgomp
client "$plain" cc -std=gnu11 -Werror -pedantic -DNO_LIBGOMP tests/e2e/clients/app_with_libgomp.c
for engines in native,ref onednn,ref openblas,ref native,onednn,openblas,ref; do
  wanted=$(timeout 120 "$plain" tests/e2e/models/app_with_libgomp.gt "$engines" 2>&1)
  text=$(timeout 120 "$out" tests/e2e/models/app_with_libgomp.gt "$engines" "$wanted" 2>&1)
  ran "$engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
wanted=$(timeout 120 "$plain" tests/e2e/models/app_with_libgomp.gt onednn,ref 2>&1)
text=$(APP_OPENS=libdnnl.so.2 timeout 120 "$out" tests/e2e/models/app_with_libgomp.gt onednn,ref "$wanted" 2>&1)
ran "onednn,ref, oneDNN opened before" $? "$text"
echo "$text" | grep -v ' passed, '
sum_up
