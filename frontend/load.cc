#include "frontend/load.h"

#include <fmt/format.h>

#include <filesystem>

#include "frontend/externals.h"
#include "frontend/onnx/import.h"
#include "frontend/proto/proto.h"
#include "frontend/text/text.h"
#include "ge/base/mapped_file.h"
#include "ge/base/mapping_faults.h"
#include "ge/capsule/compiled_index.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/manifest.h"

namespace ge {
namespace {

Format FormatOfName(const std::string& path) {
  auto ends = [&](std::string_view tail) {
    return path.size() >= tail.size() &&
           path.compare(path.size() - tail.size(), tail.size(), tail) == 0;
  };
  if (ends(".gt")) return Format::kText;
  if (ends(".gepb")) return Format::kProto;
  if (ends(".onnx")) return Format::kOnnx;
  if (ends(".gecap")) return Format::kCapsule;
  return Format::kAuto;
}

// Where no name tells: our text begins with "ge", our own protobuf and a capsule with their marks,
// and the rest is tried as ONNX.
Format FormatOfBytes(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (LooksLikeText(text.substr(0, 4096))) return Format::kText;
  if (LooksLikeCapsule(bytes)) return Format::kCapsule;
  return LooksLikeProto(bytes) ? Format::kProto : Format::kOnnx;
}

// What was written at this opset or a later one means the same at the canonical one.
constexpr int64_t kOldestOwnOpset = 27;

// The importer of ONNX upgrades; our own formats are written at the canonical opset.
Status ToCanonicalOpset(Graph* graph) {
  const auto it = graph->opsets.find("");
  if (it == graph->opsets.end()) return {};
  if (it->second >= kOldestOwnOpset && it->second <= kCanonicalOpset) {
    it->second = kCanonicalOpset;
    return {};
  }
  return Status(
      Code::kUnsupported,
      fmt::format("the model is at opset {} of ai.onnx, files of this format are at {} or {}; "
                  "write it again from its ONNX file, whatever its opset: ge dump "
                  "MODEL.onnx --to load --format proto -o MODEL.gepb",
                  it->second, kOldestOwnOpset, kCanonicalOpset));
}

// The model that the run began with: the first of its graphs, as it was loaded.
// Of a compiled model the rewritten one; then *compiled is set.
Result<Graph> ModelOfCapsule(const std::shared_ptr<const CapsuleReader>& capsule,
                             std::shared_ptr<const CapsuleReader>* compiled) {
  GE_ASSIGN_OR_RETURN(const CapsuleManifest manifest, ReadManifest(*capsule));
  const bool is_compiled = capsule->Has(kCompiledMember);
  if (is_compiled) *compiled = capsule;
  if (!manifest.graphs.empty()) {
    return ReadGraphMember(capsule, manifest.graphs[0].member, is_compiled);
  }
  return Status(Code::kDataCorrupt,
                fmt::format("capsule '{}': member '{}': its field 'graphs' names none",
                            capsule->path(), kManifestMember));
}

Result<Graph> ReadOwnFormat(const std::shared_ptr<const MappedFile>& file, const std::string& path,
                            Format format, std::shared_ptr<const CapsuleReader>* compiled) {
  if (format == Format::kText) {
    return ParseText({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()},
                     path);
  }
  if (format == Format::kCapsule) {
    GE_ASSIGN_OR_RETURN(const auto capsule, CapsuleReader::FromFile(file, path));
    return ModelOfCapsule(capsule, compiled);
  }
  ReadOptions options;
  options.owner = file;
  options.mapped = true;
  return ReadProto(file->bytes(), options);
}

ImportOptions ImportOptionsOf(const LoadOptions& options) {
  ImportOptions out;
  out.data_roots = options.data_roots;
  out.initializer_inputs = options.initializer_inputs;
  return out;
}

// Our own formats have no defaults that a caller may override.
Status WantNoInitializerInputs(const LoadOptions& options) {
  if (options.initializer_inputs.empty()) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("the model has no initializer '{}' that is an input too; models of "
                            "ONNX alone have such",
                            options.initializer_inputs[0]));
}

Result<LoadedModel> ReadModelFile(const std::string& path, Format format, LoadOptions options) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (!error) options.data_roots.push_back(real.parent_path().string());
  if (format == Format::kAuto) format = FormatOfName(path);
  Graph graph;
  ImportStats stats;
  std::shared_ptr<const CapsuleReader> compiled;
  std::shared_ptr<const MappedFile> file;
  if (format != Format::kOnnx) {
    GE_ASSIGN_OR_RETURN(file, MappedFile::Open(path, ImportOptions().max_file_bytes));
    if (format == Format::kAuto) format = FormatOfBytes(file->bytes());
  }
  if (format == Format::kOnnx) {
    file.reset();  // the importer opens it in its own way
    GE_ASSIGN_OR_RETURN(graph, ImportOnnxFile(path, ImportOptionsOf(options), &stats));
  } else {
    auto read = ReadOwnFormat(file, path, format, &compiled);
    GE_RETURN_IF_ERROR(file->Check());  // before what came of it
    GE_ASSIGN_OR_RETURN(graph, std::move(read));
    GE_RETURN_IF_ERROR(ToCanonicalOpset(&graph));
    GE_RETURN_IF_ERROR(WantNoInitializerInputs(options));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  GE_RETURN_IF_ERROR(OpenExternals(&graph, folder.empty() ? "." : folder, options.data_roots));
  return LoadedModel{std::move(graph), stats.copied_bytes, std::move(stats.defaults),
                     std::move(stats.words), std::move(compiled)};
}

}  // namespace

