// Draw: products and windows.
#include <fmt/format.h>

#include <cmath>

#include "tools/shardcheck/draw.h"

namespace ge::shardcheck {
namespace {

double Fan(int64_t n) { return 1.5 / std::sqrt(static_cast<double>(std::max<int64_t>(1, n))); }

}  // namespace

void Drawer::MatMul() {
  NetValue x = Pick(Chance(8) ? 1 : 2, 4);
  const int64_t k = x.dims.back();
  Dims dims = x.dims;
  if (x.dims.size() >= 2 && Chance(20)) {  // from the left
    const int64_t m = Size(), rows = x.dims[x.dims.size() - 2];
    dims[dims.size() - 2] = m;
    Put("MatMul", {Weight({m, rows}, Fan(rows)), x.name}, dims);
    return;
  }
  if (x.dims.size() >= 2 && Chance(8)) {  // by a vector
    dims.pop_back();
    Put("MatMul", {x.name, Weight({k}, Fan(k))}, dims);
    return;
  }
  if (x.dims.size() == 3 && Chance(15)) {  // a matrix for each
    const int64_t m = Size(), many = x.dims[0];
    dims.back() = m;
    Put("MatMul", {x.name, Weight({many, k, m}, Fan(k))}, dims);
    return;
  }
  const int64_t m = Size();
  dims.back() = m;
  if (dims.size() == 1) dims = {m};
  const NetValue y = Put("MatMul", {x.name, Weight({k, m}, Fan(k))}, dims);
  if (Chance(40)) Put("Add", {y.name, Weight({m})}, dims);
}

// Of what is made by others, as scores of attention are.
void Drawer::MatMulOfTwo() {
  const NetValue x = Tame(Pick(2, 4));
  const size_t r = x.dims.size();
  NetValue y = x;
  if (const auto other = PickLike(x.dims); other && Chance(60)) y = *other;
  std::vector<int64_t> perm;
  for (size_t d = 0; d < r; ++d) perm.push_back(static_cast<int64_t>(d));
  std::swap(perm[r - 1], perm[r - 2]);
  Dims turned = x.dims, dims = x.dims;
  std::swap(turned[r - 1], turned[r - 2]);
  const bool outer = Chance(50);
  const NetValue t =
      Put("Transpose", {y.name}, turned, fmt::format("{{perm=[{}]}}", fmt::join(perm, ", ")));
  (outer ? dims[r - 1] : dims[r - 2]) = outer ? dims[r - 2] : dims[r - 1];
  const NetValue z = outer ? Put("MatMul", {x.name, t.name}, dims, "", false)
                           : Put("MatMul", {t.name, x.name}, dims, "", false);
  if (Chance(50)) {
    Put("Softmax", {z.name}, dims, "{axis=-1}");
  } else {
    Tame(z);
  }
}

void Drawer::Gemm() {
  const NetValue x = Pick(2, 2);
  const bool turned = Chance(30), weight_turned = Chance(50);
  const int64_t rows = turned ? x.dims[1] : x.dims[0], k = turned ? x.dims[0] : x.dims[1];
  const int64_t m = Size();
  std::vector<std::string> in = {x.name, Weight(weight_turned ? Dims{m, k} : Dims{k, m}, Fan(k))};
  if (Chance(70)) in.push_back(Weight(Under({rows, m})));
  Put("Gemm", in, {rows, m},
      fmt::format("{{transA={}, transB={}, alpha={}f, beta={}f}}", turned ? 1 : 0,
                  weight_turned ? 1 : 0, Chance(70) ? "1.0" : "0.5", Chance(70) ? "1.0" : "2.0"));
}

void Drawer::Einsum() {
  if (Chance(50)) {
    const NetValue x = Pick(2, 2);
    const int64_t a = x.dims[0], b = x.dims[1], m = Size();
    if (Chance(50)) {
      Put("Einsum", {x.name, Weight({m, b}, Fan(b))}, {a, m}, "{equation=\"ab,mb->am\"}");
    } else {
      Put("Einsum", {x.name, Weight({a, b})}, {b, a}, "{equation=\"ab,ab->ba\"}");
    }
    return;
  }
  const NetValue x = Pick(3, 3);
  const int64_t a = x.dims[0], b = x.dims[1], c = x.dims[2], m = Size();
  switch (Draw(4)) {
    case 0:
      Put("Einsum", {x.name, Weight({c, m}, Fan(c))}, {a, b, m}, "{equation=\"abc,cm->abm\"}");
      break;
    case 1:
      Put("Einsum", {x.name, Weight({b, c, m}, Fan(b * c))}, {m, a}, "{equation=\"abc,bcm->ma\"}");
      break;
    case 2:
      Tame(Put("Einsum", {x.name, x.name}, {a, b, b}, "{equation=\"abc,adc->abd\"}", false));
      break;
    default:
      Put("Einsum", {x.name, Weight({b, m}, Fan(b))}, {c, m, a}, "{equation=\"abc,bm->cma\"}");
  }
}

void Drawer::Conv() {
  const NetValue x = Pick(3, 4);
  const size_t spatial = x.dims.size() - 2;
  const int64_t c = x.dims[1];
  const int64_t group = c % 2 == 0 && Chance(20) ? 2 : 1;
  const int64_t m = group * Draw(1, 3);
  Dims dims = {x.dims[0], m}, kernel = {m, c / group}, pads(2 * spatial), strides, window;
  int64_t fan = c / group;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t n = x.dims[2 + d], k = Draw(1, std::min<int64_t>(3, n));
    pads[d] = Draw(0, k - 1);
    pads[spatial + d] = Draw(0, k - 1);
    strides.push_back(Draw(1, 2));
    window.push_back(k);
    kernel.push_back(k);
    dims.push_back((n + pads[d] + pads[spatial + d] - k) / strides[d] + 1);
    fan *= k;
  }
  std::vector<std::string> in = {x.name, Weight(kernel, Fan(fan))};
  if (Chance(60)) in.push_back(Weight({m}));
  Put("Conv", in, dims,
      fmt::format("{{kernel_shape=[{}], pads=[{}], strides=[{}], group={}}}",
                  fmt::join(window, ", "), fmt::join(pads, ", "), fmt::join(strides, ", "), group));
}

