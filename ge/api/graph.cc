// ge.h: graphs made by calls, what is loaded and written of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/save.h"
#include "ge/api/capi.h"
#include "ge/api/lent.h"
#include "ge/compile/rewrite/open_operators.h"
#include "ge/engine/pass/graph_edit.h"
#include "ge/infer/infer.h"
#include "ge/verify/verify.h"
#include "ge/verify/verify_calls.h"

using ge::Code;
using ge::Graph;
using ge::Result;
using ge::Status;
using ge::capi::Guard;
using ge::capi::Null;
using ge::capi::TooShort;

struct ge_graph_builder {
  ge_graph_builder(std::string name, std::shared_ptr<const ge::OpTable> ops)
      : edit(std::move(name), std::move(ops), {ge::InferNode, ge::VerifyCalls}) {}
  ge::GraphEdit edit;
};

namespace ge::capi {
namespace {

Status Create(const ge_graph_options* options, ge_graph_builder** out) {
  ge_graph_options o{};
  if (options) {
    if (options->size < kFirstGraphOptions) {
      return TooShort("ge_graph_options", options->size, kFirstGraphOptions);
    }
    std::memcpy(&o, options, std::min<size_t>(options->size, sizeof o));
  }
  std::shared_ptr<const OpTable> ops;
  if (o.plugins) {
    GE_ASSIGN_OR_RETURN(ops, OpenOperators(o.plugins));
  }
  *out = new ge_graph_builder(o.name ? o.name : "", std::move(ops));
  return {};
}

Status AddConstant(ge_graph_builder* graph, uint32_t function, const ge_tensor* tensor,
                   void (*release)(void* context), void* context, uint32_t* value) {
  std::vector<TensorView> views;
  GE_RETURN_IF_ERROR(ReadTensors("tensor", tensor, 1, true, &views));
  const TensorView& t = views[0];
  if (t.bytes > 0 && !t.data) return Null("the tensor's data");
  if (t.dtype == DType::kString) {
    return Status(Code::kInvalidArgument, "a constant of texts has no bytes to give");
  }
  Type type = TensorType(t.dtype, std::vector<int64_t>(t.dims.begin(), t.dims.end()));
  if (!release) {
    return graph->edit.AddConst(function, MakeConst(std::move(type), t.data, t.bytes), value);
  }
  const auto lent = std::make_shared<Lent>(release, context);
  Const c;
  c.type = std::move(type);
  c.owner = lent;
  c.data = static_cast<const std::byte*>(t.data);
  c.bytes = t.bytes;
  GE_RETURN_IF_ERROR(graph->edit.AddConst(function, std::move(c), value));
  lent->armed = true;
  return {};
}

Result<Format> FormatOf(const std::string& path, uint32_t format) {
  switch (format) {
    case GE_FORMAT_AUTO:
      if (path.ends_with(".gt")) return Format::kText;
      if (path.ends_with(".gepb")) return Format::kProto;
      if (path.ends_with(".onnx")) return Format::kOnnx;
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' ends in none of .gt, .gepb and .onnx; say the format", path));
    case GE_FORMAT_ONNX:
      return Format::kOnnx;
    case GE_FORMAT_PROTO:
      return Format::kProto;
    case GE_FORMAT_TEXT:
      return Format::kText;
    default:
      return Status(Code::kInvalidArgument,
                    fmt::format("format is {}, wanted GE_FORMAT_TEXT, GE_FORMAT_PROTO or "
                                "GE_FORMAT_ONNX",
                                format));
  }
}

Status Save(ge_graph_builder* graph, const std::string& path, uint32_t format) {
  GE_ASSIGN_OR_RETURN(const Format as, FormatOf(path, format));
  GE_ASSIGN_OR_RETURN(Graph g, graph->edit.Copy());
  GE_RETURN_IF_ERROR(Verify(g).AtStage("verify"));
  GE_RETURN_IF_ERROR(Infer(&g).AtStage("infer"));
  return SaveModel(g, path, as);
}

}  // namespace
}  // namespace ge::capi

extern "C" {

ge_status ge_graph_create(const ge_graph_options* options, ge_graph_builder** out,
                          ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    return ge::capi::Create(options, out);
  });
}

ge_status ge_graph_edit(ge_graph_builder* graph, const ge_edit** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!graph) return Null("graph");
    if (!out) return Null("out");
    *out = graph->edit.api();
    return {};
  });
}

ge_status ge_graph_error(const ge_graph_builder* graph, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!graph) return Null("graph");
    return graph->edit.failure();
  });
}

ge_status ge_graph_constant(ge_graph_builder* graph, uint32_t function, const ge_tensor* tensor,
                            void (*release)(void* context), void* context, uint32_t* value,
                            ge_error* error) {
  if (value) *value = 0;
  return Guard(error, [&]() -> Status {
    if (!graph) return Null("graph");
    if (!tensor) return Null("tensor");
    if (!value) return Null("value");
    return ge::capi::AddConstant(graph, function, tensor, release, context, value);
  });
}

ge_status ge_graph_placeholder(ge_graph_builder* graph, uint32_t function, const void* param,
                               uint32_t* value, ge_error* error) {
  if (value) *value = 0;
  return Guard(error, [&]() -> Status {
    if (!graph) return Null("graph");
    if (!param) return Null("param");
    if (!value) return Null("value");
    return graph->edit.AddPlaceholder(function, *static_cast<const ge_param*>(param), value);
  });
}

ge_status ge_session_load_graph(ge_session* session, ge_graph_builder* graph, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, ge::capi::Get(session));
    if (!graph) return Null("graph");
    GE_ASSIGN_OR_RETURN(Graph copy, graph->edit.Copy());
    return s->LoadGraph(std::move(copy));
  });
}

ge_status ge_graph_save(ge_graph_builder* graph, const char* path, uint32_t format,
                        ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!graph) return Null("graph");
    if (!path) return Null("path");
    return ge::capi::Save(graph, path, format);
  });
}

void ge_graph_release(ge_graph_builder* graph) { delete graph; }

}  // extern "C"
