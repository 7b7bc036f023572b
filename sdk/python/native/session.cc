#include "session.h"

#include <nanobind/stl/string.h>

#include "engine_call.h"
#include "values.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

Form FormOf(std::string_view outputs) {
  if (outputs == "numpy") return Form::kNumpy;
  if (outputs == "dlpack") return Form::kDlpack;
  Raise(GE_STATUS_INVALID_ARGUMENT,
        "outputs is '" + std::string(outputs) + "', wanted numpy or dlpack");
}

nb::object TakeText(char* text) {
  const std::string kept = text;
  ge_text_release(text);
  return Text(kept);
}

nb::object PathBytes(nb::handle path) {
  PyObject* bytes = nullptr;
  if (!PyUnicode_FSConverter(path.ptr(), &bytes)) nb::raise_python_error();
  return nb::steal(bytes);
}

}  // namespace

std::shared_ptr<Handle> Session::Open() const {
  if (!handle_) Raise(GE_STATUS_FAILED_PRECONDITION, "the session is closed; make another");
  return handle_;
}

const std::shared_ptr<const EntryPorts>& Session::Entry(
    std::optional<std::string_view> name) const {
  std::string names;
  for (const auto& entry : entries_) {
    if (!name || entry->name == *name) return entry;
    names += (names.empty() ? "" : ", ") + entry->name;
  }
  Raise(GE_STATUS_INVALID_ARGUMENT,
        "there is no entry '" + std::string(name.value_or("")) + "'; the model has " + names);
}

const std::vector<Port>& Session::Inputs(std::optional<std::string_view> entry) const {
  return Entry(entry)->inputs;
}
const std::vector<Port>& Session::Outputs(std::optional<std::string_view> entry) const {
  return Entry(entry)->outputs;
}
const std::vector<Port>& Session::States() const { return states_; }
const std::vector<Port>& Session::Defaults() const { return defaults_; }

nb::object Session::Metadata(const std::string& key) const {
  const char* value = nullptr;
  const std::shared_ptr<Handle> handle = Open();
  ge_error error = NoError();
  Check(ge_session_metadata(handle->get(), key.c_str(), &value), error);
  return value ? Text(value) : nb::object(nb::none());
}

nb::dict Session::ModelInfo() const {
  const std::shared_ptr<Handle> handle = Open();
  const ge_error error = NoError();
  ge_model_info info{};
  info.size = sizeof info;
  Check(ge_session_model_info(handle->get(), &info), error);
  nb::dict metadata;
  for (uint32_t i = 0; i < info.metadata_count; ++i) {
    const char *key = nullptr, *value = nullptr;
    Check(ge_session_metadata_pair(handle->get(), i, &key, &value), error);
    metadata[Text(key)] = Text(value);
  }
  nb::dict out;
  out["name"] = Text(info.name);
  out["producer"] = Text(info.producer);
  out["producer_version"] = Text(info.producer_version);
  out["domain"] = Text(info.domain);
  out["description"] = Text(info.description);
  out["graph_description"] = Text(info.graph_description);
  out["version"] = info.has_version ? nb::object(nb::int_(info.version)) : nb::none();
  out["metadata"] = metadata;
  return out;
}

Session& Session::Taking(nb::handle feed) {
  // Sessions of one model do not share states.
  if (defaults_.empty() || !states_.empty() || !PyDict_Check(feed.ptr())) return *this;
  const nb::object given = words_.get("initializer_inputs", nb::none());
  std::vector<std::string> names;
  for (const Port& port : defaults_) {
    const bool is_input = !given.is_none() && nb::cast<bool>(given.attr("__contains__")(port.key));
    if (!is_input && PyDict_Contains(feed.ptr(), port.key.ptr()) == 1) names.push_back(port.name);
  }
  if (names.empty()) return *this;
  const auto known = overriding_.find(names);
  if (known != overriding_.end()) return *nb::inst_ptr<Session>(known->second);
  nb::dict words;
  words.update(words_);
  nb::list inputs;
  if (!given.is_none()) inputs.extend(given);
  for (const std::string& name : names) inputs.append(Text(name));
  words["initializer_inputs"] = inputs;
  nb::object made = nb::type<Session>()(model_, **words);
  return *nb::inst_ptr<Session>(overriding_.emplace(names, std::move(made)).first->second);
}

