// Runs: buffers checked, states bound, a frame taken, the program run, states made visible.
#include <fmt/format.h>

#include <cstring>

#include "ge/session/output_memory.h"
#include "ge/session/session.h"

namespace ge {
namespace {

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
    extents.push_back({inputs[i].data, inputs[i].bytes, port.name, false});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].data) continue;
    const Compiled::Port& port = c.outputs[i];
    if (!outputs[i].owned) GE_RETURN_IF_ERROR(CheckSize("output", port, outputs[i], false));
    extents.push_back({outputs[i].data, std::min(outputs[i].bytes, port.bytes), port.name, true});
  }
  return CheckOverlap(extents);
}

Status Session::Run(std::string_view entry_name, std::span<const TensorView> inputs,
                    std::span<TensorView> outputs) {
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  const Entry* flow = FlowEntry(entry_name);
  if (flow != nullptr) return RunFlow(*flow, inputs, outputs);
  auto compiled = Compile(entry_name, inputs);
  if (!compiled.ok()) {
    flow = FlowEntry(entry_name);  // as it turned out
    return flow != nullptr ? RunFlow(*flow, inputs, outputs) : compiled.status();
  }
  const std::shared_ptr<Compiled>& c = *compiled;
  GE_RETURN_IF_ERROR(CheckBuffers(*c, inputs, outputs));
  OutputMemory memory;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Compiled::Port& port = c->outputs[i];
    outputs[i].dtype = port.dtype;
    outputs[i].dims = port.dims;
    GE_RETURN_IF_ERROR(memory.Reserve("output", port.name, port.bytes, &outputs[i]));
  }
  GE_RETURN_IF_ERROR(Execute(c.get(), inputs, outputs));
  if (options_.build.prices.replan) ReplanIfSurprised(entry_name, inputs, c);
  memory.Commit();
  return {};
}

Status Session::RunApart(Compiled* c, std::span<const TensorView> inputs,
                         std::span<TensorView> outputs) {
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
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
  return Execute(c, inputs, outputs);
}

Status Session::Execute(Compiled* c, std::span<const TensorView> inputs,
                        std::span<TensorView> outputs) {
  std::vector<const void*>& in = scratch.in;
  std::vector<void*>& out = scratch.out;
  in.clear(), out.clear();
  for (const TensorView& t : inputs) in.push_back(t.data);
  for (const TensorView& t : outputs) out.push_back(t.data);
  // Runs that write a state are alone; runs that only read share.
  std::shared_lock<std::shared_mutex> reading(states_mutex_, std::defer_lock);
  std::unique_lock<std::shared_mutex> writing(states_mutex_, std::defer_lock);
  if (!c->states_out.empty()) {
    GE_RETURN_IF_ERROR(LockOrStop(&writing));
  } else if (!c->states_in.empty()) {
    GE_RETURN_IF_ERROR(LockOrStop(&reading));
  }
  for (StateId s : c->states_in) in.push_back(states_[s].now.get());
  for (StateId s : c->states_out) out.push_back(states_[s].next.get());
  GE_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, c->TakeFrame());
  GE_RETURN_IF_ERROR(c->program().Run(frame.get(), in.data(), out.data()));
  c->GiveFrame(std::move(frame));
  GE_RETURN_IF_ERROR(CheckInterrupt());  // what it wrote is not taken over
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
  OutputMemory memory;
  GE_RETURN_IF_ERROR(memory.Reserve("state", graph_.states[id].name, slot.bytes, out));
  std::shared_lock<std::shared_mutex> lock(states_mutex_);
  std::memcpy(out->data, slot.now.get(), slot.bytes);
  memory.Commit();
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
