// Draw: by indices, and of shapes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/shardcheck/draw.h"

namespace ge::shardcheck {

void Drawer::Gather() {
  const NetValue x = Pick();
  const auto axis = static_cast<size_t>(Draw(static_cast<int64_t>(x.dims.size())));
  Dims at, dims = x.dims;
  for (int64_t n = Draw(1, 5); n > 0; --n) at.push_back(Draw(-x.dims[axis], x.dims[axis] - 1));
  dims[axis] = static_cast<int64_t>(at.size());
  Put("Gather", {x.name, Ints(at)}, dims, fmt::format("{{axis={}}}", axis));
}

// Rows of a table by words.
void Drawer::Embed() {
  const auto ids = std::find_if(p_.inputs.begin(), p_.inputs.end(),
                                [](const NetInput& in) { return in.below > 0; });
  const int64_t wide = Size();
  Put("Gather", {Weight({ids->below, wide}), ids->name}, {ids->dims[0], ids->dims[1], wide});
}

void Drawer::GatherElements() {
  const NetValue x = Pick();
  const auto axis = static_cast<size_t>(Draw(static_cast<int64_t>(x.dims.size())));
  Dims dims = x.dims, at;
  dims[axis] = Draw(1, 3);
  for (int64_t n = CountOf(dims); n > 0; --n) at.push_back(Draw(x.dims[axis]));
  const std::string index = Ints(at);
  p_.constants.back().dims = dims;
  Put("GatherElements", {x.name, index}, dims, fmt::format("{{axis={}}}", axis));
}

// Other numbers at some places along an axis, or added there.
void Drawer::Scatter() {
  const NetValue x = Pick();
  const auto axis = static_cast<size_t>(Draw(static_cast<int64_t>(x.dims.size())));
  const int64_t n = x.dims[axis], k = Draw(1, std::min<int64_t>(n, 3));
  Dims places(static_cast<size_t>(n)), dims = x.dims, at;
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), random_);
  dims[axis] = k;
  Dims behind(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end());
  const int64_t stride = CountOf(behind);
  for (int64_t i = 0; i < CountOf(dims); ++i) {
    at.push_back(places[static_cast<size_t>(i / stride % k)]);
  }
  const std::string index = Ints(at);
  p_.constants.back().dims = dims;
  Put("ScatterElements", {x.name, index, Weight(dims)}, x.dims,
      fmt::format("{{axis={}, reduction=\"{}\"}}", axis, Chance(50) ? "add" : "none"));
}

void Drawer::Trilu() {
  const NetValue x = Pick(2, 4);
  Put("Trilu", {x.name, Scalar("i64", std::to_string(Draw(-1, 1)))}, x.dims,
      fmt::format("{{upper={}}}", Draw(2)));
}

// Words as rows of zeros and a one.
void Drawer::OneHot() {
  const auto ids = std::find_if(p_.inputs.begin(), p_.inputs.end(),
                                [](const NetInput& in) { return in.below > 0; });
  if (ids == p_.inputs.end()) return;
  const std::string values = Ints({0, 1});
  p_.constants.back().dtype = "f64";
  Put("OneHot", {ids->name, Scalar("i64", std::to_string(ids->below)), values},
      {ids->dims[0], ids->dims[1], ids->below});
}

// Sizes that the graph reads from the whole tensor.
void Drawer::OfShape() {
  const NetValue x = Pick();
  const auto rank = static_cast<int64_t>(x.dims.size());
  const NetValue shape = Put("Shape", {x.name}, {rank}, "", false);
  switch (Draw(3)) {
    case 0: {
      const NetValue filled = Put("ConstantOfShape", {shape.name}, x.dims, "", false);
      const NetValue wide = Put("CastLike", {filled.name, x.name}, x.dims, "", false);
      Put("Add", {wide.name, Tame(x).name}, x.dims);
      break;
    }
    case 1: {
      const NetValue row = Put("Expand", {Weight(Under(x.dims)), shape.name}, x.dims);
      Put("Sub", {row.name, x.name}, x.dims);
      break;
    }
    default: {
      Dims flat = {CountOf(x.dims)};
      const NetValue y = Put("Reshape", {x.name, Ints({-1})}, flat);
      Put("Reshape", {Tame(y).name, shape.name}, x.dims);
    }
  }
}

}  // namespace ge::shardcheck
