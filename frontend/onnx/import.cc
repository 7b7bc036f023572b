#include "frontend/onnx/import.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

#include "frontend/onnx/import_graph.h"
#include "frontend/onnx/import_state.h"
#include "frontend/onnx/upgrade.h"
#include "ge/base/log.h"
#include "ge/ir/model_meta.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace {

constexpr int64_t kNewestIrVersion = 14;  // of onnx 1.23
constexpr int64_t kOldestOpset = 1;
// A version beyond it is a damaged number: ONNX publishes two or three a year.
constexpr int64_t kMostVersion = 99;

// Nobody can say now what a newer version changes. What it adds to what is known here, operators,
// attributes, inputs and element types, is refused by name where a node uses it; a new meaning of
// what looks as before would not be seen, so that a warning says what is done.
void WarnOfNewer(const std::string& found, int64_t known) {
  LogOnce(1,
          fmt::format("the model uses {}, newer than {}, the newest that is known here: it is read "
                      "as {} would be, and what that lacks is refused by name",
                      found, known, known));
}

}  // namespace

Status CheckOnnxOpset(int64_t opset) {
  if (opset < kOldestOpset || opset > kMostVersion) {
    return Status(Code::kUnsupported,
                  fmt::format("the model uses opset {} of ai.onnx, wanted {} to {} (newer ones are "
                              "read as {} is); export it for one of these",
                              opset, kOldestOpset, kCanonicalOpset, kCanonicalOpset));
  }
  if (opset > kCanonicalOpset)
    WarnOfNewer(fmt::format("opset {} of ai.onnx", opset), kCanonicalOpset);
  return {};
}

Status CheckMlOpset(int64_t opset) {
  if (opset < 1 || opset > kMostVersion) {
    return Status(Code::kUnsupported,
                  fmt::format("the model uses version {} of ai.onnx.ml, wanted 1 to {} (newer ones "
                              "are read as {} is); export it for one of these",
                              opset, kCanonicalMlOpset, kCanonicalMlOpset));
  }
  if (opset > kCanonicalMlOpset) {
    WarnOfNewer(fmt::format("version {} of ai.onnx.ml", opset), kCanonicalMlOpset);
  }
  return {};
}

OpsetPair ImportState::opsets() const {
  const auto ml = graph.opsets.find("ai.onnx.ml");
  return {opset, ml == graph.opsets.end() ? 0 : ml->second};
}

