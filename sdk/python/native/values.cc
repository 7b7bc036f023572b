#include "values.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "array.h"
#include "call.h"
#include "engine_call.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

struct Release {
  void operator()(ge_any* value) const { ge_any_release(value); }
};
using Any = std::unique_ptr<ge_any, Release>;

// Calls a function of ge.h that makes a value.
template <typename Make>
Any Made(Make&& make) {
  ge_any* out = nullptr;
  ge_error error = NoError();
  Check(make(&out, &error), error);
  return Any(out);
}

bool IsText(nb::handle object) {
  return PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr());
}

// A text or the bytes of one, as long as `object` lives.
std::string_view TextOf(nb::handle object, const std::string& what) {
  if (PyBytes_Check(object.ptr())) {
    return {PyBytes_AsString(object.ptr()), static_cast<size_t>(PyBytes_Size(object.ptr()))};
  }
  if (!PyUnicode_Check(object.ptr())) {
    Raise(GE_STATUS_INVALID_ARGUMENT, what + " has an element that is a " + TypeName(object) +
                                          ", wanted texts alone: str or bytes");
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (!text) nb::raise_python_error();  // a surrogate
  return {text, static_cast<size_t>(size)};
}

// Of an array, a list or a text.
Any OfTexts(nb::handle object, const std::string& what) {
  nb::object array = nb::module_::import_("numpy").attr("array")(object, "object");
  const nb::tuple shape(array.attr("shape"));
  const nb::list all(nb::object(array.attr("ravel")()).attr("tolist")());
  int64_t dims[GE_MAX_RANK] = {};
  if (nb::len(shape) > GE_MAX_RANK) {
    Raise(GE_STATUS_LIMIT_EXCEEDED, what + " has more than 16 axes");
  }
  for (size_t i = 0; i < nb::len(shape); ++i) dims[i] = nb::cast<int64_t>(shape[i]);
  std::vector<const char*> texts;
  std::vector<uint64_t> lengths;
  for (nb::handle each : all) {
    const std::string_view text = TextOf(each, what);
    texts.push_back(text.data());
    lengths.push_back(text.size());
  }
  return Made([&](ge_any** out, ge_error* error) {
    return ge_any_of_texts(texts.data(), lengths.data(), dims, static_cast<int32_t>(nb::len(shape)),
                           out, error);
  });
}

Any OfNumbers(nb::handle object, const Element* wanted, const std::string& what) {
  BorrowedArray array;
  array.Read(object, what, wanted);
  // Copied, since an output may share an input's bytes and outlive the array.
  return Made([&](ge_any** out, ge_error* error) {
    return ge_any_of_tensor(&array.tensor(), nullptr, nullptr, out, error);
  });
}

bool HoldsTexts(nb::handle object) {
  if (IsText(object)) return true;
  const nb::object kind = nb::getattr(nb::getattr(object, "dtype", nb::none()), "kind", nb::none());
  if (!kind.is_none())
    return std::string("OSTU").find(nb::cast<std::string>(kind)) != std::string::npos;
  const bool list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  return list && nb::len(object) > 0 && HoldsTexts(nb::object(object[0]));
}

Any OfSequence(nb::handle object, const Element* element, const std::string& what) {
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what + " is a " + TypeName(object) + ", wanted a list of arrays, which is a sequence");
  }
  std::vector<Any> kept;
  std::vector<const ge_any*> elements;
  int32_t dtype = element ? element->number : 0;
  for (size_t i = 0; i < nb::len(object); ++i) {
    const nb::object each(object[i]);
    const std::string name = "element " + std::to_string(i) + " of " + what;
    kept.push_back(HoldsTexts(each) ? OfTexts(each, name) : OfNumbers(each, element, name));
    elements.push_back(kept.back().get());
    ge_any_info info{};
    info.size = sizeof info;
    ge_error error = NoError();
    Check(ge_any_inspect(kept.back().get(), &info, &error), error);
    if (dtype == 0) dtype = info.dtype;
  }
  return Made([&](ge_any** out, ge_error* error) {
    return ge_any_of_sequence(dtype, elements.data(), elements.size(), out, error);
  });
}

