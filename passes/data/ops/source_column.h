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

// What BlobSize and Blob keep: a column of pictures or texts.
ge_rc OpenBlobs(const ge_node* n, const ge_host_api*, void** kept, ge_err* err);
void CloseBlobs(void* kept);
inline const SourceColumn& KeptBlobs(const ge_kernel_call& c) {
  return *static_cast<const SourceColumn*>(c.kept);
}

}  // namespace ge::data
