// Steps on the pixels of pictures, as ONNX nodes that engines run: rotate, shift and zoom (one
// AffineGrid and one GridSample for those beside each other), brightness, contrast, noise. Pixels
// are floats from 0 to 255 from the first of them on. All are random and left out of a test part.
#include <fmt/format.h>

#include "passes/data/pipe/amount.h"

namespace ge::data {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Numbers in [-most, most] by the step's own draw: [n, count].
Val Around(Chain* chain, const std::string& name, int64_t count, const Amount& most) {
  const Val draw = chain->Draw(name, count);
  return Times(draw * 2.0 - 1.0, most);
}

// Columns of pictures, as floats.
std::vector<ChainColumn*> Pixels(const Step& step, Chain* chain, bool any_range) {
  std::vector<ChainColumn*> out;
  bool late = false;
  for (ChainColumn& c : chain->columns) {
    const Column& of = chain->ColumnOf(c);
    const bool bytes = of.kind == Column::Kind::kArray && of.dtype == GE_U8 && of.dims.size() == 3;
    if (of.kind != Column::Kind::kPicture && !c.framed && !bytes) continue;
    const Val x = chain->ValueOf(&c);
    const passes::Type type = chain->fn->TypeOf(x);
    if (type.rank != 4) continue;
    if (type.dtype == GE_U8) {
      c.value = chain->fn->Cast(x, GE_F32);
      c.range = 255;
    }
    late = late || c.range != 255;
    if (c.range == 255 || any_range) out.push_back(&c);
  }
  if (out.empty()) {
    RefuseStep(step,
               late ? "it before normalise" : "a column of pictures ahead of it; there is none");
  }
  return out;
}

// In a test part the step does nothing, but for what it makes of the dtype.
bool LeftOut(const Step& step, Chain* chain, bool any_range) {
  if (chain->test) Pixels(step, chain, any_range);
  return chain->test;
}

// The sampling of GridSample keeps colours in their range; these do not by themselves.
Val Clip(Chain* chain, Val x) {
  Fn& fn = *chain->fn;
  return fn.Op("Clip", {x, fn.Scalar(GE_F32, 0), fn.Scalar(GE_F32, 255)});
}

// A number a row beside pictures: [n, 1] as [n, 1, 1, 1].
Val ARow(Val numbers) { return passes::Reshape(numbers, {-1, 1, 1, 1}); }

template <class Set>
void Place(const Step& step, Chain* chain, const Set& set) {
  std::vector<ChainColumn*> columns;
  for (ChainColumn& c : chain->columns) {
    if (c.placing.any()) columns.push_back(&c);
  }
  if (columns.empty()) columns = Pixels(step, chain, true);
  for (ChainColumn* c : columns) set(&c->placing);
}

}  // namespace

// rotate 10: by up to 10 degrees either way, counter-clockwise where positive.
void ApplyRotate(const Step& step, Chain* chain) {
  const Amount most = AmountOf(step, chain, 180, "rotate DEGREES, above 0 and up to 180");
  if (LeftOut(step, chain, true)) return;
  const Val radians = Around(chain, step.name, 1, Scaled(most, kPi / 180));
  Place(step, chain, [&](Placing* p) {
    if (p->radians) RefuseStep(step, "it once");
    p->radians = radians;
  });
}

// shift 0.1: by up to a tenth of the width and of the height.
void ApplyShift(const Step& step, Chain* chain) {
  const Amount most = AmountOf(step, chain, 1, "shift PART, above 0 and up to 1");
  if (LeftOut(step, chain, true)) return;
  const Val both = Around(chain, step.name, 2, most);
  Place(step, chain, [&](Placing* p) {
    if (p->right) RefuseStep(step, "it once");
    p->right = passes::Slice(both, {0}, {1}, {1});
    p->down = passes::Slice(both, {1}, {2}, {1});
  });
}

// zoom 0.9..1.1: what is above 1 enlarges.
void ApplyZoom(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted = "zoom LEAST..MOST, from 0.01 to 100, as zoom 0.9..1.1";
  if (step.args.size() != 1 || !step.named.empty()) RefuseStep(step, kWanted);
  const bool states = step.args[0].find('@') != std::string::npos;
  if (chain->test && states && LeftOut(step, chain, true)) return;
  const auto [least, most] = AmountsIn(step, chain, step.args[0], {0.01, 100, 1}, kWanted);
  if (LeftOut(step, chain, true)) return;
  const Val draw = chain->Draw(step.name, 1);
  Val zoom;
  if (least.state || most.state) {
    const Val from = AsValue(chain, least);
    zoom = draw * (AsValue(chain, most) - from) + from;
  } else {
    // As of states: @NAME=0.9 and 0.9 give the same bits.
    const auto from = static_cast<float>(least.number), to = static_cast<float>(most.number);
    zoom = draw * static_cast<double>(to - from) + least.number;
  }
  Place(step, chain, [&](Placing* p) {
    if (p->zoom) RefuseStep(step, "it once");
    p->zoom = zoom;
  });
}

