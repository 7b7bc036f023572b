// ge.h: values of any kind, and runs of them. A handle holds a FlowValue, whose copies share bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>

#include "ge/api/capi.h"
#include "ge/api/lent.h"
#include "ge/base/checked.h"
#include "ge/control/value.h"

using ge::Code;
using ge::FlowValue;
using ge::Status;
using ge::TensorView;

namespace ge::capi {
namespace {

Status GiveValue(FlowValue v, ge_any** out) {
  *out = new ge_any{std::move(v)};
  return {};
}

Result<FlowDims> ReadDims(const int64_t* dims, int32_t rank, int64_t* count) {
  if (rank < 0 || rank > GE_MAX_RANK) {
    return Status(Code::kInvalidArgument,
                  fmt::format("rank is {}, wanted 0 to {}", rank, GE_MAX_RANK));
  }
  if (rank > 0 && !dims) return Null("dims");
  const auto n = CheckedProduct(std::span(dims, static_cast<size_t>(rank)));
  if (!n) {
    return Status(Code::kInvalidArgument, "a dim is negative, or there are more than 2^63 texts");
  }
  *count = *n;
  return FlowDims(dims, dims + rank);
}

Status OfTensor(const ge_tensor* tensor, void (*release)(void* context), void* context,
                ge_any** out) {
  std::vector<TensorView> views;
  if (!tensor) return Null("tensor");
  GE_RETURN_IF_ERROR(ReadTensors("tensor", tensor, 1, true, &views));
  const TensorView& t = views[0];
  if (t.bytes > 0 && !t.data) return Null("the tensor's data");
  if (t.dtype == DType::kString) {
    return Status(Code::kInvalidArgument, "texts have no bytes to give; use ge_any_of_texts");
  }
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor;
  v.dtype = t.dtype;
  v.dims = t.dims;
  v.bytes = t.bytes;
  if (release) {
    auto lent = std::make_shared<Lent>(release, context);
    v.data = static_cast<const std::byte*>(t.data);
    v.owner = lent;
    GE_RETURN_IF_ERROR(GiveValue(std::move(v), out));
    lent->armed = true;
    return {};
  }
  const auto block = FlowBlock::Make(t.bytes);
  if (!block) {
    return Status(Code::kResourceExhausted, fmt::format("no memory for {} bytes", t.bytes));
  }
  if (t.bytes > 0) std::memcpy(block->data(), t.data, t.bytes);
  v.data = block->data();
  v.owner = block;
  return GiveValue(std::move(v), out);
}

Status OfTexts(const char* const* texts, const uint64_t* lengths, const int64_t* dims, int32_t rank,
               ge_any** out) {
  int64_t count = 0;
  GE_ASSIGN_OR_RETURN(const FlowDims shape, ReadDims(dims, rank, &count));
  if (count > 0 && !texts) return Null("texts");
  std::vector<std::string> strings;
  for (int64_t i = 0; i < count; ++i) {
    if (!texts[i] && !(lengths && lengths[i] == 0)) return Null("a text");
    strings.emplace_back(texts[i] ? texts[i] : "", lengths ? lengths[i] : std::strlen(texts[i]));
  }
  return GiveValue(StringsOf(shape, std::move(strings)), out);
}

Status OfSequence(int32_t dtype, const ge_any* const* elements, uint64_t count, ge_any** out) {
  const auto type = static_cast<DType>(dtype);
  if (!IsKnown(type)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("dtype is {}, wanted one of ONNX's numbers", dtype));
  }
  if (count > 0 && !elements) return Null("elements");
  std::vector<FlowValue> all;
  for (uint64_t i = 0; i < count; ++i) {
    if (!elements[i]) return Null("an element");
    const FlowValue& v = elements[i]->value;
    if (!v.is_tensor() || v.dtype != type) {
      return Status(Code::kInvalidArgument,
                    fmt::format("element {} of the sequence is {}, wanted a tensor of {}", i,
                                Describe(v), DTypeName(type)));
    }
    all.push_back(v);
  }
  return GiveValue(SequenceOf(type, std::move(all)), out);
}

bool Repeats(const FlowValue& keys) {
  if (keys.strings) {
    return std::set<std::string>(keys.strings->begin(), keys.strings->end()).size() !=
           keys.strings->size();
  }
  const std::vector<int64_t> all = IntsOf(keys);
  return std::set<int64_t>(all.begin(), all.end()).size() != all.size();
}

Status OfMap(const ge_any* keys, const ge_any* values, ge_any** out) {
  if (!keys) return Null("keys");
  if (!values) return Null("values");
  const FlowValue &k = keys->value, &v = values->value;
  if (!k.is_tensor() || (k.dtype != DType::kInt64 && k.dtype != DType::kString)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("a map's keys are {}, wanted a tensor of i64 or of texts", Describe(k)));
  }
  if (!v.is_tensor() || v.count() != k.count()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a map's values are {}, wanted a tensor of as many elements as the "
                              "keys, {}",
                              Describe(v), k.count()));
  }
  if (Repeats(k)) return Status(Code::kInvalidArgument, "a key of the map is there twice");
  FlowValue flat_keys = k, flat_values = v;  // vectors, as the operators of maps make them
  flat_keys.dims = {k.count()};
  flat_values.dims = {v.count()};
  return GiveValue(MapOf(std::move(flat_keys), std::move(flat_values)), out);
}

