// ge.h: prepared runs. What ge_session_run does for each call, reading the caller's structs,
// looking for the plan, checking the buffers, is done when one is made or gets other memory.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "ge/api/capi.h"
#include "ge/compile/compiled/check_buffers.h"
#include "ge/run/output_memory.h"

using ge::Code;
using ge::Status;
using ge::TensorView;

struct ge_prepared {
  std::shared_ptr<ge::Session> session;
  std::string entry;
  std::vector<TensorView> inputs, outputs;
  std::vector<TensorView> given;       // outputs as they are handed to each run, without a plan
  std::vector<uint64_t> room;          // bytes of the outputs' buffers
  std::shared_ptr<ge::Compiled> plan;  // null: it is looked up at each run
  uint64_t changes = 0;                // of the session's plans when it was found
  std::atomic<bool> used{false};       // by a thread
};

namespace ge::capi {
namespace {

// Of one thread at a time.
class Using {
 public:
  explicit Using(ge_prepared* p) : p_(p), mine_(!p->used.exchange(true)) {}
  ~Using() {
    if (mine_) p_->used.store(false);
  }
  Status Check() const {
    if (mine_) return {};
    return Status(Code::kFailedPrecondition,
                  "the prepared run is used by another thread now; prepare one for each thread");
  }

 private:
  ge_prepared* const p_;
  const bool mine_;
};

// Finds the plan, for the buffers that are bound. Without another one the one that is there stays.
Status LookUp(ge_prepared* p) {
  if (p->session->states_grow() || p->session->RunsInPieces(p->entry)) return {};
  const uint64_t changes = p->session->plan_changes();
  Result<std::shared_ptr<Compiled>> plan = p->session->Compile(p->entry, p->inputs);
  if (!plan.ok() && p->session->RunsInPieces(p->entry)) return {};  // as it turned out
  if (!plan.ok()) return std::move(plan).status();
  p->plan = std::move(*plan);
  p->changes = changes;
  return {};
}

// Where one plan holds the entry: dtypes, dims and memory of all outputs.
Status FillOutputs(ge_prepared* p, OutputMemory* memory) {
  GE_RETURN_IF_ERROR(CheckBuffers(*p->plan, p->inputs, p->outputs));
  for (size_t i = 0; i < p->outputs.size(); ++i) {
    const Compiled::Port& port = p->plan->outputs[i];
    TensorView& t = p->outputs[i];
    t.dtype = port.dtype;
    t.dims = port.dims;
    p->room[i] = std::max(t.bytes, port.bytes);
    GE_RETURN_IF_ERROR(memory->Reserve("output", port.name, port.bytes, &t));
    GE_RETURN_IF_ERROR(CheckRank(static_cast<uint32_t>(i), t));
  }
  return {};
}

// Where pieces do, only a run knows how large outputs are.
Status CheckGivenOutputs(const ge_prepared& p) {
  GE_ASSIGN_OR_RETURN(const Entry* entry, p.session->FindEntry(p.entry));
  const Function& f = p.session->graph().fn(entry->fn);
  GE_RETURN_IF_ERROR(CheckInputs(p.session->graph(), *entry, p.inputs));
  if (p.outputs.size() != f.results.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("entry '{}' has {} outputs, {} were given", entry->name,
                              f.results.size(), p.outputs.size()));
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    if (p.outputs[i].data != nullptr) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("output '{}' has no buffer, and only a run of entry '{}' knows how "
                              "large it is; give it one",
                              f.value(f.results[i]).name, entry->name));
  }
  return {};
}

Status Prepare(ge_prepared* p, ge_tensor* outputs) {
  GE_RETURN_IF_ERROR(LookUp(p));
  OutputMemory memory;
  for (size_t i = 0; i < p->outputs.size(); ++i) p->room[i] = p->outputs[i].bytes;
  if (p->plan == nullptr) return CheckGivenOutputs(*p);
  GE_RETURN_IF_ERROR(FillOutputs(p, &memory));
  memory.Commit();
  for (size_t i = 0; i < p->outputs.size(); ++i) {
    WriteOutput(p->outputs[i], TensorAt(outputs, static_cast<uint32_t>(i)));
    p->outputs[i].owned = false;  // it is the caller's, and stays
  }
  return {};
}

