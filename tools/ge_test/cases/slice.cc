#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void SliceCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  m.Add(Anything(m, dims));
  std::vector<int64_t> axes = SomeAxes(m, Rank(dims), 0.6);
  const bool named = m.r.Chance(0.8);
  if (named) {
    Shuffle(m, &axes);
  } else {
    axes.resize(static_cast<size_t>(m.r.Int(1, Rank(dims))));
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto n = static_cast<int64_t>(axes.size());
  const int64_t far = m.large ? 6 + *std::max_element(dims.begin(), dims.end()) : 6;
  std::vector<int64_t> starts, ends, steps;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t step = m.r.Int(1, 3) * (m.r.Chance(0.4) ? -1 : 1);
    starts.push_back(m.r.Chance(0.1) ? (step > 0 ? INT32_MIN : INT32_MAX) : m.r.Int(-far, far));
    ends.push_back(m.r.Chance(0.2) ? (step > 0 ? INT32_MAX : INT32_MIN) : m.r.Int(-far, far));
    steps.push_back(step);
  }
  const DType type = m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  m.AddConstant(m.Ints(type, {n}, starts));
  m.AddConstant(m.Ints(type, {n}, ends));
  const bool stepped = m.r.Chance(0.7);
  if (named) m.AddConstant(m.Ints(type, {n}, axes));
  if (!named && stepped) m.AddAbsent();
  if (stepped) m.AddConstant(m.Ints(type, {n}, steps));
}

// The clamped range of ONNX's Slice as the list of places that it takes. Other than NumPy, a start
// before the first element of a backward step is moved onto it.
Dims Taken(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  Dims places;
  if (step > 0) {
    for (int64_t i = std::max<int64_t>(start, 0); i < std::min(end, size); i += step) {
      places.push_back(i);
    }
  } else {
    for (int64_t i = std::clamp<int64_t>(start, 0, std::max<int64_t>(size - 1, 0));
         size > 0 && i > std::max<int64_t>(end, -1); i += step) {
      places.push_back(i);
    }
  }
  return places;
}

bool PlainSlice(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto rank = static_cast<int64_t>(x.dims.size());
  std::vector<Dims> places;
  for (const int64_t d : x.dims) places.push_back(Taken(d, 0, d, 1));
  const Dims starts = Values(*c.inputs[1].tensor), ends = Values(*c.inputs[2].tensor);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis =
        Maybe(c, 3) ? ElementAsInt(*Maybe(c, 3), static_cast<int64_t>(i)) : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    const int64_t step = Maybe(c, 4) ? ElementAsInt(*Maybe(c, 4), static_cast<int64_t>(i)) : 1;
    const auto d = static_cast<size_t>(axis);
    places[d] = Taken(x.dims[d], starts[i], ends[i], step);
  }
  for (size_t d = 0; d < places.size(); ++d) {
    if (static_cast<int64_t>(places[d].size()) != out->dims[d]) return false;
  }
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from;
    for (size_t d = 0; d < places.size(); ++d) {
      from.push_back(places[d][static_cast<size_t>(at.at[d])]);
    }
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(slice) = {"Slice", SliceCase, 0, Error::kOfElement, PlainSlice};

}  // namespace ge::test
