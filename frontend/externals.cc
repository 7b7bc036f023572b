#include "frontend/externals.h"

#include <fmt/format.h>

#include <map>

#include "frontend/onnx/import.h"
#include "ge/base/mapped_file.h"
#include "ge/base/sha256.h"

namespace ge {
namespace {

bool IsPending(const Const& c) {
  return !c.external.file.empty() && !c.data && c.splat.empty() && c.strings.empty();
}

Status Attach(Const* c, const std::shared_ptr<const MappedFile>& file) {
  const ExternalRef& ref = c->external;
  const uint64_t size = file->bytes().size();
  if (ref.offset > size || ref.length > size - ref.offset) {
    return Status(Code::kDataCorrupt,
                  fmt::format("constant '{}' wants {} bytes at {} of '{}', which has {}; the file "
                              "is cut short or belongs to another model",
                              c->name, ref.length, ref.offset, ref.file, size));
  }
  const auto payload = file->bytes().subspan(ref.offset, ref.length);
  if (!ref.sha256.empty()) {
    const std::string found = Sha256(payload);
    if (found != ref.sha256) {
      return Status(Code::kDataCorrupt,
                    fmt::format("constant '{}' in '{}' has the SHA-256 {}, wanted {}; the file was "
                                "changed or belongs to another model",
                                c->name, ref.file, found, ref.sha256));
    }
  }
  c->data = payload.data();
  c->bytes = ref.length;
  c->owner = file;
  c->mapped = true;
  return {};
}

}  // namespace

Status OpenExternals(Graph* graph, const std::string& folder, std::span<const std::string> roots) {
  std::map<std::string, std::shared_ptr<const MappedFile>> files;
  for (Const& c : graph->consts) {
    if (!IsPending(c)) continue;
    if (folder.empty()) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("constant '{}' lies in the file '{}', but the graph was given "
                                "without a folder; load the graph by its path",
                                c.name, c.external.file));
    }
    auto& file = files[c.external.file];
    if (!file) {
      auto opened =
          MappedFile::OpenBeneath(folder, c.external.file, roots, ImportOptions().max_file_bytes);
      if (!opened.ok()) {
        return Status(opened.status().code(),
                      fmt::format("constant '{}': {}; put the file of external data beside the "
                                  "graph",
                                  c.name, opened.status().message()));
      }
      file = *opened;
    }
    GE_RETURN_IF_ERROR(Attach(&c, file));
  }
  return {};
}

}  // namespace ge
