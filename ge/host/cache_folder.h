// The folder that keeps what was measured on this host between processes: $GE_CACHE_DIR, else
// $XDG_CACHE_HOME/graphengine, else ~/.cache/graphengine. GE_CACHE_DIR=off, or a folder that cannot
// be made or written, means that nothing is kept, and is no error: every file in it can be measured
// again. Files are replaced whole, by a temporary name and rename, under a lock of their own, so
// that two processes lose nothing of each other's; a lock that somebody else holds is waited for
// for a second at most, then nothing is written, and GE_LOG_LEVEL=2 says so. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ge/base/status.h"

namespace ge {

// Empty when nothing is kept. Asks the environment anew at each call; makes no folder.
std::string CacheFolder();

// The text of a file of the folder; nothing when there is none, or it is beyond 64 MiB.
std::optional<std::string> ReadCacheFile(const std::string& name);

// Replaces a file by what `merge` makes of its present text ("" when there is none). Where `merge`
// answers DATA_CORRUPT the file is put aside, and `merge` is asked again with "". False when it
// could not be written, or for another status; the file is then as it was.
bool UpdateCacheFile(const std::string& name,
                     const std::function<Result<std::string>(const std::string& present)>& merge);

// For a file whose `text` is damaged, in the way that `how` tells ("it is damaged at byte 3"): it
// is called NAME.damaged from now on, in the place of one before, and a warning tells so. A file
// that somebody has replaced since `text` was read stays. One that cannot be moved is warned of
// once.
void PutAsideCacheFile(const std::string& name, const std::string& text, const std::string& how);

}  // namespace ge
