// The kinds that every engine of ours knows.
#include "plugins/units/conv/conv.h"
#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/parser.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines {

std::span<const UnitKind* const> SharedKinds() {
  static constexpr const UnitKind* kShared[] = {&ConvSpec::kKind, &ProductSpec::kKind,
                                                &PoolSpec::kKind, &PointwiseSpec::kKind};
  return kShared;
}

}  // namespace ge_engines
