#include "graph_builder.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <deque>

#include "dtype.h"
#include "graph_attributes.h"
#include "raise.h"
#include "tensor.h"
#include "without_gil.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

ge_str Str(std::string_view text) { return {text.data(), text.size()}; }

// The type of a parameter or state as ge_plugin_pass.h has it.
struct ParamType {
  ParamType(nb::handle dtype, nb::handle shape) {
    const Element& found = ElementFor(dtype, "dtype");
    param.dtype = found.number;
    bits = found.bits;
    for (nb::handle size : nb::borrow<nb::iterable>(shape)) Add(size);
    if (dims.size() > GE_MAX_RANK) {
      Raise(GE_STATUS_INVALID_ARGUMENT, "a shape of " + std::to_string(dims.size()) +
                                            " axes, wanted at most " + std::to_string(GE_MAX_RANK));
    }
    for (const ge_dim& d : dims) sizes.push_back(d.value);
    param.rank = static_cast<int32_t>(dims.size());
    param.dims = dims.data();
  }
  ParamType(const ParamType&) = delete;

  void Add(nb::handle size) {
    ge_dim d{};
    d.value = -1;
    d.max = INT64_MAX;
    const Dim* known = nullptr;
    if (PyUnicode_Check(size.ptr())) {
      d.name = Str(names.emplace_back(nb::cast<std::string>(size)));
    } else if (nb::try_cast(size, known) && known) {
      d.id = known->id;
      d.name = Str(known->name);
    } else {
      d.value = d.min = d.max = nb::cast<int64_t>(size);
    }
    dims.push_back(d);
  }

  ge_param param{};
  uint32_t bits = 0;
  std::vector<ge_dim> dims;
  std::vector<int64_t> sizes;
  std::deque<std::string> names;
};

ge_new_node NewNode() {
  ge_new_node node{};
  node.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  return node;
}

}  // namespace

GraphBuilder::GraphBuilder(const char* plugins) {
  ge_error error = NoError();
  ge_graph_options options{};
  options.size = sizeof options;
  options.plugins = plugins;
  ge_status made;
  {
    const WithoutGil release;  // a plugin may be opened
    made = ge_graph_create(&options, &graph_, &error);
  }
  Check(made, error);
  const ge_status status = ge_graph_edit(graph_, &edit_, &error);
  if (status != GE_STATUS_OK) ge_graph_release(graph_);
  Check(status, error);
}

void GraphBuilder::Done(ge_rc rc) const {
  if (rc == GE_OK) return;
  ge_error error = NoError();
  const ge_status status = ge_graph_error(graph_, &error);
  Check(status == GE_STATUS_OK ? GE_STATUS_INTERNAL : status, error);
}

uint32_t GraphBuilder::Function(std::string_view name, bool recursive, uint32_t custom_vjp) {
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = Str(name);
  f.flags = recursive ? GE_FUNCTION_RECURSIVE : 0;
  f.custom_vjp = custom_vjp;
  uint32_t fn = 0;
  Done(edit_->function(edit_->host, &f, &fn));
  return fn;
}

uint32_t GraphBuilder::Param(uint32_t fn, std::string_view name, nb::handle dtype,
                             nb::handle shape) {
  ParamType type(dtype, shape);
  type.param.name = Str(name);
  uint32_t value = 0;
  Done(edit_->param(edit_->host, fn, &type.param, &value));
  return value;
}

uint32_t GraphBuilder::ParamLike(uint32_t fn, std::string_view name, uint32_t of_fn,
                                 uint32_t of_value) {
  ge_param param{};
  param.name = Str(name);
  param.of_fn = of_fn;
  param.of_value = of_value;
  uint32_t value = 0;
  Done(edit_->param(edit_->host, fn, &param, &value));
  return value;
}

uint32_t GraphBuilder::Placeholder(uint32_t fn, nb::handle dtype, nb::handle shape) {
  const ParamType type(dtype, shape);
  uint32_t value = 0;
  ge_error error = NoError();
  Check(ge_graph_placeholder(graph_, fn, &type.param, &value, &error), error);
  return value;
}