// Another plan of the same shapes gives the same outputs.
Status RunPrepared(ge_prepared* p) {
  if (p->plan != nullptr && p->changes != p->session->plan_changes()) GE_RETURN_IF_ERROR(LookUp(p));
  if (p->plan != nullptr) {
    return p->session->RunChecked(p->entry, p->plan, p->inputs, p->outputs);
  }
  p->given = p->outputs;
  for (size_t i = 0; i < p->given.size(); ++i) {
    p->given[i].bytes = p->room[i];
    p->given[i].owned = false;
  }
  GE_RETURN_IF_ERROR(p->session->Run(p->entry, p->inputs, p->given));
  for (uint32_t i = 0; i < p->given.size(); ++i) GE_RETURN_IF_ERROR(CheckRank(i, p->given[i]));
  p->outputs.swap(p->given);
  return {};
}

Status CheckIndex(const char* what, uint32_t index, size_t n) {
  if (index < n) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("there is no {} {}, the prepared run has {}", what, index, n));
}

Status CheckSame(const char* what, uint32_t index, const TensorView& have, const TensorView& t) {
  if (t.dtype == have.dtype && t.dims == have.dims) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("{} {} is {}[{}], it was prepared with {}[{}]; prepare another run for "
                            "other shapes",
                            what, index, DTypeName(t.dtype), fmt::join(t.dims, ","),
                            DTypeName(have.dtype), fmt::join(have.dims, ",")));
}

// Whether the buffers fit and do not overlap; a plan knows their sizes, a run of pieces checks.
Status CheckBound(const ge_prepared& p) {
  if (p.plan == nullptr) return {};
  return CheckBuffers(*p.plan, p.inputs, p.outputs);
}

Status SetInput(ge_prepared* p, uint32_t index, const ge_tensor* tensor) {
  GE_RETURN_IF_ERROR(CheckIndex("input", index, p->inputs.size()));
  thread_local std::vector<TensorView> views;
  GE_RETURN_IF_ERROR(ReadTensors("inputs", tensor, 1, true, &views));
  TensorView& bound = p->inputs[index];
  GE_RETURN_IF_ERROR(CheckSame("input", index, bound, views[0]));
  std::swap(bound.data, views[0].data);
  const Status fits = CheckBound(*p);
  if (!fits.ok()) std::swap(bound.data, views[0].data);
  return fits;
}

Status SetOutput(ge_prepared* p, uint32_t index, const ge_tensor* tensor) {
  GE_RETURN_IF_ERROR(CheckIndex("output", index, p->outputs.size()));
  GE_RETURN_IF_ERROR(CheckOutputs(tensor, 1));
  if (!tensor->data) return Null("the output's data");
  TensorView t;
  ReadOutput(*tensor, &t);
  TensorView& bound = p->outputs[index];
  if (p->plan != nullptr) {
    const uint64_t wanted = p->plan->outputs[index].bytes;
    if (t.bytes < wanted) {
      return Status(Code::kInvalidArgument,
                    fmt::format("output {} has {} bytes, its shape needs at least {}", index,
                                t.bytes, wanted));
    }
  }
  std::swap(bound.data, t.data);
  const Status fits = CheckBound(*p);
  if (fits.ok()) {
    p->room[index] = t.bytes;
  } else {
    std::swap(bound.data, t.data);
  }
  return fits;
}

Status CheckData(const char* what, void* const* data, const std::vector<TensorView>& bound) {
  if (!data && !bound.empty()) return Null(what);
  for (size_t i = 0; i < bound.size(); ++i) {
    if (data[i] || bound[i].bytes == 0) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format("{}[{}] has no data; give a buffer of {} bytes", what, i, bound[i].bytes));
  }
  return {};
}