// A place of the result, from -1 to 1 on both axes, to that of the picture: first shifted back,
// then turned back about the middle, then shrunk by the zoom. Axes are of pixels, so that a turn of
// a picture that is no square keeps its angles.
void MakePlacing(Chain* chain, ChainColumn* column) {
  Placing p = column->placing;
  column->placing = {};
  Fn& fn = *chain->fn;
  const Val x = chain->ValueOf(column);
  const passes::Type type = fn.TypeOf(x);
  const auto height = static_cast<double>(type.dims[2].value);
  const auto width = static_cast<double>(type.dims[3].value);
  Val one = p.radians ? p.radians : p.zoom ? p.zoom : p.right;
  one = fn.Fill(one, 1);
  const Val zero = fn.Zeros(one);
  Val cos = p.radians ? passes::Cos(p.radians) : one,
      sin = p.radians ? passes::Sin(p.radians) : zero;
  if (p.zoom) {
    cos = cos / p.zoom;
    sin = sin / p.zoom;
  }
  // Rows go down: a turn counter-clockwise of the picture turns places the other way.
  const Val across = -(sin * (height / width)), along = sin * (width / height);
  Val right = zero, down = zero;
  if (p.right) {
    const Val dx = p.right * 2.0, dy = p.down * 2.0;
    right = -(cos * dx + across * dy);
    down = -(along * dx + cos * dy);
  }
  const Val theta =
      passes::Reshape(passes::Concat({cos, across, right, along, cos, down}, 1), {-1, 2, 3});
  const Val grid = fn.Op("AffineGrid", {theta, fn.ShapeOf(x)}, Attrs().Int("align_corners", 0));
  Attrs attrs;
  attrs.Text("mode", "linear").Text("padding_mode", "zeros").Int("align_corners", 0);
  column->value = fn.Op("GridSample", {x, grid}, attrs);
}

// brightness 0.2: all pixels times a number from 0.8 to 1.2.
void ApplyBrightness(const Step& step, Chain* chain) {
  const Amount most = AmountOf(step, chain, 1, "brightness PART, above 0 and up to 1");
  if (LeftOut(step, chain, false)) return;
  const Val factor = ARow(Around(chain, step.name, 1, most) + 1.0);
  for (ChainColumn* c : Pixels(step, chain, false)) c->value = Clip(chain, c->value * factor);
}

// contrast 0.2: the distance of all pixels from the mean of the gray picture times a number from
// 0.8 to 1.2.
void ApplyContrast(const Step& step, Chain* chain) {
  const Amount most = AmountOf(step, chain, 1, "contrast PART, above 0 and up to 1");
  if (LeftOut(step, chain, false)) return;
  const Val factor = ARow(Around(chain, step.name, 1, most) + 1.0);
  Fn& fn = *chain->fn;
  for (ChainColumn* c : Pixels(step, chain, false)) {
    const Val x = c->value;
    Val mean = fn.Op("ReduceMean", {x, fn.Ints({2, 3})}, Attrs().Int("keepdims", 1));
    if (passes::Is(fn.TypeOf(x).dims[1], 3)) {
      const Val gray = passes::Reshape(fn.Vector(GE_F32, {0.299, 0.587, 0.114}), {3, 1, 1});
      mean = passes::ReduceSum(mean * gray, {1}, true);
    }
    c->value = Clip(chain, (x - mean) * factor + mean);
  }
}

// noise 0.05: a normal number for each pixel and channel, of that deviation (1 is the range of the
// pixels; of normalised ones, 1).
void ApplyNoise(const Step& step, Chain* chain) {
  const Amount deviation = AmountOf(step, chain, 1e6, "noise DEVIATION, above 0");
  if (LeftOut(step, chain, true)) return;
  Fn& fn = *chain->fn;
  for (ChainColumn* c : Pixels(step, chain, true)) {
    const passes::Type type = fn.TypeOf(c->value);
    const int64_t each = type.dims[1].value * type.dims[2].value * type.dims[3].value;
    const int64_t half = (each + 1) / 2;
    // Box and Muller: two uniform numbers are two normal ones.
    const Val draws = chain->Draw(step.name, 2 * half);
    const Val radius =
        passes::Sqrt(passes::Log(1.0 - passes::Slice(draws, {0}, {half}, {1})) * -2.0);
    const Val angle = passes::Slice(draws, {half}, {2 * half}, {1}) * (2 * kPi);
    Val normal = passes::Concat({radius * passes::Cos(angle), radius * passes::Sin(angle)}, 1);
    if (2 * half != each) normal = passes::Slice(normal, {0}, {each}, {1});
    const Val shaped =
        passes::Reshape(normal, {-1, type.dims[1].value, type.dims[2].value, type.dims[3].value});
    c->value = c->value + Times(shaped, Scaled(deviation, c->range == 255 ? 255.0 : 1.0));
  }
}

}  // namespace ge::data
