// RNN, GRU and LSTM. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

// RNN, GRU and LSTM. in: x, w, r, then bias, lengths, h, c, peepholes, or 0 for an absent one; out:
// y, y_h and y_c, without the unused ones.
struct RecurrentSpec {
  Cell cell = Cell::kLstm;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  int directions = 1;
  bool reverse = false;      // of the first direction; the second always is
  bool batch_first = false;  // [batch, steps, ...] and not [steps, batch, ...]
  bool input_forget = false;
  bool reset_after = false;  // of GRU: linear_before_reset
  float clip = 0;            // 0: none
  CellFn fn[6];              // those of one direction, then of the other
  bool y = true, y_h = false, y_c = false;

  int64_t gates() const { return hidden * (cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1); }
  static const UnitKind kKind;
};

}  // namespace ge_engines