int32_t KindOf(const FlowValue& v) {
  switch (v.kind) {
    case FlowValue::Kind::kTensor:
      return v.dtype == DType::kString ? GE_ANY_TEXTS : GE_ANY_TENSOR;
    case FlowValue::Kind::kSequence:
      return GE_ANY_SEQUENCE;
    case FlowValue::Kind::kMap:
      return GE_ANY_MAP;
    default:
      return GE_ANY_NONE;
  }
}

Status RankFits(const FlowValue& v) {
  if (v.dims.size() <= GE_MAX_RANK) return {};
  return Status(Code::kLimitExceeded,
                fmt::format("the value is {}, whose rank is beyond {}", Describe(v), GE_MAX_RANK));
}

Status Inspect(const FlowValue& v, ge_any_info* out) {
  if (out->size < kFirstValueInfo) return TooShort("ge_any_info", out->size, kFirstValueInfo);
  GE_RETURN_IF_ERROR(RankFits(v));
  out->kind = KindOf(v);
  out->dtype = out->kind == GE_ANY_NONE ? 0 : static_cast<int32_t>(v.dtype);
  out->rank = v.is_tensor() ? static_cast<int32_t>(v.dims.size()) : 0;
  std::copy_n(v.dims.begin(), out->rank, out->dims);
  out->count = 0;
  if (v.is_tensor()) out->count = static_cast<uint64_t>(v.count());
  if (out->kind == GE_ANY_SEQUENCE) out->count = v.elements->size();
  if (out->kind == GE_ANY_MAP) out->count = static_cast<uint64_t>((*v.elements)[0].count());
  return {};
}

Status Wrong(const FlowValue& v, const char* wanted) {
  return Status(Code::kInvalidArgument,
                fmt::format("the value is {}, wanted {}", Describe(v), wanted));
}

Status NoSuch(const char* what, uint64_t index, uint64_t n) {
  return Status(Code::kInvalidArgument,
                fmt::format("there is no {} {}, the value has {}", what, index, n));
}

Status RunHandles(Session* s, std::string_view entry, const ge_any* const* inputs,
                  uint32_t n_inputs, ge_any** outputs, uint32_t n_outputs) {
  std::vector<FlowValue> args, results;
  for (uint32_t i = 0; i < n_inputs; ++i) {
    if (!inputs[i]) return Null("an input");
    args.push_back(inputs[i]->value);
  }
  GE_ASSIGN_OR_RETURN(const Entry* e, s->FindEntry(entry));
  const size_t wanted = s->graph().fn(e->fn).results.size();
  if (n_outputs != wanted) {
    return Status(Code::kInvalidArgument, fmt::format("entry '{}' has {} outputs, {} were given",
                                                      e->name, wanted, n_outputs));
  }
  std::vector<std::unique_ptr<ge_any>> given;  // made before the run, which has effects
  for (uint32_t i = 0; i < n_outputs; ++i) given.push_back(std::make_unique<ge_any>());
  GE_RETURN_IF_ERROR(s->RunValues(entry, args, &results));
  for (uint32_t i = 0; i < n_outputs; ++i) {
    given[i]->value = std::move(results[i]);
    outputs[i] = given[i].release();
  }
  return {};
}

