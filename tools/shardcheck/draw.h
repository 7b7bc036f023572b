// Draw: random nets over the operators of passes/parallel/rules.def, how they are trained, and
// where their states, constants and values are pinned. One file a family of operators. One thread.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tools/shardcheck/program.h"

namespace ge::shardcheck {

struct DrawLimits {
  int nodes = 14;    // drawn, with more between them that keep numbers small
  int64_t size = 8;  // of a dim that is drawn
};
// The same for the same numbers.
RankProgram DrawProgram(uint64_t seed, const DrawLimits& limits);

class Drawer {
 public:
  Drawer(uint64_t seed, const DrawLimits& limits) : random_(seed), limits_(limits) {}
  RankProgram Run();

 private:
  // ---- draw.cc
  int64_t Draw(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  int64_t Draw(int64_t least, int64_t most) { return least + Draw(most - least + 1); }
  bool Chance(int percent) { return Draw(100) < percent; }
  template <class T>
  T OneOf(std::initializer_list<T> all) {
    return all.begin()[Draw(static_cast<int64_t>(all.size()))];
  }
  int64_t Size();
  // A value that is there, late ones more often. Of as many dims: one is changed if need be.
  NetValue Pick();
  NetValue Pick(size_t least, size_t most);
  std::optional<NetValue> PickLike(const Dims& dims);
  NetValue Put(const std::string& op, std::vector<std::string> in, Dims dims,
               const std::string& attrs = "", bool seen = true);
  NetValue Tame(const NetValue& v);  // to numbers of about one
  std::string Weight(const Dims& dims, double scale = 1, double middle = 0);
  std::string Ints(const Dims& v);
  std::string Scalar(const std::string& dtype, const std::string& text);
  // Dims that are broadcast to these.
  Dims Under(const Dims& dims);
  void AddInputs();
  void Step();
  void EndIt();
  void WantWeight();
  // ---- draw_training.cc
  void Mesh();
  void Options();
  void Pins();
  ProgramPin PinOf(const NetValue& v);
  // ---- draw_elementwise.cc
  void Unary();
  void Binary();
  void Choose();
  void Several();
  void Drop();
  // ---- draw_product.cc
  void MatMul();
  void MatMulOfTwo();
  void Gemm();
  void Einsum();
  void Conv();
  void Attention();
  void Pool();
  // ---- draw_reduce.cc
  void Reduce();
  void AlongAxis();
  void LayerNorm();
  void BatchNorm();
  void ChannelNorm();
  void TopK();
  // ---- draw_move.cc
  void Reshape();
  void Transpose();
  void Flatten();
  void Unsqueeze();
  void Squeeze();
  void Expand();
  void Slice();
  void Concat();
  void Split();
  void Pad();
  void Tile();
  // ---- draw_index.cc
  void Gather();
  void Embed();
  void GatherElements();
  void Scatter();
  void Trilu();
  void OneHot();
  void OfShape();

  std::mt19937_64 random_;
  const DrawLimits limits_;
  RankProgram p_;
  std::vector<NetValue> values_;  // float64, of one dim at least
  int next_value_ = 0, next_weight_ = 0, next_constant_ = 0, next_setting_ = 0;
};

}  // namespace ge::shardcheck
