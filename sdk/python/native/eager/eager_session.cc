#include "eager_session.h"

#include "eager.h"
#include "engine_call.h"
#include "options.h"
#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
ge_status EagerSession::LoadText(const std::string& text, ge_error* error) {
  ge_session* session = handle_->get();
  const EndedByCtrlC watch(session);
  const WithoutGil release;
  return ge_session_load_bytes(session, text.data(), text.size(), GE_FORMAT_TEXT, error);
}

bool EagerSession::Load(const OneNode& node, bool sizes) {
  if (made_) return !needs_sizes_;
  std::unique_lock<std::mutex> lock(making_, std::defer_lock);
  {
    const WithoutGil release;  // who has the lock may want the GIL
    lock.lock();
  }
  if (made_) return !needs_sizes_;
  const std::string text = ModelText(node, sizes);
  handle_ = NewEagerHandle(node.domain);
  ge_error error = NoError();
  const ge_status status = LoadText(text, &error);
  if (status == GE_STATUS_CANCELLED) CheckSignals();
  const bool refused = status == GE_STATUS_INVALID_GRAPH || status == GE_STATUS_UNSUPPORTED ||
                       status == GE_STATUS_INVALID_ARGUMENT;
  if (refused && !sizes) {
    needs_sizes_ = made_ = true;
    handle_.reset();
    return false;
  }
  Check(status, error);
  runs_ = std::make_unique<PreparedRuns>(handle_, node.outputs, false);
  made_ = true;
  return true;
}

nb::object EagerSession::Run(const OneNode& node) {
  RunInputs inputs(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && !IsConstant(node, i)) inputs.Put(*node.inputs[i]);
  }
  return runs_->Run(inputs);
}

}  // namespace graphengine
