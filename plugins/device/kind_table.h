// KindTable: an engine's rows by the kind of unit that they are about. A row has a `kind`.
// Constants of the program; any thread.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "plugins/units/unit.h"

namespace ge_engines::device {

template <class Row>
class KindTable {
 public:
  KindTable(std::initializer_list<std::span<const Row>> families) {
    for (const std::span<const Row> family : families) {
      for (const Row& row : family) {
        rows_.push_back(&row);
        kinds_.push_back(row.kind);
      }
    }
  }
  // nullptr: the engine has nothing for such units.
  const Row* Find(const Unit& unit) const {
    for (const Row* row : rows_) {
      if (row->kind == &unit.kind()) return row;
    }
    return nullptr;
  }
  std::span<const UnitKind* const> kinds() const { return kinds_; }

 private:
  std::vector<const Row*> rows_;
  std::vector<const UnitKind*> kinds_;
};

}  // namespace ge_engines::device
