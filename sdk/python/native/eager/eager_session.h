// EagerSession: the session of one operator in eager mode, and its prepared runs. Any thread may
// use one, with the GIL held; it is released while the engine works.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>

#include "ge/ge.h"
#include "model.h"
#include "one_node.h"
#include "prepared_runs.h"

namespace graphengine {

class EagerSession {
 public:
  EagerSession() = default;
  EagerSession(const EagerSession&) = delete;
  EagerSession& operator=(const EagerSession&) = delete;

  // Loads the node, once; other threads that want the session wait. Answers false where its sizes
  // have to be known: each set of them needs a session of its own then. `sizes`: with them. Throws
  // graphengine.Error.
  bool Load(const OneNode& node, bool sizes);

  // The outputs for the inputs of `node`, which is one like the loaded. Throws graphengine.Error.
  nanobind::object Run(const OneNode& node);

 private:
  ge_status LoadText(const std::string& text, ge_error* error);

  std::mutex making_;
  bool made_ = false, needs_sizes_ = false;
  std::shared_ptr<Handle> handle_;
  std::unique_ptr<PreparedRuns> runs_;
};

}  // namespace graphengine
