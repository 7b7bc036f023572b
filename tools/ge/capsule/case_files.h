// Small cases as files: a piece of a run as a capsule that `ge replay` repeats, or as a case for
// ge-test. Any thread may call.
#pragma once

#include <string>

#include "ge/base/status.h"
#include "tools/ge/capsule/piece.h"
#include "tools/ge/capsule/recorded.h"

namespace ge::tool {

// Drops functions, states, values and constants that the piece has no use for, and gives names to
// inputs and outputs that have none.
void TidyPiece(Piece* piece);

// `plan`: of the piece, as text; empty where it is to be placed anew. The outputs are what a replay
// is compared with. IO_ERROR, or DATA_CORRUPT of a recorded state.
Status WriteCaseCapsule(const std::string& path, const Recorded& r, const Piece& piece,
                        const std::string& plan);

// `title`: the first line's comment. LIMIT_EXCEEDED where people could not read it any more.
Result<std::string> CaseText(const std::string& title, const Piece& piece);

}  // namespace ge::tool