std::vector<uint32_t> GraphBuilder::Node(uint32_t fn, std::string_view domain, std::string_view op,
                                         const std::vector<uint32_t>& inputs, nb::dict attributes,
                                         uint32_t outputs, std::string_view name, nb::dict bodies) {
  const GraphAttributes attrs(op, attributes);
  std::deque<std::string> roles;
  std::vector<ge_str> role;
  std::vector<uint32_t> body, out(outputs);
  for (auto [key, function] : bodies) {
    role.push_back(Str(roles.emplace_back(nb::cast<std::string>(key))));
    body.push_back(nb::cast<uint32_t>(function));
  }
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.body = body.data();
  links.body_role = role.data();
  links.n_body = static_cast<uint32_t>(body.size());
  ge_new_node node = NewNode();
  if (!body.empty()) node.h.next = &links.h;
  node.domain = Str(domain);
  node.op = Str(op);
  node.name = Str(name);
  node.in = inputs.data();
  node.n_in = static_cast<uint32_t>(inputs.size());
  node.n_out = outputs == 0 ? GE_NO_OUTPUT : outputs;
  node.attr = attrs.data();
  node.n_attr = attrs.size();
  Done(edit_->node(edit_->host, fn, 0, &node, nullptr, out.data()));
  return out;
}

uint32_t GraphBuilder::Constant(uint32_t fn, nb::handle object) {
  const Tensor* tensor = TensorOf(object);
  if (!tensor || tensor->symbol) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          "a constant is a " + TypeName(object) + ", wanted a Tensor with numbers");
  }
  const ge_tensor view = ViewOf(*tensor);
  auto* kept = new MemoryRef(ShareMemory(*tensor));
  uint32_t value = 0;
  ge_error error = NoError();
  const ge_status status = ge_graph_constant(
      graph_, fn, &view, [](void* memory) { delete static_cast<MemoryRef*>(memory); }, kept, &value,
      &error);
  if (status != GE_STATUS_OK) delete kept;
  Check(status, error);
  return value;
}

uint32_t GraphBuilder::State(std::string_view name, nb::handle dtype, nb::handle shape,
                             bool trainable) {
  const ParamType type(dtype, shape);
  ge_state state{};
  state.h = GE_HDR(ge_state, GE_TAG_STATE);
  state.name = Str(name);
  state.type.dtype = type.param.dtype;
  state.type.rank = type.param.rank;
  state.type.dims = type.sizes.data();
  state.type.bits = type.bits;
  state.kind = trainable ? GE_STATE_PARAM : GE_STATE_BUFFER;
  state.flags = trainable ? GE_STATE_TRAINABLE : 0;
  uint32_t out = 0;
  Done(edit_->state(edit_->host, &state, &out));
  return out;
}

uint32_t GraphBuilder::Read(uint32_t fn, uint32_t state) {
  const ge_effect effect = {GE_EFFECT_STATE, state, 0, 0};
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.effect = &effect;
  links.n_effect = 1;
  ge_new_node node = NewNode();
  node.h.next = &links.h;
  node.domain = Str("ge");
  node.op = Str("Read");
  node.n_out = 1;
  uint32_t out = 0;
  Done(edit_->node(edit_->host, fn, 0, &node, nullptr, &out));
  return out;
}

void GraphBuilder::Assign(uint32_t fn, uint32_t state, uint32_t value) {
  const ge_effect effect = {GE_EFFECT_STATE, state, 0, 0};
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.effect = &effect;
  links.n_effect = 1;
  ge_new_node node = NewNode();
  node.h.next = &links.h;
  node.domain = Str("ge");
  node.op = Str("Assign");
  node.in = &value;
  node.n_in = 1;
  node.n_out = GE_NO_OUTPUT;
  uint32_t none = 0;
  Done(edit_->node(edit_->host, fn, 0, &node, nullptr, &none));
}

void GraphBuilder::Results(uint32_t fn, const std::vector<uint32_t>& values,
                           const std::vector<std::string>& names) {
  std::vector<ge_str> texts;
  for (const std::string& name : names) texts.push_back(Str(name));
  if (texts.size() != values.size()) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "results have " + std::to_string(values.size()) +
                                          " values and " + std::to_string(texts.size()) + " names");
  }
  Done(edit_->results(edit_->host, fn, values.data(), texts.data(),
                      static_cast<uint32_t>(values.size())));
}

void GraphBuilder::Entry(std::string_view name, uint32_t fn) {
  Done(edit_->entry(edit_->host, Str(name), fn, GE_ROLE_INFER));
}

Dim DimOf(const ge_dim& d) { return {d.id, std::string(d.name.p ? d.name.p : "", d.name.n)}; }