nb::object Session::Run(nb::handle feed, nb::handle out, std::optional<std::string_view> entry,
                        std::string_view outputs) {
  Session& taking = Taking(feed);
  if (&taking != this) return taking.Run(feed, out, entry, outputs);
  const std::shared_ptr<const EntryPorts>& ports = Entry(entry);
  const Form form = FormOf(outputs);
  if (ports->has_values && out.is_none()) return RunValues(*Open(), *ports, feed);
  Call call(Open(), ports, feed, out, form);
  CallEngine(call.session(), [&](ge_error* error) {
    return ge_session_run(call.session(), call.entry(), call.inputs(), call.n_inputs(),
                          call.outputs(), call.n_outputs(), error);
  });
  return call.Results();
}

nb::object Session::RunTensors(nb::handle inputs) {
  std::vector<PyObject*> given;
  const nb::object kept = nb::steal(PySequence_Fast(inputs.ptr(), "wanted a sequence of Tensors"));
  if (!kept.is_valid()) nb::raise_python_error();
  for (nb::handle input : kept) given.push_back(input.ptr());
  return RunOnTensors(std::span<PyObject* const>(given));
}

nb::object Session::RunOnTensors(std::span<PyObject* const> inputs) {
  const EntryPorts& ports = *entries_.at(0);
  const size_t n = inputs.size();
  if (n != ports.inputs.size()) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "there are " + std::to_string(n) + " Tensors, wanted " +
                                          std::to_string(ports.inputs.size()));
  }
  if (!runs_) {
    runs_ =
        std::make_unique<PreparedRuns>(Open(), static_cast<uint32_t>(ports.outputs.size()), true);
  }
  RunInputs read(n);
  for (PyObject* input : inputs) {
    const Tensor* tensor = TensorOf(input);
    if (!tensor || tensor->symbol) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            "an input is a " + TypeName(nb::handle(input)) + ", wanted a Tensor with numbers");
    }
    read.Put(*tensor);
  }
  return runs_->Run(read);
}

std::unique_ptr<Run> Session::RunAsync(nb::handle feed, nb::handle out,
                                       std::optional<std::string_view> entry,
                                       std::string_view outputs) {
  Session& taking = Taking(feed);
  if (&taking != this) return taking.RunAsync(feed, out, entry, outputs);
  return std::make_unique<graphengine::Run>(
      std::make_unique<Call>(Open(), Entry(entry), feed, out, FormOf(outputs)));
}

std::unique_ptr<Prepared> Session::Prepare(nb::handle feed, nb::handle out,
                                           std::optional<std::string_view> entry,
                                           std::string_view outputs) {
  Session& taking = Taking(feed);
  if (&taking != this) return taking.Prepare(feed, out, entry, outputs);
  return std::make_unique<Prepared>(
      std::make_unique<Call>(Open(), Entry(entry), feed, out, FormOf(outputs)));
}

std::unique_ptr<graphengine::Batches> Session::Batches(std::optional<std::string_view> entry,
                                                       const nb::kwargs& words) {
  return std::make_unique<graphengine::Batches>(Open(), Entry(entry.value_or("data")), words);
}

void Session::Compile(nb::handle shapes, std::optional<std::string_view> entry) {
  const std::shared_ptr<Handle> handle = Open();
  const std::shared_ptr<const EntryPorts> ports = Entry(entry);
  const std::vector<ge_tensor> tensors = ReadShapes(*ports, shapes);
  CallEngine(handle->get(), [&](ge_error* error) {
    return ge_session_compile(handle->get(), ports->name.c_str(), tensors.data(),
                              static_cast<uint32_t>(tensors.size()), error);
  });
}

void Session::Cancel() {
  ge_session_cancel(Open()->get());
  for (auto& [names, session] : overriding_) nb::inst_ptr<Session>(session)->Cancel();
}

void Session::Close() {
  runs_.reset();
  handle_.reset();
  overriding_.clear();
  for (const auto& entry : entries_) entry->pool->Clear();
}

