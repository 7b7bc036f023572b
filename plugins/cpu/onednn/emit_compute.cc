// Steps of convolutions, products and pools, with the pointwise functions that oneDNN takes along.
#include <cstring>
#include <stdexcept>

#include "plugins/cpu/onednn/builder.h"

namespace ge_onednn {
namespace {

Dims Aligned(Dims d, int rank) {
  d.insert(d.begin(), static_cast<size_t>(rank) - d.size(), 1);
  return d;
}

// All 1 but maybe at `axis`.
bool OnlyAxis(const Dims& d, size_t axis) {
  for (size_t i = 0; i < d.size(); ++i) {
    if (i != axis && d[i] != 1) return false;
  }
  return true;
}

// Index of the first eltwise or operand of post k among oneDNN's own post-ops: one of ours may be
// two of theirs.
int ArgOfPost(const std::vector<VendorPost>& posts, int k) {
  int at = 0;
  for (int i = 0; i < k; ++i) {
    const bool two = posts[static_cast<size_t>(i)].kind == VendorPost::kUnary &&
                     posts[static_cast<size_t>(i)].fn == Fn::kHardSigmoid;
    at += two ? 2 : 1;
  }
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(at) | DNNL_ARG_SRC_1;
}

}  // namespace

Builder::Fused Builder::Fuse(const Unit& u, const Layout& target, const Layout& seen,
                             uint32_t storage_of_x, bool allow_binary) {
  Fused f;
  const size_t channel = u.kind == Kind::kConv ? 1 : static_cast<size_t>(target.rank) - 1;
  const size_t seen_channel = u.kind == Kind::kConv ? 1 : static_cast<size_t>(seen.rank) - 1;
  for (const Post& p : u.posts) {
    if (!VendorHas(p.fn)) break;
    VendorPost v;
    v.fn = p.fn;
    v.a = p.a;
    v.b = p.b;
    if (!p.binary()) {
      f.posts.push_back(v);
      ++f.taken;
      continue;
    }
    if (!allow_binary || p.operand == 0) break;
    v.kind = VendorPost::kBinary;
    const Dims d = Aligned(p_.dims(p.operand), target.rank);
    Rep r;
    if (d == target.dims()) {
      r = Operand(p.operand, target);
      if (!(r.layout == target)) break;
      r.layout = seen;
      size_t readers = 0;
      for (const Post& q : u.posts) readers += q.operand == p.operand ? 1 : 0;
      if (p.fn == Fn::kAdd && !f.sum && readers == 1 && r.place.storage != storage_of_x &&
          Dead(r.place, u)) {
        f.sum = r;
        v.kind = VendorPost::kSum;
        f.posts.push_back(v);
        ++f.taken;
        continue;
      }
    } else if (OnlyAxis(d, channel)) {
      Dims s(static_cast<size_t>(seen.rank), 1);
      s[seen_channel] = d[channel];
      r = Get(p.operand, Layout::Dense(s));
    } else {
      break;
    }
    v.operand = r.layout;
    f.operands.emplace_back(static_cast<int>(f.posts.size()), r);
    f.posts.push_back(v);
    ++f.taken;
  }
  return f;
}

Place Builder::BiasOf(const Unit& u, int64_t n) {
  std::vector<float> sum(static_cast<size_t>(n), 0.0f);
  for (uint32_t v : u.bias) {
    const std::vector<float> b = p_.Floats(v);
    if (b.size() != sum.size()) throw std::runtime_error("a bias of another length");
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += u.beta * b[i];
  }
  return ConstantFloats(sum, u.bias[0]);
}

void Builder::EmitConv(const Unit& u) {
  ConvSpec spec = u.conv;
  spec.bias = !u.bias.empty();
  const auto plan = vendor_.Conv(spec, nullptr, nullptr, {}, false);
  if (!plan) throw std::runtime_error("oneDNN has no convolution for this node");
  const Rep x = Get(u.in[0], plan->src);
  Fused f = Fuse(u, plan->dst, plan->dst, x.place.storage, true);
  auto prim = vendor_.Conv(spec, &plan->src, &plan->dst, f.posts);
  if (!prim) {
    f = Fuse(u, plan->dst, plan->dst, x.place.storage, false);
    prim = vendor_.Conv(spec, &plan->src, &plan->dst, f.posts);
  }
  if (!prim) {
    f = Fused();
    prim = vendor_.Conv(spec, &plan->src, &plan->dst, {});
  }
  if (!prim) throw std::runtime_error("oneDNN has no convolution for this node");
  Layout given = Layout::Dense(spec.weights);
  if (spec.transposed) std::swap(given.stride[0], given.stride[1]);
  if (spec.transposed) {  // ONNX: input channels first
    Dims onnx = spec.weights;
    std::swap(onnx[0], onnx[1]);
    const Layout l = Layout::Dense(onnx);
    given.stride[0] = l.stride[1];
    given.stride[1] = l.stride[0];
  }
  const bool whole = f.taken == u.posts.size();
  const Rep y = f.sum    ? Rep{prim->dst, f.sum->place}
                : whole  ? NewResult(u.out[0], prim->dst)
                         : Rep{prim->dst, NewInternal(0, static_cast<uint64_t>(
                                                             prim->dst.extent()) * sizeof(float))};
  std::vector<Arg> args = {
      {DNNL_ARG_SRC, x.place, prim->src_desc},
      {DNNL_ARG_WEIGHTS, PackWeights(u.in[1], given, prim->weights_desc), prim->weights_desc},
      {DNNL_ARG_DST, y.place, prim->dst_desc}};
  if (spec.bias) args.push_back({DNNL_ARG_BIAS, BiasOf(u, u.dims[1]), prim->bias_desc});
  for (const auto& [k, r] : f.operands) {
    args.push_back({ArgOfPost(f.posts, k), r.place, Vendor::ToDesc(r.layout)});
  }
  AddPrim(spec.transposed ? "deconv" : "conv", *prim, std::move(args));
  if (whole) {
    AddRep(u.out[0], y);
  } else {
    ApplyPosts(u, f.taken, y, y.layout);
  }
}

void Builder::EmitPool(const Unit& u) {
  Rep x = Main(u.in[0]);
  auto prim = vendor_.Pool(u.pool, x.layout);
  if (!prim && !x.layout.dense()) {
    x = GetDense(u.in[0]);
    prim = vendor_.Pool(u.pool, x.layout);
  }
  if (!prim) throw std::runtime_error("oneDNN has no pool for this node");
  const Rep y = NewResult(u.out[0], prim->dst);
  AddPrim("pool", *prim,
          {{DNNL_ARG_SRC, x.place, prim->src_desc}, {DNNL_ARG_DST, y.place, prim->dst_desc}});
  AddRep(u.out[0], y);
}

void Builder::EmitMatMul(const Unit& u) {
  const Dims b = p_.dims(u.in[1]);
  const Dims batch(b.begin(), b.end() - 2);
  if (Product(batch) == 1 && (!u.trans_a || p_.dims(u.in[0]).size() == 2)) {
    EmitFoldedMatMul(u);
  } else {
    EmitBatchedMatMul(u);
  }
}

// [..., M, K] x [K, N] as one product of all rows.
void Builder::EmitFoldedMatMul(const Unit& u) {
  const Dims bd = p_.dims(u.in[1]);
  const int64_t n = u.dims.back(), k = bd[bd.size() - (u.trans_b ? 1 : 2)];
  const int64_t m = Product(u.dims) / n;
  MatMulSpec spec;
  Rep x = GetDense(u.in[0]);
  spec.src = Layout::Dense({m, k});
  if (u.trans_a) {
    spec.src.stride[0] = 1;
    spec.src.stride[1] = m;
  }
  spec.weights = Layout::Dense({k, n});
  if (u.trans_b) {
    spec.weights.stride[0] = 1;
    spec.weights.stride[1] = k;
  }
  spec.dst = Layout::Dense({m, n});
  spec.bias = !u.bias.empty();
  spec.any_weights = p_.constant(u.in[1]);
  const Layout target = Layout::Dense(u.dims);
  Fused f = Fuse(u, target, spec.dst, x.place.storage, true);
  auto prim = vendor_.MatMul(spec, f.posts);
  if (!prim) {
    f = Fused();
    prim = vendor_.MatMul(spec, {});
  }
  if (!prim) throw std::runtime_error("oneDNN has no product for this node");
  const bool whole = f.taken == u.posts.size();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y = f.sum   ? Rep{target, f.sum->place}
                : whole ? NewResult(u.out[0], target)
                        : Rep{target, NewInternal(0, bytes)};
  const Place weights = spec.any_weights
                            ? PackWeights(u.in[1], spec.weights, prim->weights_desc)
                            : GetDense(u.in[1]).place;
  std::vector<Arg> args = {{DNNL_ARG_SRC, x.place, prim->src_desc},
                           {DNNL_ARG_WEIGHTS, weights, prim->weights_desc},
                           {DNNL_ARG_DST, y.place, prim->dst_desc}};
  if (spec.bias) args.push_back({DNNL_ARG_BIAS, BiasOf(u, n), prim->bias_desc});
  for (const auto& [at, r] : f.operands) {
    args.push_back({ArgOfPost(f.posts, at), r.place, Vendor::ToDesc(r.layout)});
  }
  AddPrim("matmul", *prim, std::move(args));
  if (whole) {
    AddRep(u.out[0], y);
  } else {
    ApplyPosts(u, f.taken, y, target);
  }
}

void Builder::EmitBatchedMatMul(const Unit& u) {
  const int rank = static_cast<int>(u.dims.size());
  auto operand = [&](uint32_t v, bool strided) {
    const Dims d = Aligned(p_.dims(v), rank);
    Rep r = strided ? Unblocked(v) : GetDense(v);
    if (!r.layout.same_dims(Layout::Dense(d))) r = Get(v, Layout::Dense(d));
    return r;
  };
  MatMulSpec spec;
  spec.any_weights = false;
  spec.bias = !u.bias.empty();
  spec.dst = Layout::Dense(u.dims);
  Rep a = operand(u.in[0], true), b = operand(u.in[1], true);
  Fused f = Fuse(u, spec.dst, spec.dst, a.place.storage, true);
  if (f.sum && f.sum->place.storage == b.place.storage) f = Fused();
  auto make = [&] {
    spec.src = a.layout;
    spec.weights = b.layout;
    auto prim = vendor_.MatMul(spec, f.posts);
    return prim && prim->impl.find("ref") == std::string::npos ? prim : std::nullopt;
  };
  auto prim = make();
  if (!prim) {
    a = operand(u.in[0], false);
    b = operand(u.in[1], false);
    prim = make();
  }
  if (!prim) {
    f = Fused();
    prim = vendor_.MatMul(spec, {});
  }
  if (!prim) throw std::runtime_error("oneDNN has no product for this node");
  const bool whole = f.taken == u.posts.size();
  const uint64_t bytes = static_cast<uint64_t>(spec.dst.extent()) * sizeof(float);
  const Rep y = f.sum   ? Rep{spec.dst, f.sum->place}
                : whole ? NewResult(u.out[0], spec.dst)
                        : Rep{spec.dst, NewInternal(0, bytes)};
  std::vector<Arg> args = {{DNNL_ARG_SRC, a.place, prim->src_desc},
                           {DNNL_ARG_WEIGHTS, b.place, prim->weights_desc},
                           {DNNL_ARG_DST, y.place, prim->dst_desc}};
  if (spec.bias) args.push_back({DNNL_ARG_BIAS, BiasOf(u, u.dims.back()), prim->bias_desc});
  for (const auto& [at, r] : f.operands) {
    args.push_back({ArgOfPost(f.posts, at), r.place, Vendor::ToDesc(r.layout)});
  }
  AddPrim("matmul", *prim, std::move(args));
  if (whole) {
    AddRep(u.out[0], y);
  } else {
    ApplyPosts(u, f.taken, y, spec.dst);
  }
}

}  // namespace ge_onednn
