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

Status CheckSize(const char* what, const Compiled::Port& port, const TensorView& t, bool exact) {
  bool fits = exact ? t.bytes == port.bytes : t.bytes >= port.bytes;
  if (!fits) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} '{}' has {} bytes, its shape needs {}{}", what, port.name,
                              t.bytes, exact ? "" : "at least ", port.bytes));
  }
  if (port.bytes > 0 && !t.data) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} '{}' has no data; give a buffer of {} bytes", what, port.name, port.bytes));
  }
  return {};
}

// What a run needs between its call and the program, kept by each thread so that a run of a known
// shape allocates nothing.
struct Scratch {
  std::vector<Extent> extents;
  std::vector<const void*> in;
  std::vector<void*> out;
};
thread_local Scratch scratch;

}  // namespace

Status Session::CheckBuffers(const Compiled& c, std::span<const TensorView> inputs,
                             std::span<TensorView> outputs) const {
  if (outputs.size() != c.outputs.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("entry '{}' has {} outputs, {} were given", c.plan.entry,
                              c.outputs.size(), outputs.size()));
  }
  std::vector<Extent>& extents = scratch.extents;
  extents.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Compiled::Port& port = c.inputs[i];
    if (inputs[i].dtype != port.dtype) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input '{}' is {}, the model wants {}; convert it", port.name,
                                DTypeName(inputs[i].dtype), DTypeName(port.dtype)));
    }
    GE_RETURN_IF_ERROR(CheckSize("input", port, inputs[i], true));
    auto* p = static_cast<const char*>(inputs[i].data);
    extents.push_back({p, p + inputs[i].bytes, port.name, false});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].data) continue;
    GE_RETURN_IF_ERROR(CheckSize("output", c.outputs[i], outputs[i], false));
    auto* p = static_cast<const char*>(outputs[i].data);
    extents.push_back({p, p + c.outputs[i].bytes, c.outputs[i].name, true});
  }
  return CheckOverlap(extents);
}

Status Session::Run(std::string_view entry_name, std::span<const TensorView> inputs,
                    std::span<TensorView> outputs, const std::atomic<bool>* cancel) {
  const Entry* flow = FlowEntry(entry_name);
  if (flow != nullptr) return RunFlow(*flow, inputs, outputs, cancel);
  auto compiled = Compile(entry_name, inputs);
  if (!compiled.ok()) {
    flow = FlowEntry(entry_name);  // as it turned out
    return flow != nullptr ? RunFlow(*flow, inputs, outputs, cancel) : compiled.status();
  }
  const std::shared_ptr<Compiled>& c = *compiled;
  GE_RETURN_IF_ERROR(CheckBuffers(*c, inputs, outputs));
  std::vector<std::pair<size_t, AlignedBytes>> made;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Compiled::Port& port = c->outputs[i];
    outputs[i].dtype = port.dtype;
    outputs[i].dims = port.dims;
    outputs[i].bytes = port.bytes;
    if (outputs[i].data) continue;
    made.emplace_back(i, AllocateAligned(port.bytes, 64));
    if (!made.back().second) {
      return Status(Code::kResourceExhausted,
                    fmt::format("no memory for output '{}' of {} bytes", port.name, port.bytes));
    }
    outputs[i].data = made.back().second.get();
  }
  Status status = Execute(c.get(), inputs, outputs, cancel);
  if (options_.build.prices.replan && status.ok()) ReplanIfSurprised(entry_name, inputs, c);
  for (auto& [i, memory] : made) {
    if (status.ok()) {
      (void)memory.release();  // The caller's from now on.
    } else {
      outputs[i].data = nullptr;
    }
  }
  return status;
}

Status Session::RunApart(Compiled* c, std::span<const TensorView> inputs,
                         std::span<TensorView> outputs) {
  if (inputs.size() != c->inputs.size()) {
    return Status(Code::kInvalidArgument, fmt::format("the plan takes {} inputs, {} were given",
                                                      c->inputs.size(), inputs.size()));
  }
  GE_RETURN_IF_ERROR(CheckBuffers(*c, inputs, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].data || c->outputs[i].bytes == 0) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("output '{}' has no data; give a buffer of {} bytes",
                              c->outputs[i].name, c->outputs[i].bytes));
  }
  return Execute(c, inputs, outputs, nullptr);
}

Status Session::Execute(Compiled* c, std::span<const TensorView> inputs,
                        std::span<TensorView> outputs, const std::atomic<bool>* cancel) {
  std::vector<const void*>& in = scratch.in;
  std::vector<void*>& out = scratch.out;
  in.clear(), out.clear();
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
