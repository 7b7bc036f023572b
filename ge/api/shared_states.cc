// ge.h: states that sessions share.
#include "ge/run/shared_states.h"

#include <fmt/format.h>

#include "ge/api/capi.h"
#include "ge/run/tensor_view.h"

using ge::Code;
using ge::Status;
using ge::capi::Guard;
using ge::capi::Null;

namespace ge::capi {
namespace {

// `body` as a call of the states: it can be cancelled, and has the limits that the caller gives.
template <typename Body>
Status Within(ge_states* states, const ge_run_options* options, Body body) {
  LimitedCall::Limits limits;
  if (options != nullptr) {
    GE_ASSIGN_OR_RETURN(limits, LimitedCall::Read(options));
  }
  if (limits.any()) {
    const LimitedCall call(&states->calls, limits);
    GE_RETURN_IF_ERROR(CheckInterrupt());
    return body();
  }
  const CancelScope call(&states->calls);
  return body();
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

ge_status ge_states_create(ge_states** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    auto states = std::make_unique<ge_states>();
    states->states = std::make_shared<ge::SharedStates>();
    *out = states.release();
    return {};
  });
}

void ge_states_release(ge_states* states) { delete states; }

ge_status ge_states_set(ge_states* states, const char* name, const ge_tensor* value,
                        const ge_run_options* options, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!states) return Null("states");
    if (!name) return Null("name");
    if (!value) return Null("value");
    std::vector<ge::TensorView> views;
    GE_RETURN_IF_ERROR(ReadTensors("value", value, 1, true, &views));
    return Within(states, options, [&] { return states->states->Set(name, views[0]); });
  });
}

ge_status ge_states_get(ge_states* states, const char* name, ge_tensor* out,
                        const ge_run_options* options, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!states) return Null("states");
    if (!name) return Null("name");
    if (!out) return Null("out");
    GE_RETURN_IF_ERROR(CheckOutputs(out, 1));
    ge::TensorView view;
    ReadOutput(*out, &view);
    GE_RETURN_IF_ERROR(Within(states, options, [&] { return states->states->Get(name, &view); }));
    WriteOutput(view, out);
    return {};
  });
}

ge_status ge_states_erase(ge_states* states, const char* name, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!states) return Null("states");
    if (!name) return Null("name");
    return states->states->Erase(name);
  });
}

// No Guard: it may run in a signal handler, and nothing of it throws.
ge_status ge_states_cancel(ge_states* states) {
  if (!states) return GE_STATUS_INVALID_ARGUMENT;
  states->calls.CancelAll();
  return GE_STATUS_OK;
}

ge_status ge_states_count(ge_states* states, uint32_t* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = 0;
    if (!states) return Null("states");
    *out = static_cast<uint32_t>(states->states->List().size());
    return {};
  });
}

ge_status ge_states_info(ge_states* states, uint32_t index, ge_tensor_info* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!states) return Null("states");
    if (!out) return Null("out");
    const auto list = states->states->List();
    if (index >= list.size()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("there is no shared state {}; there are {}", index, list.size()));
    }
    GE_RETURN_IF_ERROR(
        FillInfo(&states->texts, ge::DimTable(), list[index].first, list[index].second, out));
    out->name = states->texts.Keep(list[index].first);
    return {};
  });
}

}  // extern "C"
