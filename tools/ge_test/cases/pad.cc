#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void PadCase(CaseMaker& m) {
  static const std::vector<std::string> kModes = {"constant", "reflect", "edge", "wrap"};
  const std::string mode = m.r.Pick(kModes);
  const bool constant = mode == "constant";
  const Dims dims = m.Shape(0, 4, constant);
  std::vector<int64_t> axes = SomeAxes(m, Rank(dims), 0.6);
  const bool named = m.r.Chance(0.6);
  if (named) Shuffle(m, &axes);
  if (!named) {
    axes.resize(dims.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::vector<int64_t> begins, ends;
  for (int64_t a : axes) {
    const int64_t size = dims[static_cast<size_t>(a < 0 ? a + Rank(dims) : a)];
    // At least one element stays where something is made of it.
    const int64_t room = constant ? size : size - 1;
    begins.push_back(m.r.Chance(0.8) ? m.r.Int(0, 4) : -m.r.Int(0, room));
    ends.push_back(m.r.Chance(0.8) ? m.r.Int(0, 9)
                                   : -m.r.Int(0, room + std::min<int64_t>(begins.back(), 0)));
  }
  m.Add(Anything(m, dims));
  begins.insert(begins.end(), ends.begin(), ends.end());
  AddShape(m, begins);
  const bool filled = m.r.Chance(0.5);
  if (filled) m.Add(m.Numbers(m.dtype(), m.r.Chance(0.7) ? Dims() : Dims{1}, -9, 9));
  if (named && !filled) m.AddAbsent();
  const DType type = m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  if (named) m.AddConstant(m.Ints(type, {Rank(axes)}, axes));
  if (!constant || m.r.Chance(0.5)) m.Set("mode", mode);
}

// The places of the elements that an axis gets; -1 where it gets the constant. Reflecting walks to
// and fro.
Dims PaddedPlaces(const std::string& mode, int64_t size, int64_t begin, int64_t end) {
  Dims kept, places;
  for (int64_t i = std::max<int64_t>(-begin, 0); i < size - std::max<int64_t>(-end, 0); ++i) {
    kept.push_back(i);
  }
  const auto last = Rank(kept) - 1;
  for (int64_t i = -std::max<int64_t>(begin, 0); i <= last + std::max<int64_t>(end, 0); ++i) {
    int64_t k = i;
    while (mode == "wrap" && k < 0) k += last + 1;
    while (mode == "wrap" && k > last) k -= last + 1;
    if (mode == "edge" || last == 0) k = std::clamp<int64_t>(k, 0, last);
    while (mode == "reflect" && (k < 0 || k > last)) k = k < 0 ? -k : 2 * last - k;
    const bool outside = mode == "constant" && (i < 0 || i > last);
    places.push_back(outside ? -1 : kept[static_cast<size_t>(k)]);
  }
  return places;
}

bool PlainPad(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims pads = Values(*c.inputs[1].tensor);
  const Attr* a = FindAttr(c, "mode");
  const std::string mode = a != nullptr ? std::get<std::string>(a->value) : "constant";
  std::vector<Dims> places;
  for (const int64_t d : x.dims) places.push_back(PaddedPlaces("constant", d, 0, 0));
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    const auto k = static_cast<int64_t>(i);
    const int64_t axis = Maybe(c, 3) ? ElementAsInt(*Maybe(c, 3), k) : k;
    const auto d = static_cast<size_t>(axis < 0 ? axis + Rank(x.dims) : axis);
    places[d] = PaddedPlaces(mode, x.dims[d], pads[i], pads[i + pads.size() / 2]);
  }
  for (size_t d = 0; d < places.size(); ++d) {
    if (Rank(places[d]) != out->dims[d]) return false;
  }
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from;
    bool inside = true;
    for (size_t d = 0; d < places.size(); ++d) {
      from.push_back(places[d][static_cast<size_t>(at.at[d])]);
      inside = inside && from.back() >= 0;
    }
    if (inside) Copy(x, Flat(x.dims, from), out, i);
    if (!inside && Maybe(c, 2)) Copy(*Maybe(c, 2), 0, out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(pad) = {"Pad", PadCase, 0, Error::kOfElement, PlainPad};

}  // namespace ge::test
