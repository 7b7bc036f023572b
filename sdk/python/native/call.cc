#include "call.h"

#include <algorithm>

#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

std::string Names(const std::vector<Port>& ports) {
  std::string out;
  for (const Port& port : ports) out += (out.empty() ? "" : ", ") + port.name;
  return out.empty() ? "none" : out;
}

// The value of `port` in `dict`, borrowed; null where there is none.
nb::handle Find(nb::handle dict, const Port& port) {
  PyObject* found = PyDict_GetItemWithError(dict.ptr(), port.key.ptr());
  if (!found && PyErr_Occurred()) nb::raise_python_error();
  return found;
}

// Refuses names that are no port's.
void CheckNames(nb::handle dict, const std::vector<Port>& ports, const char* kind) {
  for (auto [key, value] : nb::borrow<nb::dict>(dict)) {
    bool known = false;
    for (const Port& port : ports) known = known || key.equal(port.key);
    if (known) continue;
    Raise(GE_STATUS_INVALID_ARGUMENT, std::string("there is no ") + kind + " '" +
                                          nb::cast<std::string>(nb::str(key)) +
                                          "'; the model has " + Names(ports));
  }
}

// A dict with what a mapping holds, `object` itself where it is none.
nb::object AsDict(nb::handle object) {
  if (PyDict_Check(object.ptr()) || !nb::hasattr(object, "keys")) return nb::borrow(object);
  PyObject* dict = PyDict_New();
  if (!dict) nb::raise_python_error();
  const nb::object out = nb::steal(dict);
  if (PyDict_Update(dict, object.ptr()) != 0) nb::raise_python_error();
  return out;
}

// An input that is missing is told before one that is not known.
void RefuseMissing(const Port& port, nb::handle dict, const EntryPorts& entry) {
  CheckNames(dict, entry.inputs, "input");
  Raise(GE_STATUS_INVALID_ARGUMENT,
        "input '" + port.name + "' is not given; the model has " + Names(entry.inputs));
}

void RefuseCount(size_t n, const EntryPorts& entry) {
  if (n == entry.inputs.size()) return;
  Raise(GE_STATUS_INVALID_ARGUMENT,
        std::to_string(n) + " inputs are given by position, the model has " +
            std::to_string(entry.inputs.size()) + ": " + Names(entry.inputs));
}

// Whether a list is what the only input takes, and not a list of inputs.
bool IsOnlyInput(const EntryPorts& entry, nb::handle list) {
  if (entry.inputs.size() != 1) return false;
  if (entry.inputs[0].kind == GE_ANY_SEQUENCE) return true;
  if (entry.inputs[0].kind != GE_ANY_TEXTS || nb::len(list) == 0) return false;
  const nb::object first(list[0]);
  return PyUnicode_Check(first.ptr()) || PyBytes_Check(first.ptr());
}

}  // namespace

Call::Call(std::shared_ptr<Handle> handle, std::shared_ptr<const EntryPorts> entry, nb::handle feed,
           nb::handle out, Form form)
    : handle_(std::move(handle)),
      entry_(std::move(entry)),
      form_(form),
      arrays_(entry_->inputs.size()),
      inputs_(entry_->inputs.size()),
      outputs_(entry_->outputs.size()) {
  if (entry_->has_values) {
    Raise(GE_STATUS_UNSUPPORTED, "entry '" + entry_->name +
                                     "' takes or gives texts, sequences, maps or optionals, which "
                                     "run alone has, without out");
  }
  if (PyDict_Check(feed.ptr())) {
    ReadByName(feed);
  } else if (const nb::object dict = AsDict(feed); PyDict_Check(dict.ptr())) {
    ReadByName(dict);
  } else {
    ReadByPosition(feed);
  }
  for (ge_tensor& t : outputs_) t.size = sizeof(ge_tensor);
  if (!out.is_none()) ReadOutputs(out);
  shapes_ = ShapesOf(inputs_);
  entry_->pool->Begin();
  for (uint32_t i = 0; i < n_outputs(); ++i) {
    if (!outputs_[i].data) entry_->pool->Take(i, shapes_, &outputs_[i]);
  }
}

Call::~Call() {
  entry_->pool->End();
  for (ge_tensor& t : outputs_) ge_tensor_release(&t);
}

void Call::ReadInput(size_t i, nb::handle object) {
  const Port& port = entry_->inputs[i];
  arrays_[i].Read(object, "input '" + port.name + "'", port.element);
  inputs_[i] = arrays_[i].tensor();
}

void Call::ReadByName(nb::handle feed) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const nb::handle object = Find(feed, entry_->inputs[i]);
    if (!object.is_valid()) RefuseMissing(entry_->inputs[i], feed, *entry_);
    ReadInput(i, object);
  }
  if (static_cast<size_t>(PyDict_Size(feed.ptr())) != inputs_.size()) {
    CheckNames(feed, entry_->inputs, "input");
  }
}

