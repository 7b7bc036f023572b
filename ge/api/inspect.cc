// ge.h: what a session tells of its model, its plans and its engines.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ge/api/capi.h"
#include "ge/compile/explain/plan_explain.h"
#include "ge/ir/model_meta.h"
#include "ge/run/tensor_view.h"

using ge::Code;
using ge::Result;
using ge::Status;
using ge::capi::Guard;
using ge::capi::Null;

namespace ge::capi {
namespace {

std::string_view EntryName(const char* entry) { return entry ? std::string_view(entry) : ""; }

int32_t KindOfType(const Type& type) {
  switch (type.kind) {
    case TypeKind::kTensor:
      return type.dtype == DType::kString ? GE_ANY_TEXTS : GE_ANY_TENSOR;
    case TypeKind::kSequence:
      return GE_ANY_SEQUENCE;
    case TypeKind::kMap:
      return GE_ANY_MAP;
    default:
      return GE_ANY_NONE;
  }
}

// A name alone is as the model has it; in an expression it may be quoted.
std::string SizeName(const DimTable& dims, Dim d) {
  const DimTable::Expr& e = dims.expr(d.expr);
  return e.op == DimOp::kSymbol ? dims.symbol(e.symbol).name : dims.ToString(d);
}

// Of a tensor, of a sequence's tensors, of what an optional may hold.
DType DTypeOf(const Type& type) {
  if (type.elems.empty()) return type.dtype;
  if (type.kind == TypeKind::kOptional) return DTypeOf(type.elems[0]);
  if (type.kind != TypeKind::kSequence) return type.dtype;
  return type.elems[0].is_tensor() ? type.elems[0].dtype : DType::kUndefined;
}

// ONNX's words for element types, by its numbers.
constexpr const char* kElementWords[] = {
    "undefined",      "float",      "uint8",          "int8",       "uint16",    "int16",
    "int32",          "int64",      "string",         "bool",       "float16",   "double",
    "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
    "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};
static_assert(std::size(kElementWords) == kDTypeCount);

std::string ElementWord(DType dtype) {
  const auto number = static_cast<size_t>(dtype);
  return number < std::size(kElementWords) ? kElementWords[number] : "undefined";
}

std::string TypeText(const Type& type) {
  const std::string inner = type.elems.empty() ? "unknown" : TypeText(type.elems[0]);
  switch (type.kind) {
    case TypeKind::kTensor:
      return fmt::format("tensor({})", ElementWord(type.dtype));
    case TypeKind::kSequence:
      return fmt::format("seq({})", inner);
    case TypeKind::kOptional:
      return fmt::format("optional({})", inner);
    case TypeKind::kMap:
      return fmt::format("map({},{})", ElementWord(type.dtype), inner);
    default:
      return "unknown";
  }
}

bool HasWords(const ge_tensor_info& out) {
  return out.size >= offsetof(ge_tensor_info, value_dtype) + sizeof out.value_dtype;
}

// What may be there.
const Type& Content(const Type& type) {
  return type.kind == TypeKind::kOptional && !type.elems.empty() ? type.elems[0] : type;
}

// What later versions of ge_tensor_info have, as far as the caller's has it.
void FillMore(Texts* texts, const DimTable& dims, const Type& type, ge_tensor_info* out) {
  if (out->size < offsetof(ge_tensor_info, optional) + sizeof out->optional) return;
  const Type& content = Content(type);
  for (size_t i = 0; i < GE_MAX_RANK; ++i) {
    const bool free = i < content.dims.size() && !content.dims[i].known();
    out->dim_names[i] = free ? texts->Keep(SizeName(dims, content.dims[i])) : nullptr;
  }
  out->kind = KindOfType(content);
  out->optional = &content != &type;
  if (!HasWords(*out)) return;
  std::fill_n(out->model_dims, GE_MAX_RANK, nullptr);
  std::fill_n(out->denotations, GE_MAX_RANK, nullptr);
  out->type = texts->Keep(TypeText(type));
  const bool map = content.kind == TypeKind::kMap && !content.elems.empty();
  out->value_dtype = map ? static_cast<int32_t>(content.elems[0].dtype) : 0;
}

}  // namespace

Status FillInfo(Texts* texts, const DimTable& dims, const std::string& name, const Type& type,
                ge_tensor_info* out) {
  const Type& content = Content(type);
  if (out->size < kFirstTensorInfo) {
    return TooShort("ge_tensor_info", out->size, kFirstTensorInfo);
  }
  if (content.dims.size() > GE_MAX_RANK) {
    return Status(Code::kLimitExceeded, fmt::format("tensor '{}' has rank {}, beyond {}", name,
                                                    content.dims.size(), GE_MAX_RANK));
  }
  out->dtype = static_cast<int32_t>(DTypeOf(type));
  out->rank = content.ranked ? static_cast<int32_t>(content.dims.size()) : -1;
  for (size_t i = 0; i < content.dims.size(); ++i) {
    out->dims[i] = content.dims[i].known() ? content.dims[i].value : -1;
  }
  out->name = name.c_str();
  FillMore(texts, dims, type, out);
  return {};
}

namespace {

Result<const Engine*> FindEngine(ge_session* session, uint32_t index) {
  GE_ASSIGN_OR_RETURN(Session * s, Get(session));
  GE_ASSIGN_OR_RETURN(const ge::EngineList* engines, s->Engines());
  if (index >= engines->size()) {
    return Status(Code::kInvalidArgument, "the session has no such engine");
  }
  return (*engines)[index].get();
}

void FillDevice(ge_session* session, const Engine& e, const EngineDevice& d, ge_device_info* out) {
  const EngineDomain& own = d.domains[0];
  out->flags = 0;
  if (d.flags & GE_DEVICE_ASYNC) out->flags |= GE_DEVICE_INFO_ASYNC;
  if (!own.id.empty()) out->flags |= GE_DEVICE_INFO_OWN_MEMORY;
  out->memory_bytes = own.id.empty() ? 0 : static_cast<uint64_t>(own.bytes);
  out->max_streams = d.max_streams;
  out->name = session->texts.Keep(e.name() + "/" + d.name);
}

// Sizes of an output by the model's own words, where it has some that are of its inputs: inference
// may have made a name up on the way.
void NameAsDeclared(ge_session* session, const Session& s, const Entry& entry, uint32_t index,
                    ge_tensor_info* out) {
  if (out->size < offsetof(ge_tensor_info, kind)) return;
  const Graph& g = s.loaded_graph();
  const Entry* loaded = g.FindEntry(entry.name);
  if (loaded == nullptr || index >= g.fn(loaded->fn).results.size()) return;
  const Function& f = g.fn(loaded->fn);
  const Value& v = f.value(f.results[index]);
  if (v.name != out->name || static_cast<int64_t>(v.type.dims.size()) != out->rank) return;
  for (size_t i = 0; i < v.type.dims.size(); ++i) {
    if (out->dim_names[i] == nullptr || v.type.dims[i].known()) continue;
    out->dim_names[i] = session->texts.Keep(SizeName(g.dims, v.type.dims[i]));
  }
}

bool IsWordOf(const PortWords& words, std::string_view name) {
  return std::any_of(words.begin(), words.end(), [name](const auto& port) {
    return std::any_of(port.second.begin(), port.second.end(),
                       [name](const AxisWords& axis) { return axis.size == name; });
  });
}

// The model's own words. Models of our formats name every size that varies.
void FillWords(const Session& s, ge_tensor_info* out) {
  if (!HasWords(*out)) return;
  const PortWords& words = s.words();
  const auto port = words.find(out->name);
  for (int32_t i = 0; i < out->rank; ++i) {
    const auto axis = static_cast<size_t>(i);
    const bool said = port != words.end() && axis < port->second.size();
    if (said && !port->second[axis].denotation.empty()) {
      out->denotations[i] = port->second[axis].denotation.c_str();
    }
    if (out->dim_names[i] == nullptr) continue;
    if (said && !port->second[axis].size.empty()) {
      out->model_dims[i] = port->second[axis].size.c_str();
    } else if (words.empty() || IsWordOf(words, out->dim_names[i])) {
      out->model_dims[i] = out->dim_names[i];
    }
  }
}

Status Info(ge_session* session, const char* entry, uint32_t index, bool input,
            ge_tensor_info* out) {
  if (!out) return Null("out");
  GE_ASSIGN_OR_RETURN(Session * s, GetLoaded(session));
  GE_ASSIGN_OR_RETURN(const Entry* e, s->FindEntry(EntryName(entry)));
  const Function& f = s->graph().fn(e->fn);
  const auto& list = input ? f.params : f.results;
  if (index >= list.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} {} of {}", input ? "input" : "output", index, list.size()));
  }
  const Value& v = f.value(list[index]);
  GE_RETURN_IF_ERROR(FillInfo(&session->texts, s->graph().dims, v.name, v.type, out));
  if (!input) NameAsDeclared(session, *s, *e, index, out);
  FillWords(*s, out);
  return {};
}

Status Count(ge_session* session, const char* entry, bool input, uint32_t* out) {
  if (!out) return Null("out");
  *out = 0;
  GE_ASSIGN_OR_RETURN(Session * s, GetLoaded(session));
  GE_ASSIGN_OR_RETURN(const Entry* e, s->FindEntry(EntryName(entry)));
  const Function& f = s->graph().fn(e->fn);
  *out = static_cast<uint32_t>(input ? f.params.size() : f.results.size());
  return {};
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

ge_status ge_session_entry_count(ge_session* session, uint32_t* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = 0;
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    *out = static_cast<uint32_t>(s->graph().entries.size());
    return {};
  });
}

ge_status ge_session_entry_name(ge_session* session, uint32_t entry, const char** out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = nullptr;
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (entry >= s->graph().entries.size()) {
      return Status(Code::kInvalidArgument, "there is no such entry");
    }
    *out = s->graph().entries[entry].name.c_str();
    return {};
  });
}

