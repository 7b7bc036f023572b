// States: tensors by name that sessions share, as ge_states. Any thread, with the GIL held; it is
// released while a call waits for runs.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "ge/ge.h"

namespace graphengine {

class States {
 public:
  States();
  States(const States&) = delete;
  States& operator=(const States&) = delete;
  ~States() { ge_states_release(states_); }

  void Set(const std::string& name, nanobind::handle value);
  nanobind::object Get(const std::string& name);  // a Tensor of its own
  void Erase(const std::string& name);
  nanobind::list Names();
  ge_states* get() const { return states_; }

 private:
  ge_states* states_ = nullptr;
};

void AddStates(nanobind::module_& m);

}  // namespace graphengine
