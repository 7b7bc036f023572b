#include "passes/grad/window.h"

#include <algorithm>

namespace ge::grad {
namespace {

int64_t SpanOf(const Windows& w, size_t i) { return (w.kernel[i] - 1) * w.dilations[i] + 1; }

// Pads that follow from the sizes, of auto_pad SAME_*.
void PadSame(Back& b, Val big, Val reach, bool upper, Windows* w) {
  Fn& fn = b.fn();
  const Val total = fn.Op("Max", {reach - big, fn.Ints({0})});
  const Val less = total / 2, more = total - less;
  w->before.push_back(upper ? less : more), w->behind.push_back(upper ? more : less);
}

// What one window spans, as a vector of one.
Val SpanFrom(const Windows& w, size_t i, Val weight) {
  if (w.kernel[i] >= 0) return weight.fn->Ints({SpanOf(w, i)});
  return (SizeOf(weight, static_cast<int64_t>(2 + i)) - 1) * static_cast<double>(w.dilations[i]) +
         1;
}

std::vector<int64_t> KernelOf(Back& b, Val weight) {
  std::vector<int64_t> kernel = b.Ints("kernel_shape");
  const Type t = weight ? b.type(weight) : Type{};
  for (size_t i = 2 + kernel.size(); i < t.dims.size(); ++i) kernel.push_back(t.dims[i].value);
  return kernel;
}

}  // namespace

bool ReadWindows(Back& b, Val big, Val small, Val weight, Windows* w) {
  Fn& fn = b.fn();
  std::vector<int64_t> kernel = KernelOf(b, weight);
  const Type tb = b.type(big), ts = b.type(small);
  const size_t axes = kernel.size();
  if (tb.rank < 3 || ts.rank < 3 || axes == 0) {
    b.Fail("an input's rank is not known");
    return false;
  }
  w->kernel = std::move(kernel), w->strides = b.Ints("strides");
  w->dilations = b.Ints("dilations");
  w->strides.resize(axes, 1), w->dilations.resize(axes, 1);
  const std::string mode = b.Text("auto_pad", "NOTSET");
  const bool upper = mode == "SAME_UPPER", same = upper || mode == "SAME_LOWER";
  std::vector<int64_t> pads = b.Ints("pads"), exact;
  pads.resize(2 * axes, 0);
  bool known = true;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t x = tb.dims[2 + i].value, y = ts.dims[2 + i].value;
    const auto axis = static_cast<int64_t>(2 + i);
    int64_t front = mode == "NOTSET" ? pads[i] : 0;
    if (x >= 0 && y >= 0 && w->kernel[i] >= 0) {
      const int64_t reach = (y - 1) * w->strides[i] + SpanOf(*w, i);
      const int64_t total = std::max<int64_t>(0, reach - x);
      if (same) front = upper ? total / 2 : total - total / 2;
      const int64_t tail = same ? total - front : mode == "NOTSET" ? pads[axes + i] : 0;
      w->before.push_back(fn.Ints({front})), w->behind.push_back(fn.Ints({tail}));
      w->exact.push_back(fn.Ints({reach - x - front}));
      pads[i] = front, exact.push_back(reach - x - front);
      continue;
    }
    known = false;
    if (!same) {
      w->before.push_back(fn.Ints({front}));
      w->behind.push_back(fn.Ints({mode == "NOTSET" ? pads[axes + i] : 0}));
    }
    if (!same && !weight) continue;
    const Val size = SizeOf(big, axis);
    const Val reach = (SizeOf(small, axis) - 1) * static_cast<double>(w->strides[i]) +
                      SpanFrom(*w, i, weight ? weight : big);
    if (same) PadSame(b, size, reach, upper, w);
    if (weight) w->exact.push_back(reach - size - w->before.back());
  }
  pads.resize(axes);
  pads.insert(pads.end(), exact.begin(), exact.end());
  if (known) w->known = std::move(pads);
  return true;
}

std::vector<Val> Reaches(Back& b, Val big, Val small, const Windows& w, int32_t dtype) {
  Fn& fn = b.fn();
  std::vector<Val> reaches;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const auto axis = static_cast<int64_t>(2 + i);
    const Val start = Iota(SizeOf(small, axis)) * static_cast<double>(w.strides[i]) - w.before[i];
    const Val at = Unsqueeze(Iota(SizeOf(big, axis)), {0}) - Unsqueeze(start, {1});
    Val in = fn.Op("And", {Compare("GreaterOrEqual", at, 0),
                           Compare("Less", at, static_cast<double>(SpanOf(w, i)))});
    if (w.dilations[i] != 1) {
      const Val rest = fn.Op("Mod", {at, fn.Scalar(GE_I64, static_cast<double>(w.dilations[i]))});
      in = fn.Op("And", {in, Compare("Equal", rest, 0)});
    }
    reaches.push_back(Ones(in, dtype));
  }
  return reaches;
}

Val SpreadOver(Val v, const std::vector<Val>& reaches) {
  for (size_t i = 0; i < reaches.size(); ++i) {
    v = Along(v, reaches[i], static_cast<int64_t>(2 + i));
  }
  return v;
}

}  // namespace ge::grad
