#include "plugins/cpu/native/kind.h"

#include <unordered_map>
#include <vector>

namespace ge_engines::cpu::native {

#define GE_NATIVE_ENTRY(stem) std::span<const Kind* const> native_kinds_##stem();
#include "native_kinds.inc"
#undef GE_NATIVE_ENTRY

namespace {

struct Table {
  Table() {
    for (const std::span<const Kind* const> kinds : {
#define GE_NATIVE_ENTRY(stem) native_kinds_##stem(),
#include "native_kinds.inc"
#undef GE_NATIVE_ENTRY
         }) {
      for (const Kind* kind : kinds) {
        units.push_back(&kind->unit());
        of_unit[&kind->unit()] = kind;
      }
    }
  }
  std::vector<const UnitKind*> units;
  std::unordered_map<const UnitKind*, const Kind*> of_unit;
};

const Table& Kinds() {
  static const Table table;
  return table;
}

}  // namespace

std::span<const UnitKind* const> KnownKinds() { return Kinds().units; }

const Kind& KindOfUnit(const Unit& unit) { return *Kinds().of_unit.at(&unit.kind()); }

}  // namespace ge_engines::cpu::native
