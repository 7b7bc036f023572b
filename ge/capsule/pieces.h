// Runs in pieces in a capsule: `piece/N.json` for each plan that a piece got, before its first
// execution, and `execution/N.json` for each of those, in their order, before it begins. Values
// owned by their holder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"

namespace ge {

struct CapsulePiece {
  std::string key;       // of its graph as it was bound; empty where nobody knows it any more
  std::string function;  // that it is a part of
  std::string graph;     // member: its graph as it was placed, or empty
  std::string plan;      // member
  std::vector<uint32_t> expanded;  // nodes of the bound graph that became their parts before PLACE
};

struct CapsuleExecution {
  uint32_t piece = 0;                  // index
  std::vector<CapsuleTensor> inputs;   // none where no values were wanted
  std::vector<CapsuleTensor> outputs;  // members that it has once it is done
  std::vector<CapsuleTensor> values;   // that its segments make; outputs of its own are none
  // Where outputs and values are without members: `execution/N/statistics.json` has them, by their
  // positions, values behind outputs.
};

Status WritePiece(size_t number, const CapsulePiece& piece, CapsuleWriter* writer);
Status WriteExecution(size_t number, const CapsuleExecution& execution, CapsuleWriter* writer);

std::string StatisticsMemberOf(size_t execution);

struct CapsulePieces {
  std::vector<CapsulePiece> pieces;
  std::vector<CapsuleExecution> executions;
};
// Up to the last that the file has. DATA_CORRUPT naming capsule, member and field.
Result<CapsulePieces> ReadPieces(const CapsuleReader& capsule);

}  // namespace ge
