#include "passes/data/sources/source.h"

#include <fmt/format.h>

#include "ge/ge_plugin.hpp"

namespace ge::data {

uint64_t Column::row_bytes() const {
  uint64_t bits = plugin::ElementBits(dtype);
  for (const int64_t d : dims) bits *= static_cast<uint64_t>(d);
  return bits / 8;
}

std::string KindOfColumn(const Column& c) {
  if (c.kind == Column::Kind::kPicture) return fmt::format("column '{}', pictures", c.name);
  if (c.kind == Column::Kind::kText) return fmt::format("column '{}', texts", c.name);
  if (!c.classes.empty()) return fmt::format("column '{}', classes", c.name);
  return fmt::format("column '{}', {}[{}]", c.name, plugin::DTypeName(c.dtype),
                     fmt::join(c.dims, ","));
}

size_t Source::ColumnOf(std::string_view name) const {
  std::string names;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name == name) return i;
    names += (names.empty() ? "" : ", ") + columns_[i].name;
  }
  throw Refusal{GE_NOT_FOUND,
                fmt::format("'{}' has no column '{}'; it has {}", path_, name, names)};
}

Blob Source::ReadBlob(size_t column, int64_t) const {
  throw Refusal{GE_INTERNAL,
                fmt::format("column '{}' of '{}' is no blob", columns_[column].name, path_)};
}

std::string Source::NameOfRow(int64_t row) const {
  return fmt::format("row {} of '{}'", row, path_);
}

}  // namespace ge::data