void Drawer::Pool() {
  const NetValue x = Pick(3, 4);
  Dims dims = x.dims;
  if (Chance(30)) {
    for (size_t d = 2; d < dims.size(); ++d) dims[d] = 1;
    Put(OneOf<const char*>({"GlobalAveragePool", "GlobalMaxPool"}), {x.name}, dims);
    return;
  }
  Dims window, strides;
  for (size_t d = 2; d < dims.size(); ++d) {
    window.push_back(Draw(1, std::min<int64_t>(3, dims[d])));
    strides.push_back(Draw(1, 2));
    dims[d] = (dims[d] - window.back()) / strides.back() + 1;
  }
  Put(OneOf<const char*>({"MaxPool", "AveragePool"}), {x.name}, dims,
      fmt::format("{{kernel_shape=[{}], strides=[{}]}}", fmt::join(window, ", "),
                  fmt::join(strides, ", ")));
}

void Drawer::Attention() {
  const NetValue x = Pick(3, 3);
  const int64_t heads = Draw(1, 2), shared = heads == 2 && Chance(30) ? 1 : heads;
  const int64_t d = Draw(1, 3), c = x.dims[2];
  const auto made = [&](int64_t h) {
    return Put("MatMul", {x.name, Weight({c, h * d}, Fan(c))}, {x.dims[0], x.dims[1], h * d}).name;
  };
  const std::string q = made(heads), k = made(shared), v = made(shared);
  Put("Attention", {q, k, v}, {x.dims[0], x.dims[1], heads * d},
      fmt::format("{{q_num_heads={}, kv_num_heads={}, is_causal={}}}", heads, shared, Draw(2)));
}

}  // namespace ge::shardcheck