nb::tuple TypeOfValue(const ge_value& v) {
  if (v.type.dtype == 0 || v.type.dtype == GE_STRING) {
    Raise(GE_STATUS_UNSUPPORTED, "this result is no tensor of numbers");
  }
  const nb::object dtype = nb::borrow(DTypeOf(v.type.dtype));
  if (v.type.rank < 0) return nb::make_tuple(dtype, nb::none());
  nb::list sizes;
  for (int32_t i = 0; i < v.type.rank; ++i) {
    if (v.type.dims[i] >= 0) {
      sizes.append(v.type.dims[i]);
    } else {
      sizes.append(nb::cast(DimOf(v.dim[i])));
    }
  }
  return nb::make_tuple(dtype, nb::tuple(sizes));
}

nb::tuple GraphBuilder::ValueType(uint32_t fn, uint32_t value) const {
  return TypeOfValue(*edit_->value(edit_->host, fn, value));
}

void GraphBuilder::Save(nb::handle path) const {
  PyObject* bytes = nullptr;
  if (!PyUnicode_FSConverter(path.ptr(), &bytes)) nb::raise_python_error();
  const nb::object kept = nb::steal(bytes);
  ge_error error = NoError();
  ge_status status;
  {
    const WithoutGil release;
    status = ge_graph_save(graph_, PyBytes_AsString(bytes), GE_FORMAT_AUTO, &error);
  }
  Check(status, error);
}

void AddGraphBuilder(nb::module_& m) {
  nb::class_<Dim>(m, "Dim", "A size that is known when the graph runs.")
      .def_ro("id", &Dim::id)
      .def_ro("name", &Dim::name)
      .def(
          "__eq__",
          [](const Dim& a, nb::handle b) {
            const Dim* other = nullptr;
            return nb::try_cast(b, other) && other && other->id == a.id;
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const Dim& d) { return d.id; })
      .def("__repr__",
           [](const Dim& d) { return d.name.empty() ? "?" + std::to_string(d.id) : d.name; });
  nb::class_<GraphBuilder>(m, "GraphBuilder",
                           "A graph made by calls. Functions, values and states are numbers.")
      .def(
          "__init__",
          [](GraphBuilder* self, const std::vector<std::string>& plugins) {
            std::string list;
            for (const std::string& plugin : plugins) list += (list.empty() ? "" : ",") + plugin;
            new (self) GraphBuilder(plugins.empty() ? nullptr : list.c_str());
          },
          nb::arg("plugins") = std::vector<std::string>(),
          "plugins: paths and names of those whose operators it has.")
      .def("function", &GraphBuilder::Function, nb::arg("name"), nb::arg("recursive") = false,
           nb::arg("custom_vjp") = 0, "custom_vjp: the function that is its derivative.")
      .def("param", &GraphBuilder::Param, nb::arg("function"), nb::arg("name"), nb::arg("dtype"),
           nb::arg("shape"), "shape: ints, a str for a free size of this name, Dims.")
      .def("param_like", &GraphBuilder::ParamLike, nb::arg("function"), nb::arg("name"),
           nb::arg("of_function"), nb::arg("of_value"))
      .def("placeholder", &GraphBuilder::Placeholder, nb::arg("function"), nb::arg("dtype"),
           nb::arg("shape"), "A result of a function that calls itself, until it has its own.")
      .def("node", &GraphBuilder::Node, nb::arg("function"), nb::arg("domain"), nb::arg("op"),
           nb::arg("inputs"), nb::arg("attributes"), nb::arg("outputs") = 1, nb::arg("name") = "",
           nb::arg("bodies") = nb::dict(), "Values; bodies: functions by role.")
      .def("constant", &GraphBuilder::Constant, nb::arg("function"), nb::arg("tensor"))
      .def("state", &GraphBuilder::State, nb::arg("name"), nb::arg("dtype"), nb::arg("shape"),
           nb::arg("trainable") = false, "It begins with zeros.")
      .def("read", &GraphBuilder::Read, nb::arg("function"), nb::arg("state"))
      .def("assign", &GraphBuilder::Assign, nb::arg("function"), nb::arg("state"), nb::arg("value"))
      .def("results", &GraphBuilder::Results, nb::arg("function"), nb::arg("values"),
           nb::arg("names"))
      .def("entry", &GraphBuilder::Entry, nb::arg("name"), nb::arg("function"))
      .def("value_type", &GraphBuilder::ValueType, nb::arg("function"), nb::arg("value"),
           "(dtype, sizes: ints and Dims, or None where the number of axes is not known).")
      .def("save", &GraphBuilder::Save, nb::arg("path"),
           nb::sig("def save(self, path: str | os.PathLike[str]) -> None"),
           "Writes the graph; the name decides: .gt, .gepb, .onnx.");
}

}  // namespace graphengine
