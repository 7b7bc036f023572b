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
  w->before.push_back(upper ? less : more);
  w->behind.push_back(upper ? more : less);
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

bool ReadWindows(Back& back, Val big, Val small, Val weight, Windows* windows) {
  Fn& fn = back.fn();
  std::vector<int64_t> kernel = KernelOf(back, weight);
  const Type tb = back.type(big), ts = back.type(small);
  const size_t axes = kernel.size();
  if (tb.rank < 3 || ts.rank < 3 || axes == 0) {
    back.Fail("an input's rank is not known");
    return false;
  }
  windows->kernel = std::move(kernel);
  windows->strides = back.Ints("strides");
  windows->dilations = back.Ints("dilations");
  windows->strides.resize(axes, 1);
  windows->dilations.resize(axes, 1);
  const std::string mode = back.Text("auto_pad", "NOTSET");
  const bool upper = mode == "SAME_UPPER", same = upper || mode == "SAME_LOWER";
  std::vector<int64_t> pads = back.Ints("pads"), exact;
  pads.resize(2 * axes, 0);
  bool known = true;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t x = tb.dims[2 + i].value, y = ts.dims[2 + i].value;
    const auto axis = static_cast<int64_t>(2 + i);
    int64_t front = mode == "NOTSET" ? pads[i] : 0;
    if (x >= 0 && y >= 0 && windows->kernel[i] >= 0) {
      const int64_t reach = (y - 1) * windows->strides[i] + SpanOf(*windows, i);
      const int64_t total = std::max<int64_t>(0, reach - x);
      if (same) front = upper ? total / 2 : total - total / 2;
      const int64_t tail = same ? total - front : mode == "NOTSET" ? pads[axes + i] : 0;
      windows->before.push_back(fn.Ints({front}));
      windows->behind.push_back(fn.Ints({tail}));
      windows->exact.push_back(fn.Ints({reach - x - front}));
      pads[i] = front;
      exact.push_back(reach - x - front);
      continue;
    }
    known = false;
    if (!same) {
      windows->before.push_back(fn.Ints({front}));
      windows->behind.push_back(fn.Ints({mode == "NOTSET" ? pads[axes + i] : 0}));
    }
    if (!same && !weight) continue;
    const Val size = SizeOf(big, axis);
    const Val reach = (SizeOf(small, axis) - 1) * static_cast<double>(windows->strides[i]) +
                      SpanFrom(*windows, i, weight ? weight : big);
    if (same) PadSame(back, size, reach, upper, windows);
    if (weight) windows->exact.push_back(reach - size - windows->before.back());
  }
  pads.resize(axes);
  pads.insert(pads.end(), exact.begin(), exact.end());
  if (known) windows->known = std::move(pads);
  return true;
}

std::vector<Val> Reaches(Back& back, Val big, Val small, const Windows& windows, int32_t dtype) {
  Fn& fn = back.fn();
  std::vector<Val> reaches;
  for (size_t i = 0; i < windows.kernel.size(); ++i) {
    const auto axis = static_cast<int64_t>(2 + i);
    const Val start =
        Iota(SizeOf(small, axis)) * static_cast<double>(windows.strides[i]) - windows.before[i];
    const Val at = Unsqueeze(Iota(SizeOf(big, axis)), {0}) - Unsqueeze(start, {1});
    Val in = fn.Op("And", {Compare("GreaterOrEqual", at, 0),
                           Compare("Less", at, static_cast<double>(SpanOf(windows, i)))});
    if (windows.dilations[i] != 1) {
      const Val rest =
          fn.Op("Mod", {at, fn.Scalar(GE_I64, static_cast<double>(windows.dilations[i]))});
      in = fn.Op("And", {in, Compare("Equal", rest, 0)});
    }
    reaches.push_back(Ones(in, dtype));
  }
  return reaches;
}

Val SpreadOver(Val value, const std::vector<Val>& reaches) {
  for (size_t i = 0; i < reaches.size(); ++i) {
    value = Along(value, reaches[i], static_cast<int64_t>(2 + i));
  }
  return value;
}

}  // namespace ge::grad
