#include "model.h"

#include <algorithm>

#include "raise.h"
#include "without_gil.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

ge_tensor_info EmptyInfo() {
  ge_tensor_info info{};
  info.size = sizeof info;
  return info;
}

void CheckPlain(ge_status status, const char* what) {
  if (status != GE_STATUS_OK) Raise(status, std::string("the model's ") + what + " is not told");
}

Port PortOf(const ge_tensor_info& info) {
  Port port;
  port.name = info.name ? info.name : "";
  port.key = Text(port.name);
  // Look-ups in a feed compare such names by address first.
  PyObject* interned = port.key.release().ptr();
  PyUnicode_InternInPlace(&interned);
  port.key = nb::steal(interned);
  port.element = ElementOf(info.dtype);
  port.rank = info.rank;
  port.kind = info.kind;
  port.optional = info.optional != 0;
  std::copy_n(info.dims, std::max(info.rank, 0), port.dims);
  for (int32_t i = 0; i < info.rank; ++i) {
    port.dim_names.emplace_back(info.dim_names[i] ? info.dim_names[i] : "");
    port.model_dims.emplace_back(info.model_dims[i] ? info.model_dims[i] : "");
    port.denotations.emplace_back(info.denotations[i] ? info.denotations[i] : "");
  }
  port.type = info.type ? info.type : "";
  port.value_element = ElementOf(info.value_dtype);
  return port;
}

template <typename Count, typename Info>
std::vector<Port> Ports(ge_session* session, const char* entry, Count count, Info info) {
  uint32_t n = 0;
  CheckPlain(count(session, entry, &n), "signature");
  std::vector<Port> out;
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info one = EmptyInfo();
    CheckPlain(info(session, entry, i, &one), "signature");
    out.push_back(PortOf(one));
  }
  return out;
}

}  // namespace

Handle::~Handle() {
  WithoutGil release;
  ge_session_destroy(session_);
}

std::string ShapeText(const int64_t* dims, int32_t rank) {
  std::string out = "[";
  for (int32_t i = 0; i < rank; ++i) {
    if (i > 0) out += ", ";
    out += dims[i] < 0 ? "None" : std::to_string(dims[i]);
  }
  return out + "]";
}

std::string Port::Shape() const { return rank < 0 ? "of any rank" : ShapeText(dims, rank); }

std::vector<EntryPorts> ReadEntries(ge_session* session) {
  uint32_t n = 0;
  CheckPlain(ge_session_entry_count(session, &n), "number of entries");
  std::vector<EntryPorts> out(n);
  for (uint32_t i = 0; i < n; ++i) {
    const char* name = nullptr;
    CheckPlain(ge_session_entry_name(session, i, &name), "entry");
    out[i].name = name;
    out[i].inputs = Ports(session, name, ge_session_input_count, ge_session_input_info);
    out[i].outputs = Ports(session, name, ge_session_output_count, ge_session_output_info);
    const auto special = [](const Port& port) {
      return port.optional || port.kind == GE_ANY_TEXTS || port.kind == GE_ANY_SEQUENCE ||
             port.kind == GE_ANY_MAP;
    };
    out[i].has_values = std::any_of(out[i].inputs.begin(), out[i].inputs.end(), special) ||
                        std::any_of(out[i].outputs.begin(), out[i].outputs.end(), special);
  }
  return out;
}

std::vector<Port> ReadDefaults(ge_session* session) {
  const auto count = [](ge_session* s, const char*, uint32_t* n) {
    return ge_session_default_count(s, n);
  };
  const auto info = [](ge_session* s, const char*, uint32_t i, ge_tensor_info* out) {
    return ge_session_default_info(s, i, out);
  };
  return Ports(session, nullptr, count, info);
}

std::vector<Port> ReadStates(ge_session* session) {
  const auto count = [](ge_session* s, const char*, uint32_t* n) {
    return ge_session_state_count(s, n);
  };
  const auto info = [](ge_session* s, const char*, uint32_t i, ge_tensor_info* out) {
    return ge_session_state_info(s, i, out);
  };
  return Ports(session, nullptr, count, info);
}

}  // namespace graphengine