// Other memory for all buffers at once; the bound ones stay where it does not fit.
Status BindAll(ge_prepared* p, void* const* inputs, void* const* outputs) {
  GE_RETURN_IF_ERROR(CheckData("inputs", inputs, p->inputs));
  GE_RETURN_IF_ERROR(CheckData("outputs", outputs, p->outputs));
  const auto swap = [p](auto&& data) {
    for (size_t i = 0; i < p->inputs.size(); ++i) std::swap(p->inputs[i].data, data(true, i));
    for (size_t i = 0; i < p->outputs.size(); ++i) std::swap(p->outputs[i].data, data(false, i));
  };
  thread_local std::vector<void*> former;
  former.assign(inputs, inputs + p->inputs.size());
  former.insert(former.end(), outputs, outputs + p->outputs.size());
  const auto at = [p](bool input, size_t i) -> void*& {
    return former[input ? i : p->inputs.size() + i];
  };
  swap(at);
  const Status fits = CheckBound(*p);
  if (!fits.ok()) swap(at);
  return fits;
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

ge_status ge_prepared_create(ge_session* session, const char* entry, const ge_tensor* inputs,
                             uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                             ge_prepared** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    GE_RETURN_IF_ERROR(GetLoaded(session).status());
    auto p = std::make_unique<ge_prepared>();
    p->session = session->session;
    p->entry = entry ? entry : "";
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, true, &p->inputs));
    GE_RETURN_IF_ERROR(CheckOutputs(outputs, n_outputs));
    p->outputs.resize(n_outputs);
    p->room.resize(n_outputs);
    for (uint32_t i = 0; i < n_outputs; ++i) ReadOutput(*TensorAt(outputs, i), &p->outputs[i]);
    GE_RETURN_IF_ERROR(Prepare(p.get(), outputs));
    *out = p.release();
    return {};
  });
}

ge_status ge_prepared_set_input(ge_prepared* prepared, uint32_t index, const ge_tensor* tensor,
                                ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!prepared) return Null("prepared");
    const Using mine(prepared);
    GE_RETURN_IF_ERROR(mine.Check());
    if (!tensor) return Null("tensor");
    return SetInput(prepared, index, tensor);
  });
}

ge_status ge_prepared_set_output(ge_prepared* prepared, uint32_t index, const ge_tensor* tensor,
                                 ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!prepared) return Null("prepared");
    const Using mine(prepared);
    GE_RETURN_IF_ERROR(mine.Check());
    if (!tensor) return Null("tensor");
    return SetOutput(prepared, index, tensor);
  });
}

ge_status ge_prepared_run(ge_prepared* prepared, const ge_run_options* options, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!prepared) return Null("prepared");
    const Using mine(prepared);
    GE_RETURN_IF_ERROR(mine.Check());
    return WithLimits(prepared->session.get(), options, [&] { return RunPrepared(prepared); });
  });
}

ge_status ge_prepared_run_on(ge_prepared* prepared, void* const* inputs, void* const* outputs,
                             const ge_run_options* options, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!prepared) return Null("prepared");
    const Using mine(prepared);
    GE_RETURN_IF_ERROR(mine.Check());
    GE_RETURN_IF_ERROR(BindAll(prepared, inputs, outputs));
    return WithLimits(prepared->session.get(), options, [&] { return RunPrepared(prepared); });
  });
}

ge_status ge_prepared_output(ge_prepared* prepared, uint32_t index, ge_tensor* out,
                             ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!prepared) return Null("prepared");
    const Using mine(prepared);
    GE_RETURN_IF_ERROR(mine.Check());
    GE_RETURN_IF_ERROR(CheckIndex("output", index, prepared->outputs.size()));
    if (!out) return Null("out");
    GE_RETURN_IF_ERROR(CheckArray("out", out, 1));
    WriteOutput(prepared->outputs[index], out);
    return {};
  });
}

void ge_prepared_destroy(ge_prepared* prepared) { delete prepared; }

}  // extern "C"
