// Folds of rows and columns of any numbers, places of extremes, the greatest few, running sums.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/gpu/kernels/rows.h"
#include "plugins/gpu/kernels/team.h"
#include "plugins/units/functions.h"

namespace ge_engines::gpu {

// Places: result, x. As ReduceArgs.
struct FoldArgs : Args<2> {
  Axes outside, inside;
  Strides out_strides, in_strides;
  int64_t length = 0;
  FoldOp op = FoldOp::kSum;
  bool rows = false;  // elements lie side by side

  // Element i of the row that begins at `from`.
  GE_GPU_BODY int64_t At(int64_t from, int64_t i) const {
    return from + (rows ? i : PlaceOf(inside, in_strides, i));
  }
};

// Of real numbers, and of integers of which what is wanted is real.
struct RealFold {
  FoldOp op;
  GE_GPU_BODY double First() const { return op == FoldOp::kProd ? 1 : 0; }
  GE_GPU_BODY double Of(double x) const {
    return op == FoldOp::kL1 ? fabs(x) : op == FoldOp::kL2 || op == FoldOp::kSumSquare ? x * x : x;
  }
  GE_GPU_BODY double operator()(double x, double y) const {
    return op == FoldOp::kProd ? x * y : x + y;
  }
};

// Of integers, modulo 2^64.
struct WholeFold {
  FoldOp op;
  Number of;
  GE_GPU_BODY bool Before(uint64_t x, uint64_t y) const {
    return of == Number::kU64 ? x < y : static_cast<int64_t>(x) < static_cast<int64_t>(y);
  }
  GE_GPU_BODY uint64_t First() const {
    constexpr uint64_t kTop = uint64_t{1} << 63;
    if (op == FoldOp::kMax) return of == Number::kU64 ? 0 : kTop;
    if (op == FoldOp::kMin) return of == Number::kU64 ? UINT64_MAX : kTop - 1;
    return op == FoldOp::kProd ? 1 : 0;
  }
  GE_GPU_BODY uint64_t Of(uint64_t x) const {
    if (op == FoldOp::kL1) return of != Number::kU64 && static_cast<int64_t>(x) < 0 ? 0 - x : x;
    return op == FoldOp::kSumSquare ? x * x : x;
  }
  GE_GPU_BODY uint64_t operator()(uint64_t x, uint64_t y) const {
    if (op == FoldOp::kMax) return Before(x, y) ? y : x;
    if (op == FoldOp::kMin) return Before(y, x) ? y : x;
    return op == FoldOp::kProd ? x * y : x + y;
  }
};

template <class Team>
GE_GPU_BODY void FoldReals(const FoldArgs& a, int64_t row, const Team& team) {
  const int64_t from = PlaceOf(a.outside, a.out_strides, row);
  const RealFold fold{a.op};
  typename Team::template PerLane<double> part;
  team.Each([&](int lane) {
    double v = fold.First();
    for (int64_t i = lane; i < a.length; i += kTeamLanes) {
      const int64_t at = a.At(from, i);
      const double x = IsReal(a.of[1]) ? RealAt(a.at[1].data, a.of[1], at)
                       : a.of[1] == Number::kU64
                           ? static_cast<double>(a.in<uint64_t>(1)[at])
                           : static_cast<double>(WholeAt(a.at[1].data, a.of[1], at));
      v = fold(v, fold.Of(x));
    }
    part[lane] = v;
  });
  double total = team.All(part, fold);
  if (a.op == FoldOp::kL2) total = sqrt(total);
  if (a.op == FoldOp::kLogSum) total = log(total);
  if (a.op == FoldOp::kMean) total /= static_cast<double>(a.length);
  team.Each([&](int lane) {
    if (lane != 0) return;
    if (IsReal(a.of[0])) {
      StoreReal(a.at[0].data, a.of[0], row, total);
    } else {
      StoreWhole(a.at[0].data, a.of[0], row, WholeOf(total));
    }
  });
}

template <class Team>
GE_GPU_BODY void FoldWholes(const FoldArgs& a, int64_t row, const Team& team) {
  const int64_t from = PlaceOf(a.outside, a.out_strides, row);
  const WholeFold fold{a.op, a.of[1]};
  typename Team::template PerLane<uint64_t> part;
  team.Each([&](int lane) {
    uint64_t v = fold.First();
    for (int64_t i = lane; i < a.length; i += kTeamLanes) {
      const int64_t at = a.At(from, i);
      v = fold(v, fold.Of(static_cast<uint64_t>(WholeAt(a.at[1].data, a.of[1], at))));
    }
    part[lane] = v;
  });
  uint64_t total = team.All(part, fold);
  if (a.op == FoldOp::kMean) {
    total = a.of[1] == Number::kU64 ? total / static_cast<uint64_t>(a.length)
                                    : static_cast<uint64_t>(static_cast<int64_t>(total) / a.length);
  }
  team.Each([&](int lane) {
    if (lane == 0) StoreWhole(a.at[0].data, a.of[0], row, static_cast<int64_t>(total));
  });
}

template <class Team>
GE_GPU_BODY void FoldTeam(const FoldArgs& a, int64_t row, const Team& team) {
  if (IsReal(a.of[1]) || a.op == FoldOp::kL2 || a.op == FoldOp::kLogSum) {
    FoldReals(a, row, team);
  } else {
    FoldWholes(a, row, team);
  }
}

// A whole number whose order is that of the elements, NaN above all and -0 like 0; with `least` it
// is turned round, but NaN stays above where `nan_first` says so.
GE_GPU_BODY uint64_t OrderOf(const void* x, Number n, int64_t i, bool least, bool nan_first) {
  constexpr uint64_t kTop = uint64_t{1} << 63;
  uint64_t key = 0;
  if (IsReal(n)) {
    const double v = RealAt(x, n, i);
    if (v != v) return least && !nan_first ? 0 : UINT64_MAX;
    const uint64_t bits = BitsAs<uint64_t>(v == 0 ? 0.0 : v);
    key = (bits & kTop) != 0 ? ~bits : bits | kTop;
  } else {
    key = static_cast<uint64_t>(WholeAt(x, n, i));
    if (n != Number::kU64) key ^= kTop;
  }
  return least ? ~key : key;
}

struct Greatest {
  template <class T>
  GE_GPU_BODY T operator()(T x, T y) const {
    return x < y ? y : x;
  }
};
struct Smallest {
  template <class T>
  GE_GPU_BODY T operator()(T x, T y) const {
    return y < x ? y : x;
  }
};

// Where a line along an axis begins, `inner` elements beside each other.
struct Lines {
  Divider inner;
  int64_t length = 0;
  GE_GPU_BODY int64_t First(int64_t line, int64_t size) const {
    const auto n = static_cast<uint64_t>(line);
    const uint64_t outer = inner.Quotient(n);
    return static_cast<int64_t>(outer) * size * step() +
           static_cast<int64_t>(n - outer * inner.divisor);
  }
  GE_GPU_BODY int64_t step() const { return static_cast<int64_t>(inner.divisor); }
};

// Places: result (int64), x.
struct ArgArgs : Args<2> {
  Lines lines;
  bool least = false, last = false;
};

template <class Team>
GE_GPU_BODY void ArgTeam(const ArgArgs& a, int64_t line, const Team& team) {
  const int64_t first = a.lines.First(line, a.lines.length), step = a.lines.step();
  const auto key = [&](int64_t k) {
    return OrderOf(a.at[1].data, a.of[1], first + k * step, a.least, true);
  };
  typename Team::template PerLane<uint64_t> best;
  team.Each([&](int lane) {
    uint64_t v = 0;
    for (int64_t k = lane; k < a.lines.length; k += kTeamLanes) v = Greatest()(v, key(k));
    best[lane] = v;
  });
  const uint64_t top = team.All(best, Greatest());
  typename Team::template PerLane<int64_t> place;
  team.Each([&](int lane) {
    int64_t v = a.last ? -1 : INT64_MAX;
    for (int64_t k = lane; k < a.lines.length; k += kTeamLanes) {
      if (key(k) == top) v = a.last ? Greatest()(v, k) : Smallest()(v, k);
    }
    place[lane] = v;
  });
  const int64_t at = a.last ? team.All(place, Greatest()) : team.All(place, Smallest());
  team.Each([&](int lane) {
    if (lane == 0) a.out<int64_t>(0)[line] = at;
  });
}

// Places: values, places, x.
struct TopKArgs : Args<3> {
  Lines lines;
  int64_t taken = 0;
  int32_t bytes = 4;  // of an element
  bool largest = true, values = true, places = true;
};

// Each pass finds the next in order behind the one before; of equal elements the first comes first.
template <class Team>
GE_GPU_BODY void TopKTeam(const TopKArgs& a, int64_t line, const Team& team) {
  const int64_t first = a.lines.First(line, a.lines.length), step = a.lines.step();
  const int64_t to = a.lines.First(line, a.taken);
  uint64_t last = 0;
  int64_t last_place = -1;
  for (int64_t pass = 0; pass < a.taken; ++pass) {
    const auto key = [&](int64_t k) {
      return OrderOf(a.at[2].data, a.of[2], first + k * step, !a.largest, false);
    };
    const auto waits = [&](int64_t k, uint64_t v) {
      return pass == 0 || v < last || (v == last && k > last_place);
    };
    typename Team::template PerLane<uint64_t> best;
    team.Each([&](int lane) {
      uint64_t v = 0;
      for (int64_t k = lane; k < a.lines.length; k += kTeamLanes) {
        const uint64_t x = key(k);
        if (waits(k, x)) v = Greatest()(v, x);
      }
      best[lane] = v;
    });
    const uint64_t top = team.All(best, Greatest());
    typename Team::template PerLane<int64_t> place;
    team.Each([&](int lane) {
      int64_t v = INT64_MAX;
      for (int64_t k = lane; k < a.lines.length; k += kTeamLanes) {
        const uint64_t x = key(k);
        if (x == top && waits(k, x)) v = Smallest()(v, k);
      }
      place[lane] = v;
    });
    last = top;
    last_place = team.All(place, Smallest());
    team.Each([&](int lane) {
      if (lane != 0) return;
      const int64_t y = to + pass * step;
      if (a.values) MoveElement(a.at[0].data, y, a.at[2].data, first + last_place * step, a.bytes);
      if (a.places) a.out<int64_t>(1)[y] = last_place;
    });
  }
}

// Places: result, x.
struct CumSumArgs : Args<2> {
  Lines lines;
  bool exclusive = false, reverse = false;
};

GE_GPU_BODY void CumSumThread(const CumSumArgs& a, int64_t line) {
  const int64_t first = a.lines.First(line, a.lines.length), step = a.lines.step();
  const bool real = IsReal(a.of[1]);
  double sum = 0;
  uint64_t whole = 0;
  for (int64_t k = 0; k < a.lines.length; ++k) {
    const int64_t at = first + (a.reverse ? a.lines.length - 1 - k : k) * step;
    if (real) {
      const double v = RealAt(a.at[1].data, a.of[1], at);
      StoreReal(a.at[0].data, a.of[0], at, a.exclusive ? sum : sum + v);
      sum += v;
    } else {
      const auto v = static_cast<uint64_t>(WholeAt(a.at[1].data, a.of[1], at));
      StoreWhole(a.at[0].data, a.of[0], at, static_cast<int64_t>(a.exclusive ? whole : whole + v));
      whole += v;
    }
  }
}

}  // namespace ge_engines::gpu
