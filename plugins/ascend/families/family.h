// What the engine can do with each kind of unit, a table a family. Pure; one thread records.
#pragma once

#include <span>

#include "plugins/ascend/operator_call.h"
#include "plugins/device/rates.h"
#include "plugins/units/unit.h"

namespace ge_engines::ascend {

struct AscendKind {
  const UnitKind* kind;
  // Whether there are operators for it, beside dtypes, which the engine looks at; null: for all.
  // What a library lacks is null in `op`.
  bool (*takes)(const Unit& unit, const Parser& parser, const acl::Operators& op, Why* why);
  void (*record)(const Unit& unit, Calls* calls);
  uint32_t (*operators)(const Unit& unit);  // how many it calls; null: one
};

std::span<const AscendKind> PointwiseKinds();
std::span<const AscendKind> ProductKinds();
std::span<const AscendKind> WindowKinds();
std::span<const AscendKind> RowKinds();
std::span<const AscendKind> MoveKinds();
std::span<const AscendKind> IndexKinds();

}  // namespace ge_engines::ascend
