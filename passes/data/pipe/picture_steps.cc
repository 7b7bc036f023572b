// Steps on pictures: they say what is kept of a picture, and one Pictures node a column does it
// all. A crop keeps a window of the picture as it is by then; a flip comes last, wherever it
// stands. In a test part random crops are centred and flips left out.
#include <fmt/format.h>

#include <algorithm>

#include "passes/data/ops/kept_pictures.h"
#include "passes/data/pipe/amount.h"
#include "passes/data/pipe/chain.h"
#include "passes/data/pipe/nearest.h"

namespace ge::data {
namespace {

struct Sides {
  int64_t height, width;
};

constexpr int64_t kMost = 1 << 15;
constexpr int64_t kDraws = 22;  // of RandomBox

// "224" as twice the same, "224x320" as height and width.
Sides SidesOf(const Step& step, std::string_view wanted) {
  if (step.args.size() != 1) RefuseStep(step, wanted);
  const std::string& text = step.args[0];
  const size_t x = std::min(text.find('x'), text.size());
  const int64_t height = WholeOf(step, text.substr(0, x), 1, kMost, wanted);
  if (x == text.size()) return {height, height};
  return {height, WholeOf(step, text.substr(x + 1), 1, kMost, wanted)};
}

void OnlyNamed(const Step& step, const std::vector<std::string>& names, std::string_view wanted) {
  for (const auto& [name, value] : step.named) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    RefuseStep(step,
               fmt::format("{}; it has no option '{}'{}", wanted, name, Nearest(name, names)));
  }
}

// Areas and aspects of random boxes, as attributes; as a value of these four where some are states,
// which a test part does without.
Val BoxLimits(const Step& step, Chain* chain, std::string_view wanted, Attrs* attrs) {
  const auto word = [&](const char* name, const char* otherwise) {
    const auto at = step.named.find(name);
    return at == step.named.end() ? std::string(otherwise) : at->second;
  };
  const bool random = !chain->test;
  const auto states = [&](const std::string& text) { return text.find('@') != std::string::npos; };
  const std::string scale = word("scale", "0.08..1"), ratio = word("ratio", "");
  if (!random && (states(scale) || states(ratio))) return {};
  const auto area = AmountsIn(step, chain, scale, {1e-6, 1, 1}, wanted);
  std::pair<Amount, Amount> aspect{{3.0 / 4, {}}, {4.0 / 3, {}}};
  if (!ratio.empty()) aspect = AmountsIn(step, chain, ratio, {1e-3, 1e3, 1}, wanted);
  const Amount all[] = {area.first, area.second, aspect.first, aspect.second};
  const char* const names[] = {"area_least", "area_most", "aspect_least", "aspect_most"};
  std::vector<Val> values;
  bool any = false;
  for (int i = 0; i < 4; ++i) {
    if (!all[i].state) attrs->Float(names[i], all[i].number);
    any = any || all[i].state;
  }
  if (!any) return {};
  for (const Amount& a : all) values.push_back(passes::Reshape(AsValue(chain, a), {1}));
  return passes::Concat(values, 0);
}

// The columns whose pictures can be framed: not yet numbers.
std::vector<ChainColumn*> Framed(const Step& step, Chain* chain) {
  std::vector<ChainColumn*> out;
  bool late = false;
  for (ChainColumn& c : chain->columns) {
    if (!HoldsPictures(chain->ColumnOf(c))) continue;
    late = late || c.value;
    if (!c.value) out.push_back(&c);
  }
  if (out.empty()) {
    RefuseStep(step, late ? "it before the steps that make numbers of pictures"
                          : "a column of pictures ahead of it; there is none");
  }
  for (ChainColumn* c : out) c->framed = true;
  return out;
}

Val Row4(Chain* chain, std::vector<int64_t> numbers) {
  const auto n = static_cast<int64_t>(numbers.size());
  return passes::Reshape(chain->fn->Ints(numbers), {1, n});
}

// Of pictures that are all of one size: {0, 0} where they are not.
Sides KnownSize(const Chain& chain, const ChainColumn& c) {
  const Column& of = chain.ColumnOf(c);
  if (of.kind != Column::Kind::kArray) return {0, 0};
  return {of.dims[of.dims.size() - 2], of.dims.back()};
}

Val SizeOf(Chain* chain, ChainColumn* c) {
  Framing& f = c->frame;
  if (f.size) return f.size;
  const Sides known = KnownSize(*chain, *c);
  f.size = known.height > 0
               ? Row4(chain, {known.height, known.width})
               : chain->fn->Node(kDomain, "PictureSize", {chain->Row()}, chain->SourceOf(*c), 1)[0];
  return f.size;
}

void Resize(Chain* chain, Framing* f, Sides to) {
  f->view = Row4(chain, {to.height, to.width, 0, 0});
  f->height = to.height;
  f->width = to.width;
  f->resized = true;
}

// Keeps a window of the picture as it is now.
void Crop(Chain* chain, const Step& step, ChainColumn* c, Sides to, int64_t pad, Val draw) {
  Framing& f = c->frame;
  Attrs attrs;
  attrs.Int("height", to.height).Int("width", to.width).Int("pad", pad).Int("shorter", f.shorter);
  const auto view = [&](Val size) {
    std::vector<Val> in = {size};
    if (draw) in.push_back(draw);
    return chain->fn->Node(kDomain, "CropView", in, attrs, 1)[0];
  };
  if (f.height == 0) {
    f.view = view(SizeOf(chain, c));
  } else if (to.height <= f.height && to.width <= f.width && pad == 0) {
    // (height, width, top, left): the window moves within the one that is there.
    f.view = f.view + view(Row4(chain, {f.height, f.width})) * Row4(chain, {0, 0, 1, 1});
  } else {
    RefuseStep(step, fmt::format("a window within the {}x{} that are kept by now, without pad",
                                 f.height, f.width));
  }
  f.height = to.height;
  f.width = to.width;
  f.shorter = 0;
}

}  // namespace

