// ChannelGroupsLoop: convolutions of several groups, of volumes, and transposed ones, on images
// with neighbouring channels. A list of addresses in the image describes each window, so nothing is
// copied. Groups of 2, 4 and 8 channels narrower than a vector share one. In a transposed
// convolution, the pixels at one remainder of the strides form a convolution by the taps that meet
// there. They own no tensors; immutable, any number of threads may run one. Measured:
// docs/decisions/0045-groups.md. Source: ONNX Conv, ConvTranspose.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/tile_post_ops.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

// Whether this algorithm takes the convolution.
bool IsChannelGroups(const ConvSpec& spec);

struct ChannelGroupsPlan {
  ChannelGroupsPlan(const Simd& simd, const ConvSpec& spec, const Machine& machine);

  // Columns summed by one call, and their channels of x.
  struct Part {
    int64_t out, n;     // channels of the result
    int64_t at, depth;  // channels of x; of each group where `own`
    int64_t before;     // floats of the weights of a tap that lie before those of this part
  };
  // Where a tap of pixel j of a phase is read: pixel j * step + offset of x, along each axis.
  struct Tap {
    int64_t offset[3];
    int64_t number;  // among the taps of a window
  };
  // Pixels first + j * spacing of the result, for j < size, and their taps.
  struct Phase {
    int64_t first[3], size[3];
    std::vector<Tap> taps;
    int64_t weights;  // floats before those of this phase
    int64_t tiles;    // pieces of `pixels` before this phase
  };

  ConvShape s;
  bool transposed;
  int64_t lanes;
  bool own;  // each column reads its own group's channels out of a vector of x
  int64_t step[3], spacing[3];
  std::vector<Part> parts;
  std::vector<Phase> phases;
  int64_t most_taps = 0;         // of a phase
  int64_t pixels = 1, wide = 1;  // of a piece: pixels of the result, and parts
  int threads = 1;

  int64_t width(const Part& part) const { return (part.n + lanes - 1) / lanes * lanes; }
  int64_t tap_floats() const;  // weights of one tap
  int64_t weight_floats() const { return tap_floats() * s.taps(); }
  int64_t bias_floats() const;        // whole vectors from each part's first channel on
  uint64_t workspace_floats() const;  // of one thread: where a piece's taps are, and its pixels
  int64_t pixels_of(const Phase& phase) const {
    return s.images * phase.size[0] * phase.size[1] * phase.size[2];
  }
  int64_t tiles() const;  // of all phases
  bool parallel() const;
  void Pack(const float* w, float* to) const;
  std::string PackKey() const;              // equal where Pack writes the same
  double ns(const Machine& machine) const;  // analytic, on all threads

 private:
  void CutGroups(const Simd& simd);
  void CutPhases(const ConvSpec& spec);
  void AddPhase(const int64_t (&first)[3]);
  void CutPieces();
  void PackPart(const Phase& phase, const Part& part, const float* w, float* to) const;
};

// Buffers: result, x, weights, bias of bias_floats(), operands of post-ops, workspace of all
// threads. Channels last.
std::unique_ptr<Loop> ChannelGroupsLoop(const Simd& simd, const ChannelGroupsPlan& plan,
                                        std::vector<TilePostOp> post_ops);

}  // namespace ge_engines::cpu::native
