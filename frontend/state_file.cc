#include "frontend/state_file.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>

#include "frontend/load.h"
#include "frontend/proto/proto.h"
#include "ge/base/replace_file.h"

namespace ge {
namespace {

constexpr const char* kDigestName = "xxh3-128 of all states";
using Digest = std::array<std::byte, 16>;

// Of the values in order of the states.
template <typename BytesOf>
Digest DigestOf(size_t states, BytesOf bytes_of) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_128bits_reset(state);
  for (StateId s = 1; s < states; ++s) {
    const std::span<const std::byte> bytes = bytes_of(s);
    XXH3_128bits_update(state, bytes.data(), bytes.size());
  }
  XXH128_canonical_t text;
  XXH128_canonicalFromHash(&text, XXH3_128bits_digest(state));
  XXH3_freeState(state);
  Digest digest;
  std::memcpy(digest.data(), text.digest, digest.size());
  return digest;
}

Const Borrowed(std::string name, Type type, std::span<const std::byte> bytes) {
  Const c;
  c.name = std::move(name), c.type = std::move(type);
  c.data = bytes.data(), c.bytes = bytes.size();
  return c;
}

Status Damaged(const std::string& path, const std::string& how) {
  return Status(Code::kDataCorrupt,
                fmt::format("'{}' is damaged: {}; restore from another copy", path, how));
}

Status Foreign(const std::string& path, const std::string& how) {
  return Status(Code::kInvalidArgument,
                fmt::format("'{}' holds no states of this model: {}", path, how));
}

}  // namespace

Status WriteStateFile(const Graph& graph, std::span<const Type> types,
                      std::span<const std::byte* const> values, const std::string& path) {
  Graph out;
  out.name = "states of " + graph.name;
  out.opsets = graph.opsets;
  const auto bytes_of = [&](StateId s) {
    return std::span(values[s], static_cast<size_t>(ByteCount(types[s]).value_or(0)));
  };
  for (StateId s = 1; s < graph.states.size(); ++s) {
    State state;
    state.name = graph.states[s].name, state.type = types[s];
    state.kind = graph.states[s].kind;
    state.init = out.AddConst(Borrowed(state.name, state.type, bytes_of(s)));
    out.states.push_back(std::move(state));
  }
  const Digest digest = DigestOf(graph.states.size(), bytes_of);
  out.AddConst(Borrowed(kDigestName, TensorType(DType::kUint8, std::vector<int64_t>{16}), digest));
  GE_ASSIGN_OR_RETURN(const std::string text, WriteProto(out));
  return ReplaceFile(path, text, true);
}

Result<std::vector<Const>> ReadStateFile(const Graph& graph, const std::string& path) {
  Result<LoadedModel> read = LoadModelFile(path, Format::kProto);
  if (!read.ok() && read.status().code() == Code::kDataCorrupt) {  // a model, or anything else
    return Status(
        Code::kDataCorrupt,
        fmt::format("'{}' is no file of states, or a damaged one ({}); give the file that "
                    "ge_session_save_states wrote",
                    path, read.status().message()));
  }
  GE_ASSIGN_OR_RETURN(LoadedModel loaded, std::move(read));
  const Graph& file = loaded.graph;
  if (file.states.size() != graph.states.size()) {
    return Foreign(path, fmt::format("it has {}, the model {}", file.states.size() - 1,
                                     graph.states.size() - 1));
  }
  std::vector<Const> values(1);
  for (StateId s = 1; s < graph.states.size(); ++s) {
    const State &have = file.states[s], &want = graph.states[s];
    if (have.name != want.name || !FitsDeclared(have.type, want.type)) {
      return Foreign(path,
                     fmt::format("its state {} is '{}' of type {}, the model's '{}' of type {}", s,
                                 have.name, TypeToString(have.type, file.dims), want.name,
                                 TypeToString(want.type, graph.dims)));
    }
    const Const* value = have.init ? &file.consts[have.init] : nullptr;
    const auto bytes = ByteCount(have.type);
    if (!value || !value->data || !bytes || value->bytes != static_cast<uint64_t>(*bytes)) {
      return Damaged(path, fmt::format("state '{}' has no value", have.name));
    }
    values.push_back(*value);
  }
  const Digest digest = DigestOf(values.size(), [&](StateId s) {
    return std::span(values[s].data, static_cast<size_t>(values[s].bytes));
  });
  for (const Const& c : file.consts) {
    if (c.name != kDigestName || c.bytes != digest.size() || !c.data) continue;
    if (std::memcmp(c.data, digest.data(), digest.size()) == 0) return values;
  }
  return Damaged(path, "its digest is not that of its values");
}

}  // namespace ge
