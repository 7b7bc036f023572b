// Net: builds graphs with numbers for their inputs. Each function adds one node, infers its
// result's type, and sets the attributes that a host always sets. Not an importer: it knows the
// operators of the kit. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elements.h"
#include "ge/ge_mock_host.hpp"

namespace ge::conform {

// A graph and numbers for its inputs, by position.
struct Sample {
  std::string name;
  mock::Graph graph;
  std::vector<Tensor> inputs;
};

class Net {
 public:
  explicit Net(uint64_t seed) : r(seed) {}
  Sample Take(std::string name);

  uint32_t In(Tensor tensor);
  uint32_t In(int32_t dtype, const Dims& dims, double lo = -1, double hi = 1) {
    return In(r.Numbers(dtype, dims, lo, hi));
  }
  uint32_t In(const Dims& dims) { return In(GE_F32, dims); }
  uint32_t Const(int32_t dtype, const Dims& dims, double lo = -1, double hi = 1) {
    return graph.Constant(r.Numbers(dtype, dims, lo, hi));
  }
  uint32_t Ints(const std::vector<int64_t>& values);  // a constant of one dim
  void Out(uint32_t value) { graph.Output(value); }

  const Dims& dims(uint32_t value) const { return graph.values[value].type.dims; }
  int32_t dtype(uint32_t value) const { return graph.values[value].type.dtype; }

  uint32_t Unary(const std::string& op, uint32_t x, std::vector<mock::Attr> attrs = {});
  uint32_t Binary(const std::string& op, uint32_t left, uint32_t right,
                  std::vector<mock::Attr> attrs = {});
  // Adds Equal, Less and the like.
  uint32_t Compare(const std::string& op, uint32_t left, uint32_t right);
  uint32_t Where(uint32_t c, uint32_t a, uint32_t b);
  uint32_t MatMul(uint32_t left, uint32_t right, const std::string& op = "MatMul");
  uint32_t Gemm(uint32_t a, uint32_t b, uint32_t c, bool trans_a, bool trans_b, double alpha = 1,
                double beta = 1);
  struct Window {
    int64_t stride = 1, pad = 0, dilation = 1, group = 1;
  };
  uint32_t Conv(uint32_t x, uint32_t w, uint32_t bias, const Window& window);
  uint32_t Pool(const std::string& op, uint32_t x, int64_t kernel, const Window& window);
  uint32_t GlobalPool(const std::string& op, uint32_t x);
  uint32_t BatchNorm(uint32_t x);
  uint32_t LayerNorm(uint32_t x);
  uint32_t Softmax(const std::string& op, uint32_t x, int64_t axis);
  uint32_t Reduce(const std::string& op, uint32_t x, const std::vector<int64_t>& axes, bool keep);
  uint32_t ArgMax(uint32_t x, int64_t axis, bool keep);
  uint32_t CumSum(uint32_t x, int64_t axis);
  uint32_t Transpose(uint32_t x, const std::vector<int64_t>& perm);
  uint32_t Reshape(uint32_t x, const Dims& to);
  uint32_t Concat(const std::vector<uint32_t>& x, int64_t axis);
  uint32_t Slice(uint32_t x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  uint32_t Gather(uint32_t x, uint32_t indices, int64_t axis);
  uint32_t Expand(uint32_t x, const Dims& to);
  uint32_t Pad(uint32_t x, int64_t before, int64_t after);  // of every dim
  uint32_t Tile(uint32_t x, const std::vector<int64_t>& repeats);
  uint32_t Cast(uint32_t x, int32_t to);
  std::vector<uint32_t> Split(uint32_t x, int64_t axis, const std::vector<int64_t>& parts);
  uint32_t Quantize(uint32_t x, double scale, double zero, int32_t dtype);
  uint32_t Dequantize(uint32_t x, double scale, double zero);

  Random r;
  mock::Graph graph;
  std::vector<Tensor> inputs;
};

// The shape of the two after broadcasting.
Dims Broadcast(const Dims& left, const Dims& right);

}  // namespace ge::conform
