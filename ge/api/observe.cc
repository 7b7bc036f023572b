// ge.h: recording a session's runs.
#include "ge/api/capi.h"
#include "ge/session/observation.h"

using ge::Result;
using ge::Status;
using ge::capi::Get;
using ge::capi::Guard;
using ge::capi::Null;
using ge::capi::TooShort;

ge_status ge_session_observe(ge_session* session, const ge_observe_options* options,
                             ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    if (options == nullptr) return s->Observe(nullptr);
    if (options->size < ge::capi::kFirstObserveOptions) {
      return TooShort("ge_observe_options", options->size, ge::capi::kFirstObserveOptions);
    }
    if (options->record == nullptr) return Null("record");
    ge::ObserveOptions wanted;
    wanted.record = options->record;
    wanted.every = options->every == 0 ? 1 : options->every;
    wanted.first = options->first;
    if (options->values != nullptr) {
      GE_ASSIGN_OR_RETURN(wanted.values, ge::RecordedValuesFromName(options->values));
    }
    return s->Observe(&wanted);
  });
}
