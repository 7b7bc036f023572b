// Steps on numbers: normalise.
#include <fmt/format.h>

#include <algorithm>

#include "passes/data/pipe/amount.h"
#include "passes/data/pipe/chain.h"

namespace ge::data {
namespace {

// Of pictures of three channels, 0 to 255. Deng et al., ImageNet; as torchvision's models want it.
const std::vector<double> kImagenetMean = {0.485, 0.456, 0.406};
const std::vector<double> kImagenetStd = {0.229, 0.224, 0.225};

std::vector<Amount> Fixed(const std::vector<double>& numbers) {
  std::vector<Amount> out;
  for (const double n : numbers) out.push_back({n, {}});
  return out;
}

std::vector<Amount> ListOf(const Step& step, Chain* chain, std::string_view text,
                           const Bounds& bounds, std::string_view wanted) {
  std::vector<Amount> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    out.push_back(AmountIn(step, chain, std::string(text.substr(0, end)), bounds, wanted));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// f(number * 255) of each channel: a constant, or a value where some are states.
template <class F>
Val OfPixels(Chain* chain, const std::vector<Amount>& amounts, const F& f) {
  Fn& fn = *chain->fn;
  std::vector<double> numbers;
  std::vector<Val> values;
  for (const Amount& a : amounts) {
    numbers.push_back(f(a.number * 255));
    values.push_back(passes::Reshape(f(AsValue(chain, a) * 255.0), {1}));
  }
  const bool states =
      std::any_of(amounts.begin(), amounts.end(), [](const Amount& a) { return bool(a.state); });
  const Val v = states ? passes::Concat(values, 0) : fn.Vector(GE_F32, numbers);
  return amounts.size() > 1 ? passes::Reshape(v, {-1, 1, 1}) : v;
}

// Whether the column may hold bytes or pixels: asked before its value is made.
bool MayHoldBytes(const Chain& chain, const ChainColumn& c) {
  const Column& of = chain.ColumnOf(c);
  if (of.kind == Column::Kind::kText || !of.classes.empty()) return false;
  return c.value || c.framed || of.kind == Column::Kind::kPicture || of.dtype == GE_U8;
}

}  // namespace

// normalise imagenet | normalise MEAN STD [scale=255]: (x / scale - mean) / std by channel, of
// columns of pictures (u8[n, c, h, w]), where there are none of all u8 columns.
void ApplyNormalise(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted =
      "normalise imagenet, or normalise MEAN STD with a number or numbers by channel (0.5,0.5,0.5) "
      "of pixels from 0 to 1, STD above 0";
  std::vector<Amount> mean = Fixed(kImagenetMean), deviation = Fixed(kImagenetStd);
  if (step.args.size() == 2) {
    mean = ListOf(step, chain, step.args[0], {-1e9, 1e9, 0}, kWanted);
    deviation = ListOf(step, chain, step.args[1], {1e-9, 1e9, 1}, kWanted);
  } else if (step.args != std::vector<std::string>{"imagenet"}) {
    RefuseStep(step, kWanted);
  }
  if (mean.empty() || mean.size() != deviation.size()) RefuseStep(step, kWanted);
  int changed = 0;
  for (ChainColumn& c : chain->columns) {
    if (!MayHoldBytes(*chain, c)) continue;
    const Val x = chain->ValueOf(&c);
    const passes::Type type = chain->fn->TypeOf(x);
    const bool pixels = type.dtype == GE_U8 || (type.dtype == GE_F32 && c.range == 255);
    if (!pixels || type.rank < 2) continue;
    const bool channels =
        type.rank == 4 && passes::Is(type.dims[1], static_cast<int64_t>(mean.size()));
    if (mean.size() > 1 && !channels) {
      RefuseStep(step, fmt::format("one number, or as many as column '{}' has channels", c.name));
    }
    // (x - 255 mean) * (1 / (255 std)): two roundings, the first of an exact difference.
    const Val shift = OfPixels(chain, mean, [](auto n) { return n; });
    const Val scale = OfPixels(chain, deviation, [](auto n) { return 1.0 / n; });
    const Val number = type.dtype == GE_F32 ? x : chain->fn->Cast(x, GE_F32);
    c.value = (number - shift) * scale;
    c.range = 1;
    ++changed;
  }
  if (changed == 0) RefuseStep(step, "a column of bytes or pictures ahead of it; there is none");
}

}  // namespace ge::data
