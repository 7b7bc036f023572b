// PluginCall: what a plugin has been asked for, from the call until it returns. A call of a session
// cannot end before that; whoever waits for its end reads here whom it waits for
// (Interrupt::in_plugin). Known of threads that work for a call alone.
#pragma once

#include <string>

#include "ge/base/interrupt.h"

namespace ge {

// The same text, which lives as long as the process: of what there are few, as plugins and their
// operators. Any thread.
const char* Interned(const std::string& text);

class PluginCall {
 public:
  // `what` lives for ever: "plugin './acme.so', infer of acme.Swish".
  explicit PluginCall(const char* what) : interrupt_(CurrentInterrupt()) {
    if (interrupt_ != nullptr) outer_ = interrupt_->EnterPlugin(what);
  }
  explicit PluginCall(const std::string& what) : PluginCall(Interned(what)) {}
  ~PluginCall() {
    if (interrupt_ != nullptr) interrupt_->EnterPlugin(outer_);
  }
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

 private:
  const Interrupt* interrupt_;
  const char* outer_ = nullptr;
};

}  // namespace ge