// bad raise (the default) | bad replace: a damaged picture ends the run, or the next row whose
// pictures are good stands for its row, with all columns.
void ApplyBad(const Step& step, Chain* chain) {
  const bool replace = step.args == std::vector<std::string>{"replace"};
  if ((!replace && step.args != std::vector<std::string>{"raise"}) || !step.named.empty()) {
    RefuseStep(step, "bad raise or bad replace");
  }
  if (chain->row) RefuseStep(step, "it before the steps that read columns");
  chain->replace = replace;
}

// random-resized-crop 224 [scale=0.08..1] [ratio=0.75..1.3333]: a box of random area and aspect,
// resized. In a test part the greatest centred box of the result's aspect.
void ApplyRandomResizedCrop(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted =
      "random-resized-crop SIZE [scale=0.08..1] [ratio=0.75..1.3333], SIZE a number or "
      "HEIGHTxWIDTH, parts of the area above 0 and up to 1";
  const Sides to = SidesOf(step, kWanted);
  OnlyNamed(step, {"scale", "ratio"}, kWanted);
  Attrs attrs;
  attrs.Float("aspect", static_cast<double>(to.width) / static_cast<double>(to.height));
  const Val limits = BoxLimits(step, chain, kWanted, &attrs);
  const auto columns = Framed(step, chain);
  Val draw;
  if (!chain->test) draw = chain->Draw(step.name, kDraws);
  for (ChainColumn* c : columns) {
    Framing& f = c->frame;
    if (f.resized || f.height != 0) RefuseStep(step, "it ahead of other crops and of resize");
    std::vector<Val> in = {SizeOf(chain, c)};
    if (draw) in.push_back(draw);
    if (limits) in.push_back(limits);
    f.box = chain->fn->Node(kDomain, "RandomBox", in, attrs, 1)[0];
    Resize(chain, &f, to);
  }
}

// random-crop 32 [pad=4]: a window anywhere in the picture and `pad` zeros around it.
void ApplyRandomCrop(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted = "random-crop SIZE [pad=N], SIZE a number or HEIGHTxWIDTH";
  const Sides to = SidesOf(step, kWanted);
  OnlyNamed(step, {"pad"}, kWanted);
  int64_t pad = 0;
  if (step.named.contains("pad")) pad = WholeOf(step, step.named.at("pad"), 0, kMost, kWanted);
  const auto columns = Framed(step, chain);
  Val draw;
  if (!chain->test) draw = chain->Draw(step.name, 2);
  for (ChainColumn* c : columns) Crop(chain, step, c, to, chain->test ? 0 : pad, draw);
}

