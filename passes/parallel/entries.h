// RankEntries: what one rank of a mesh has of a model: its boxes of states, the entries that work
// on them, and what tells others of both. It decides no layout. One thread, for one run of the
// pass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "passes/kit/fn.h"
#include "passes/parallel/layout.h"
#include "passes/parallel/mesh.h"

namespace ge::parallel {

// A tensor of the whole model: its sizes, and how it lies.
struct Placed {
  std::vector<int64_t> dims;
  Layout layout;
};

class RankEntries {
 public:
  RankEntries(const ge_edit* edit, const Mesh& mesh, int64_t rank)
      : e_(edit), mesh_(mesh), rank_(rank) {}

  // Each state, by its index, gets the type and the first content of this rank's box; others stay
  // whole. Ahead of all functions that use them: those read and write boxes. Throws a Refusal, also
  // of an entry beside `step` that writes one of these states, or that uses it by other operators
  // than ge.Read and ge.Assign.
  void Share(const std::map<uint32_t, Layout>& states, const std::string& step);
  // Entries beside `step` that read such states gather them.
  void GatherInOthers();
  // whole() -> each state in boxes, gathered, by its name; without slots of the optimizer. No entry
  // where all states are whole.
  void AddWhole();
  // agree(values: f64[k]) -> (sum, least), over all ranks.
  void AddAgree();
  // The metadata `parallel`: the mesh, this rank, its boxes of all states and of `inputs`, by name;
  // and of a state `holder`, the first rank that has the same box.
  void Describe(const std::map<std::string, Placed>& inputs, int64_t batch);

 private:
  struct Shared {
    Placed placed;
    std::string name;
    uint32_t kind = 0;  // GE_STATE_*
  };
  bool Uses(const ge_function& f) const;
  void WantPlainUses(const std::string& entry, uint32_t fn, bool writes) const;
  void Replace(uint32_t state, ge_state s, const Shared& shared);
  uint32_t FirstOf(uint32_t init_fn, const std::vector<Part>& box, uint32_t state);
  void GatherIn(const std::string& entry, uint32_t fn);
  passes::Val Gathered(passes::Fn& fn, uint32_t state, uint32_t before, uint32_t* sequence) const;
  int64_t HolderOf(const Layout& layout) const;
  std::vector<Part> BoxOf(const Placed& placed) const {
    return parallel::BoxOf(mesh_, placed.layout, placed.dims, rank_);
  }

  const ge_edit* e_;
  const Mesh& mesh_;
  const int64_t rank_;
  std::map<uint32_t, Shared> shared_;        // states in boxes, by index
  std::map<std::string, uint32_t> readers_;  // entries that read them: their functions
};

}  // namespace ge::parallel
