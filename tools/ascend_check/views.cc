// How tensors are looked at: strides, offsets, repeated axes, formats.
#include <cmath>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

void Turned(Case& at) {
  InEachType(at, [](Desk& d, acl::DataType type) {
    const Operand in = d.In({3, 4}, type), out = d.Out({4, 3}, type);
    d.Run(d.op.Neg, d.Look(in, {4, 3}, {1, 4}), out);
    const Values x = Some(12);
    Values wanted;
    for (size_t i = 0; i < 12; ++i) wanted.push_back(-x[i % 3 * 4 + i / 3]);
    d.Same(out, wanted);
  });
}
void Offset(Case& at) {
  InEachType(at, [](Desk& d, acl::DataType type) {
    const Operand in = d.In({20}, type), out = d.Out({2, 3}, type);
    d.Run(d.op.Neg, d.Look(in, {2, 3}, {7, 2}, 5), out);
    const Values x = Some(20);
    d.Same(out, {-x[5], -x[7], -x[9], -x[12], -x[14], -x[16]});
  });
}
void StridedResult(Case& at) {
  InEachType(at, [](Desk& d, acl::DataType type) {
    const Operand in = d.In({2, 2}, type, Values{1, 2, 3, 4});
    const Operand all = d.In({12}, type, Values(12, 9));
    d.Run(d.op.Neg, in, d.Look(all, {2, 2}, {5, 2}, 1));
    d.Same(all, {9, -1, 9, -2, 9, 9, -3, 9, -4, 9, 9, 9});
  });
}
void RepeatedAxis(Case& at) {
  Desk d(at);
  const Operand in = d.In({3}, acl::kF32, Values{1, 2, 3}), out = d.Out({2, 3}, acl::kF32);
  d.Run(d.op.Neg, d.Look(in, {2, 3}, {0, 1}), out);
  d.Same(out, {-1, -2, -3, -1, -2, -3});
}
void Broadcast(Case& at) {
  InEachType(at, [](Desk& d, acl::DataType type) {
    const Operand a = d.In({3, 1}, type, 1), b = d.In({4}, type, 2), out = d.Out({3, 4}, type);
    d.Run(d.op.Mul, a, b, out);
    const Values x = Some(3, 1), y = Some(4, 2);
    Values wanted;
    for (size_t i = 0; i < 12; ++i) wanted.push_back(x[i / 4] * y[i % 4]);
    d.Near(out, wanted);
  });
}
void NoAxes(Case& at) {
  Desk d(at);
  const Operand a = d.In({}, acl::kF32, Values{3}), b = d.In({2}, acl::kF32, Values{4, 5});
  const Operand out = d.Out({2}, acl::kF32), one = d.Out({}, acl::kF32);
  d.Run(d.op.Mul, a, b, out);
  d.Run(d.op.Neg, a, one);
  d.Same(out, {12, 15});
  d.Same(one, {-3});
}
void EightAxes(Case& at) {
  Desk d(at);
  const Dims dims = {1, 2, 1, 2, 1, 2, 1, 2};
  const Operand in = d.In(dims, acl::kF32), out = d.Out(dims, acl::kF32);
  d.Run(d.op.Neg, in, out);
  Values wanted;
  for (const double x : Some(16)) wanted.push_back(-x);
  d.Same(out, wanted);
}
void InPlace(Case& at) {
  Desk d(at);
  const Operand in = d.In({5}, acl::kF32, Values{-2, -1, 0, 1, 2});
  d.Run(d.op.Relu, in, in);
  d.Same(in, {0, 0, 0, 1, 2});
}
// Element-wise functions of an image in its own format.
void OfFormat(Case& at, const Dims& dims, acl::Format format) {
  InEachType(at, [&](Desk& d, acl::DataType type) {
    const Operand in = d.In(dims, type, Some(Count(dims)), format), out = d.Out(dims, type, format);
    d.Run(d.op.Relu, in, out);
    Values wanted;
    for (const double x : Some(Count(dims))) wanted.push_back(std::fmax(x, 0));
    d.Same(out, wanted);
  });
}
void Images(Case& at) { OfFormat(at, {2, 3, 2, 2}, acl::kNchw); }
void Rows(Case& at) { OfFormat(at, {2, 3, 4}, acl::kNcl); }
void Volumes(Case& at) { OfFormat(at, {1, 2, 2, 2, 3}, acl::kNcdhw); }

constexpr acl::DataType kType = acl::kF16;

