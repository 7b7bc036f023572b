// PlainBytes: a tensor in an engine's layout as dense, row-major bytes, so that other readers know
// it. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/ir/dtype.h"
#include "ge/plan/plan.h"

namespace ge {

// Whether PlainBytes knows the layout of such a tensor: null is plain, an opaque one is the
// vendor's secret, and elements below a byte have no order of their own.
bool IsKnownLayout(const PlanLayout* layout, DType dtype, size_t rank);

// `from` may end behind the tensor. *memory holds the result where a copy was needed.
// DATA_CORRUPT: `from` is too small. RESOURCE_EXHAUSTED. Only for known layouts.
Result<std::span<const std::byte>> PlainBytes(const PlanLayout* layout, DType dtype,
                                              std::span<const int64_t> dims,
                                              std::span<const std::byte> from,
                                              AlignedBytes* memory);

}  // namespace ge
