// PluginCall: names the function that a plugin is asked for, from the call until it returns. A call
// of a session cannot end before that; a thread waiting for its end reads the name from
// Interrupt::in_plugin. Only threads working for a call record it.
#pragma once

#include <string>

#include "ge/base/interrupt.h"

namespace ge {

// The same text with the lifetime of the process: for plugins and operators, of which there are
// few. Any thread.
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
