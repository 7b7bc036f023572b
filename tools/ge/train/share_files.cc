#include "tools/ge/train/share_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "frontend/load.h"
#include "frontend/state_file.h"
#include "tools/ge/train/digest.h"

namespace ge::tool {
namespace {

Status Corrupt(const std::string& path, const std::string& text) {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is no usable checkpoint: {}", path, text));
}

// The files of a manifest, each opened and checked when it is first wanted.
class Files {
 public:
  Files(const std::string& folder, const Manifest& manifest)
      : folder_(folder), m_(manifest), open_(manifest.files.size()) {}

  Result<const Graph*> Get(size_t i) {
    if (open_[i]) return &*open_[i];
    const StatesFile& f = m_.files[i];
    const std::string path = PathOf(i);
    uint64_t bytes = 0;
    GE_ASSIGN_OR_RETURN(const std::string digest, DigestOfFile(path, &bytes));
    if (digest != f.digest || bytes != f.bytes) {
      return Corrupt(path, fmt::format("the states in it are not those of step {} that the "
                                       "checkpoint was made with",
                                       m_.at.step));
    }
    GE_ASSIGN_OR_RETURN(LoadedModel loaded, LoadModelFile(path, Format::kProto));
    open_[i] = std::move(loaded.graph);
    return &*open_[i];
  }
  std::string PathOf(size_t i) const { return folder_ + "/" + m_.files[i].name; }

  // The bytes of a state in file i, which there has these dims.
  Result<const std::byte*> Bytes(size_t i, const std::string& name, DType dtype, const Box& box) {
    GE_ASSIGN_OR_RETURN(const Graph* g, Get(i));
    for (StateId s = 1; s < g->states.size(); ++s) {
      const State& state = g->states[s];
      if (state.name != name) continue;
      const Const* value = state.init != 0 ? &g->consts[state.init] : nullptr;
      const auto bytes = DTypeBytes(dtype, box.count());
      const bool fits = value != nullptr && bytes && state.type.dtype == dtype &&
                        value->bytes == static_cast<uint64_t>(*bytes) &&
                        (value->data != nullptr || *bytes == 0);
      if (fits) return value->data;
      return Corrupt(PathOf(i),
                     fmt::format("state '{}' is not of the size that it is said to have", name));
    }
    return Corrupt(PathOf(i), fmt::format("it lacks the state '{}'", name));
  }

 private:
  const std::string& folder_;
  const Manifest& m_;
  std::vector<std::optional<Graph>> open_;
};

// Of one file that has all states whole.
Result<StoredState> StoredWhole(Files* files, const std::string& name) {
  GE_ASSIGN_OR_RETURN(const Graph* g, files->Get(0));
  for (StateId s = 1; s < g->states.size(); ++s) {
    const Type& t = g->states[s].type;
    if (g->states[s].name != name) continue;
    StoredState stored{t.dtype, {}, {}};
    for (const Dim& d : t.dims) stored.dims.push_back(d.known() ? d.value : -1);
    stored.parts.push_back({0, Box::Whole(stored.dims)});
    return stored;
  }
  return Corrupt(files->PathOf(0), fmt::format("it lacks the state '{}'", name));
}

std::string TypeText(DType dtype, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", DTypeName(dtype), fmt::join(dims, ","));
}

// This rank's box of a state, put together.
Status Gather(Files* files, const StoredState& stored, const std::string& name,
              const StateBox& mine, uint64_t element, std::byte* to) {
  int64_t found = 0;
  std::vector<const Box*> seen;
  for (const StoredState::Part& p : stored.parts) {
    const bool again = std::any_of(seen.begin(), seen.end(), [&](auto* b) { return *b == p.box; });
    if (again) continue;  // ranks along other axes have the same
    seen.push_back(&p.box);
    if (CopyShared(p.box, nullptr, mine.box, nullptr, 0) == 0) continue;
    GE_ASSIGN_OR_RETURN(const std::byte* from, files->Bytes(p.file, name, stored.dtype, p.box));
    found += CopyShared(p.box, from, mine.box, to, element);
  }
  if (found == mine.box.count()) return {};
  return Corrupt(files->PathOf(0), fmt::format("of state '{}' its files have {} of the {} elements "
                                               "that are wanted",
                                               name, found, mine.box.count()));
}

}  // namespace

Result<SharePiece> WriteShares(const std::string& folder, const std::string& name,
                               TrainedNet* net) {
  GE_ASSIGN_OR_RETURN(const std::vector<Tensor> states, net->LocalStates());
  SharePiece piece;
  Graph graph;
  graph.name = "shares";
  std::vector<Type> types(1);
  std::vector<const std::byte*> values(1, nullptr);
  for (const Tensor& t : states) {
    const StateBox& box = net->boxes().at(t.name);
    if (!box.first) continue;
    State state;
    state.name = t.name;
    state.type = TensorType(t.view.dtype, t.view.dims);
    graph.states.push_back(state);
    types.push_back(state.type);
    values.push_back(static_cast<const std::byte*>(t.view.data));
    piece.shares[t.name] = {t.view.dtype, box.dims, {{0, box.box}}};
  }
  const std::string path = folder + "/" + name;
  GE_RETURN_IF_ERROR(WriteStateFile(graph, types, values, path));
  piece.file.name = name;
  GE_ASSIGN_OR_RETURN(piece.file.digest, DigestOfFile(path, &piece.file.bytes));
  return piece;
}

void Join(SharePiece piece, Manifest* to) {
  const size_t file = to->files.size();
  to->files.push_back(std::move(piece.file));
  for (auto& [name, state] : piece.shares) {
    for (StoredState::Part& p : state.parts) p.file = file;
    const auto [at, added] = to->shares.emplace(name, state);
    if (added) continue;
    at->second.parts.insert(at->second.parts.end(), state.parts.begin(), state.parts.end());
  }
}

Status ReadShares(const std::string& folder, const Manifest& manifest, TrainedNet* net) {
  Files files(folder, manifest);
  GE_ASSIGN_OR_RETURN(std::vector<Tensor> states, net->LocalStates());
  for (Tensor& t : states) {
    const StateBox& mine = net->boxes().at(t.name);
    StoredState stored;
    if (manifest.shares.empty()) {
      GE_ASSIGN_OR_RETURN(stored, StoredWhole(&files, t.name));
    } else if (const auto at = manifest.shares.find(t.name); at != manifest.shares.end()) {
      stored = at->second;
    } else {
      return Corrupt(files.PathOf(0), fmt::format("it lacks the state '{}'", t.name));
    }
    if (stored.dtype != t.view.dtype || stored.dims != mine.dims) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the checkpoint in '{}' is of another net: its state '{}' is {}, "
                                "this one's {}",
                                folder, t.name, TypeText(stored.dtype, stored.dims),
                                TypeText(t.view.dtype, mine.dims)));
    }
    const uint64_t element = static_cast<uint64_t>(DTypeBytes(stored.dtype, 1).value_or(0));
    GE_RETURN_IF_ERROR(Gather(&files, stored, t.name, mine, element, t.memory.get()));
    GE_RETURN_IF_ERROR(net->SetState(t));
  }
  return {};
}

}  // namespace ge::tool
