// The state of linear attention, a matrix [size, v_size] of sums of keys times values, and what a
// token does to it. Not a kernel. The caller owns all rows; pure, any thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ref {

struct LinearState {
  double* at;
  int64_t size, v_size;  // of a key and of a value
};

// `keep` holds one factor for all, one for each element of a key, or none.
inline void DecayState(const LinearState& state, const double* keep, int64_t each) {
  if (each == 0) return;
  for (int64_t i = 0; i < state.size; ++i) {
    const double factor = keep[each == 1 ? 0 : i];
    for (int64_t j = 0; j < state.v_size; ++j) state.at[i * state.v_size + j] *= factor;
  }
}

// What the state answers to a query or a key: a row of v_size.
inline void AskState(const LinearState& state, const double* query, double* answer) {
  std::fill_n(answer, state.v_size, 0.0);
  for (int64_t i = 0; i < state.size; ++i) {
    for (int64_t j = 0; j < state.v_size; ++j) {
      answer[j] += query[i] * state.at[i * state.v_size + j];
    }
  }
}

// The delta rule: value = beta * (value - what the state answers to the key).
inline void CorrectValue(const LinearState& state, const double* key, double beta, double* value,
                         double* scratch) {
  AskState(state, key, scratch);
  for (int64_t j = 0; j < state.v_size; ++j) value[j] = beta * (value[j] - scratch[j]);
}

inline void AddToState(const LinearState& state, const double* key, const double* value) {
  for (int64_t i = 0; i < state.size; ++i) {
    for (int64_t j = 0; j < state.v_size; ++j) state.at[i * state.v_size + j] += key[i] * value[j];
  }
}

}  // namespace ref
