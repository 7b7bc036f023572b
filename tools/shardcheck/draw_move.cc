// Draw: elements move.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/shardcheck/draw.h"

namespace ge::shardcheck {

// Dims that lie side by side become one, or one becomes two; both a few times.
void Drawer::Reshape() {
  const NetValue x = Pick();
  Dims dims = x.dims;
  for (int64_t n = Draw(1, 3); n > 0; --n) {
    const auto d = static_cast<size_t>(Draw(static_cast<int64_t>(dims.size())));
    if (Chance(55) && d + 1 < dims.size()) {
      dims[d] *= dims[d + 1];
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d) + 1);
      continue;
    }
    std::vector<int64_t> by;
    for (int64_t k = 2; k < dims[d]; ++k) {
      if (dims[d] % k == 0) by.push_back(k);
    }
    if (by.empty() || dims.size() > 3) continue;
    const int64_t k = by[static_cast<size_t>(Draw(static_cast<int64_t>(by.size())))];
    dims[d] /= k;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(d), k);
  }
  if (Chance(15) && dims.size() < 4) dims.insert(dims.begin() + Draw(2), 1);
  Dims said = dims;
  if (said[0] == x.dims[0] && Chance(50)) said[0] = 0;
  if (Chance(40)) said[static_cast<size_t>(Draw(static_cast<int64_t>(said.size())))] = -1;
  Put("Reshape", {x.name, Ints(said)}, dims);
}

void Drawer::Transpose() {
  const NetValue x = Pick(2, 4);
  std::vector<int64_t> perm(x.dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::shuffle(perm.begin(), perm.end(), random_);
  Dims dims;
  for (const int64_t p : perm) dims.push_back(x.dims[static_cast<size_t>(p)]);
  Put("Transpose", {x.name}, dims, fmt::format("{{perm=[{}]}}", fmt::join(perm, ", ")));
}

void Drawer::Flatten() {
  const NetValue x = Pick();
  const auto axis = static_cast<size_t>(Draw(static_cast<int64_t>(x.dims.size()) + 1));
  const Dims front(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const int64_t rows = CountOf(front);
  Put("Flatten", {x.name}, {rows, CountOf(x.dims) / rows}, fmt::format("{{axis={}}}", axis));
}

void Drawer::Unsqueeze() {
  const NetValue x = Pick(1, 3);
  const int64_t axis = Draw(static_cast<int64_t>(x.dims.size()) + 1);
  Dims dims = x.dims;
  dims.insert(dims.begin() + axis, 1);
  Put("Unsqueeze", {x.name, Ints({axis})}, dims);
}

void Drawer::Squeeze() {
  for (const NetValue& x : std::vector<NetValue>(values_.rbegin(), values_.rend())) {
    const auto one = std::find(x.dims.begin(), x.dims.end(), 1);
    if (one == x.dims.end() || x.dims.size() < 2) continue;
    Dims dims = x.dims;
    dims.erase(dims.begin() + (one - x.dims.begin()));
    Put("Squeeze", {x.name, Ints({one - x.dims.begin()})}, dims);
    return;
  }
}

void Drawer::Expand() {
  NetValue x = Pick(1, 3);
  Dims dims = x.dims;
  for (int64_t& d : dims) {
    if (d == 1) d = Draw(1, 4);
  }
  if (Chance(50)) dims.insert(dims.begin(), Draw(1, 3));
  Put("Expand", {x.name, Ints(dims)}, dims);
}

void Drawer::Slice() {
  const NetValue x = Pick();
  Dims starts, ends, axes, steps, dims = x.dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!Chance(50)) continue;
    const int64_t n = x.dims[d], step = Chance(20) ? 2 : 1, first = Draw(0, n - 1);
    const bool back = Chance(10);
    axes.push_back(static_cast<int64_t>(d));
    if (back) {
      starts.push_back(n - 1);
      ends.push_back(-n - 1);
      steps.push_back(-1);
      continue;
    }
    const int64_t last = Draw(first, n - 1);
    starts.push_back(Chance(30) ? first - n : first);
    ends.push_back(last + 1);
    steps.push_back(step);
    dims[d] = (last - first) / step + 1;
  }
  if (axes.empty()) return;
  Put("Slice", {x.name, Ints(starts), Ints(ends), Ints(axes), Ints(steps)}, dims);
}

void Drawer::Concat() {
  const NetValue x = Pick();
  const auto axis = static_cast<size_t>(Draw(static_cast<int64_t>(x.dims.size())));
  Dims dims = x.dims;
  std::vector<std::string> in = {x.name};
  for (int64_t n = Draw(1, 2); n > 0; --n) {
    Dims other = x.dims;
    if (Chance(50)) {
      in.push_back(PickLike(x.dims)->name);
    } else {
      other[axis] = Draw(1, 3);
      in.push_back(Weight(other));
    }
    dims[axis] += other[axis];
  }
  std::shuffle(in.begin(), in.end(), random_);
  Put("Concat", in, dims, fmt::format("{{axis={}}}", axis));
}

void Drawer::Split() {
  const NetValue x = Pick();
  const auto axis = static_cast<size_t>(Draw(static_cast<int64_t>(x.dims.size())));
  const int64_t n = x.dims[axis];
  if (n < 2) return;
  const int64_t first = Chance(50) ? (n + 1) / 2 : Draw(1, n - 1);
  Dims dims = x.dims, rest = x.dims;
  dims[axis] = first;
  rest[axis] = n - first;
  Put("Split", {x.name, Ints({first, n - first})}, dims, fmt::format("{{axis={}}}", axis));
  const NetValue second{fmt::format("v{}", ++next_value_), rest};
  p_.nodes.back().out.push_back(second);
  values_.push_back(second);
}

void Drawer::Pad() {
  const NetValue x = Pick();
  const size_t r = x.dims.size();
  const std::string mode = OneOf<const char*>({"constant", "constant", "edge", "reflect"});
  Dims pads(2 * r, 0), dims = x.dims;
  for (size_t d = 0; d < r; ++d) {
    if (!Chance(50)) continue;
    const int64_t most = mode == "reflect" ? std::min<int64_t>(2, dims[d] - 1) : 2;
    pads[d] = Draw(0, most);
    pads[r + d] = Draw(0, most);
    dims[d] += pads[d] + pads[r + d];
  }
  Put("Pad", {x.name, Ints(pads)}, dims, fmt::format("{{mode=\"{}\"}}", mode));
}

void Drawer::Tile() {
  const NetValue x = Pick();
  Dims repeats, dims = x.dims;
  for (int64_t& d : dims) {
    repeats.push_back(Chance(35) ? 2 : 1);
    d *= repeats.back();
  }
  Put("Tile", {x.name, Ints(repeats)}, dims);
}

}  // namespace ge::shardcheck
