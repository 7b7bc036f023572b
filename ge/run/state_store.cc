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
    slot.name = state.name;
    slot.now = AllocateAligned(slot.bytes, 64);
    if (!slot.now) {
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
  GE_RETURN_IF_ERROR(Readable(slot));
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
  slot.lost = false;
  return {};
}

Status StateStore::Read(const std::function<Status(std::span<const std::byte* const>)>& look) {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  std::vector<const std::byte*> values;
  for (const Slot& slot : slots_) {
    GE_RETURN_IF_ERROR(Readable(slot));
    values.push_back(static_cast<const std::byte*>(static_cast<const void*>(slot.now.get())));
  }
  return look(values);
}

void StateStore::Write(std::span<const Const> values) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  for (StateId s = 1; s < slots_.size(); ++s) {
    std::memcpy(slots_[s].now.get(), values[s].data, slots_[s].bytes);
    slots_[s].lost = false;
  }
}

Status StateStore::Readable(const Slot& slot) const {
  if (!slot.lost) return {};
  return Status(Code::kDataCorrupt,
                fmt::format("state '{}' was lost: an engine failed while it overwrote it; set it "
                            "anew, or restore it",
                            slot.name));
}

Status StateStore::Begin(std::span<const StateId> in, std::span<const StateId> out,
                         const std::vector<bool>& in_place, Access* access,
                         std::vector<const void*>* from, std::vector<void*>* to) {
  if (!out.empty()) {
    access->writing = std::unique_lock<std::shared_mutex>(mutex_, std::defer_lock);
    GE_RETURN_IF_ERROR(LockOrStop(&access->writing));
  } else if (!in.empty()) {
    access->reading = std::shared_lock<std::shared_mutex>(mutex_, std::defer_lock);
    GE_RETURN_IF_ERROR(LockOrStop(&access->reading));
  }
  for (StateId s : in) {
    GE_RETURN_IF_ERROR(Readable(slots_[s]));
    from->push_back(slots_[s].now.get());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    Slot& slot = slots_[out[i]];
    if (!in_place[i] && !slot.next) slot.next = AllocateAligned(slot.bytes, 64);
    if (!in_place[i] && !slot.next) {
      return Status(Code::kResourceExhausted,
                    fmt::format("no memory for the next value of state '{}'", slot.name));
    }
    to->push_back(in_place[i] ? slot.now.get() : slot.next.get());
  }
  return {};
}

void StateStore::Commit(std::span<const StateId> out, const std::vector<bool>& in_place) {
  for (size_t i = 0; i < out.size(); ++i) {
    Slot& slot = slots_[out[i]];
    if (!in_place[i]) std::swap(slot.now, slot.next);
    slot.lost = false;
  }
}

void StateStore::Lose(std::span<const StateId> out, const std::vector<bool>& in_place) {
  for (size_t i = 0; i < out.size(); ++i) slots_[out[i]].lost |= in_place[i];
}

uint64_t StateStore::bytes() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  uint64_t sum = 0;
  for (const Slot& s : slots_) sum += s.bytes * ((s.now != nullptr) + (s.next != nullptr));
  return sum;
}

}  // namespace ge
