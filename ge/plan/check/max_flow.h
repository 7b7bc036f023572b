// MaxFlow: greatest flow through a directed graph with 64-bit capacities (Dinic's algorithm,
// Soviet Math. Dokl. 11, 1970). Used once per question; not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace ge::check {

class MaxFlow {
 public:
  static constexpr int64_t kUnbounded = INT64_MAX;

  uint32_t AddNode();
  void AddEdge(uint32_t from, uint32_t to, int64_t capacity);
  // The caller ensures that the sum of capacities leaving `source` fits in 63 bits.
  int64_t Run(uint32_t source, uint32_t sink);

 private:
  struct Edge {
    uint32_t to;
    uint32_t back;  // index of the reverse edge among those of `to`
    int64_t left;
  };
  bool FindLevels(uint32_t source, uint32_t sink);
  int64_t Push(uint32_t source, uint32_t sink);

  std::vector<std::vector<Edge>> edges_;  // by node
  std::vector<int32_t> level_;
  std::vector<uint32_t> next_;  // by node: first edge that may still lead on
};

}  // namespace ge::check
