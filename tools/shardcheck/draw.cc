#include "tools/shardcheck/draw.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge::shardcheck {
namespace {

constexpr int64_t kMostDrawn = 700;  // of a value: what is found with more is found with these

}  // namespace

int64_t Drawer::Size() {
  if (Chance(6)) return 1;
  return Draw(2, std::max<int64_t>(2, limits_.size));
}

NetValue Drawer::Pick() {
  const auto n = static_cast<int64_t>(values_.size());
  return values_[static_cast<size_t>(Chance(55) ? n - 1 - Draw(std::min<int64_t>(3, n)) : Draw(n))];
}

NetValue Drawer::Pick(size_t least, size_t most) {
  NetValue v = Pick();
  for (int tries = 0; tries < 6 && (v.dims.size() < least || v.dims.size() > most); ++tries) {
    v = Pick();
  }
  while (v.dims.size() < least) {  // a dim more
    const int64_t axis = Draw(static_cast<int64_t>(v.dims.size()) + 1);
    Dims dims = v.dims;
    dims.insert(dims.begin() + axis, 1);
    v = Put("Unsqueeze", {v.name, Ints({axis})}, dims);
  }
  while (v.dims.size() > most) {  // two become one
    const auto axis = static_cast<size_t>(Draw(static_cast<int64_t>(v.dims.size()) - 1));
    Dims dims = v.dims;
    dims[axis] *= dims[axis + 1];
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    v = Put("Reshape", {v.name, Ints(dims)}, dims);
  }
  return v;
}

std::optional<NetValue> Drawer::PickLike(const Dims& dims) {
  std::vector<NetValue> fits;
  for (const NetValue& v : values_) {
    if (v.dims == dims) fits.push_back(v);
  }
  if (fits.empty()) return std::nullopt;
  return fits[static_cast<size_t>(Draw(static_cast<int64_t>(fits.size())))];
}

// `seen`: others may read it. What is too large is cut, so that programs stay small.
NetValue Drawer::Put(const std::string& op, std::vector<std::string> in, Dims dims,
                     const std::string& attrs, bool seen) {
  NetValue v{fmt::format("v{}", ++next_value_), std::move(dims)};
  p_.nodes.push_back({op, std::move(in), {v}, attrs});
  const bool fits = CountOf(v.dims) <= kMostDrawn;
  if (seen && fits && !v.dims.empty()) values_.push_back(v);
  return v;
}

NetValue Drawer::Tame(const NetValue& v) {
  return Put(OneOf<const char*>({"Tanh", "Tanh", "Softsign", "Sin", "Sigmoid"}), {v.name}, v.dims);
}

std::string Drawer::Weight(const Dims& dims, double scale, double middle) {
  std::uniform_real_distribution<double> real(-scale, scale);
  std::string elements;
  for (int64_t i = CountOf(dims); i > 0; --i) {
    elements += fmt::format("{}{:.3g}", elements.empty() ? "" : ", ", middle + real(random_));
  }
  const bool frozen = Chance(20);
  const std::string name =
      frozen ? fmt::format("k{}", ++next_constant_) : fmt::format("w{}", ++next_weight_);
  p_.constants.push_back({name, "f64", dims, "[" + elements + "]"});
  return name;
}

std::string Drawer::Ints(const Dims& v) {
  const std::string name = fmt::format("s{}", ++next_setting_);
  p_.constants.push_back(
      {name, "i64", {static_cast<int64_t>(v.size())}, fmt::format("[{}]", fmt::join(v, ", "))});
  return name;
}

std::string Drawer::Scalar(const std::string& dtype, const std::string& text) {
  const std::string name = fmt::format("s{}", ++next_setting_);
  p_.constants.push_back({name, dtype, {}, text});
  return name;
}

Dims Drawer::Under(const Dims& dims) {
  Dims under = dims;
  for (int64_t& d : under) {
    if (Chance(25)) d = 1;
  }
  while (under.size() > 1 && Chance(25)) under.erase(under.begin());
  return under;
}