// Keys and values, by their types in the model.
Any OfMap(nb::handle object, const Port& port, const std::string& what) {
  if (!PyDict_Check(object.ptr())) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what + " is a " + TypeName(object) + ", wanted a dict, which is a map");
  }
  const auto part = [](const nb::object& list, const Element* element, const std::string& name) {
    return element && element->bits == 0 ? OfTexts(list, name) : OfNumbers(list, element, name);
  };
  const nb::dict dict = nb::borrow<nb::dict>(object);
  const bool texts = port.element && port.element->bits == 0;
  for (auto [key, value] : dict) {
    if (texts ? IsText(key) : PyIndex_Check(key.ptr()) != 0) continue;
    Raise(GE_STATUS_INVALID_ARGUMENT, what + " has a key that is a " + TypeName(key) + ", wanted " +
                                          (texts ? "texts" : "integers"));
  }
  const Any keys = part(dict.keys(), port.element, "a key of " + what);
  const Any values = part(dict.values(), port.value_element, "a value of " + what);
  return Made([&](ge_any** out, ge_error* error) {
    return ge_any_of_map(keys.get(), values.get(), out, error);
  });
}

Any Of(nb::handle object, const Port& port) {
  const std::string what = "input '" + port.name + "'";
  if (port.optional && (!object.is_valid() || object.is_none())) return Made(ge_any_of_none);
  switch (port.kind) {
    case GE_ANY_SEQUENCE:
      return OfSequence(object, port.element, what);
    case GE_ANY_MAP:
      return OfMap(object, port, what);
    case GE_ANY_TEXTS:
      return OfTexts(object, what);
    default:
      return OfNumbers(object, port.element, what);
  }
}

nb::object ArrayOf(const ge_any* value, const std::string& what) {
  ge_tensor t{};
  t.size = sizeof t;
  ge_error error = NoError();
  Check(ge_any_tensor(value, &t, &error), error);
  nb::object array = NewArray(*ElementOf(t.dtype), t.dims, t.rank, what);
  if (t.bytes == 0) return array;
  BorrowedArray to;
  to.Write(array, what);
  std::memcpy(to.tensor().data, t.data, t.bytes);
  return array;
}

nb::object TextsOf(const ge_any* value, const ge_any_info& info) {
  nb::list all, shape;
  for (uint64_t i = 0; i < info.count; ++i) {
    const char* text = nullptr;
    uint64_t length = 0;
    ge_error error = NoError();
    Check(ge_any_text(value, i, &text, &length, &error), error);
    all.append(Text({text, length}));
  }
  for (int32_t i = 0; i < info.rank; ++i) shape.append(info.dims[i]);
  const nb::object array = nb::module_::import_("numpy").attr("array")(all, "object");
  return array.attr("reshape")(nb::tuple(shape));
}

nb::object ObjectOf(const ge_any* value, const std::string& what);

nb::object ElementAt(const ge_any* value, uint64_t i, const std::string& what) {
  const Any each =
      Made([&](ge_any** out, ge_error* error) { return ge_any_element(value, i, out, error); });
  return ObjectOf(each.get(), what);
}

nb::object ObjectOf(const ge_any* value, const std::string& what) {
  ge_any_info info{};
  info.size = sizeof info;
  ge_error error = NoError();
  Check(ge_any_inspect(value, &info, &error), error);
  switch (info.kind) {
    case GE_ANY_TENSOR:
      return ArrayOf(value, what);
    case GE_ANY_TEXTS:
      return TextsOf(value, info);
    case GE_ANY_SEQUENCE: {
      nb::list all;
      for (uint64_t i = 0; i < info.count; ++i) all.append(ElementAt(value, i, what));
      return all;
    }
    case GE_ANY_MAP: {
      const nb::object keys = ElementAt(value, 0, what).attr("tolist")();
      const nb::object values = ElementAt(value, 1, what).attr("tolist")();
      nb::dict map;
      for (size_t i = 0; i < nb::len(keys); ++i) map[keys[i]] = values[i];
      return map;
    }
    default:
      return nb::none();
  }
}

}  // namespace

nb::dict RunValues(const Handle& handle, const EntryPorts& entry, nb::handle feed) {
  const std::vector<nb::object> given = ReadFeed(entry, feed);
  std::vector<Any> kept;
  std::vector<const ge_any*> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    kept.push_back(Of(given[i], entry.inputs[i]));
    inputs.push_back(kept.back().get());
  }
  std::vector<ge_any*> outputs(entry.outputs.size());
  CallEngine(handle.get(), [&](ge_error* error) {
    return ge_session_run_values(handle.get(), entry.name.c_str(), inputs.data(),
                                 static_cast<uint32_t>(inputs.size()), outputs.data(),
                                 static_cast<uint32_t>(outputs.size()), nullptr, error);
  });
  std::vector<Any> results(outputs.begin(), outputs.end());
  nb::dict out;
  for (size_t i = 0; i < results.size(); ++i) {
    const Port& port = entry.outputs[i];
    out[port.key] = ObjectOf(results[i].get(), "output '" + port.name + "'");
  }
  return out;
}

}  // namespace graphengine
