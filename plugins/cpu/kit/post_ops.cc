// Steps of pointwise functions, alone or behind a product, and of convolutions in tiles.
#include <stdexcept>

#include "plugins/cpu/kit/builder.h"

namespace ge_engines::cpu {

void Builder::ApplyPostOps(const Unit& unit, size_t from, const Rep& x, const Layout& target) {
  std::vector<PointwiseOp> ops;
  std::vector<Layout> layouts;
  std::vector<BufferRef> places;
  bool shared = false;
  for (size_t k = from; k < unit.post_ops.size(); ++k) {
    const PostOp& p = unit.post_ops[k];
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
  if (Leaf(unit.out[0], target) != nullptr || shared || !(x.layout == target) ||
      !Dead(x.place, unit)) {
    y = NewResult(unit.out[0], target);
  }
  std::vector<BufferRef> all = {y.place, x.place};
  all.insert(all.end(), places.begin(), places.end());
  const std::string label = "pointwise x" + std::to_string(ops.size()) + " " + Sizes(target.dims());
  AddStep(label, PointwiseLoop(simd_, target, x.layout, layouts, std::move(ops)), std::move(all));
  AddRep(unit.out[0], y);
}

void Builder::EmitPointwise(const Unit& unit) {
  const Dims xd = p_.dims(unit.in[0]);
  Layout target = Layout::Dense(unit.dims);
  // The first operand of full size that is not plain decides.
  auto consider = [&](uint32_t v) {
    if (v == 0 || p_.constant(v) || p_.dims(v) != unit.dims) return;
    if (target.dense()) target = Layout::Like(unit.dims, Main(v).layout);
  };
  consider(unit.in[0]);
  for (const PostOp& p : unit.post_ops) consider(p.operand);
  Rep x;
  if (xd == unit.dims) {
    x = Get(unit.in[0], target);
  } else {
    x = Operand(unit.in[0], target);
  }
  ApplyPostOps(unit, 0, x, target);
}

std::vector<PointwiseOp> Builder::FirstPostOps(const Unit& unit) {
  std::vector<PointwiseOp> ops;
  for (size_t k = 0; k < UnaryPostOps(unit); ++k) {
    const PostOp& q = unit.post_ops[k];
    ops.push_back({q.fn, q.a, q.b, -1});
  }
  return ops;
}

void Builder::EmitIm2col(const Unit& unit, const std::string& label, MultiplyTile multiply,
                         const ConvShape& shape, const Im2colTiles& pieces, int threads,
                         const BufferRef& ref, bool rows) {
  std::vector<BufferRef> places = {{}, GetDense(unit.in[0]).place, ref, {workspace_, 0}};
  out_.workspace = std::max(out_.workspace, pieces.bytes() * static_cast<uint64_t>(threads));
  ConvFinish finish;
  Unit rest = unit;
  if (shape.how == ConvShape::kGather) {
    finish = {&simd_, !unit.bias.empty(), FirstPostOps(unit)};
    if (finish.bias) places.push_back(BiasOf(unit, unit.dims[1]));
    rest.bias.clear();
  }
  const size_t taken = finish.post_ops.size();
  const BufferRef y = places[0] = NewResult(unit.out[0], Layout::Dense(unit.dims)).place;
  AddStep(label + Sizes(unit.dims),
          ConvLoop(std::move(multiply), shape, pieces, threads, rows, std::move(finish)),
          std::move(places));
  FinishProduct(std::move(rest), taken, y);
}

void Builder::FinishProduct(Unit unit, size_t from, const BufferRef& y) {
  const Rep product = {Layout::Dense(unit.dims), y};
  std::vector<PostOp> post_ops;
  if (!unit.bias.empty() && unit.kind().post_ops == PostOps::kColumns && unit.bias_factor == 1) {
    for (uint32_t v : unit.bias) post_ops.push_back({Fn::kAdd, 0, 0, v, nullptr});
  } else if (!unit.bias.empty()) {
    auto sum = std::make_shared<std::vector<float>>(static_cast<size_t>(unit.dims[1]), 0.0f);
    for (uint32_t v : unit.bias) {
      const std::vector<float> b = p_.Floats(v);
      if (b.size() != sum->size()) throw std::runtime_error("a bias of another length");
      for (size_t i = 0; i < b.size(); ++i) (*sum)[i] += unit.bias_factor * b[i];
    }
    post_ops.push_back({Fn::kAdd, 0, 0, 0, sum});
  }
  post_ops.insert(post_ops.end(), unit.post_ops.begin() + static_cast<std::ptrdiff_t>(from),
                  unit.post_ops.end());
  unit.post_ops = std::move(post_ops);
  if (unit.post_ops.empty()) {
    AddRep(unit.out[0], product);
  } else {
    ApplyPostOps(unit, 0, product, product.layout);
  }
}

}  // namespace ge_engines::cpu
