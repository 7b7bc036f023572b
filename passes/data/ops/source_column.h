// The column of a source that an operator names by its attributes source, column and digest.
#pragma once

#include <memory>
#include <vector>

#include "passes/data/ops/ops.h"
#include "passes/data/sources/source.h"

namespace ge::data {

struct SourceColumn {
  std::shared_ptr<const Source> source;
  size_t index = 0;
  const Column& column() const { return source->columns()[index]; }
};

// Opens the source, or takes one that is open already.
SourceColumn OpenColumn(const ge_node& node);
// The records of the three attributes, and `more` behind them.
std::vector<ge_attr_def> ColumnAttrs(std::vector<ge_attr_def> more = {});

}  // namespace ge::data
