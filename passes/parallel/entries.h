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

// Each state by the first dim that gives every rank of the axis some; those without one stay whole.
std::map<uint32_t, Layout> SplitStates(const ge_edit* edit, const Mesh& mesh, uint32_t axis);

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
  // agree(values: f64[k]) -> (sum, least), over all ranks.
  void AddAgree();
  // The metadata `parallel`: the mesh, this rank, its boxes of all states and of `inputs`, by name.
  void Describe(const std::map<std::string, Placed>& inputs, int64_t batch);

 private:
  struct Shared {
    Placed placed;
    std::string name;
  };
  bool Uses(const ge_function& f) const;
  void WantPlainUses(const std::string& entry, uint32_t fn, bool writes) const;
  void Replace(uint32_t state, ge_state s, const Shared& shared);
  uint32_t FirstOf(uint32_t init_fn, const std::vector<Part>& box, uint32_t state);
  void GatherIn(const std::string& entry, uint32_t fn);
  std::vector<Part> BoxOf(const Placed& placed) const {
    return parallel::BoxOf(mesh_, placed.layout, placed.dims, rank_);
  }

  const ge_edit* e_;
  const Mesh& mesh_;
  const int64_t rank_;
  std::map<uint32_t, Shared> shared_;        // states in boxes, by index
  std::map<std::string, uint32_t> readers_;  // entries that read them: their functions
};

// The elements of a box of a dense tensor, row by row; `bytes`: of an element.
std::vector<char> BytesOfBox(const char* data, uint64_t bytes, const std::vector<int64_t>& dims,
                             const std::vector<Part>& box);

}  // namespace ge::parallel
