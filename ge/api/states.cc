// ge.h: states.
#include <fmt/format.h>

#include "frontend/state_file.h"
#include "ge/api/capi.h"
#include "ge/run/tensor_view.h"

using ge::Code;
using ge::Result;
using ge::Status;
using ge::capi::Guard;
using ge::capi::Null;

namespace ge::capi {
namespace {

Result<StateId> FindState(const Session& s, const char* name) {
  if (!name) return Null("name");
  for (StateId i = 1; i < s.graph().states.size(); ++i) {
    if (s.graph().states[i].name == name) return i;
  }
  return Status(Code::kInvalidArgument, fmt::format("there is no state '{}'; the model has {}",
                                                    name, s.graph().states.size() - 1));
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

ge_status ge_session_state_count(ge_session* session, uint32_t* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = 0;
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    *out = static_cast<uint32_t>(s->graph().states.size() - 1);
    return {};
  });
}

ge_status ge_session_state_info(ge_session* session, uint32_t index, ge_tensor_info* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (index >= s->graph().states.size() - 1) {
      return Status(Code::kInvalidArgument, "there is no such state");
    }
    const ge::State& state = s->graph().states[index + 1];
    return FillInfo(&session->texts, s->graph().dims, state.name, state.type, out);
  });
}

ge_status ge_session_get_state(ge_session* session, const char* name, ge_tensor* out,
                               ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!out) return Null("out");
    GE_RETURN_IF_ERROR(CheckOutputs(out, 1));
    GE_ASSIGN_OR_RETURN(ge::StateId id, FindState(*s, name));
    if (s->graph().states[id].type.dims.size() > GE_MAX_RANK) {
      return Status(Code::kLimitExceeded,
                    fmt::format("state '{}' has rank {}, beyond {}", name,
                                s->graph().states[id].type.dims.size(), GE_MAX_RANK));
    }
    ge::TensorView view;
    ReadOutput(*out, &view);
    GE_RETURN_IF_ERROR(s->GetState(id, &view));
    WriteOutput(view, out);
    return {};
  });
}

ge_status ge_session_set_state(ge_session* session, const char* name, const ge_tensor* value,
                               ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!value) return Null("value");
    GE_ASSIGN_OR_RETURN(ge::StateId id, FindState(*s, name));
    std::vector<ge::TensorView> views;
    GE_RETURN_IF_ERROR(ReadTensors("state", value, 1, true, &views));
    return s->SetState(id, views[0]);
  });
}

ge_status ge_session_donate_state(ge_session* session, const char* name, const ge_tensor* value,
                                  void (*release)(void* context), void* context, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!value) return Null("value");
    if (!release) return Null("release");
    GE_ASSIGN_OR_RETURN(ge::StateId id, FindState(*s, name));
    std::vector<ge::TensorView> views;
    GE_RETURN_IF_ERROR(ReadTensors("state", value, 1, true, &views));
    const ge::CancelScope call(&s->calls());
    return s->states().Donate(s->graph().states[id], id, s->graph().dims, views[0],
                              {release, context});
  });
}

ge_status ge_session_save_states(ge_session* session, const char* path, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!path) return Null("path");
    const ge::CancelScope call(&s->calls());
    return s->states().Read(
        [&](std::span<const ge::Type> types, std::span<const std::byte* const> values) {
          return ge::WriteStateFile(s->graph(), types, values, path);
        });
  });
}

ge_status ge_session_restore_states(ge_session* session, const char* path, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!path) return Null("path");
    GE_ASSIGN_OR_RETURN(const std::vector<ge::Const> values, ge::ReadStateFile(s->graph(), path));
    const ge::CancelScope call(&s->calls());
    const Status written = s->states().Write(values);
    if (written.code() != Code::kInvalidArgument) return written;
    return Status(Code::kDataCorrupt,
                  fmt::format("'{}' is not taken: {}", path, written.message()));
  });
}

ge_status ge_session_reset_states(ge_session* session, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    const ge::CancelScope call(&s->calls());
    return s->states().Reset(s->graph());
  });
}

}  // extern "C"
