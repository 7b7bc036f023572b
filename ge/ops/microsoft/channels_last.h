// For com.microsoft's operators on images with the channels last, [N, spatial, C]: ONNX's rules and
// operators, which have them first. Not an operator. One thread.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

// What ONNX's rule sees of a node: input `image` and output 0 with the channels first.
class ChannelsFirst final : public InferContext {
 public:
  ChannelsFirst(InferContext* context, size_t image) : c_(*context), at_(image) {
    image_ = c_.input_type(at_);
    if (image_.ranked && image_.rank() > 2) {
      std::rotate(image_.dims.begin() + 1, image_.dims.end() - 1, image_.dims.end());
    }
  }
  const Node& node() const override { return c_.node(); }
  DimTable& dims() override { return c_.dims(); }
  size_t input_count() const override { return c_.input_count(); }
  bool has_input(size_t i) const override { return c_.has_input(i); }
  const Type& input_type(size_t i) const override { return i == at_ ? image_ : c_.input_type(i); }
  const std::vector<Dim>* input_ints(size_t i) const override { return c_.input_ints(i); }
  const Const* input_const(size_t i) const override { return c_.input_const(i); }
  const Const& tensor_attr(ConstRef ref) const override { return c_.tensor_attr(ref); }
  size_t output_count() const override { return c_.output_count(); }
  bool has_output(size_t i) const override { return c_.has_output(i); }
  void SetOutput(size_t i, Type type) override {
    if (i == 0 && type.ranked && type.rank() > 2) {
      std::rotate(type.dims.begin() + 1, type.dims.begin() + 2, type.dims.end());
    }
    c_.SetOutput(i, std::move(type));
  }
  void SetOutputInts(size_t i, std::vector<Dim> values) override {
    c_.SetOutputInts(i, std::move(values));
  }
  Dim FreshDim(const std::string& stem, bool data_dependent) override {
    return c_.FreshDim(stem, data_dependent);
  }

 private:
  InferContext& c_;
  size_t at_;
  Type image_;
};

// From channels last to channels first, or back.
inline Steps::Shape ChannelsPerm(int64_t rank, bool to_first) {
  Steps::Shape perm = {0};
  if (to_first) perm.push_back(rank - 1);
  for (int64_t a = to_first ? 1 : 2; a < (to_first ? rank - 1 : rank); ++a) perm.push_back(a);
  if (!to_first) perm.push_back(1);
  return perm;
}
inline ValueId WithChannelsFirst(Steps* steps, ValueId image) {
  return steps->Transpose(image, ChannelsPerm(steps->Rank(image), true));
}
inline ValueId WithChannelsLast(Steps* steps, ValueId image) {
  return steps->Transpose(image, ChannelsPerm(steps->Rank(image), false));
}
// A shape with the channels last, as it is with them first.
inline Steps::Shape ChannelsFirstShape(Steps::Shape shape) {
  std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  return shape;
}

}  // namespace ge