void BlockedRelu(Case& at) {
  IfTaken(at, [](Desk& d) {
    const Dims dims = {2, 19, 3, 2};
    const Values x = Some(Count(dims));
    const Operand in = d.InPrivate(dims, kType, x, acl::kNc1hwc0);
    const Operand out = d.OutPrivate(dims, kType, acl::kNc1hwc0);
    d.Run(d.op.Relu, in, out);
    Values wanted;
    for (const double v : x) wanted.push_back(std::fmax(v, 0));
    d.Same(out, wanted);
  });
}
void BlockedAdd(Case& at) {
  IfTaken(at, [](Desk& d) {
    const Dims dims = {1, 33, 2, 2};
    const Values x = Some(Count(dims), 1), y = Some(Count(dims), 2);
    const Operand out = d.OutPrivate(dims, kType, acl::kNc1hwc0);
    d.Run(d.op.Add, d.InPrivate(dims, kType, x, acl::kNc1hwc0),
          d.InPrivate(dims, kType, y, acl::kNc1hwc0), d.Number(1), out);
    Values wanted;
    for (size_t i = 0; i < x.size(); ++i) wanted.push_back(x[i] + y[i]);
    d.Near(out, wanted);
  });
}
void BlockedConvolution(Case& at) {
  IfTaken(at, [](Desk& d) {
    const Dims dims = {1, 17, 3, 3};
    const Values x = Some(Count(dims), 1), w = Some(2 * 17, 2);
    const Operand weight = d.In({2, 17, 1, 1}, kType, w, acl::kNchw);
    const Operand out = d.OutPrivate({1, 2, 3, 3}, kType, acl::kNc1hwc0);
    d.Run(d.op.Convolution, d.InPrivate(dims, kType, x, acl::kNc1hwc0), weight, nullptr,
          d.Ints({1, 1}), d.Ints({0, 0}), d.Ints({1, 1}), false, d.Ints({0, 0}), 1, out,
          acl::kKeepDtype);
    Values wanted;
    for (size_t i = 0; i < 18; ++i) {
      double sum = 0;
      for (size_t c = 0; c < 17; ++c) sum += x[c * 9 + i % 9] * w[i / 9 * 17 + c];
      wanted.push_back(sum);
    }
    d.Near(out, wanted);
  });
}
void BlockedMaxPool(Case& at) {
  IfTaken(at, [](Desk& d) {
    const Dims dims = {1, 18, 2, 2};
    const Values x = Some(Count(dims), 1);
    const Operand out = d.OutPrivate({1, 18, 1, 1}, kType, acl::kNc1hwc0);
    d.Run(d.op.MaxPool, d.InPrivate(dims, kType, x, acl::kNc1hwc0), d.Ints({2, 2}), d.Ints({2, 2}),
          0, d.Ints({0, 0, 0, 0}), d.Ints({1, 1}), 0, out);
    Values wanted;
    for (size_t c = 0; c < 18; ++c) {
      wanted.push_back(
          std::fmax(std::fmax(x[4 * c], x[4 * c + 1]), std::fmax(x[4 * c + 2], x[4 * c + 3])));
    }
    d.Same(out, wanted);
  });
}

}  // namespace

std::vector<Check> ViewChecks() {
  return {
      {"view-turned", "rule:tensor-storage", "Strides turn a matrix.", Turned},
      {"view-offset", "rule:tensor-storage",
       "An offset and strides look into a storage, in elements.", Offset},
      {"view-result", "rule:tensor-storage", "A result with strides leaves what lies between.",
       StridedResult},
      {"view-repeated", "rule:tensor-storage", "A stride of 0 repeats an axis.", RepeatedAxis},
      {"view-broadcast", "rule:tensor-storage", "Dims of 1, and missing ones, repeat.", Broadcast},
      {"view-no-axes", "rule:tensor-storage", "A tensor of no axes has one element.", NoAxes},
      {"view-eight-axes", "rule:tensor-storage", "Tensors have up to eight axes.", EightAxes},
      {"view-in-place", "rule:tensor-storage", "A result may be the argument.", InPlace},
      {"format-nchw", "rule:format-by-rank", "Images of four axes are NCHW.", Images},
      {"format-ncl", "rule:format-by-rank", "Images of three axes are NCL.", Rows},
      {"format-ncdhw", "rule:format-by-rank", "Images of five axes are NCDHW.", Volumes},
      {"format-nc1hwc0-relu", "rule:nc1hwc0-shape", "Whether aclnnRelu takes NC1HWC0; right if so.",
       BlockedRelu},
      {"format-nc1hwc0-add", "rule:nc1hwc0-shape", "Whether aclnnAdd takes NC1HWC0; right if so.",
       BlockedAdd},
      {"format-nc1hwc0-convolution", "rule:nc1hwc0-shape",
       "Whether aclnnConvolution takes NC1HWC0; right if so.", BlockedConvolution},
      {"format-nc1hwc0-maxpool", "rule:nc1hwc0-shape",
       "Whether aclnnMaxPool takes NC1HWC0; right if so.", BlockedMaxPool},
  };
}

}  // namespace ascend_check
