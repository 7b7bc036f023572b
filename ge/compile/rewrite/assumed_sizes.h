// Sizes for the symbols of a model whose shapes are not bound yet, for who has to ask or to try
// something before a user has said any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "ge/ir/dim.h"

namespace ge {

// Every symbol as `usual`, or what of it the symbol's range and multiples allow.
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
