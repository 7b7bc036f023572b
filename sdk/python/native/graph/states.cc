#include "states.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "engine_call.h"
#include "raise.h"
#include "tensor.h"
#include "tensor_import.h"
#include "without_gil.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

// A call that may wait for runs, without the GIL.
template <typename F>
void Waiting(F&& call) {
  ge_error error = NoError();
  ge_status status;
  {
    const WithoutGil release;
    status = call(&error);
  }
  if (status == GE_STATUS_CANCELLED) CheckSignals();
  Check(status, error);
}

}  // namespace

States::States() {
  ge_error error = NoError();
  Check(ge_states_create(&states_, &error), error);
}

void States::Set(const std::string& name, nb::handle value) {
  const nb::object made = MakeTensor(value, nb::none(), nb::none());
  const Tensor& tensor = *TensorOf(made);
  if (tensor.symbol) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          "state '" + name + "' is set to a traced tensor, wanted numbers");
  }
  const MemoryRef kept = ShareMemory(tensor);
  const ge_tensor view = ViewOf(tensor);
  Waiting(
      [&](ge_error* error) { return ge_states_set(states_, name.c_str(), &view, nullptr, error); });
}

nb::object States::Get(const std::string& name) {
  ge_tensor t{};
  t.size = sizeof t;
  const auto get = [&](ge_error* error) {
    return ge_states_get(states_, name.c_str(), &t, nullptr, error);
  };
  Waiting(get);  // its type
  TensorValue value{t.dtype, t.rank, t.bytes, {}, MakeMemory(t.bytes)};
  std::copy_n(t.dims, t.rank, value.dims);
  t.data = value.memory.data();
  Waiting(get);
  return NewTensor(std::move(value));
}

void States::Erase(const std::string& name) {
  Waiting([&](ge_error* error) { return ge_states_erase(states_, name.c_str(), error); });
}

nb::list States::Names() {
  uint32_t n = 0;
  const ge_error error = NoError();
  Check(ge_states_count(states_, &n), error);
  nb::list out;
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    Check(ge_states_info(states_, i, &info), error);
    out.append(Text(info.name));
  }
  return out;
}

void AddStates(nb::module_& m) {
  nb::class_<States>(m, "States", "Tensors by name that sessions share; one memory for all.")
      .def(nb::init<>())
      .def("set", &States::Set, nb::arg("name"), nb::arg("value"),
           nb::sig("def set(self, name: str, value: typing.Any) -> None"),
           "Copies the value in; waits for runs that use it.")
      .def("get", &States::Get, nb::arg("name"), nb::sig("def get(self, name: str) -> Tensor"))
      .def("erase", &States::Erase, nb::arg("name"))
      .def("names", &States::Names, nb::sig("def names(self) -> list[str]"));
}

}  // namespace graphengine
