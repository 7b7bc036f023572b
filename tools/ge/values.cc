// Outputs that are no tensors of numbers: texts, sequences and maps, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ge/flow/value.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

using Json = nlohmann::json;

FlowValue FlowOf(const TensorView& t) {
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor, v.dtype = t.dtype, v.dims = t.dims;
  v.data = static_cast<const std::byte*>(t.data), v.bytes = t.bytes;
  return v;
}

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

Json ElementAt(const FlowValue& v, int64_t i) {
  return v.strings ? Json((*v.strings)[static_cast<size_t>(i)]) : NumberAt(v, i);
}

// Nested lists, one level for each axis. *at counts the elements.
Json ListOf(const FlowValue& v, size_t axis, int64_t* at) {
  if (axis == v.dims.size()) return ElementAt(v, (*at)++);
  Json list = Json::array();
  for (int64_t i = 0; i < v.dims[axis]; ++i) list.push_back(ListOf(v, axis + 1, at));
  return list;
}

// A key of a map as the name of a member.
std::string KeyAt(const FlowValue& keys, int64_t i) {
  const Json key = ElementAt(keys, i);
  return key.is_string() ? key.get<std::string>() : key.dump();
}

// Sequences hold tensors or maps: the depth is that of a few types.
Json JsonOf(const FlowValue& v) {
  int64_t at = 0;
  switch (v.kind) {
    case FlowValue::Kind::kNone:
      return nullptr;
    case FlowValue::Kind::kTensor:
      return DTypeBits(v.dtype) < 8 && !v.strings ? Json(nullptr) : ListOf(v, 0, &at);
    case FlowValue::Kind::kMap: {
      Json map = Json::object();
      const FlowValue &keys = (*v.elements)[0], &values = (*v.elements)[1];
      for (int64_t i = 0; i < keys.count(); ++i) map[KeyAt(keys, i)] = ElementAt(values, i);
      return map;
    }
    default: {
      Json list = Json::array();
      for (const FlowValue& e : *v.elements) list.push_back(JsonOf(e));
      return list;
    }
  }
}

Status TakeTensor(const FlowValue& v, Tensor* out) {
  out->view.dtype = v.dtype, out->view.dims = v.dims.vector(), out->view.bytes = v.bytes;
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

bool AllNumbers(const Function& f) {
  return std::all_of(f.results.begin(), f.results.end(), [&](ValueId v) {
    const Type& t = f.value(v).type;
    return t.is_tensor() && t.dtype != DType::kString;
  });
}

Status RunAnyValues(Session* session, const std::string& entry,
                    const std::vector<TensorView>& inputs, std::vector<Tensor>* outputs) {
  std::vector<FlowValue> args, results;
  for (const TensorView& t : inputs) args.push_back(FlowOf(t));
  GE_RETURN_IF_ERROR(session->RunValues(entry, args, &results));
  for (size_t i = 0; i < outputs->size(); ++i) {
    Tensor& out = (*outputs)[i];
    if (results[i].is_tensor() && !results[i].strings) {
      GE_RETURN_IF_ERROR(TakeTensor(results[i], &out));
    } else {
      out.kind = Describe(results[i]);
      out.text = JsonOf(results[i]).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }
  return {};
}

}  // namespace ge::tool