// resize 256: the shorter side; resize 224x320: height and width.
void ApplyResize(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted = "resize SHORTER or resize HEIGHTxWIDTH";
  const Sides to = SidesOf(step, kWanted);
  OnlyNamed(step, {}, kWanted);
  const bool shorter = step.args[0].find('x') == std::string::npos;
  for (ChainColumn* c : Framed(step, chain)) {
    Framing& f = c->frame;
    if (f.resized) RefuseStep(step, "one step that resizes");
    Sides known = KnownSize(*chain, *c);
    if (f.height != 0) {  // the window becomes the box
      known = {f.height, f.width};
      f.box = passes::Gather(f.view, chain->fn->Ints({3, 2, 2, 2}), 1) * Row4(chain, {1, 1, 0, 0}) +
              Row4(chain, {0, 0, f.width, f.height});
    }
    if (!shorter) {
      Resize(chain, &f, to);
    } else if (known.height > 0) {
      const auto full = ShorterSide(known.height, known.width, to.height);
      Resize(chain, &f, {full[0], full[1]});
    } else {
      f.shorter = to.height;
      f.resized = true;
    }
  }
}

// center-crop 224: the window in the middle.
void ApplyCenterCrop(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted = "center-crop SIZE, SIZE a number or HEIGHTxWIDTH";
  const Sides to = SidesOf(step, kWanted);
  OnlyNamed(step, {}, kWanted);
  for (ChainColumn* c : Framed(step, chain)) Crop(chain, step, c, to, 0, {});
}

// flip: left to right, every second picture.
void ApplyFlip(const Step& step, Chain* chain) {
  if (!step.args.empty() || !step.named.empty()) RefuseStep(step, "no argument");
  const auto columns = Framed(step, chain);
  if (chain->test) return;
  const Val flip = passes::Compare("Less", chain->Draw(step.name, 1), 0.5);
  for (ChainColumn* c : columns) {
    if (c->frame.flip) RefuseStep(step, "it once");
    c->frame.flip = flip;
  }
}

// gray: one channel.
void ApplyGray(const Step& step, Chain* chain) {
  if (!step.args.empty() || !step.named.empty()) RefuseStep(step, "no argument");
  for (ChainColumn* c : Framed(step, chain)) c->frame.channels = 1;
}

Val MakePictures(Chain* chain, ChainColumn* column) {
  const Column& of = chain->ColumnOf(*column);
  Framing& f = column->frame;
  const Sides known = KnownSize(*chain, *column);
  if (f.height == 0 && known.height > 0) {
    f.height = known.height;
    f.width = known.width;
  }
  if (f.height == 0 && f.shorter == 0 && chain->form.height > 0) {
    Resize(chain, &f, {chain->form.height, chain->form.width});
  }
  if (f.height == 0) {
    throw Refusal{
        GE_INVALID_ARGUMENT,
        fmt::format("column '{}' of '{}': its pictures are of different sizes{}; bring them "
                    "to one by 'resize 224x224', 'resize 256 | center-crop 224' or "
                    "'random-resized-crop 224'",
                    of.name, chain->source->path(),
                    f.shorter > 0 ? " when the shorter side is resized" : "")};
  }
  column->framed = true;
  int64_t channels = f.channels;
  if (channels == 0 && of.kind == Column::Kind::kPicture) channels = chain->form.channels;
  if (channels == 0) {
    channels = of.kind == Column::Kind::kPicture ? 3 : of.dims.size() == 3 ? of.dims[0] : 1;
  }
  Attrs attrs = chain->SourceOf(*column);
  attrs.Int("height", f.height).Int("width", f.width).Int("channels", channels);
  column->value =
      chain->fn->Node(kDomain, "Pictures", {chain->Row(), f.box, f.view, f.flip}, attrs, 1)[0];
  column->range = 255;
  return column->value;
}

}  // namespace ge::data