void Call::ReadByPosition(nb::handle feed) {
  const bool sequence = PyList_Check(feed.ptr()) || PyTuple_Check(feed.ptr());
  const size_t n = sequence ? nb::len(feed) : 1;
  RefuseCount(n, *entry_);
  if (!sequence) return ReadInput(0, feed);
  for (size_t i = 0; i < n; ++i) ReadInput(i, nb::object(feed[i]));
}

void Call::ReadOutputs(nb::handle arrays) {
  const nb::object out = AsDict(arrays);
  if (!PyDict_Check(out.ptr())) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "out wants a dict of arrays by the names of outputs");
  }
  CheckNames(out, entry_->outputs, "output");
  written_ = std::vector<BorrowedArray>(outputs_.size());
  given_.resize(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Port& port = entry_->outputs[i];
    const nb::handle object = Find(out, port);
    if (!object.is_valid() || object.is_none()) continue;
    const std::string what = "out['" + port.name + "']";
    written_[i].Write(object, what);
    const ge_tensor& t = written_[i].tensor();
    if (port.element && t.dtype != port.element->number) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            what + " is " + ElementOf(t.dtype)->name + ", the output is " + port.element->name);
    }
    bool fits = port.rank < 0 || port.rank == t.rank;
    for (int32_t axis = 0; fits && axis < port.rank; ++axis) {
      fits = port.dims[axis] < 0 || port.dims[axis] == t.dims[axis];
    }
    if (!fits) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            what + " is " + ShapeText(t.dims, t.rank) + ", the output is " + port.Shape());
    }
    outputs_[i] = t;
    given_[i] = nb::borrow(object);
  }
}

nb::dict Call::Results() {
  nb::dict out;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Port& port = entry_->outputs[i];
    ge_tensor& t = outputs_[i];
    if (given_.empty() || !given_[i].is_valid()) {
      out[port.key] = GiveArray(&t, Home{entry_->pool, static_cast<uint32_t>(i), shapes_},
                                "output '" + port.name + "'", form_);
      continue;
    }
    const ge_tensor& wanted = written_[i].tensor();
    if (t.dtype != wanted.dtype || t.rank != wanted.rank ||
        !std::equal(t.dims, t.dims + t.rank, wanted.dims)) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            "out['" + port.name + "'] is " + ShapeText(wanted.dims, wanted.rank) +
                ", the run gave " + ShapeText(t.dims, t.rank) + "; what it holds is no result");
    }
    out[port.key] = given_[i];
  }
  return out;
}

std::vector<nb::object> ReadFeed(const EntryPorts& entry, nb::handle feed) {
  std::vector<nb::object> out(entry.inputs.size());
  const nb::object dict = AsDict(feed);
  if (PyDict_Check(dict.ptr())) {
    CheckNames(dict, entry.inputs, "input");
    for (size_t i = 0; i < out.size(); ++i) {
      const nb::handle object = Find(dict, entry.inputs[i]);
      if (!object.is_valid() && !entry.inputs[i].optional) {
        RefuseMissing(entry.inputs[i], dict, entry);
      }
      if (object.is_valid()) out[i] = nb::borrow(object);
    }
    return out;
  }
  const bool list = PyList_Check(feed.ptr()) || PyTuple_Check(feed.ptr());
  const bool sequence = list && !IsOnlyInput(entry, feed);
  RefuseCount(sequence ? nb::len(feed) : 1, entry);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = sequence ? nb::object(feed[i]) : nb::borrow(feed);
  }
  return out;
}

std::vector<ge_tensor> ReadShapes(const EntryPorts& entry, nb::handle mapping) {
  const nb::object shapes = AsDict(mapping);
  if (!PyDict_Check(shapes.ptr())) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "compile wants a dict of arrays or shapes by names");
  }
  CheckNames(shapes, entry.inputs, "input");
  std::vector<ge_tensor> out(entry.inputs.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const Port& port = entry.inputs[i];
    const nb::handle object = Find(shapes, port);
    if (!object.is_valid()) RefuseMissing(port, shapes, entry);
    if (!PyTuple_Check(object.ptr()) && !PyList_Check(object.ptr())) {
      BorrowedArray array;
      array.Read(object, "input '" + port.name + "'", port.element);
      out[i] = array.tensor();
      out[i].data = nullptr;
      continue;
    }
    out[i].size = sizeof(ge_tensor);
    out[i].dtype = port.element ? port.element->number : 0;
    const size_t rank = nb::len(object);
    bool good = rank <= GE_MAX_RANK;
    for (size_t axis = 0; good && axis < rank; ++axis) {
      good = nb::try_cast(nb::object(object[axis]), out[i].dims[axis]) && out[i].dims[axis] >= 0;
    }
    if (!good) {
      Raise(GE_STATUS_INVALID_ARGUMENT, "the shape of input '" + port.name +
                                            "' wants at most 16 numbers, none of them negative");
    }
    out[i].rank = static_cast<int32_t>(rank);
  }
  return out;
}

}  // namespace graphengine
