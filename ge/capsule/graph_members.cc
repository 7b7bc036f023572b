#include "ge/capsule/graph_members.h"

#include <fmt/format.h>

#include <string_view>

#include "frontend/proto/proto.h"
#include "ge/capsule/npy.h"
#include "ge/capsule/store/member_name.h"
#include "ge/ir/graph_files.h"

namespace ge {
namespace {

// Smaller payloads stay in the graph: a member takes about 250 bytes beside its own.
constexpr uint64_t kOwnMemberFrom = 512;

std::string_view TextOf(const std::byte* data, uint64_t bytes) {
  return {reinterpret_cast<const char*>(data), bytes};
}

bool IsStatic(const Type& type) {
  for (const Dim& d : type.dims) {
    if (!d.known()) return false;
  }
  return type.ranked;
}

Status AttachConst(const std::shared_ptr<const CapsuleReader>& capsule, bool trusted, Const* c) {
  const ExternalRef& at = c->external;
  GE_ASSIGN_OR_RETURN(const auto bytes, trusted ? capsule->Map(at.file) : capsule->Read(at.file));
  if (at.offset > bytes.size() || at.length > bytes.size() - at.offset) {
    return Status(
        Code::kDataCorrupt,
        fmt::format("capsule '{}': constant '{}' wants {} bytes at {} of member '{}', "
                    "which has {}",
                    capsule->path(), c->name, at.length, at.offset, at.file, bytes.size()));
  }
  c->data = bytes.data() + at.offset;
  c->bytes = at.length;
  c->owner = capsule;
  c->mapped = true;
  c->external = {};
  return {};
}

}  // namespace

Result<ExternalRef> GraphMembers::PlaceOf(const Const& c) {
  const auto key = std::pair(static_cast<const void*>(c.data), c.bytes);
  const auto known = payloads_.find(key);
  if (known != payloads_.end()) return known->second.place;
  std::vector<int64_t> dims;
  if (IsStatic(c.type)) {
    for (const Dim& d : c.type.dims) dims.push_back(d.value);
  }
  const std::string head = NpyHead(c.type.dtype, dims, c.bytes);
  ExternalRef place;
  place.file = fmt::format("const/{}-{}.npy", payloads_.size(), MemberPart(c.name));
  place.offset = head.size();
  place.length = c.bytes;
  const std::string_view parts[] = {head, TextOf(c.data, c.bytes)};
  GE_RETURN_IF_ERROR(writer_.Add(place.file, parts));
  payloads_.emplace(key, Payload{c.owner, place});
  return place;
}

Status GraphMembers::Write(const std::string& member, const Graph& graph) {
  Graph out = graph;
  for (Const& c : out.consts) {
    c.external = {};  // its own file's place means nothing here
    if (c.data == nullptr || c.bytes < kOwnMemberFrom) continue;
    GE_ASSIGN_OR_RETURN(c.external, PlaceOf(c));
    c.data = nullptr;
  }
  GE_RETURN_IF_ERROR(MappedFilesOf(graph).Check());  // what was read of them
  GE_ASSIGN_OR_RETURN(const std::string bytes, WriteProto(out));
  return writer_.Add(member, bytes);
}

Result<Graph> ReadGraphMember(const std::shared_ptr<const CapsuleReader>& capsule,
                              const std::string& member, bool trusted) {
  GE_ASSIGN_OR_RETURN(const auto bytes, capsule->Read(member));
  ReadOptions options;
  options.owner = capsule;
  options.mapped = true;
  auto graph = ReadProto(bytes, options);
  if (!graph.ok()) {
    return Status(graph.status().code(),
                  fmt::format("capsule '{}': member '{}': {}", capsule->path(), member,
                              graph.status().message()));
  }
  for (Const& c : graph->consts) {
    if (!c.external.file.empty()) GE_RETURN_IF_ERROR(AttachConst(capsule, trusted, &c));
  }
  return graph;
}

}  // namespace ge
