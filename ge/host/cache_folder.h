// The folder that keeps measurements of this host between processes: $GE_CACHE_DIR, else
// $XDG_CACHE_HOME/graphengine, else ~/.cache/graphengine. With GE_CACHE_DIR=off, or a folder that
// cannot be made or written, nothing is kept. This is no error: every file in it can be measured
// again. Files are replaced whole, by a temporary name and rename, under a lock of their own, so
// two processes lose nothing of each other's. A writer waits a second at most for the lock of
// another, then writes nothing and says so at GE_LOG_LEVEL=2. Thread-safe.
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

// Replaces a file by the answer of `merge` to its present text ("" when there is none). Where
// `merge` answers DATA_CORRUPT the file is put aside, and `merge` is asked again with "". False
// when it could not be written, or for another status; the file is then as it was.
bool UpdateCacheFile(const std::string& name,
                     const std::function<Result<std::string>(const std::string& present)>& merge);

// For a file with damaged `text`; `how` tells the damage ("it is damaged at byte 3").
// Renames it to NAME.damaged, replacing one before, and warns. Leaves a file alone that
// somebody has replaced since `text` was read. Warns once of a file that cannot be
// renamed.
void PutAsideCacheFile(const std::string& name, const std::string& text, const std::string& how);

// Renames a file of that path to PATH.damaged and warns; `rest` goes on with what becomes of what
// it held. For holders of its lock.
void MoveAside(const std::string& path, const std::string& how, const std::string& rest);

}  // namespace ge
