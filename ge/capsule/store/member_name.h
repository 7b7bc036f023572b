// Names of a capsule's members. Any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "ge/base/status.h"

namespace ge {

// A relative path of UTF-8 as `unzip` and file systems take it: at most 1,024 bytes, parts between
// slashes that are neither empty nor "." nor "..", no backslash, no control character.
// FAILED_PRECONDITION with the fault.
Status CheckMemberName(std::string_view name);

// A part of a name for what a model calls anything: characters outside [A-Za-z0-9._-] become '_',
// what is longer than 128 bytes is cut.
std::string MemberPart(std::string_view name);

}  // namespace ge