namespace {

Status ReadVersions(ImportState* s, const wire::Model& model) {
  if (!model.has_ir_version() || model.ir_version() < 1) {
    return Status(Code::kInvalidGraph,
                  fmt::format("the model has ir_version {}, wanted 1 to {}; is it an ONNX model?",
                              model.ir_version(), kNewestIrVersion));
  }
  if (model.ir_version() > kMostVersion) {
    return Status(Code::kUnsupported,
                  fmt::format("the model has ir_version {}, wanted at most {} (newer ones are read "
                              "as {} is); export it for an older IR version",
                              model.ir_version(), kNewestIrVersion, kNewestIrVersion));
  }
  if (model.ir_version() > kNewestIrVersion) {
    WarnOfNewer(fmt::format("IR version {}", model.ir_version()), kNewestIrVersion);
  }
  s->ir_version = model.ir_version();
  for (const auto& import : model.opset_import()) {
    GE_RETURN_IF_ERROR(CheckName(*s, "an opset's domain", import.domain()));
    std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    auto [at, fresh] = s->graph.opsets.emplace(domain, import.version());
    if (!fresh && at->second != import.version()) {
      return Status(Code::kInvalidGraph,
                    fmt::format("the model imports the domain '{}' at the versions {} and {}, "
                                "wanted one",
                                import.domain(), at->second, import.version()));
    }
  }
  const auto ml = s->graph.opsets.find("ai.onnx.ml");
  if (ml != s->graph.opsets.end()) GE_RETURN_IF_ERROR(CheckMlOpset(ml->second));
  auto onnx = s->graph.opsets.find("");
  if (onnx == s->graph.opsets.end()) return {};  // a node that needs it is refused by name
  s->opset = onnx->second;
  GE_RETURN_IF_ERROR(CheckOnnxOpset(s->opset));
  onnx->second = kCanonicalOpset;
  s->graph.meta.emplace(kSourceOpsetKey, std::to_string(s->opset));
  return {};
}

void ReadMeta(ImportState* s, const wire::Model& model) {
  Graph& g = s->graph;
  g.name = model.graph().name();
  g.producer = model.producer_name();
  // A model may say what it likes, but not what is ours to say.
  for (const auto& entry : model.metadata_props()) {
    if (!IsOwnMeta(entry.key())) g.meta[entry.key()] = entry.value();
  }
  const auto add = [&g](const char* key, const std::string& value) {
    if (!value.empty()) g.meta[key] = value;
  };
  add(kProducerVersionKey, model.producer_version());
  add(kModelDocKey, model.doc_string());
  add(kModelDomainKey, model.domain());
  if (model.has_model_version()) add(kModelVersionKey, std::to_string(model.model_version()));
}

Status ImportModel(ImportState* s, const wire::Model& model) {
  GE_RETURN_IF_ERROR(ReadVersions(s, model));
  if (!model.has_graph()) {
    return Status(Code::kInvalidGraph, "the model has no graph; is it an ONNX model?");
  }
  ReadMeta(s, model);
  GraphImporter importer(s);
  for (const auto& f : model.functions()) GE_RETURN_IF_ERROR(importer.AddLocalFunction(f));
  GE_ASSIGN_OR_RETURN(FunctionId main, importer.ImportMain(model.graph()));
  for (const ValueId v : s->graph.fn(main).results) {
    const Value& result = s->graph.fn(main).value(v);
    const auto rank = s->declared_ranks.find({main, v});
    if (rank == s->declared_ranks.end() || result.type.ranked) continue;
    s->graph.meta.emplace(kSourceRankKey + result.name, std::to_string(rank->second));
  }
  GE_RETURN_IF_ERROR(UpgradeToCanonical(s, main));
  const auto ml = s->graph.opsets.find("ai.onnx.ml");
  if (ml != s->graph.opsets.end()) ml->second = kCanonicalMlOpset;
  Entry entry;
  entry.name = "main";
  entry.fn = main;
  s->graph.entries.push_back(std::move(entry));
  return {};
}

// `levels`: of nested messages, which ScanWeights has looked at where it knows their kind.
Status Parse(std::string_view skeleton, uint32_t levels, wire::Model* model) {
  google::protobuf::io::ArrayInputStream stream(skeleton.data(), static_cast<int>(skeleton.size()));
  google::protobuf::io::CodedInputStream in(&stream);
  in.SetRecursionLimit(static_cast<int>(levels));
  if (model->ParsePartialFromCodedStream(&in) && in.ConsumedEntireMessage()) return {};
  return Status(Code::kDataCorrupt,
                fmt::format("the bytes are no ONNX model: a field does not parse, or messages are "
                            "nested beyond {} levels",
                            levels));
}

Result<Graph> ImportScanned(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                            const MappedFile* file, const ImportOptions& options,
                            ImportStats* stats) {
  ImportStats ignored;
  ImportState s{.options = options,
                .stats = stats ? stats : &ignored,
                .graph = {},
                .bytes = bytes,
                .owner = std::move(owner),
                .mapped = file != nullptr,
                .payloads = {},
                .external_files = {},
                .symbols = {},
                .const_of = {},
                .node_opsets = {},
                .declared_ranks = {}};
  *s.stats = {};
  ScanLimits limits;
  limits.max_skeleton_bytes = std::min<uint64_t>(options.max_skeleton_bytes, INT_MAX - 64);
  // The importer names the node whose body is too deep, and so has to see one.
  limits.max_graph_depth = options.max_graph_depth + 2;
  limits.max_message_depth = 3 * options.max_graph_depth + 32;
  // All of it goes with the arena: protobuf leaks what it holds where an allocation fails.
  google::protobuf::Arena arena;
  auto* model = google::protobuf::Arena::CreateMessage<wire::Model>(&arena);
  {
    GE_ASSIGN_OR_RETURN(ModelSkeleton skeleton, ScanWeights(bytes, limits));
    s.payloads = std::move(skeleton.payloads);
    s.skeleton_bytes = skeleton.bytes.size();
    GE_RETURN_IF_ERROR(Parse(skeleton.bytes, limits.max_message_depth + 36, model));
  }
  GE_RETURN_IF_ERROR(ImportModel(&s, *model));
  if (file) file->DropPages();
  return std::move(s.graph);
}

// Allocation failure is the one exception that the standard library may throw here.
Result<Graph> Guarded(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                      const MappedFile* file, const ImportOptions& options, ImportStats* stats) {
  try {
    auto graph = ImportScanned(bytes, std::move(owner), file, options, stats);
    if (!graph.ok()) return Status(graph.status()).AtStage("load");
    return graph;
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "no memory left while the model was read")
        .AtStage("load");
  }
}

}  // namespace

Result<Graph> ImportOnnxFile(const std::string& path, const ImportOptions& options,
                             ImportStats* stats) {
  auto file = MappedFile::Open(path, options.max_file_bytes);
  if (!file.ok()) return Status(file.status()).AtStage("load");
  if ((*file)->bytes().empty()) {
    return Status(Code::kDataCorrupt, fmt::format("'{}' is empty, wanted an ONNX model", path))
        .AtStage("load");
  }
  ImportOptions own = options;
  if (own.base_dir.empty()) {
    size_t slash = path.rfind('/');
    own.base_dir = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  }
  (*file)->ExpectSparseReads();
  auto graph = Guarded((*file)->bytes(), *file, file->get(), own, stats);
  // Before what came of it: a file that was cut short looks like no model.
  GE_RETURN_IF_ERROR((*file)->Check().AtStage("load"));
  return graph;
}

Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const ImportOptions& options, ImportStats* stats) {
  if (bytes.empty() || !bytes.data()) {
    return Status(Code::kInvalidArgument, "the model has no bytes, wanted an ONNX model")
        .AtStage("load");
  }
  if (bytes.size() > options.max_file_bytes) {
    return Status(Code::kLimitExceeded, fmt::format("the model has {} bytes, more than the limit "
                                                    "of {}",
                                                    bytes.size(), options.max_file_bytes))
        .AtStage("load");
  }
  if (owner) return Guarded(bytes, std::move(owner), nullptr, options, stats);
  std::shared_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes.size()]);
  if (!copy) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for a copy of the model's {} bytes", bytes.size()))
        .AtStage("load");
  }
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  auto graph = Guarded({copy.get(), bytes.size()}, copy, nullptr, options, stats);
  if (stats) stats->copied_bytes = stats->weight_bytes;
  return graph;
}

}  // namespace ge
