#include "frontend/onnx/export.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <climits>

#include "frontend/onnx/export_graph.h"
#include "ge/base/mapping_faults.h"
#include "ge/ir/graph_files.h"
#include "ge/ir/model_meta.h"

namespace ge {
namespace {

using google::protobuf::io::CodedOutputStream;

// Field numbers of the format that are written by hand.
constexpr uint32_t kModelGraph = 7, kGraphInitializer = 5, kTensorRawData = 9;
constexpr uint32_t LengthDelimited(uint32_t field) { return field << 3 | 2; }

uint64_t FieldBytes(uint64_t payload) {  // of fields below 16
  return 1 + CodedOutputStream::VarintSize64(payload) + payload;
}

// ONNX's own pairing of opsets with the version of the format.
int64_t IrVersionFor(int64_t opset) {
  if (opset <= 18) return 8;
  if (opset <= 20) return 9;
  if (opset <= 22) return 10;
  if (opset <= 24) return opset - 12;
  return opset <= 27 ? 13 : 14;
}

struct Weight {
  std::string head;                 // the tensor without its payload
  ConstScratch splat;               // owns `data` of a constant that repeats one element
  const std::byte* data = nullptr;  // the graph's own otherwise
  uint64_t raw = 0;                 // bytes of raw_data; 0 = none
  uint64_t bytes = 0;               // of the tensor's message
};

Result<std::vector<Weight>> WeightsOf(const GraphExporter& exporter) {
  std::vector<Weight> weights;
  for (const auto& i : exporter.initializers()) {
    Weight& w = weights.emplace_back();
    wire::Tensor tensor;
    const bool strings = i.payload->type.dtype == DType::kString;
    GE_RETURN_IF_ERROR(ExportTensor(*i.payload, i.name, strings, &tensor));
    tensor.SerializeToString(&w.head);
    w.raw = strings ? 0 : static_cast<uint64_t>(ByteCount(i.payload->type).value_or(0));
    if (w.raw > 0) w.data = ConstBytes(*i.payload, &w.splat, UINT64_MAX);
    if (w.raw > 0 && !w.data) {
      return Status(Code::kResourceExhausted,
                    fmt::format("no memory for the {} bytes of the constant '{}'", w.raw, i.name));
    }
    w.bytes = w.head.size() + (w.raw > 0 ? FieldBytes(w.raw) : 0);
  }
  return weights;
}

void WriteWeight(const Weight& w, CodedOutputStream* to) {
  to->WriteTag(LengthDelimited(kGraphInitializer));
  to->WriteVarint64(w.bytes);
  to->WriteString(w.head);
  if (w.raw == 0) return;
  to->WriteTag(LengthDelimited(kTensorRawData));
  to->WriteVarint64(w.raw);
  to->WriteRaw(w.data, static_cast<int>(w.raw));  // the whole model fits in an int
}

// The graph goes last and by hand: protobuf would hold a second copy of every weight.
Result<std::string> Serialize(const wire::Model& model, const wire::Graph& graph,
                              const std::vector<Weight>& weights) {
  uint64_t graph_bytes = graph.ByteSizeLong();
  for (const Weight& w : weights) graph_bytes += FieldBytes(w.bytes);
  const uint64_t total = model.ByteSizeLong() + FieldBytes(graph_bytes);
  if (total >= INT_MAX) {
    return Status(Code::kLimitExceeded,
                  fmt::format("the model would have {} bytes; an ONNX file holds less than 2 GiB "
                              "and this version writes no external data; use --format proto",
                              total));
  }
  std::string out;
  out.reserve(total);
  google::protobuf::io::StringOutputStream stream(&out);
  CodedOutputStream coded(&stream);
  coded.WriteString(model.SerializeAsString());
  coded.WriteTag(LengthDelimited(kModelGraph));
  coded.WriteVarint64(graph_bytes);
  coded.WriteString(graph.SerializeAsString());
  for (const Weight& w : weights) WriteWeight(w, &coded);
  coded.Trim();
  return out;
}

void ExportMeta(const Graph& g, const GraphExporter& exporter, wire::Model* model) {
  const auto onnx = exporter.opsets().find("");
  model->set_ir_version(IrVersionFor(onnx == exporter.opsets().end() ? 18 : onnx->second));
  model->set_producer_name(g.producer.empty() ? "graphengine" : g.producer);
  for (const auto& [domain, version] : exporter.opsets()) {
    wire::OperatorSetId* id = model->add_opset_import();
    id->set_domain(domain);
    id->set_version(version);
  }
  for (const auto& [key, value] : g.meta) {
    if (key == kProducerVersionKey) {
      model->set_producer_version(value);
    } else if (key == kModelDocKey) {
      model->set_doc_string(value);
    } else if (key == kModelDomainKey) {
      model->set_domain(value);
    } else if (key == kModelVersionKey) {
      model->set_model_version(std::strtoll(value.c_str(), nullptr, 10));
    } else if (!IsOwnMeta(key)) {
      wire::Pair* pair = model->add_metadata_props();
      pair->set_key(key);
      pair->set_value(value);
    }
  }
}

Result<std::string> Export(const Graph& g, std::string_view entry_name) {
  const Entry* entry = g.FindEntry(entry_name);
  if (!entry) {
    return Status(Code::kInvalidArgument, fmt::format("the graph has no entry '{}'", entry_name));
  }
  if (g.states.size() > 1) {
    return Status(Code::kUnsupported,
                  fmt::format("the state '{}' has no form in ONNX, whose models keep nothing "
                              "between runs; use --format proto",
                              g.states[1].name));
  }
  wire::Graph graph;
  graph.set_name(g.name.empty() ? "main" : g.name);
  if (const std::string& doc = g.fn(entry->fn).doc; !doc.empty()) graph.set_doc_string(doc);
  GraphExporter exporter(g);
  GE_RETURN_IF_ERROR(exporter.ExportMain(g.fn(entry->fn), &graph));
  wire::Model model;
  ExportMeta(g, exporter, &model);
  GE_ASSIGN_OR_RETURN(const std::vector<Weight> weights, WeightsOf(exporter));
  return Serialize(model, graph, weights);
}

}  // namespace

Result<std::string> ExportOnnx(const Graph& graph, std::string_view entry) {
  const FaultScope faults;
  auto bytes = Export(graph, entry);
  GE_RETURN_IF_ERROR(MappedFilesOf(graph).Check().AtStage("export"));
  if (!bytes.ok()) return Status(bytes.status()).AtStage("export");
  return bytes;
}

}  // namespace ge