nb::object Session::GetState(const std::string& name) {
  const std::shared_ptr<Handle> handle = Open();
  ge_tensor t{};
  t.size = sizeof t;
  const auto get = [&](ge_error* error) {
    return ge_session_get_state(handle->get(), name.c_str(), &t, error);
  };
  CallEngine(handle->get(), get);
  const std::string what = "state '" + name + "'";
  const Element* element = ElementOf(t.dtype);
  if (!element || element->bits == 0) Raise(GE_STATUS_UNSUPPORTED, what + " is of texts");
  nb::object array = NewArray(*element, t.dims, t.rank, what);
  BorrowedArray written;
  written.Write(array, what);
  t = written.tensor();
  CallEngine(handle->get(), get);
  return array;
}

void Session::SetState(const std::string& name, nb::handle value) {
  const std::shared_ptr<Handle> handle = Open();
  const Element* wanted = nullptr;
  for (const Port& port : states_) {
    if (port.name == name) wanted = port.element;
  }
  BorrowedArray array;
  array.Read(value, "the value of state '" + name + "'", wanted);
  CallEngine(handle->get(), [&](ge_error* error) {
    return ge_session_set_state(handle->get(), name.c_str(), &array.tensor(), error);
  });
}

void Session::ResetStates() {
  const std::shared_ptr<Handle> handle = Open();
  CallEngine(handle->get(),
             [&](ge_error* error) { return ge_session_reset_states(handle->get(), error); });
}

void Session::SaveStates(nb::handle path) {
  const std::shared_ptr<Handle> handle = Open();
  const nb::object bytes = PathBytes(path);
  const char* name = PyBytes_AsString(bytes.ptr());
  CallEngine(handle->get(),
             [&](ge_error* error) { return ge_session_save_states(handle->get(), name, error); });
}

void Session::SaveCompiled(nb::handle path) {
  const std::shared_ptr<Handle> handle = Open();
  const nb::object bytes = PathBytes(path);
  const char* name = PyBytes_AsString(bytes.ptr());
  CallEngine(handle->get(),
             [&](ge_error* error) { return ge_session_save_compiled(handle->get(), name, error); });
}

void Session::RestoreStates(nb::handle path) {
  const std::shared_ptr<Handle> handle = Open();
  const nb::object bytes = PathBytes(path);
  const char* name = PyBytes_AsString(bytes.ptr());
  CallEngine(handle->get(), [&](ge_error* error) {
    return ge_session_restore_states(handle->get(), name, error);
  });
}

nb::object Session::Report(std::optional<std::string> entry) {
  const std::shared_ptr<Handle> handle = Open();
  const char* name = entry ? entry->c_str() : nullptr;
  char* text = nullptr;
  CallEngine(handle->get(),
             [&](ge_error* error) { return ge_session_report(handle->get(), name, &text, error); });
  return TakeText(text);
}

nb::object Session::Explain(std::optional<std::string> entry) {
  const std::shared_ptr<Handle> handle = Open();
  const char* name = entry ? entry->c_str() : nullptr;
  char* text = nullptr;
  CallEngine(handle->get(), [&](ge_error* error) {
    return ge_session_explain(handle->get(), name, &text, error);
  });
  return TakeText(text);
}

void Session::Observe(nb::handle record, std::optional<std::string> values, uint64_t every,
                      uint64_t first) {
  const std::shared_ptr<Handle> handle = Open();
  const nb::object bytes = record.is_none() ? nb::none() : PathBytes(record);
  ge_observe_options options{};
  options.size = sizeof options;
  options.record = record.is_none() ? nullptr : PyBytes_AsString(bytes.ptr());
  options.values = values ? values->c_str() : nullptr;
  options.every = every;
  options.first = first;
  CallEngine(handle->get(), [&](ge_error* error) {
    return ge_session_observe(handle->get(), options.record ? &options : nullptr, error);
  });
}

nb::object Session::Dump(const std::string& stage, std::optional<std::string> entry) {
  const std::shared_ptr<Handle> handle = Open();
  const char* name = entry ? entry->c_str() : nullptr;
  char* text = nullptr;
  CallEngine(handle->get(), [&](ge_error* error) {
    return ge_session_dump(handle->get(), name, stage.c_str(), &text, error);
  });
  return TakeText(text);
}

}  // namespace graphengine
