// Steps of pointwise functions, alone or behind a product, and of convolutions in pieces.
#include <stdexcept>

#include "plugins/cpu/kit/builder.h"

namespace ge_engines::cpu {

void Builder::ApplyPostOps(const Unit& u, size_t from, const Rep& x, const Layout& target) {
  std::vector<PointwiseOp> ops;
  std::vector<Layout> layouts;
  std::vector<BufferRef> places;
  bool shared = false;
  for (size_t k = from; k < u.post_ops.size(); ++k) {
    const PostOp& p = u.post_ops[k];
    PointwiseOp op{p.fn, p.a, p.b, -1};
    if (p.binary()) {
      Rep r;
      if (p.operand != 0) {
        r = Operand(p.operand, target);
      } else {
        Dims d(static_cast<size_t>(target.rank), 1);
        d[1] = static_cast<int64_t>(p.channel->size());
        std::vector<float> data = *p.channel;
        r.layout = Layout::Dense(d);
        if (target.cblock > 0) {
          r.layout = Layout::Blocked(d, target.cblock);
          data.resize(static_cast<size_t>(r.layout.extent()), 0.0f);
        }
        r.place = ConstantFloats(data);
      }
      op.operand = static_cast<int>(places.size());
      shared |= r.place.storage == x.place.storage;
      layouts.push_back(r.layout);
      places.push_back(r.place);
    }
    ops.push_back(op);
  }
  // x itself may be overwritten when it is scratch of ours or read for the last time.
  Rep y = {target, x.place};
  if (Leaf(u.out[0], target) != nullptr || shared || !(x.layout == target) || !Dead(x.place, u)) {
    y = NewResult(u.out[0], target);
  }
  std::vector<BufferRef> all = {y.place, x.place};
  all.insert(all.end(), places.begin(), places.end());
  const std::string label = "pointwise x" + std::to_string(ops.size()) + " " + Sizes(target.dims());
  AddStep(label, PointwiseLoop(simd_, target, x.layout, layouts, std::move(ops)), std::move(all));
  AddRep(u.out[0], y);
}

void Builder::EmitPointwise(const Unit& u) {
  const Dims xd = p_.dims(u.in[0]);
  Layout target = Layout::Dense(u.dims);
  // The first operand of full size that is not plain decides.
  auto consider = [&](uint32_t v) {
    if (v == 0 || p_.constant(v) || p_.dims(v) != u.dims) return;
    if (target.dense()) target = Layout::Like(u.dims, Main(v).layout);
  };
  consider(u.in[0]);
  for (const PostOp& p : u.post_ops) consider(p.operand);
  Rep x;
  if (xd == u.dims) {
    x = Get(u.in[0], target);
  } else {
    x = Operand(u.in[0], target);
  }
  ApplyPostOps(u, 0, x, target);
}

std::vector<PointwiseOp> Builder::FirstPostOps(const Unit& u) {
  std::vector<PointwiseOp> ops;
  for (size_t k = 0; k < UnaryPostOps(u); ++k) {
    const PostOp& q = u.post_ops[k];
    ops.push_back({q.fn, q.a, q.b, -1});
  }
  return ops;
}

void Builder::EmitIm2col(const Unit& u, const std::string& label, MultiplyTile multiply,
                         const ConvShape& s, const Im2colTiles& pieces, int threads,
                         const BufferRef& w, bool rows) {
  std::vector<BufferRef> places = {{}, GetDense(u.in[0]).place, w, {workspace_, 0}};
  out_.workspace = std::max(out_.workspace, pieces.bytes() * static_cast<uint64_t>(threads));
  ConvFinish finish;
  Unit rest = u;
  if (s.how == ConvShape::kGather) {
    finish = {&simd_, !u.bias.empty(), FirstPostOps(u)};
    if (finish.bias) places.push_back(BiasOf(u, u.dims[1]));
    rest.bias.clear();
  }
  const size_t taken = finish.post_ops.size();
  const BufferRef y = places[0] = NewResult(u.out[0], Layout::Dense(u.dims)).place;
  AddStep(label + Sizes(u.dims),
          ConvLoop(std::move(multiply), s, pieces, threads, rows, std::move(finish)),
          std::move(places));
  FinishProduct(std::move(rest), taken, y);
}

void Builder::FinishProduct(Unit u, size_t from, const BufferRef& y) {
  const Rep product = {Layout::Dense(u.dims), y};
  std::vector<PostOp> post_ops;
  if (!u.bias.empty() && u.kind().post_ops == PostOps::kColumns && u.bias_factor == 1) {
    for (uint32_t v : u.bias) post_ops.push_back({Fn::kAdd, 0, 0, v, nullptr});
  } else if (!u.bias.empty()) {
    auto sum = std::make_shared<std::vector<float>>(static_cast<size_t>(u.dims[1]), 0.0f);
    for (uint32_t v : u.bias) {
      const std::vector<float> b = p_.Floats(v);
      if (b.size() != sum->size()) throw std::runtime_error("a bias of another length");
      for (size_t i = 0; i < b.size(); ++i) (*sum)[i] += u.bias_factor * b[i];
    }
    post_ops.push_back({Fn::kAdd, 0, 0, 0, sum});
  }
  post_ops.insert(post_ops.end(), u.post_ops.begin() + static_cast<std::ptrdiff_t>(from),
                  u.post_ops.end());
  u.post_ops = std::move(post_ops);
  if (u.post_ops.empty()) {
    AddRep(u.out[0], product);
  } else {
    ApplyPostOps(u, 0, product, product.layout);
  }
}

}  // namespace ge_engines::cpu
