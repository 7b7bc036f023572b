// Draw: reductions, norms and what goes along an axis.
#include <fmt/format.h>

#include <algorithm>

#include "tools/shardcheck/draw.h"

namespace ge::shardcheck {

void Drawer::Reduce() {
  const NetValue x = Pick(2, 4);
  Dims axes, kept = x.dims, gone;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    if (Chance(40)) axes.push_back(static_cast<int64_t>(d));
  }
  if (axes.empty()) axes = {Draw(static_cast<int64_t>(x.dims.size()))};
  const bool keep = axes.size() == x.dims.size() || Chance(40);
  for (size_t d = 0; d < x.dims.size(); ++d) {
    const bool reduced = std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) != 0;
    if (reduced) kept[d] = 1;
    if (!reduced) gone.push_back(x.dims[d]);
  }
  const std::string op = OneOf<const char*>({"ReduceSum", "ReduceSum", "ReduceMean", "ReduceMean",
                                             "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                                             "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"});
  std::string from = x.name;
  if (op == "ReduceL2") {  // which has no slope at nothing
    from = Put("Add", {Tame(x).name, Scalar("f64", "1.5")}, x.dims, "", false).name;
  }
  const NetValue y = Put(op, {from, Ints(axes)}, keep ? kept : gone,
                         fmt::format("{{keepdims={}}}", keep ? 1 : 0), false);
  if (Chance(50)) {
    Tame(y);
  } else {
    Put("Mul", {y.name, Scalar("f64", "0.3")}, y.dims);
  }
}

void Drawer::AlongAxis() {
  const NetValue x = Pick();
  const int64_t axis = Draw(static_cast<int64_t>(x.dims.size()));
  switch (Draw(5)) {
    case 0: {
      const NetValue y = Put("CumSum", {x.name, Scalar("i64", std::to_string(axis))}, x.dims,
                             fmt::format("{{exclusive={}, reverse={}}}", Draw(2), Draw(2)), false);
      Tame(y);
      break;
    }
    case 1:  // without a rule
      Put("LpNormalization",
          {Put("Add", {Tame(x).name, Scalar("f64", "1.5")}, x.dims, "", false).name}, x.dims,
          fmt::format("{{axis={}}}", axis));
      break;
    default:
      Put(OneOf<const char*>({"Softmax", "LogSoftmax"}), {x.name}, x.dims,
          fmt::format("{{axis={}}}", axis));
  }
}

void Drawer::LayerNorm() {
  const NetValue x = Pick(2, 4);
  const int64_t axis = Draw(1, static_cast<int64_t>(x.dims.size()) - 1);
  const Dims tail(x.dims.begin() + axis, x.dims.end());
  const bool layer = Chance(70);
  std::vector<std::string> in = {x.name, Weight(tail, 0.3, 1)};
  if (layer && Chance(80)) in.push_back(Weight(tail, 0.3));
  Put(layer ? "LayerNormalization" : "RMSNormalization", in, x.dims,
      fmt::format("{{axis={}, epsilon=0.01f}}", axis));
}

void Drawer::BatchNorm() {
  const NetValue x = Pick(2, 4);
  const Dims c = {x.dims[1]};
  Put("BatchNormalization",
      {x.name, Weight(c, 0.3, 1), Weight(c, 0.3), Weight(c, 0.2), Weight(c, 0.3, 1)}, x.dims,
      "{epsilon=0.01f}");
}

void Drawer::ChannelNorm() {
  const NetValue x = Pick(3, 4);
  const int64_t c = x.dims[1];
  const std::vector<std::string> in = {x.name, Weight({c}, 0.3, 1), Weight({c}, 0.3)};
  if (Chance(50)) {
    Put("InstanceNormalization", in, x.dims, "{epsilon=0.01f}");
  } else {
    Put("GroupNormalization", in, x.dims,
        fmt::format("{{num_groups={}, epsilon=0.01f}}", c % 2 == 0 && Chance(60) ? 2 : 1));
  }
}

void Drawer::TopK() {
  const NetValue x = Pick();
  const int64_t axis = Draw(static_cast<int64_t>(x.dims.size()));
  Dims dims = x.dims;
  dims[static_cast<size_t>(axis)] = Draw(1, dims[static_cast<size_t>(axis)]);
  NetValue y = Put("TopK", {x.name, Ints({dims[static_cast<size_t>(axis)]})}, dims,
                   fmt::format("{{axis={}, largest={}}}", axis, Draw(2)));
  p_.nodes.back().out.push_back({y.name + "i", dims});
}

}  // namespace ge::shardcheck
