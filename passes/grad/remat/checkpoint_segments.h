// CheckpointSegments: the forward nodes of a function cut into consecutive parts, what of each is
// kept until the way back gets there, and what that takes. Reads a picture; changes nothing. One
// thread.
#pragma once

#include <vector>

#include "passes/grad/remat/rematerialise.h"

namespace ge::grad {

class CheckpointSegments {
 public:
  // What is kept of a segment, beside what later ones read.
  enum Level : uint8_t {
    kEverything,
    kDear,     // what takes long: products, convolutions, control flow
    kNothing,  // all is computed again
  };

  CheckpointSegments(Fn& fn, const Reverse& sweep, const std::vector<Val>& kept, int64_t rows);
  const ge_graph* graph() const { return g_; }
  size_t count() const { return levels_.size(); }
  bool IsBack(uint32_t node) const { return back_[node] != 0; }
  size_t Of(uint32_t node) const { return of_[node]; }
  // Of a value that is not kept and that the way back reads.
  bool Again(uint32_t value) const { return again_[value] != 0; }
  bool Kept(uint32_t value) const { return kept_[value] != 0; }
  // Made by a forward node of the segment.
  bool MadeIn(size_t segment, uint32_t value) const;

  // Each cut keeps everything until levels are set.
  void CutEvenly(size_t segments);  // by the bytes that the way back reads
  void CutAtDear();                 // ahead of dear nodes, 16 segments at most
  void CutAtNames(const std::vector<std::string>& patterns);
  void SetLevel(size_t segment, Level level) { levels_[segment] = level; }
  Level level(size_t segment) const { return levels_[segment]; }
  void Settle();  // what is kept and what is computed again, by the levels

  // Forward nodes of the segment that are needed to compute what is not kept, in order; `wanted`:
  // by value, what they make that somebody reads of the copies.
  std::vector<uint32_t> Repeated(size_t segment, std::vector<char>* wanted) const;
  // The first node of the way back that reads something of it that is not kept; n_node = none.
  uint32_t FirstReader(size_t segment) const;

  // The last node of the way back ahead of `node` that cannot be folded: what waits for it stays
  // late. UINT32_MAX = none.
  uint32_t LastBehind(uint32_t node) const;

  double BytesOf(uint32_t value) const;
  // The first value whose bytes nobody knows, 0 = none.
  uint32_t UnknownSize() const;
  // What the segment makes, and the way back reads, and is not kept, less what is kept for copies.
  double BytesSaved(size_t segment) const;
  // About how long its repeated nodes take, in ns.
  double CostOf(size_t segment) const;
  // The most bytes that computed values take at one time, nodes in their order.
  double Peak() const;

 private:
  bool Pure(const ge_node& n) const { return n.n_effect == 0 && n.n_after == 0; }
  bool MayRepeat(uint32_t node) const;
  void Reset(size_t segments);

  Fn& fn_;
  const ge_graph* g_;
  const int64_t rows_;
  std::vector<char> back_;          // by node: of the way back
  std::vector<char> dear_;          // by node
  std::vector<char> varies_;        // by node: floats that depend on more than constants
  std::vector<double> cost_;        // by node, ns
  std::vector<char> fixed_;         // by value: kept in any case
  std::vector<char> read_back_;     // by value
  std::vector<char> kept_, again_;  // by value, as levels have it
  std::vector<size_t> of_;          // the segment of a forward node
  std::vector<Level> levels_;       // by segment
};

}  // namespace ge::grad
