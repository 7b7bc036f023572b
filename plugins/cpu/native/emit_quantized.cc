// Works on 8-bit codes as steps of a program.
#include <algorithm>
#include <array>
#include <cstring>

#include "plugins/cpu/native/code_conv.h"
#include "plugins/cpu/native/code_loops.h"
#include "plugins/cpu/native/code_places.h"
#include "plugins/cpu/native/emit.h"
#include "plugins/cpu/native/integer_product.h"
#include "plugins/cpu/native/quantize.h"

namespace ge_engines::cpu::native {
namespace {

// What a loop is given behind its weights, in the order of Placed.
constexpr std::array<size_t, 6> kFactors = {QuantIn::kXZero,  QuantIn::kXScale, QuantIn::kWScale,
                                            QuantIn::kYScale, QuantIn::kYZero,  QuantIn::kBias};

bool IsSigned(const Parser& p, uint32_t v) { return p.dtype(v) == GE_I8; }

std::vector<int32_t> Widened(const void* codes, int64_t n, bool is_signed) {
  std::vector<int32_t> wide;
  const auto* data = static_cast<const uint8_t*>(codes);
  for (int64_t i = 0; i < n; ++i) {
    wide.push_back(is_signed ? static_cast<int8_t>(data[i]) : data[i]);
  }
  return wide;
}

QuantResult ResultOf(const Unit& u, const Parser& p) {
  QuantResult r;
  r.x_signed = IsSigned(p, u.in[QuantIn::kX]);
  r.y_signed = IsSigned(p, u.out[0]);
  r.x_zero = u.in[QuantIn::kXZero] != 0;
  r.codes = u.in[QuantIn::kYScale] != 0;
  if (r.codes) r.w_scales = Product(p.dims(u.in[QuantIn::kWScale]));
  const uint32_t bias = u.in[QuantIn::kBias];
  r.biases = bias != 0 ? Product(p.dims(bias)) : 0;
  r.bias_floats = bias != 0 && p.dtype(bias) == GE_F32;
  r.y_zero = u.in[QuantIn::kYZero] != 0;
  return r;
}

QuantResult ResultOf(const Unit& u, const Parser& p, const CodeRange& range) {
  QuantResult r = ResultOf(u, p);
  r.range = range;
  return r;
}

// Whether weights are signed codes without a zero point, or unsigned ones of 128.
bool IsSymmetric(const Unit& u, const Parser& p) {
  const bool is_signed = IsSigned(p, u.in[QuantIn::kW]);
  const uint32_t zero = u.in[QuantIn::kWZero];
  if (zero == 0) return is_signed;
  const auto* codes = static_cast<const uint8_t*>(p.value(zero).data);
  return std::all_of(codes, codes + Product(p.dims(zero)),
                     [&](uint8_t code) { return code == (is_signed ? 0 : 128); });
}

}  // namespace

bool MultipliesByFours(const Unit& u, const Parser& p, const Machine& m) {
  if (CodeKernelsOf(m.isa) == nullptr) return false;
  const uint32_t zero = u.in[QuantIn::kWZero];
  // Zero points are of the kind that the weights are, but for some operators' absent ones.
  if (zero != 0 && IsSigned(p, zero) != IsSigned(p, u.in[QuantIn::kW])) return false;
  const auto* conv = As<IntegerConvSpec>(u);
  return conv == nullptr || CodeConvPlan::Suits(conv->conv, IsSymmetric(u, p));
}

template <class Plan>
Place NativeBuilder::PackCodes(const Unit& u, const Plan& plan) {
  const uint32_t w = u.in[QuantIn::kW], zero = u.in[QuantIn::kWZero];
  const bool w_signed = IsSigned(p_, w), zero_signed = zero != 0 && IsSigned(p_, zero);
  const int64_t n_zero = zero != 0 ? Product(p_.dims(zero)) : 0;
  Ids values = {w};
  if (zero != 0) values.push_back(zero);
  const std::string key =
      plan.PackKey() + " less " + ToText({n_zero, w_signed ? 1 : 0, zero_signed ? 1 : 0});
  return Pack(values, key, plan.weight_bytes(), [=](const void* const* from, void* to) {
    const std::vector<int32_t> zeros =
        n_zero > 0 ? Widened(from[1], n_zero, zero_signed) : std::vector<int32_t>{0};
    plan.Pack(static_cast<const uint8_t*>(from[0]), w_signed, zeros, to);
  });
}

void NativeBuilder::AddQuantized(const Unit& u, const std::string& label, const Place& x,
                                 const Layout& y, Place weights, uint64_t scratch,
                                 std::unique_ptr<Work> work) {
  std::vector<Place> reads = {x, weights};
  for (size_t k : kFactors) {
    reads.push_back(u.in[k] != 0 ? GetDense(u.in[k]).place : x);
  }
  reads.push_back(NewInternal(0, scratch));
  AddCodes(u, label, y, std::move(work), std::move(reads));
}

// Whether all that makes codes of sums is constant.
bool NativeBuilder::IsSettled(const Unit& u) const {
  return std::all_of(kFactors.begin(), kFactors.end(),
                     [&](size_t k) { return u.in[k] == 0 || p_.constant(u.in[k]); });
}

void NativeBuilder::EmitByFours(const Unit& u, CodeConvPlan plan, const Layout& x,
                                const Layout& y) {
  plan.settled = IsSettled(u);
  const bool w_signed = IsSigned(p_, u.in[QuantIn::kW]);
  Ids values = {u.in[QuantIn::kW]};
  const uint32_t zero = u.in[QuantIn::kWZero];
  if (!IsSymmetric(u, p_)) plan.w_zeros = zero != 0 ? Product(p_.dims(zero)) : 1;
  if (plan.w_zeros > 0 && zero != 0) values.push_back(zero);
  const size_t first = values.size();
  std::vector<std::pair<size_t, uint64_t>> factors;  // place and bytes, in the order of values
  for (size_t i = 0; i < kFactors.size(); ++i) {
    const uint32_t v = u.in[kFactors[i]];
    if (!plan.settled || v == 0) continue;
    values.push_back(v);
    factors.emplace_back(kXZero + i, static_cast<uint64_t>(Product(p_.dims(v)) * p_.size(v)));
  }
  const std::string key =
      plan.PackKey() + (w_signed ? " signed" : "") + (first > 1 ? " with zeros" : "");
  const Place weights = Pack(values, key, plan.weight_bytes(),
                             [plan, w_signed, first, factors](const void* const* from, void* to) {
                               const uint8_t none = 0;  // unsigned weights without a zero point
                               const auto* zeros = static_cast<const uint8_t*>(from[first - 1]);
                               plan.Pack(static_cast<const uint8_t*>(from[0]), w_signed,
                                         first > 1 ? zeros : &none, to);
                               if (!plan.settled) return;
                               std::vector<std::vector<double>> aligned(factors.size());
                               const void* inputs[kScratch] = {};
                               for (size_t i = 0; i < factors.size(); ++i) {
                                 aligned[i].resize(factors[i].second / sizeof(double) + 1);
                                 std::memcpy(aligned[i].data(), from[first + i], factors[i].second);
                                 inputs[factors[i].first] = aligned[i].data();
                               }
                               plan.Settle(inputs, to);
                             });
  const uint32_t v = u.in[QuantIn::kX];
  // Constants come in plain order.
  const Rep codes = p_.constant(v) && !x.dense() ? Convert(0, GetDense(v), x, nullptr) : Get(v, x);
  AddQuantized(u, "codes by four", codes.place, y, weights, plan.scratch_bytes(),
               CodeConvLoop(*CodeKernelsOf(machine_.isa), plan));
}

void NativeBuilder::EmitSpec(const Unit& u, const IntegerConvSpec& spec) {
  if (MultipliesByFours(u, p_, machine_)) {
    const CodeConvPlan plan(spec.conv, machine_.threads, ResultOf(u, p_, spec.range));
    return EmitByFours(u, plan, Layout::ChannelsLast(p_.dims(u.in[QuantIn::kX]), 1),
                       Layout::ChannelsLast(u.dims, p_.size(u.out[0])));
  }
  const IntegerConvPlan plan(simd_, spec.conv, machine_.threads, ResultOf(u, p_, spec.range));
  AddQuantized(u, "integer conv", GetDense(u.in[QuantIn::kX]).place, Plain(u.out[0]),
               PackCodes(u, plan), plan.scratch_bytes(), IntegerConvLoop(simd_, plan));
}

void NativeBuilder::EmitSpec(const Unit& u, const IntegerProductSpec& spec) {
  const Dims b = p_.dims(u.in[QuantIn::kW]);
  const int64_t n = b[spec.turned ? 0 : 1], k = b[spec.turned ? 1 : 0];
  if (MultipliesByFours(u, p_, machine_)) {
    const CodeConvPlan plan(Product(u.dims) / n, n, k, spec.turned, machine_.threads,
                            ResultOf(u, p_, spec.range));
    return EmitByFours(u, plan, Plain(u.in[QuantIn::kX]), Plain(u.out[0]));
  }
  IntegerProductPlan plan(simd_, Product(u.dims) / n, n, k, ResultOf(u, p_, spec.range));
  plan.turned = spec.turned;
  AddQuantized(u, "integer product", GetDense(u.in[QuantIn::kX]).place, Plain(u.out[0]),
               PackCodes(u, plan), plan.scratch_bytes(), IntegerProductLoop(simd_, plan));
}

// With one scale elements are taken in the order in which they lie: an image with its channels last
// stays so, of whatever size its elements are. Turning it took a third of the time of a network
// that is on codes in parts.
bool NativeBuilder::EmitInOrder(const Unit& u, const std::string& label,
                                std::unique_ptr<Work> work) {
  const bool image = u.dims.size() > 2 && Product(p_.dims(u.in[1])) == 1;
  if (!image || Main(u.in[0]).layout.dense()) return false;
  const Layout from = Layout::ChannelsLast(u.dims, p_.size(u.in[0]));
  const Place x = Get(u.in[0], from).place;
  AddCodes(u, label, Layout::ChannelsLast(u.dims, p_.size(u.out[0])), std::move(work),
           {x, GetDense(u.in[1]).place, u.in[2] != 0 ? GetDense(u.in[2]).place : x});
  return true;
}

void NativeBuilder::EmitSpec(const Unit& u, const QuantizeSpec& spec) {
  if (u.in.size() > 1) {
    const bool zero = u.in[2] != 0, is_signed = IsSigned(p_, u.out[0]);
    if (EmitInOrder(u, "quantize", QuantizeLoop(simd_, spec.grid, is_signed, zero))) return;
    const Place x = GetDense(u.in[0]).place;
    AddPlain(u, "quantize", QuantizeLoop(simd_, spec.grid, is_signed, zero),
             {x, GetDense(u.in[1]).place, zero ? GetDense(u.in[2]).place : x});
    return;
  }
  const Place x = GetDense(u.in[0]).place;
  std::vector<Place> places = {NewResult(u.out[0], Plain(u.out[0])).place, x};
  AddRep(u.out[0], {Plain(u.out[0]), places[0]});
  for (size_t k : {1u, 2u}) {
    if (u.out[k] == 0) {
      places.push_back(x);
      continue;
    }
    const Rep y = NewResult(u.out[k], Plain(u.out[k]));
    AddRep(u.out[k], y);
    places.push_back(y.place);
  }
  AddStep("dynamic quantize " + Sizes(u.dims),
          DynamicQuantizeLoop(simd_, Product(u.dims), u.out[1] != 0, u.out[2] != 0),
          std::move(places));
}

void NativeBuilder::EmitSpec(const Unit& u, const DequantizeSpec& spec) {
  const bool zero = u.in[2] != 0, is_signed = IsSigned(p_, u.in[0]);
  if (EmitInOrder(u, "dequantize", DequantizeLoop(simd_, spec.grid, is_signed, zero))) return;
  const Place x = GetDense(u.in[0]).place;
  AddPlain(u, "dequantize", DequantizeLoop(simd_, spec.grid, is_signed, zero),
           {x, GetDense(u.in[1]).place, zero ? GetDense(u.in[2]).place : x});
}

Layout NativeBuilder::CodeLayout(const Unit& u) {
  return Layout::Like(u.dims, Main(u.in[0]).layout);
}

void NativeBuilder::AddCodes(const Unit& u, const std::string& label, const Layout& layout,
                             std::unique_ptr<Work> work, std::vector<Place> reads) {
  const Rep y = NewResult(u.out[0], layout);
  reads.insert(reads.begin(), y.place);
  AddStep(label + " " + Sizes(u.dims), std::move(work), std::move(reads));
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const CodePairSpec& spec) {
  const Layout layout = CodeLayout(u);
  // Its elements lie side by side whatever the order of their axes.
  const Place b = (spec.channels ? GetDense(u.in[1]) : Get(u.in[1], layout)).place;
  const int64_t all = Product(u.dims);
  const int64_t images = spec.channels ? u.dims[0] : 1, channels = spec.channels ? u.dims[1] : 1;
  const CodePlanes planes = {images, channels, all / (images * channels), !layout.dense()};
  AddCodes(u, "codes, two", layout, CodePairLoop(simd_, spec, planes),
           {Get(u.in[0], layout).place, b});
}

void NativeBuilder::EmitSpec(const Unit& u, CodeConstantSpec spec) {
  Layout layout = CodeLayout(u);
  const bool of_channels = u.dims.size() > 2 && spec.middle == u.dims[1] &&
                           spec.outer * spec.middle == u.dims[0] * u.dims[1];
  if (!layout.dense() && of_channels) {  // neighbours in memory
    spec.outer *= spec.inner, spec.inner = 1;
  } else {
    layout = Plain(u.out[0]);
  }
  const Place x = layout.dense() ? GetDense(u.in[0]).place : Get(u.in[0], layout).place;
  AddCodes(u, "codes, constants", layout, CodeConstantLoop(simd_, spec),
           {x, GetDense(u.in[1]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const CodeMapSpec& spec) {
  const Layout layout = CodeLayout(u);
  std::vector<PointwiseOp> ops = FirstPosts(u);
  AddCodes(u, "codes, table", layout,
           CodeMapLoop(TableOf(simd_, spec, std::move(ops)), Product(u.dims)),
           {Get(u.in[0], layout).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const CodeMeanSpec& spec) {
  const Dims x = p_.dims(u.in[0]);
  const Layout layout = Layout::Like(x, Main(u.in[0]).layout);
  const bool last = !layout.dense();
  const int64_t pixels = Product(x) / (x[0] * x[1]);
  const Place sums = NewInternal(0, static_cast<uint64_t>(x[0] * x[1]) * sizeof(int32_t));
  AddCodes(u, "codes, mean", Plain(u.out[0]), CodeMeanLoop(simd_, spec, {x[0], x[1], pixels, last}),
           {Get(u.in[0], layout).place, sums});
}

void NativeBuilder::EmitSpec(const Unit& u, const CodeConcatSpec& spec) {
  Layout layout = Layout::Dense(u.dims, 1);
  for (uint32_t v : u.in) {
    if (layout.dense()) layout = Layout::Like(u.dims, Main(v).layout);
  }
  const bool last = !layout.dense();
  if (last && spec.axis == 0) layout = Layout::Dense(u.dims, 1);
  // Rows of each input that follow each other in the result.
  std::vector<int64_t> bytes;
  std::vector<Place> places;
  std::vector<std::vector<uint8_t>> tables;
  int64_t rows = 1;
  for (int k = 0; k < layout.rank; ++k) {
    const bool outside = !layout.dense()
                             ? k != spec.axis && layout.stride[k] > layout.stride[spec.axis]
                             : k < spec.axis;
    if (outside) rows *= u.dims[static_cast<size_t>(k)];
  }
  for (size_t i = 0; i < u.in.size(); ++i) {
    const Dims d = p_.dims(u.in[i]);
    places.push_back(Get(u.in[i], Layout::Like(d, layout)).place);
    bytes.push_back(Product(d) / rows);
    tables.push_back(spec.x[i] == spec.y ? std::vector<uint8_t>()
                                         : TableOf(simd_, {spec.x[i], spec.y, {}}, {}));
  }
  AddCodes(u, "codes, concat", layout, CodeConcatLoop(rows, std::move(bytes), std::move(tables)),
           std::move(places));
}

void NativeBuilder::AddConversion(const Rep& from, const Rep& to) {
  const Dims d = to.layout.dims();
  const bool images =
      to.layout.size == 1 && d.size() > 2 && from.layout.dense() != to.layout.dense();
  if (!images) return Builder::AddConversion(from, to);
  const int64_t pixels = Product(d) / (d[0] * d[1]);
  const bool last = !to.layout.dense();
  AddStep("codes, channels " + std::string(last ? "last " : "first ") + Sizes(d),
          CodeTransposeLoop(simd_, d[0], last ? d[1] : pixels, last ? pixels : d[1]),
          {to.place, from.place});
}

}  // namespace ge_engines::cpu::native
