// Elements that integers name: looked up, updated, marked. An index beyond its axis is refused.
// Updates of one place come in their order.
#pragma once

#include "plugins/gpu/kernels/moves.h"
#include "plugins/units/functions.h"

namespace ge_engines::gpu {

// Places: result, data, indices. GatherElements: an index along one axis, whose stride in the data
// is `step`.
struct PickArgs : Args<3> {
  Axes axes;     // of the result
  Strides from;  // of the data; 0 along the axis
  int64_t size = 0, step = 0;
  int32_t bytes = 4;
};

GE_GPU_BODY void PickThread(const PickArgs& a, int64_t i) {
  const int64_t at = Inside(a.Index(2, i), a.size);
  if (at < 0) return Refuse();
  MoveElement(a.at[0].data, i, a.at[1].data, PlaceOf(a.axes, a.from, i) + at * a.step, a.bytes);
}

// Tuples of indices, each of the place of a slice in the data.
struct Tuples {
  int32_t width = 0;
  int32_t padding = 0;
  int64_t size[kMostAxes] = {}, step[kMostAxes] = {};
};
// The place that tuple t names in a batch; -1: none.
template <class A>
GE_GPU_BODY int64_t SliceAt(const A& a, const Tuples& tuples, int k, int64_t t) {
  int64_t place = 0;
  for (int w = 0; w < tuples.width; ++w) {
    const int64_t at = Inside(a.Index(k, t * tuples.width + w), tuples.size[w]);
    if (at < 0) return -1;
    place += at * tuples.step[w];
  }
  return place;
}

// Places: result, data, indices. GatherND.
struct PickSliceArgs : Args<3> {
  Tuples tuples;
  Divider slice, tuples_of_batch;
  int64_t batch = 0;  // elements of the data from batch to batch
  int32_t bytes = 4;
};

GE_GPU_BODY void PickSliceThread(const PickSliceArgs& a, int64_t i) {
  const uint64_t t = a.slice.Quotient(static_cast<uint64_t>(i));
  const auto in_slice = i - static_cast<int64_t>(t * a.slice.divisor);
  const int64_t at = SliceAt(a, a.tuples, 2, static_cast<int64_t>(t));
  if (at < 0) return Refuse();
  const auto batch = static_cast<int64_t>(a.tuples_of_batch.Quotient(t));
  MoveElement(a.at[0].data, i, a.at[1].data, batch * a.batch + at + in_slice, a.bytes);
}

// Element `to` of place 0 meets element `from` of place k.
template <class A>
GE_GPU_BODY void MeetUpdate(const A& a, Update update, int32_t bytes, int64_t to, int k,
                            int64_t from) {
  void* y = a.at[0].data;
  const void* x = a.at[k].data;
  if (update == Update::kReplace) return MoveElement(y, to, x, from, bytes);
  const Number n = a.of[0];
  if (IsReal(n)) {
    const double old = RealAt(y, n, to), given = RealAt(x, n, from);
    const bool nan = given != given;
    StoreReal(y, n, to,
              update == Update::kAdd   ? old + given
              : update == Update::kMul ? old * given
              : update == Update::kMax ? (given > old || nan ? given : old)
                                       : (given < old || nan ? given : old));
    return;
  }
  const int64_t old = WholeAt(y, n, to), given = WholeAt(x, n, from);
  const auto left = static_cast<uint64_t>(old), right = static_cast<uint64_t>(given);
  StoreWhole(y, n, to,
             update == Update::kAdd   ? static_cast<int64_t>(left + right)
             : update == Update::kMul ? static_cast<int64_t>(left * right)
             : update == Update::kMax ? (given > old ? given : old)
                                      : (given < old ? given : old));
}

// Places: result, which holds the data, indices, updates. ScatterElements: a thread has a line of
// updates along the axis, which no other line meets.
struct ScatterArgs : Args<3> {
  Axes axes;                                                 // of the indices, but for the axis
  Strides to, from;                                          // of the data and of the indices
  int64_t size = 0, to_step = 0, from_step = 0, length = 0;  // along the axis
  Update update = Update::kReplace;
  int32_t bytes = 4;
};

GE_GPU_BODY void ScatterThread(const ScatterArgs& a, int64_t line) {
  int64_t to = 0, from = 0;
  PlacesOf(a.axes, a.to, a.from, line, &to, &from);
  for (int64_t k = 0; k < a.length; ++k, from += a.from_step) {
    const int64_t at = Inside(a.Index(1, from), a.size);
    if (at < 0) return Refuse();
    MeetUpdate(a, a.update, a.bytes, to + at * a.to_step, 2, from);
  }
}

// Places: result, which holds the data, indices, updates. ScatterND: a thread has one element of
// all slices.
struct ScatterSliceArgs : Args<3> {
  Tuples tuples;
  int64_t slice = 1, count = 0;  // elements of a slice, tuples
  Update update = Update::kReplace;
  int32_t bytes = 4;
};

GE_GPU_BODY void ScatterSliceThread(const ScatterSliceArgs& a, int64_t i) {
  for (int64_t t = 0; t < a.count; ++t) {
    const int64_t at = SliceAt(a, a.tuples, 1, t);
    if (at < 0) return Refuse();
    MeetUpdate(a, a.update, a.bytes, at + i, 2, t * a.slice + i);
  }
}

// Places: result, which holds the data, indices, updates. The thread of a row's first update adds
// up all of that row's. Indices beyond the table count for nothing.
struct AddRowsArgs : Args<3> {
  Divider row;  // elements
  int64_t rows = 0, count = 0;
};

GE_GPU_BODY void AddRowsThread(const AddRowsArgs& a, int64_t i) {
  const auto own = static_cast<int64_t>(a.row.Quotient(static_cast<uint64_t>(i)));
  const auto length = static_cast<int64_t>(a.row.divisor), column = i - own * length;
  const int64_t at = Inside(a.Index(1, own), a.rows);
  if (at < 0) return;
  for (int64_t k = 0; k < own; ++k) {
    if (Inside(a.Index(1, k), a.rows) == at) return;
  }
  float sum = a.Float(0, at * length + column);
  for (int64_t k = own; k < a.count; ++k) {
    if (Inside(a.Index(1, k), a.rows) == at) sum += a.Float(2, k * length + column);
  }
  a.Store(0, at * length + column, sum);
}

// Places: result, indices, values: off, on. An index beyond the axis marks nothing.
struct OneHotArgs : Args<3> {
  Divider inner, size;  // result: [outer, size, inner]
  int32_t bytes = 4;
};

GE_GPU_BODY void OneHotThread(const OneHotArgs& a, int64_t i) {
  const uint64_t line = a.inner.Quotient(static_cast<uint64_t>(i));
  const uint64_t outer = a.size.Quotient(line);
  const auto k = static_cast<int64_t>(line - outer * a.size.divisor);
  const int64_t index = a.Index(1, static_cast<int64_t>(outer * a.inner.divisor) + i -
                                       static_cast<int64_t>(line * a.inner.divisor));
  const bool on = Inside(index, static_cast<int64_t>(a.size.divisor)) == k;
  MoveElement(a.at[0].data, i, a.at[2].data, on ? 1 : 0, a.bytes);
}

// Places: result, which holds the cache, how much of it is in use, new rows.
struct AppendArgs : Args<3> {
  Divider row, rows;  // new rows: [outer, rows, row]
  int64_t room = 0;   // rows of the cache
  int32_t bytes = 4;
};

GE_GPU_BODY void AppendThread(const AppendArgs& a, int64_t i) {
  const int64_t used = a.in<int64_t>(1)[0];
  const auto rows = static_cast<int64_t>(a.rows.divisor), row = static_cast<int64_t>(a.row.divisor);
  if (used < 0 || used > a.room - rows) return Refuse();
  const uint64_t line = a.row.Quotient(static_cast<uint64_t>(i)), outer = a.rows.Quotient(line);
  const int64_t in_row = i - static_cast<int64_t>(line) * row;
  const auto r = static_cast<int64_t>(line - outer * a.rows.divisor);
  const int64_t to = (static_cast<int64_t>(outer) * a.room + used + r) * row + in_row;
  MoveElement(a.at[0].data, to, a.at[2].data, i, a.bytes);
}

}  // namespace ge_engines::gpu
