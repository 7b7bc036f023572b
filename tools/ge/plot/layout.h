// A layered drawing of a directed acyclic graph: boxes in rows from top to bottom, edges around the
// boxes, long graphs folded into columns. It knows boxes and edges alone: no graph, no plan, no
// colours. Pure functions of their input; any thread may call.
//
// A value (one producer, any number of readers) is one trunk: its edges share their way down and
// leave it where their reader is. In a row an edge runs straight down at an x of its own, and it
// bends between two rows only, so no edge crosses a box.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/base/status.h"

namespace ge::tool {

struct LayoutBox {
  double width = 0, height = 0;
  double room_above = 0;  // for labels on the edges that enter it
  double room_below = 0;  // for a label on the edges that leave it
};

struct LayoutValue {
  uint32_t from = 0;         // box
  std::vector<uint32_t> to;  // boxes, each once, all greater than `from`
  bool tight = false;        // its ends belong close together
};

// A straight way down at `x` from y0 to y1. With `turn` it goes on beneath its column, up between
// the columns at turn_x, and along turn_top to the next run; else it bends to the next run.
struct LayoutRun {
  double x = 0, y0 = 0, y1 = 0;
  bool turn = false;
  double turn_x = 0, turn_bottom = 0, turn_top = 0;
};

struct LayoutPath {  // of one value to one reader
  uint32_t value = 0, to = 0;
  std::vector<LayoutRun> runs;
};

struct LayoutSpot {  // top left corner
  double x = 0, y = 0;
};

struct Layout {
  std::vector<LayoutSpot> boxes;  // as given
  std::vector<LayoutPath> paths;  // value by value
  double width = 0, height = 0;
};

// Boxes must come in topological order. LIMIT_EXCEEDED if edges are so many and long that the
// drawing would be useless.
Result<Layout> LayOut(const std::vector<LayoutBox>& boxes, const std::vector<LayoutValue>& values);

// ---- the two steps, apart for their length ------------------------------------------------------

// An item of a row: a box, or the point of a passing edge.
struct LayoutItem {
  bool box = false;
  double width = 0;
  uint32_t layer = 0, position = 0;  // its place in the layer
  std::vector<uint32_t> up, down;    // neighbours in the layers above and below
  double x = 0;                      // middle
};
using LayoutLayers = std::vector<std::vector<uint32_t>>;  // items from left to right

// Orders the items of every layer so that few edges cross (sweeps of medians and of exchanges of
// neighbours, the best order wins).
void OrderLayers(std::vector<LayoutItem>* items, LayoutLayers* layers);
// Gives every item of layers [first, last) its x so that edges are straight where possible, after
// U. Brandes and B. Koepf, "Fast and Simple Horizontal Coordinate Assignment", 2001. The leftmost
// border is at 0; returns the width.
double PositionItems(const LayoutLayers& layers, size_t first, size_t last,
                     std::vector<LayoutItem>* items);

}  // namespace ge::tool