// A function of ge.h that makes a value.
template <typename Make>
ge_status MakeValue(ge_any** out, ge_error* error, Make make) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    return make();
  });
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

ge_status ge_any_inspect(const ge_any* value, ge_any_info* out, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!value) return Null("value");
    if (!out) return Null("out");
    return Inspect(value->value, out);
  });
}

ge_status ge_any_of_none(ge_any** out, ge_error* error) {
  return MakeValue(out, error, [&] { return GiveValue({}, out); });
}

ge_status ge_any_of_tensor(const ge_tensor* tensor, void (*release)(void* context), void* context,
                           ge_any** out, ge_error* error) {
  return MakeValue(out, error, [&] { return OfTensor(tensor, release, context, out); });
}

ge_status ge_any_of_texts(const char* const* texts, const uint64_t* lengths, const int64_t* dims,
                          int32_t rank, ge_any** out, ge_error* error) {
  return MakeValue(out, error, [&] { return OfTexts(texts, lengths, dims, rank, out); });
}

ge_status ge_any_of_sequence(int32_t dtype, const ge_any* const* elements, uint64_t count,
                             ge_any** out, ge_error* error) {
  return MakeValue(out, error, [&] { return OfSequence(dtype, elements, count, out); });
}

ge_status ge_any_of_map(const ge_any* keys, const ge_any* values, ge_any** out, ge_error* error) {
  return MakeValue(out, error, [&] { return OfMap(keys, values, out); });
}

ge_status ge_any_tensor(const ge_any* value, ge_tensor* out, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!value) return Null("value");
    if (!out) return Null("out");
    GE_RETURN_IF_ERROR(CheckArray("out", out, 1));
    const FlowValue& v = value->value;
    if (KindOf(v) != GE_ANY_TENSOR) return Wrong(v, "a tensor of numbers");
    GE_RETURN_IF_ERROR(RankFits(v));
    WriteOutput({v.dtype, v.dims.vector(), const_cast<std::byte*>(v.data), v.bytes}, out);
    return {};
  });
}

ge_status ge_any_text(const ge_any* value, uint64_t index, const char** out, uint64_t* length,
                      ge_error* error) {
  if (out) *out = nullptr;
  if (length) *length = 0;
  return Guard(error, [&]() -> Status {
    if (!value) return Null("value");
    if (!out) return Null("out");
    const FlowValue& v = value->value;
    if (KindOf(v) != GE_ANY_TEXTS || !v.strings) return Wrong(v, "a tensor of texts");
    if (index >= v.strings->size()) return NoSuch("text", index, v.strings->size());
    const std::string& text = (*v.strings)[index];
    *out = text.c_str();
    if (length) *length = text.size();
    return {};
  });
}

ge_status ge_any_element(const ge_any* value, uint64_t index, ge_any** out, ge_error* error) {
  return MakeValue(out, error, [&]() -> Status {
    if (!value) return Null("value");
    const FlowValue& v = value->value;
    const int32_t kind = KindOf(v);
    if (kind != GE_ANY_SEQUENCE && kind != GE_ANY_MAP) return Wrong(v, "a sequence or a map");
    if (index >= v.elements->size()) return NoSuch("element", index, v.elements->size());
    return GiveValue((*v.elements)[index], out);
  });
}

void ge_any_release(ge_any* value) { delete value; }

ge_status ge_session_run_values(ge_session* session, const char* entry, const ge_any* const* inputs,
                                uint32_t n_inputs, ge_any** outputs, uint32_t n_outputs,
                                const ge_run_options* options, ge_error* error) {
  for (uint32_t i = 0; outputs && i < n_outputs; ++i) outputs[i] = nullptr;
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (n_inputs > 0 && !inputs) return Null("inputs");
    if (n_outputs > 0 && !outputs) return Null("outputs");
    return WithLimits(s, options, [&] {
      return RunHandles(s, entry ? entry : "", inputs, n_inputs, outputs, n_outputs);
    });
  });
}

}  // extern "C"