Result<LoadedModel> LoadModelFile(const std::string& path, Format format,
                                  const LoadOptions& options) {
  const FaultScope faults;
  auto model = ReadModelFile(path, format, options);
  const Status& status = model.status();
  // What is wrong with bytes names the file that has them.
  const bool named = status.message().find(path) != std::string::npos;
  if (status.code() != Code::kDataCorrupt || named) return model;
  return Status(status.code(), fmt::format("'{}': {}", path, status.message()))
      .AtNode(status.node())
      .AtStage(status.stage());
}

Result<LoadedModel> LoadModelBytes(std::string bytes, Format format, const LoadOptions& options) {
  auto owner = std::make_shared<std::string>(std::move(bytes));
  std::span<const std::byte> view(reinterpret_cast<const std::byte*>(owner->data()), owner->size());
  if (view.empty()) {
    return Status(Code::kInvalidArgument,
                  "the model has no bytes; give the content of a model file");
  }
  if (format == Format::kAuto) format = FormatOfBytes(view);
  Graph graph;
  ImportStats stats;
  std::shared_ptr<const CapsuleReader> compiled;
  if (format == Format::kText) {
    GE_ASSIGN_OR_RETURN(graph, ParseText(*owner, "<bytes>"));
  } else if (format == Format::kCapsule) {
    GE_ASSIGN_OR_RETURN(const auto capsule, CapsuleReader::FromBytes(owner, "<bytes>"));
    GE_ASSIGN_OR_RETURN(graph, ModelOfCapsule(capsule, &compiled));
  } else if (format == Format::kProto) {
    ReadOptions options;
    options.owner = owner;
    GE_ASSIGN_OR_RETURN(graph, ReadProto(view, options));
  } else {
    GE_ASSIGN_OR_RETURN(graph, ImportOnnxBytes(view, owner, ImportOptionsOf(options), &stats));
  }
  if (format != Format::kOnnx) GE_RETURN_IF_ERROR(WantNoInitializerInputs(options));
  GE_RETURN_IF_ERROR(ToCanonicalOpset(&graph));
  return LoadedModel{std::move(graph), stats.copied_bytes, std::move(stats.defaults),
                     std::move(stats.words), std::move(compiled)};
}

}  // namespace ge
