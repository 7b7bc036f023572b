// CheckpointSegments: cuts the forward nodes of a function into consecutive segments. Says which
// values of each are kept until the backward pass gets there, and their bytes. Reads a picture;
// changes nothing. One thread.
#pragma once

#include <vector>

#include "passes/grad/remat/rematerialise.h"

namespace ge::grad {

class CheckpointSegments {
 public:
  // The values of a segment to keep, beside those read by later ones.
  enum Level : uint8_t {
    kEverything,
    kDear,     // costly ones: products, convolutions, control flow
    kNothing,  // all is computed again
  };

  CheckpointSegments(Fn& fn, const Reverse& sweep, const std::vector<Val>& kept, int64_t rows);
  const ge_graph* graph() const { return g_; }
  size_t count() const { return levels_.size(); }
  bool IsBack(uint32_t node) const { return back_[node] != 0; }
  size_t Of(uint32_t node) const { return of_[node]; }
  // Whether the backward pass reads the value although it is not kept.
  bool Again(uint32_t value) const { return again_[value] != 0; }
  bool Kept(uint32_t value) const { return kept_[value] != 0; }
  // Whether a forward node of the segment makes it.
  bool MadeIn(size_t segment, uint32_t value) const;

  // Each cut keeps everything until levels are set.
  void CutEvenly(size_t segments);  // by the bytes read by the backward pass
  void CutAtDear();                 // ahead of dear nodes, 16 segments at most
  void CutAtNames(const std::vector<std::string>& patterns);
  void SetLevel(size_t segment, Level level) { levels_[segment] = level; }
  Level level(size_t segment) const { return levels_[segment]; }
  void Settle();  // divides values into kept and repeated ones, by the levels

  // Forward nodes of the segment needed to compute values not kept, in order; `wanted`: by value,
  // outputs of the copies with a reader.
  std::vector<uint32_t> Repeated(size_t segment, std::vector<char>* wanted) const;
  // The first backward node reading a value of it that is not kept; n_node = none.
  uint32_t FirstReader(size_t segment) const;

  // The last backward node ahead of `node` that cannot be folded: nodes waiting for it stay late.
  // UINT32_MAX = none.
  uint32_t LastBehind(uint32_t node) const;

  double BytesOf(uint32_t value) const;
  // The first value of unknown size, 0 = none.
  uint32_t UnknownSize() const;
  // Bytes of its values read by the backward pass and not kept, less bytes kept for copies.
  double BytesSaved(size_t segment) const;
  // About how long its repeated nodes take, in ns.
  double CostOf(size_t segment) const;
  // The most bytes taken by computed values at one time, nodes in their order.
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
  std::vector<char> varies_;        // by node: floats depending on more than constants
  std::vector<double> cost_;        // by node, ns
  std::vector<char> fixed_;         // by value: kept in any case
  std::vector<char> read_back_;     // by value
  std::vector<char> kept_, again_;  // by value, as levels have it
  std::vector<size_t> of_;          // the segment of a forward node
  std::vector<Level> levels_;       // by segment
};

}  // namespace ge::grad
