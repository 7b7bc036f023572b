// Boxes: tensors of ranks, taken from the whole and put together again. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "passes/parallel/mesh.h"
#include "tools/adcheck/model.h"

namespace ge::shardcheck {

using adcheck::Array;
// Of an operand, by axis of the mesh.
using Places = std::vector<int>;

// The rank's part of each dim: the axes that split it do so at once, the first one major.
std::vector<parallel::Part> BoxOf(const parallel::Mesh& mesh, const Places& places,
                                  const std::vector<int64_t>& dims, int64_t rank);

// Calls with the place of each element of a box in the whole of these dims, then in the box.
void ForEachOfBox(const std::vector<parallel::Part>& box, const std::vector<int64_t>& dims,
                  const std::function<void(size_t, size_t)>& visit);

// What a rank holds of x: of its terms, which are made up of x and the seed, the box.
Array ShareOf(const Array& x, const parallel::Mesh& mesh, const Places& places, int64_t rank,
              uint64_t seed);

// The whole of what ranks hold.
class Whole {
 public:
  Whole(const parallel::Mesh& mesh, Places places, std::vector<int64_t> dims);
  // By rank, from 0 on; empty, or what is wrong with it.
  std::string Put(int64_t rank, const Array& held);
  // Empty, or how the whole differs from that. Without terms it has the same bits.
  std::string DiffersFrom(const Array& wanted) const;

 private:
  bool IsTerm() const;
  void Join(const Array& held, const std::vector<parallel::Part>& box);

  const parallel::Mesh& mesh_;
  const Places places_;
  const std::vector<int64_t> dims_;
  Array sum_;
  std::vector<double> magnitude_;  // of floats: of their terms
  std::vector<bool> there_;        // by element
  std::vector<Array> held_;        // by rank
};

}  // namespace ge::shardcheck
