// What the learned models of ai.onnx.ml have in common: post_transform, and their tensors. Pure;
// any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// What becomes of the scores of a learned model; by ONNX's numbers.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
// Attribute 'post_transform'. False, and said, where it is none of the five names.
bool ReadPostTransform(const ge_node& n, PostTransform* how, Why* why);
// False, and said: an attribute's list has another length, or names what is not there.
bool ListsDiffer(Why* why);
// Input 0 is [rows, features] or [features] of float32.
bool RowsOf(const Parser& parser, const ge_node& n, int64_t* rows, int64_t* features, Why* why);
// Output `slot` is there, of that type and these dims.
bool HasOut(const Parser& parser, const ge_node& n, uint32_t slot, int32_t dtype, const Dims& dims,
            Why* why);

}  // namespace ge_engines
