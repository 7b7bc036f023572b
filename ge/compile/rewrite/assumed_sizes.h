// Assumed sizes for the symbols of an unbound model, for code that asks or tries something before a
// user has given any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "ge/ir/dim.h"

namespace ge {

// Sets every symbol to `usual`, within the symbol's range and multiples.
inline std::map<SymbolId, int64_t> AssumedSizes(const DimTable& dims, int64_t usual) {
  std::map<SymbolId, int64_t> sizes;
  for (SymbolId s = 1; s <= dims.symbol_count(); ++s) {
    const Symbol& symbol = dims.symbol(s);
    int64_t size = std::clamp(usual, symbol.min, symbol.max);
    if (const int64_t over = size % symbol.multiple_of; over != 0) {
      size += symbol.multiple_of - over;
    }
    sizes[s] = size;
  }
  return sizes;
}

}  // namespace ge
