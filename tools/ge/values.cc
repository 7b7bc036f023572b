// Outputs that are no tensors of numbers: texts, sequences and maps, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ge/base/aligned.h"
#include "ge/base/clock.h"
#include "ge/control/value.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

using Json = nlohmann::json;

// As much of a value as the tool prints of it; a file gets all.
constexpr size_t kPrinted = 200;

// JSON text, made piece by piece: a tree of a large value would take many times its memory.
class Writer {
 public:
  explicit Writer(size_t most) : most_(most) {}
  void Value(const FlowValue& v);
  std::string Take() { return std::move(out_); }

 private:
  bool full() const { return out_.size() > most_; }
  void Text(const std::string& s) {
    out_ += Json(s).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  void List(const FlowValue& v, size_t axis, int64_t* at);
  void Element(const FlowValue& v, int64_t i);
  void Key(const FlowValue& keys, int64_t i);
  std::string out_;
  const size_t most_;
};

// Element i as a number; types that JSON has no numbers for become their bits in hexadecimal.
Json NumberAt(const FlowValue& v, int64_t i) {
  const std::byte* p = v.data + i * (DTypeBits(v.dtype) / 8);
  const auto load = [&](auto x) {
    std::memcpy(&x, p, sizeof x);
    return Json(x);
  };
  switch (v.dtype) {
    case DType::kFloat:
      return load(float{});
    case DType::kDouble:
      return load(double{});
    case DType::kInt64:
      return load(int64_t{});
    case DType::kInt32:
      return load(int32_t{});
    case DType::kBool:
      return Json(*p != std::byte{0});
    default: {
      std::string bits = "0x";
      for (int b = DTypeBits(v.dtype) / 8; b-- > 0;) {
        bits += fmt::format("{:02x}", static_cast<unsigned>(p[b]));
      }
      return Json(bits);
    }
  }
}

void Writer::Element(const FlowValue& v, int64_t i) {
  if (v.strings) {
    Text((*v.strings)[static_cast<size_t>(i)]);
  } else {
    out_ += NumberAt(v, i).dump();
  }
}

// Nested lists, one level for each axis. *at counts the elements.
void Writer::List(const FlowValue& v, size_t axis, int64_t* at) {
  if (axis == v.dims.size()) return Element(v, (*at)++);
  out_ += '[';
  for (int64_t i = 0; i < v.dims[axis] && !full(); ++i) {
    if (i) out_ += ',';
    List(v, axis + 1, at);
  }
  out_ += ']';
}

// A key of a map as the name of a member.
void Writer::Key(const FlowValue& keys, int64_t i) {
  Text(keys.strings ? (*keys.strings)[static_cast<size_t>(i)] : NumberAt(keys, i).dump());
}

// Sequences hold tensors or maps: the depth is that of a few types.
void Writer::Value(const FlowValue& v) {
  int64_t at = 0;
  switch (v.kind) {
    case FlowValue::Kind::kNone:
      out_ += "null";
      break;
    case FlowValue::Kind::kTensor:
      if (DTypeBits(v.dtype) < 8 && !v.strings) {
        out_ += "null";
      } else {
        List(v, 0, &at);
      }
      break;
    case FlowValue::Kind::kMap: {
      const FlowValue &keys = (*v.elements)[0], &values = (*v.elements)[1];
      out_ += '{';
      for (int64_t i = 0; i < keys.count() && !full(); ++i) {
        if (i) out_ += ',';
        Key(keys, i);
        out_ += ':';
        Element(values, i);
      }
      out_ += '}';
      break;
    }
    default:
      out_ += '[';
      for (size_t i = 0; i < v.elements->size() && !full(); ++i) {
        if (i) out_ += ',';
        Value((*v.elements)[i]);
      }
      out_ += ']';
  }
}

Status TakeTensor(const FlowValue& v, Tensor* out) {
  out->view.dtype = v.dtype;
  out->view.dims = v.dims.vector();
  out->view.bytes = v.bytes;
  if (!out->memory || out->room < v.bytes) {
    out->memory = AllocateAligned(v.bytes, 64);
    if (!out->memory) {
      return Status(Code::kResourceExhausted,
                    fmt::format("no memory for output '{}' of {} bytes", out->name, v.bytes));
    }
    out->room = v.bytes;
  }
  out->view.data = out->memory.get();
  if (v.bytes > 0) std::memcpy(out->view.data, v.data, v.bytes);
  return {};
}

}  // namespace

FlowValue FlowOf(const Tensor& t) {
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor;
  v.dtype = t.view.dtype;
  v.dims = t.view.dims;
  v.data = static_cast<const std::byte*>(t.view.data);
  v.bytes = t.view.bytes;
  v.strings = t.strings;
  return v;
}

bool AllNumbers(const Function& function) {
  const auto number = [&](ValueId v) {
    const Type& t = function.value(v).type;
    return t.is_tensor() && t.dtype != DType::kString;
  };
  return std::all_of(function.params.begin(), function.params.end(), number) &&
         std::all_of(function.results.begin(), function.results.end(), number);
}

Status RunAnyValues(Session* session, const std::string& entry, const std::vector<Tensor>& inputs,
                    bool whole, std::vector<Tensor>* outputs, double* ms, RunWatch* watch) {
  std::vector<FlowValue> args, results;
  for (const Tensor& t : inputs) args.push_back(FlowOf(t));
  const double start = NowMs();
  GE_RETURN_IF_ERROR(watch != nullptr ? session->RunValuesWatched(entry, args, &results, watch)
                                      : session->RunValues(entry, args, &results));
  if (ms != nullptr) *ms = NowMs() - start;
  for (size_t i = 0; i < outputs->size(); ++i) {
    Tensor& out = (*outputs)[i];
    if (results[i].is_tensor() && !results[i].strings) {
      GE_RETURN_IF_ERROR(TakeTensor(results[i], &out));
    } else {
      out.kind = Describe(results[i]);
      Writer writer(whole ? SIZE_MAX : kPrinted);
      writer.Value(results[i]);
      out.text = writer.Take();
    }
  }
  return {};
}

}  // namespace ge::tool