ge_status ge_session_input_count(ge_session* session, const char* entry, uint32_t* out) {
  return Guard(nullptr, [&] { return Count(session, entry, true, out); });
}
ge_status ge_session_output_count(ge_session* session, const char* entry, uint32_t* out) {
  return Guard(nullptr, [&] { return Count(session, entry, false, out); });
}
ge_status ge_session_input_info(ge_session* session, const char* entry, uint32_t index,
                                ge_tensor_info* out) {
  return Guard(nullptr, [&] { return Info(session, entry, index, true, out); });
}
ge_status ge_session_output_info(ge_session* session, const char* entry, uint32_t index,
                                 ge_tensor_info* out) {
  return Guard(nullptr, [&] { return Info(session, entry, index, false, out); });
}

ge_status ge_session_default_count(ge_session* session, uint32_t* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = 0;
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    *out = static_cast<uint32_t>(s->defaults().size());
    return {};
  });
}

ge_status ge_session_default_info(ge_session* session, uint32_t index, ge_tensor_info* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (index >= s->defaults().size()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("default {} of {}", index, s->defaults().size()));
    }
    const ge::DefaultInput& d = s->defaults()[index];
    return FillInfo(&session->texts, s->graph().dims, d.name, ge::TensorType(d.dtype, d.dims), out);
  });
}

