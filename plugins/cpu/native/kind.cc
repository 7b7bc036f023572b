#include "plugins/cpu/native/kind.h"

#include <stdexcept>
#include <string>
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

const Kind& KindOfUnit(const Unit& unit) {
  const auto it = Kinds().of_unit.find(&unit.kind());
  if (it != Kinds().of_unit.end()) return *it->second;
  throw std::logic_error(std::string("no Kind answers for units of kind ") + unit.kind().name);
}

}  // namespace ge_engines::cpu::native
