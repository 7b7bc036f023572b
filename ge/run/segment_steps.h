// SegmentSteps: what an engine told at compile of each step of an exec: its nodes, and the values
// that are whole behind it. The exec owns the records; any thread may read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ge/ge_plugin.h"

namespace ge {

struct SegmentSteps {
  const ge_step* first = nullptr;  // null: the engine shows borders alone
  uint32_t count = 0, stride = 0;  // stride in bytes

  // Null beyond the end.
  const ge_step* at(uint32_t step) const {
    if (step >= count) return nullptr;
    return reinterpret_cast<const ge_step*>(reinterpret_cast<const char*>(first) +
                                            uint64_t{step} * stride);
  }
};

// Bytes of a launch in which a value begins; they end where its place ends, maybe behind the value.
// Nothing where the engine named a place that the launch has not, or one that is not in the host's
// memory.
inline std::optional<std::span<const std::byte>> BytesOfMade(const ge_made& made,
                                                             const ge_launch& launch) {
  const ge_buf* buf = nullptr;
  if (made.place == GE_PLACE_IN && made.index < launch.n_in) buf = &launch.in[made.index];
  if (made.place == GE_PLACE_OUT && made.index < launch.n_out) buf = &launch.out[made.index];
  if (made.place == GE_PLACE_INTERNAL && made.index < launch.n_internal) {
    buf = &launch.internal[made.index];
  }
  if (made.place == GE_PLACE_WORKSPACE) buf = &launch.workspace;
  if (buf == nullptr || buf->ptr == nullptr || made.offset > buf->bytes) return std::nullopt;
  return std::span(static_cast<const std::byte*>(buf->ptr) + made.offset, buf->bytes - made.offset);
}

}  // namespace ge