ge_status ge_session_metadata(ge_session* session, const char* key, const char** out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = nullptr;
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!key) return Null("key");
    auto it = s->graph().meta.find(key);
    if (it != s->graph().meta.end()) *out = it->second.c_str();
    return {};
  });
}

ge_status ge_session_model_info(ge_session* session, ge_model_info* out) {
  return Guard(nullptr, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!out) return Null("out");
    if (out->size < kFirstModelInfo) return TooShort("ge_model_info", out->size, kFirstModelInfo);
    const ge::Graph& g = s->graph();
    const auto text = [&g](const char* key) {
      const auto it = g.meta.find(key);
      return it != g.meta.end() ? it->second.c_str() : "";
    };
    out->metadata_count = static_cast<uint32_t>(std::count_if(
        g.meta.begin(), g.meta.end(), [](const auto& pair) { return !ge::IsOwnMeta(pair.first); }));
    out->name = g.name.c_str();
    out->producer = g.producer.c_str();
    out->producer_version = text(ge::kProducerVersionKey);
    out->domain = text(ge::kModelDomainKey);
    out->description = text(ge::kModelDocKey);
    out->graph_description = g.entries.empty() ? "" : g.fn(g.entries[0].fn).doc.c_str();
    out->has_version = g.meta.count(ge::kModelVersionKey) != 0;
    out->reserved = 0;
    out->version = std::strtoll(text(ge::kModelVersionKey), nullptr, 10);
    return {};
  });
}

