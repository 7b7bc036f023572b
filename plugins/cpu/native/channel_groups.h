// Convolutions of groups of channels on images whose channels are neighbours in memory: each window
// is a list of places in the image, so that nothing is copied; groups of 2, 4 and 8 channels that
// are narrower than a vector share it. They own no tensors; immutable, any number of threads may
// run one. Measured: docs/decisions/0044-groups.md. Source: ONNX Conv.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/cpu/kit/conv_pieces.h"
#include "plugins/cpu/native/loops.h"
#include "plugins/cpu/native/tile_post.h"

namespace ge_native {

// Whether a convolution is one of several groups that are made so.
bool IsChannelGroups(const ConvSpec& c);

struct ChannelGroupsPlan {
  ChannelGroupsPlan(const Simd& simd, const ConvSpec& c, const Machine& m);

  // Columns that one call sums, and the channels that they read.
  struct Part {
    int64_t out, n;     // channels of the result
    int64_t at, depth;  // channels of x; of each group where `own`
    int64_t weights;    // floats before those of this part
  };

  ConvShape s;
  int64_t lanes;
  bool own;  // each column reads its own group's channels out of a vector of x
  std::vector<Part> parts;
  int64_t pixels = 1, wide = 1;  // of a piece: pixels of the result, and parts
  int threads = 1;

  int64_t all_pixels() const { return s.images * s.dst_pixels(); }
  int64_t width(const Part& p) const { return (p.n + lanes - 1) / lanes * lanes; }
  int64_t weight_floats() const;
  int64_t bias_floats() const;        // whole vectors from each part's first channel on
  uint64_t workspace_floats() const;  // of one thread: the places of a piece's taps
  bool parallel() const;
  void Pack(const float* w, float* to) const;
  std::string PackKey() const;        // equal where Pack writes the same
  double ns(const Machine& m) const;  // analytic, on all threads

 private:
  void PackPart(const Part& p, const float* w, float* to) const;
};

// Places: result, x, weights, bias of bias_floats(), operands of posts, workspace of all threads.
// Channels last.
std::unique_ptr<Loop> ChannelGroupsLoop(const Simd& simd, const ChannelGroupsPlan& plan,
                                        std::vector<TilePost> posts);

}  // namespace ge_native