void Drawer::AddInputs() {
  const bool words = Chance(15);
  for (int64_t i = Chance(25) ? 2 : 1; i > 0; --i) {
    NetInput in{fmt::format("x{}", p_.inputs.size()), {p_.batch}, 0};
    for (int64_t d = Draw(1, 3); d > 0; --d) in.dims.push_back(Size());
    p_.inputs.push_back(in);
    values_.push_back({in.name, in.dims});
  }
  if (!words) return;
  p_.inputs.push_back({"ids", {p_.batch, Draw(1, 4)}, Draw(3, 9)});
  Embed();
}

void Drawer::Step() {
  using Kind = void (Drawer::*)();
  struct Share {
    Kind kind;
    int weight;
  };
  static constexpr Share kKinds[] = {{&Drawer::Unary, 8},          {&Drawer::Binary, 14},
                                     {&Drawer::Choose, 3},         {&Drawer::Several, 3},
                                     {&Drawer::Drop, 2},           {&Drawer::MatMul, 14},
                                     {&Drawer::MatMulOfTwo, 4},    {&Drawer::Gemm, 5},
                                     {&Drawer::Einsum, 4},         {&Drawer::Conv, 5},
                                     {&Drawer::Attention, 3},      {&Drawer::Pool, 3},
                                     {&Drawer::Reduce, 8},         {&Drawer::AlongAxis, 6},
                                     {&Drawer::LayerNorm, 4},      {&Drawer::BatchNorm, 4},
                                     {&Drawer::ChannelNorm, 3},    {&Drawer::TopK, 1},
                                     {&Drawer::Reshape, 8},        {&Drawer::Transpose, 6},
                                     {&Drawer::Flatten, 2},        {&Drawer::Unsqueeze, 2},
                                     {&Drawer::Squeeze, 2},        {&Drawer::Expand, 2},
                                     {&Drawer::Slice, 5},          {&Drawer::Concat, 4},
                                     {&Drawer::Split, 3},          {&Drawer::Pad, 2},
                                     {&Drawer::Tile, 1},           {&Drawer::Gather, 3},
                                     {&Drawer::GatherElements, 1}, {&Drawer::Scatter, 2},
                                     {&Drawer::Trilu, 1},          {&Drawer::OneHot, 1},
                                     {&Drawer::OfShape, 2}};
  int all = 0;
  for (const Share& s : kKinds) all += s.weight;
  int64_t at = Draw(all);
  for (const Share& s : kKinds) {
    if (at < s.weight) return (this->*s.kind)();
    at -= s.weight;
  }
}

// The loss, of one value or several.
void Drawer::EndIt() {
  const int64_t terms = Draw(1, 3);
  for (int64_t i = 0; i < terms; ++i) {
    p_.terms.push_back({i == 0 ? values_.back() : Pick(), static_cast<int>(Draw(kTermForms))});
  }
  const NetValue& last = p_.terms[0].value;
  if (last.dims[0] != p_.batch || Chance(60)) return;
  p_.terms.resize(1);
  p_.loss = last.dims.size() >= 2 && last.dims.back() >= 2 && Chance(70) ? "softmax-ce" : "mse";
}

// Something has to learn.
void Drawer::WantWeight() {
  const std::set<std::string> live = p_.Live();
  if (std::any_of(live.begin(), live.end(), [](const auto& name) { return name[0] == 'w'; })) {
    return;
  }
  NetValue& last = p_.terms[0].value;
  const std::string weight = fmt::format("w{}", ++next_weight_);
  const Dims dims = Under(last.dims);
  Weight(dims);
  p_.constants.back().name = weight;
  last = Put("Mul", {last.name, weight}, last.dims);
}

RankProgram Drawer::Run() {
  p_.seed = random_() % 1000;
  Mesh();
  AddInputs();
  for (int64_t n = Draw(3, limits_.nodes); n > 0; --n) {
    Step();
    if (Chance(15)) Tame(Pick());
  }
  EndIt();
  WantWeight();
  // A reshape that states the batch leaves sizes open until it is known; a label's have to be.
  const bool stated = std::any_of(p_.nodes.begin(), p_.nodes.end(),
                                  [](const NetNode& n) { return n.op == "Reshape"; });
  p_.symbolic = Chance(40) && (p_.loss == "none" || !stated);
  Options();
  Pins();
  return std::move(p_);
}

RankProgram DrawProgram(uint64_t seed, const DrawLimits& limits) {
  return Drawer(seed, limits).Run();
}

}  // namespace ge::shardcheck
