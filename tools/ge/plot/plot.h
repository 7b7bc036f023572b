// The picture of a placed graph, drawn by `ge explain --plot F.svg`. MakePicture reads a compiled
// plan into boxes and edges with their words and prices; PictureSvg lays them out and writes SVG.
// Neither asks an engine or touches a file. The picture owns all of its text. Any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"

namespace ge::tool {

struct PictureBox {
  enum class Kind : uint8_t { kNode, kInput, kOutput } kind = Kind::kNode;
  std::string name, op;  // of the user; in full
  std::string price;     // short: "2.70 us", "fused"
  std::string tooltip;
  double price_ns = 0;  // of the offer taken alone, as the table of ge explain shows it
  double bar = 0;       // 0..1: its offer's price in its segment against the costliest
  int32_t segment = -1;
  uint32_t device = 0;
  bool first_of_segment = false;
};

struct PictureReader {
  uint32_t to = 0;        // box
  bool crossing = false;  // from one segment to another, or between memories
  double boundary_ns = 0;
  std::string label;  // "copy 1.20 us", "0 ns", "shared"
  std::string tooltip;
};

struct PictureValue {
  std::string name, bytes_label;
  int64_t bytes = 0;
  uint32_t from = 0;   // box
  bool fused = false;  // inside one pattern: it never reaches memory
  std::vector<PictureReader> readers;
};

struct PictureSegment {
  uint32_t device = 0;
  double price_ns = 0;
  std::string title;  // "segment 3 · ref/cpu · 44.2 us"
  std::string tooltip;
};

struct PictureDevice {
  uint32_t device = 0;  // its colour goes by this number
  std::string name, summary;
};

struct Picture {
  std::string title, summary;
  double predicted_ns = 0;
  std::vector<PictureBox> boxes;  // topological order
  std::vector<PictureValue> values;
  std::vector<PictureSegment> segments;
  std::vector<PictureDevice> devices;  // that the plan uses, each once
};

Picture MakePicture(const Compiled& compiled);
// A whole SVG document. LIMIT_EXCEEDED for graphs too large to look at.
Result<std::string> PictureSvg(const Picture& picture);

}  // namespace ge::tool
