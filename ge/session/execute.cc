// Runs: buffers checked, states bound, a frame taken, the program run, states made visible.
#include <fmt/format.h>

#include <cstring>

#include "ge/session/session.h"

namespace ge {
namespace {

struct Extent {
  const char* begin;
  const char* end;
  std::string_view name;
  bool output;
};

Status CheckOverlap(const std::vector<Extent>& extents) {
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i].output || extents[i].begin == extents[i].end) continue;
    for (size_t j = 0; j < extents.size(); ++j) {
      if (i == j || (extents[j].output && j < i)) continue;
      if (extents[i].begin < extents[j].end && extents[j].begin < extents[i].end) {
        return Status(
            Code::kInvalidArgument,
            fmt::format("the buffers of output '{}' and {} '{}' overlap; give each its "
                        "own memory",
                        extents[i].name, extents[j].output ? "output" : "input", extents[j].name));
      }
    }
  }
  return {};
}

Status CheckSize(const char* what, const Value& value, int64_t wanted, const TensorView& t,
                 bool exact) {
  bool fits =
      exact ? t.bytes == static_cast<uint64_t>(wanted) : t.bytes >= static_cast<uint64_t>(wanted);
  if (!fits) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} '{}' has {} bytes, its shape needs {}{}", what, value.name,
                              t.bytes, exact ? "" : "at least ", wanted));
  }
  if (wanted > 0 && !t.data) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} '{}' has no data; give a buffer of {} bytes", what, value.name, wanted));
  }
  return {};
}

}  // namespace

Status Session::CheckBuffers(const Compiled& c, std::span<const TensorView> inputs,
                             std::span<TensorView> outputs) const {
  const Function& f = c.graph.fn(c.fn);
  if (outputs.size() != c.user_outputs) {
    return Status(Code::kInvalidArgument,
                  fmt::format("entry '{}' has {} outputs, {} were given", c.plan.entry,
                              c.user_outputs, outputs.size()));
  }
  std::vector<Extent> extents;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& v = f.value(f.params[i]);
    if (inputs[i].dtype != v.type.dtype) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input '{}' is {}, the model wants {}; convert it", v.name,
                                DTypeName(inputs[i].dtype), DTypeName(v.type.dtype)));
    }
    GE_RETURN_IF_ERROR(CheckSize("input", v, ByteCount(v.type).value_or(-1), inputs[i], true));
    auto* p = static_cast<const char*>(inputs[i].data);
    extents.push_back({p, p + inputs[i].bytes, v.name, false});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value& v = f.value(f.results[i]);
    TensorView& t = outputs[i];
    int64_t wanted = ByteCount(v.type).value_or(-1);
    if (t.data) {
      GE_RETURN_IF_ERROR(CheckSize("output", v, wanted, t, false));
      auto* p = static_cast<const char*>(t.data);
      extents.push_back({p, p + wanted, v.name, true});
    }
  }
  return CheckOverlap(extents);
}

Status Session::Run(std::string_view entry_name, std::span<const TensorView> inputs,
                    std::span<TensorView> outputs, const std::atomic<bool>* cancel) {
  GE_ASSIGN_OR_RETURN(std::shared_ptr<Compiled> c, Compile(entry_name, inputs));
  GE_RETURN_IF_ERROR(CheckBuffers(*c, inputs, outputs));
  const Function& f = c->graph.fn(c->fn);
  std::vector<AlignedBytes> made;
  std::vector<size_t> made_for;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Type& type = f.value(f.results[i]).type;
    outputs[i].dtype = type.dtype;
    outputs[i].dims = type.static_dims();
    uint64_t bytes = static_cast<uint64_t>(ByteCount(type).value_or(0));
    if (!outputs[i].data) {
      made.push_back(AllocateAligned(bytes, 64));
      made_for.push_back(i);
      if (!made.back()) {
        return Status(Code::kResourceExhausted, fmt::format("no memory for output '{}' of {} bytes",
                                                            f.value(f.results[i]).name, bytes));
      }
      outputs[i].data = made.back().get();
    }
    outputs[i].bytes = bytes;
  }
  Status status = Execute(c.get(), inputs, outputs, cancel);
  for (size_t k = 0; k < made.size(); ++k) {
    if (status.ok()) {
      (void)made[k].release();  // The caller's from now on.
    } else {
      outputs[made_for[k]].data = nullptr;
    }
  }
  return status;
}

Status Session::Execute(Compiled* c, std::span<const TensorView> inputs,
                        std::span<TensorView> outputs, const std::atomic<bool>* cancel) {
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const TensorView& t : inputs) in.push_back(t.data);
  for (const TensorView& t : outputs) out.push_back(t.data);
  // Runs that write a state are alone; runs that only read share.
  std::shared_lock<std::shared_mutex> reading(states_mutex_, std::defer_lock);
  std::unique_lock<std::shared_mutex> writing(states_mutex_, std::defer_lock);
  if (!c->states_out.empty()) {
    writing.lock();
  } else if (!c->states_in.empty()) {
    reading.lock();
  }
  for (StateId s : c->states_in) in.push_back(states_[s].now.get());
  for (StateId s : c->states_out) out.push_back(states_[s].next.get());
  GE_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, c->TakeFrame());
  GE_RETURN_IF_ERROR(c->program().Run(frame.get(), in.data(), out.data(), cancel));
  c->GiveFrame(std::move(frame));
  if (cancel && cancel->load(std::memory_order_relaxed)) {
    return Status(Code::kCancelled, "the run was cancelled; states are as they were");
  }
  for (StateId s : c->states_out) std::swap(states_[s].now, states_[s].next);
  return {};
}

Status Session::GetState(StateId id, TensorView* out) {
  const StateSlot& slot = states_[id];
  const Type& type = graph_.states[id].type;
  out->dtype = type.dtype, out->dims = type.static_dims();
  if (!out->data) {
    out->bytes = slot.bytes;
    return {};
  }
  if (out->bytes < slot.bytes) {
    return Status(Code::kInvalidArgument,
                  fmt::format("state '{}' has {} bytes, the buffer only {}", graph_.states[id].name,
                              slot.bytes, out->bytes));
  }
  std::shared_lock<std::shared_mutex> lock(states_mutex_);
  std::memcpy(out->data, slot.now.get(), slot.bytes);
  out->bytes = slot.bytes;
  return {};
}

Status Session::SetState(StateId id, const TensorView& value) {
  StateSlot& slot = states_[id];
  const Type& type = graph_.states[id].type;
  if (value.dtype != type.dtype || value.dims != type.static_dims() || value.bytes != slot.bytes ||
      (slot.bytes && !value.data)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("state '{}' is {} with {} bytes; the value has dtype {} and {} bytes",
                              graph_.states[id].name, TypeToString(type, graph_.dims), slot.bytes,
                              DTypeName(value.dtype), value.bytes));
  }
  std::unique_lock<std::shared_mutex> lock(states_mutex_);
  std::memcpy(slot.now.get(), value.data, slot.bytes);
  return {};
}

}  // namespace ge