ge_status ge_session_metadata_pair(ge_session* session, uint32_t index, const char** key,
                                   const char** value) {
  return Guard(nullptr, [&]() -> Status {
    if (!key || !value) return Null(key ? "value" : "key");
    *key = *value = nullptr;
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    for (const auto& [k, v] : s->graph().meta) {
      if (ge::IsOwnMeta(k) || index-- != 0) continue;
      *key = k.c_str();
      *value = v.c_str();
      return {};
    }
    return Status(Code::kInvalidArgument, "the model has no such pair of metadata");
  });
}

ge_status ge_session_dump(ge_session* session, const char* entry, const char* stage, char** out,
                          ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    if (!stage) return Null("stage");
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    GE_ASSIGN_OR_RETURN(ge::StageId id, ge::StageFromName(stage));
    std::vector<ge::TensorView> shapes;
    if (id >= ge::StageId::kBind) GE_RETURN_IF_ERROR(s->FindEntry(EntryName(entry)).status());
    const bool pieces = id > ge::StageId::kBind && s->RunsInPieces(EntryName(entry));
    if (id >= ge::StageId::kBind && !pieces) {
      auto c = s->Latest(EntryName(entry));
      if (!c) {
        return Status(Code::kFailedPrecondition,
                      "stages from bind on need input shapes; compile or run the entry first");
      }
      for (const auto& port : c->inputs) shapes.push_back({port.dtype, port.dims, nullptr, 0});
    }
    GE_ASSIGN_OR_RETURN(std::string text, s->DumpText(EntryName(entry), id, shapes));
    return GiveText(text, out);
  });
}

ge_status ge_session_report(ge_session* session, const char* entry, char** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    GE_RETURN_IF_ERROR(s->FindEntry(EntryName(entry)).status());
    GE_ASSIGN_OR_RETURN(std::string text, s->ReportJson(EntryName(entry)));
    return GiveText(text, out);
  });
}

ge_status ge_session_explain(ge_session* session, const char* entry, char** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    GE_RETURN_IF_ERROR(s->FindEntry(EntryName(entry)).status());
    nlohmann::json j;
    if (s->RunsInPieces(EntryName(entry))) {
      j = ge::ExplainPieces(s->Pieces());
    } else if (const auto c = s->Latest(EntryName(entry))) {
      j = ge::ExplainPlan(*c);
    } else {
      return Status(Code::kFailedPrecondition,
                    "nothing was compiled for this entry yet; compile or run it first");
    }
    return GiveText(j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), out);
  });
}

ge_status ge_session_engine_count(ge_session* session, uint32_t* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = 0;
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    GE_ASSIGN_OR_RETURN(const ge::EngineList* engines, s->Engines());
    *out = static_cast<uint32_t>(engines->size());
    return {};
  });
}

ge_status ge_session_engine_info(ge_session* session, uint32_t engine, ge_engine_info* out) {
  return Guard(nullptr, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(const ge::Engine* e, FindEngine(session, engine));
    if (!out) return Null("out");
    if (out->size < kFirstEngineInfo) {
      return TooShort("ge_engine_info", out->size, kFirstEngineInfo);
    }
    out->devices = static_cast<uint32_t>(e->devices().size());
    out->name = e->name().c_str();
    out->version = e->plugin().version.c_str();
    out->vendor = e->plugin().vendor.c_str();
    out->path = e->plugin().path.c_str();
    out->options = e->options().c_str();
    return {};
  });
}

ge_status ge_session_device_info(ge_session* session, uint32_t engine, uint32_t device,
                                 ge_device_info* out) {
  return Guard(nullptr, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(const ge::Engine* e, FindEngine(session, engine));
    if (device >= e->devices().size()) {
      return Status(Code::kInvalidArgument, "the engine has no such device");
    }
    if (!out) return Null("out");
    if (out->size < kFirstDeviceInfo) {
      return TooShort("ge_device_info", out->size, kFirstDeviceInfo);
    }
    FillDevice(session, *e, e->devices()[device], out);
    return {};
  });
}

void ge_text_release(char* text) { std::free(text); }

}  // extern "C"
