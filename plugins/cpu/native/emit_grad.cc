// Steps of gradients, and of batch normalisation in training.
#include "plugins/cpu/native/direct.h"
#include "plugins/cpu/native/emit.h"
#include "plugins/cpu/native/moments.h"

namespace ge_engines::cpu::native {
namespace {

// [in][out][taps] as [out][in][taps], each filter from its last tap to its first.
class TurnFilters final : public Loop {
 public:
  TurnFilters(int64_t in, int64_t out, int64_t taps) : in_(in), out_(out), taps_(taps) {}
  void Run(float* const* p) const override {
    for (int64_t i = 0; i < in_; ++i) {
      for (int64_t o = 0; o < out_; ++o) {
        const float* from = p[1] + (i * out_ + o) * taps_;
        std::reverse_copy(from, from + taps_, p[0] + (o * in_ + i) * taps_);
      }
    }
  }

 private:
  int64_t in_, out_, taps_;
};

}  // namespace

std::optional<ConvSpec> TurnedConv(const ConvGradSpec& g) {
  const ConvSpec& c = g.conv;
  if (g.of_weights || c.groups != 1) return std::nullopt;
  ConvSpec t = c;
  t.src = c.dst, t.dst = c.src;
  std::swap(t.weights[0], t.weights[1]);
  for (size_t k = 0; k < c.stride.size(); ++k) {
    const int64_t reach = (c.weights[2 + k] - 1) * c.dilation[k];
    t.pad_l[k] = reach - c.pad_l[k], t.pad_r[k] = reach - c.pad_r[k];
    if (c.stride[k] != 1 || t.pad_l[k] < 0) return std::nullopt;
  }
  return t;
}

void NativeBuilder::EmitSpec(const Unit& u, const ConvGradSpec& g) {
  const std::optional<ConvSpec> c = TurnedConv(g);
  if (!c) throw std::runtime_error("native has no such gradient of a convolution");
  const DirectPlan plan(*c, machine_);
  const uint64_t floats = plan.workspace_floats() * static_cast<uint64_t>(machine_.threads);
  out_.workspace = std::max(out_.workspace, floats * sizeof(float));
  const Place dy = GetDense(u.in[0]).place, w = GetDense(u.in[1]).place;
  const auto bytes = static_cast<uint64_t>(Product(c->weights)) * sizeof(float);
  const Place turned = NewInternal(0, bytes);
  const int64_t taps = Product(c->weights) / (c->weights[0] * c->weights[1]);
  AddStep("turn " + Sizes(c->weights),
          std::make_unique<TurnFilters>(c->weights[1], c->weights[0], taps), {turned, w});
  const Place none = ConstantFloats(std::vector<float>(static_cast<size_t>(c->weights[0]), 0.0f));
  const Rep y = NewResult(u.out[0], Plain(u.out[0]));
  AddStep("direct grad " + Sizes(u.dims), DirectLoop(simd_, plan, {}),
          {y.place, dy, turned, none, {workspace_, 0}});
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const PoolGradSpec& spec) {
  AddPlain(u, "pool grad", PoolGradLoop(simd_, spec),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const StepSpec& spec) {
  std::vector<Place> places;
  for (const uint32_t v : u.out) {
    const Rep y = NewResult(v, Plain(v));
    places.push_back(y.place);
    AddRep(v, y);
  }
  for (const uint32_t v : u.in) places.push_back(GetDense(v).place);
  AddStep("step " + Sizes(u.dims), StepLoop(simd_, spec, Product(u.dims)), std::move(places));
}

void NativeBuilder::EmitSpec(const Unit& u, const AddRowsSpec&) {
  const int64_t rows = u.dims[0], count = Product(p_.dims(u.in[1]));
  AddPlain(u, "add rows",
           AddRowsLoop(simd_, rows, Product(u.dims) / rows, count, p_.dtype(u.in[1]) == GE_I64),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place, GetDense(u.in[2]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const MomentsSpec&) {
  Rep x = Main(u.in[0]);
  if (!HasChannelRows(x.layout)) x = GetDense(u.in[0]);
  std::vector<Place> places;
  for (const uint32_t v : u.out) {
    const Rep y = NewResult(v, Plain(v));
    places.push_back(y.place);
    AddRep(v, y);
  }
  places.push_back(x.place);
  AddStep("moments " + Sizes(x.layout.dims()), MomentsLoop(simd_, x.layout), std::move(places));
}

void NativeBuilder::EmitSpec(const Unit& u, const BatchNormGradSpec& spec) {
  Rep x = Main(u.in[1]);
  // Where x is plain and what comes back is not, x is the one to be turned.
  if (const Rep dy = Main(u.in[0]); x.layout.dense() && HasChannelRows(dy.layout)) {
    x = Get(u.in[1], dy.layout);
  }
  if (!HasChannelRows(x.layout)) x = GetDense(u.in[1]);
  const Rep dy = Get(u.in[0], x.layout), dx = NewResult(u.out[0], x.layout);
  std::vector<Place> places = {dx.place};
  AddRep(u.out[0], dx);
  for (size_t k = 1; k < 3; ++k) {
    const Rep y = NewResult(u.out[k], Plain(u.out[k]));
    places.push_back(y.place);
    AddRep(u.out[k], y);
  }
  places.insert(places.end(), {dy.place, x.place});
  for (size_t k = 2; k < 5; ++k) places.push_back(GetDense(u.in[k]).place);
  AddStep("batch norm grad " + Sizes(u.dims), BatchNormGradLoop(simd_, x.layout, spec.eps),
          std::move(places));
}

}  // namespace ge_engines::cpu::native
