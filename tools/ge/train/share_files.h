// Share files: the states of one rank in a file of its own, and how another number of ranks reads
// what it has of them. One thread.
#pragma once

#include <string>
#include <vector>

#include "tools/ge/train/manifest.h"
#include "tools/ge/train/trained_net.h"

namespace ge::tool {

// Writes this rank's boxes of states, but those that a rank ahead of it has, too, into FOLDER/NAME;
// to the disk itself.
Result<SharePiece> WriteShares(const std::string& folder, const std::string& name, TrainedNet* net);

// What each rank wrote as one: the files in the order of the ranks.
void Join(SharePiece piece, Manifest* to);

// Sets the states of `net`, each the box that this rank has of it, from the files of a manifest in
// `folder`. Checks the digests of the files that it reads. DATA_CORRUPT, naming the file or the
// state, where one is damaged or lacks a part; INVALID_ARGUMENT where they are of another net.
Status ReadShares(const std::string& folder, const Manifest& manifest, TrainedNet* net);

}  // namespace ge::tool
