// Sizes, positions and matrices of ones and zeros, out of ordinary operators: for rules of
// operators that move elements or slide a window. All work where sizes are not known until a
// run.
#pragma once

#include <vector>

#include "passes/grad/rule.h"

namespace ge::grad {

// Size of one axis: a vector of one; a constant where it is known.
Val SizeOf(Val value, int64_t axis);
// The number of elements along some axes together, as a vector of one.
Val CountOf(Val value, const std::vector<int64_t>& axes);
// Vectors put one behind the other.
Val Joined(const std::vector<Val>& vectors);
Val ReshapeTo(Val value, const std::vector<Val>& sizes);
// The first element of a vector, as a scalar.
Val First(Val vector);
// 0, 1 ... size - 1; of a vector of one.
Val Iota(Val size);
// 1 where the condition holds, else 0.
Val Ones(Val condition, int32_t dtype);
// The identity matrix.
Val Eye(Val size, int32_t dtype);
// Along one axis, sum over k of value[.. k ..] matrix[k, j].
Val Along(Val value, Val matrix, int64_t axis);
// The index of each element of `like`: 0, 1 ... in its shape.
Val Places(Val like);
// Zeros in the shape of `like`, and every element of `value` added at its place.
Val PutAt(Val value, Val places, Val like);
Val MeanOver(Val value, const std::vector<int64_t>& axes);  // which stay, of size one
// from, from + 1 ... rank - 1.
std::vector<int64_t> AxesFrom(int64_t from, int64_t rank);
// The same node once more: with other inputs, or more outputs. Of deterministic ones.
std::vector<Val> Again(const Back& back, const std::vector<Val>& in, uint32_t outputs);
// A scalar or vector with one element for each index along an axis of `like`, reshaped to broadcast
// over it.
Val AlongAxis(Val vector, int64_t axis, Val like);

}  // namespace ge::grad
