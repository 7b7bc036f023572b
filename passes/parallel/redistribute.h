// Redistribute: how a tensor gets from where it is over the ranks of a mesh to where it is read, by
// single collectives and slices: the sequence that sends least, of these the one with the fewest
// steps. Decided by shapes alone, alike on all ranks. Pure; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "passes/parallel/layout.h"
#include "passes/parallel/mesh.h"

namespace ge::parallel {

enum class StepKind { kSlice, kReduceScatter, kAllToAll, kAllReduce, kAllGather };

struct Step {
  StepKind kind = StepKind::kSlice;
  std::vector<uint32_t> axes;           // of the group, rising; of a slice: that split from now on
  int gather_dim = -1, split_dim = -1;  // that becomes whole, and split, along the axes
  Places from, to;
};

struct Cost {
  // Bytes that the rank with the largest boxes sends, times the ranks of the mesh: a whole number.
  int64_t moved = 0;
  int32_t collectives = 0, steps = 0;
  auto operator<=>(const Cost&) const = default;
};

// Of one tensor: the cheapest ways from the places where it is to all others.
class Redistribution {
 public:
  // element: its bytes. No axis of one rank splits anything. Terms of `sources` are of one kind.
  Redistribution(const Mesh& mesh, std::vector<int64_t> dims, int64_t element,
                 const std::vector<Places>& sources);
  // NULL: it cannot get there, as from a whole to terms.
  const Cost* Find(const Places& to) const;
  // The least of all that agree with `to` along the first `n_axis` axes.
  const Cost* FindAny(const Places& to, size_t n_axis) const;
  // In order; the first begins at a source.
  std::vector<Step> StepsTo(const Places& to) const;

 private:
  struct State {
    bool found = false, done = false;
    Cost cost;
    size_t before = 0;  // the state that `step` begins at
    Step step;
  };
  Places PlacesOf(size_t state) const;
  size_t StateOf(const Places& places) const;  // none: states_.size()
  void Spread(size_t state);
  void SpreadGroup(size_t state, const std::vector<uint32_t>& axes);
  void Add(size_t from, Step step, int64_t bytes, int64_t times);
  int64_t Bytes(const Places& places) const;

  const Mesh& mesh_;
  const std::vector<int64_t> dims_;
  const int64_t element_;
  int term_;                     // the kind of all terms
  std::vector<State> states_;    // a digit an axis: whole, dims, term
  std::vector<size_t> reached_;  // states that the last one made cheaper
};

// Whether the shares along `outer`, each split by itself into shares along `inner`, are those along
// both at once. So a collective along `inner` makes one of the other.
bool SplitAlike(const Mesh& mesh, int64_t n, const std::vector<uint32_t>& outer,
                const std::vector<uint32_t>& inner);
// Whether each share along `axes` lies within that along `outer`, some of them.
bool LiesWithin(const Mesh& mesh, int64_t n, const std::vector<uint32_t>& axes,
                const std::vector<uint32_t>& outer);

}  // namespace ge::parallel
