// ge replay of a run in pieces: each piece by its recorded placement, each of its executions
// compared.
#pragma once

#include "tools/ge/capsule/recorded.h"
#include "tools/ge/command.h"

namespace ge::tool {

// `options`: what was asked for and what the manifest says. *code: 0 where all values are equal or
// within their bounds, else 1.
Status ReplayPieces(const Options& options, const Recorded& r, int* code);

}  // namespace ge::tool
