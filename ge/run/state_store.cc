#include "ge/run/state_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "ge/base/aligned.h"
#include "ge/base/interrupt.h"
#include "ge/run/output_memory.h"
#include "ge/run/tensor_view.h"

namespace ge {

Status StateStore::Init(const Graph& graph, uint64_t limit, const char* raise) {
  slots_.resize(graph.states.size());
  uint64_t total = 0;
  for (size_t i = 1; i < graph.states.size(); ++i) {
    const State& state = graph.states[i];
    auto bytes = ByteCount(state.type);
    if (!bytes) {
      return Status(Code::kUnsupported,
                    fmt::format("state '{}' has type {}; a state needs a fixed shape", state.name,
                                TypeToString(state.type, graph.dims)));
    }
    Slot& slot = slots_[i];
    slot.bytes = static_cast<uint64_t>(*bytes);
    total = std::min(total + 2 * slot.bytes, uint64_t{1} << 62);
    if (total > limit) {
      return Status(Code::kLimitExceeded,
                    fmt::format("state '{}' of {} bytes and those before it take {}, each twice; "
                                "the limit is {}; make it smaller, or {}",
                                state.name, slot.bytes, total, limit, raise));
    }
    slot.now = AllocateAligned(slot.bytes, 64), slot.next = AllocateAligned(slot.bytes, 64);
    if (!slot.now || !slot.next) {
      return Status(Code::kResourceExhausted, fmt::format("no memory for state '{}'", state.name));
    }
    std::memset(slot.now.get(), 0, slot.bytes);
    if (state.init) {
      ConstScratch scratch;
      const std::byte* data = ConstBytes(graph.consts[state.init], &scratch, UINT64_MAX);
      if (!data && slot.bytes > 0) {
        return Status(Code::kResourceExhausted,
                      fmt::format("no memory for the first value of state '{}'", state.name));
      }
      std::memcpy(slot.now.get(), data, slot.bytes);
    } else if (state.init_fn) {
      return Status(Code::kUnsupported,
                    fmt::format("state '{}' is initialised by a function; this version takes a "
                                "constant or zeros",
                                state.name));
    }
  }
  return {};
}

Status StateStore::Get(const State& state, StateId id, TensorView* out) {
  const Slot& slot = slots_[id];
  const Type& type = state.type;
  out->dtype = type.dtype, out->dims = type.static_dims();
  if (!out->data) {
    out->bytes = slot.bytes;
    return {};
  }
  OutputMemory memory;
  GE_RETURN_IF_ERROR(memory.Reserve("state", state.name, slot.bytes, out));
  std::shared_lock<std::shared_mutex> lock(mutex_);
  std::memcpy(out->data, slot.now.get(), slot.bytes);
  memory.Commit();
  return {};
}

Status StateStore::Set(const State& state, StateId id, const DimTable& dims,
                       const TensorView& value) {
  Slot& slot = slots_[id];
  const Type& type = state.type;
  if (value.dtype != type.dtype || value.dims != type.static_dims() || value.bytes != slot.bytes ||
      (slot.bytes && !value.data)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("state '{}' is {} with {} bytes; the value has dtype {} and {} bytes",
                              state.name, TypeToString(type, dims), slot.bytes,
                              DTypeName(value.dtype), value.bytes));
  }
  std::unique_lock<std::shared_mutex> lock(mutex_);
  std::memcpy(slot.now.get(), value.data, slot.bytes);
  return {};
}

Status StateStore::Begin(std::span<const StateId> in, std::span<const StateId> out, Access* access,
                         std::vector<const void*>* from, std::vector<void*>* to) {
  if (!out.empty()) {
    access->writing = std::unique_lock<std::shared_mutex>(mutex_, std::defer_lock);
    GE_RETURN_IF_ERROR(LockOrStop(&access->writing));
  } else if (!in.empty()) {
    access->reading = std::shared_lock<std::shared_mutex>(mutex_, std::defer_lock);
    GE_RETURN_IF_ERROR(LockOrStop(&access->reading));
  }
  for (StateId s : in) from->push_back(slots_[s].now.get());
  for (StateId s : out) to->push_back(slots_[s].next.get());
  return {};
}

void StateStore::Commit(std::span<const StateId> out) {
  for (StateId s : out) std::swap(slots_[s].now, slots_[s].next);
}

}  // namespace ge
