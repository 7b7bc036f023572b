// Steps on numbers: normalise.
#include <fmt/format.h>

#include "passes/data/pipe/chain.h"

namespace ge::data {
namespace {

// Of pictures of three channels, 0 to 255. Deng et al., ImageNet; as torchvision's models want it.
const std::vector<double> kImagenetMean = {0.485, 0.456, 0.406};
const std::vector<double> kImagenetStd = {0.229, 0.224, 0.225};

std::vector<double> ListOf(const Step& step, std::string_view text, std::string_view wanted) {
  std::vector<double> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    out.push_back(NumberOf(step, std::string(text.substr(0, end)), wanted));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
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
      "of pixels from 0 to 1";
  std::vector<double> mean = kImagenetMean, deviation = kImagenetStd;
  if (step.args.size() == 2) {
    mean = ListOf(step, step.args[0], kWanted);
    deviation = ListOf(step, step.args[1], kWanted);
  } else if (step.args != std::vector<std::string>{"imagenet"}) {
    RefuseStep(step, kWanted);
  }
  for (const double d : deviation) {
    if (!(d > 0)) RefuseStep(step, "deviations above 0");
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
    Fn& fn = *chain->fn;
    const std::vector<int64_t> shape =
        mean.size() > 1 ? std::vector<int64_t>{-1, 1, 1} : std::vector<int64_t>{};
    const auto constant = [&](const std::vector<double>& numbers) {
      const Val v = fn.Vector(GE_F32, numbers);
      return shape.empty() ? v : passes::Reshape(v, shape);
    };
    // (x - 255 mean) * (1 / (255 std)): two roundings, the first of an exact difference.
    std::vector<double> shift, scale;
    for (size_t i = 0; i < mean.size(); ++i) {
      shift.push_back(mean[i] * 255);
      scale.push_back(1 / (deviation[i] * 255));
    }
    const Val number = type.dtype == GE_F32 ? x : fn.Cast(x, GE_F32);
    c.value = (number - constant(shift)) * constant(scale);
    c.range = 1;
    ++changed;
  }
  if (changed == 0) RefuseStep(step, "a column of bytes or pictures ahead of it; there is none");
}

}  // namespace ge::data
