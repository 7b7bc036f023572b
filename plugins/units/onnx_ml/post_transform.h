// post_transform and tensor checks, shared by the learned models of ai.onnx.ml. Pure; any
// thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// Transforms of a learned model's scores, numbered as ONNX numbers them.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
// Reads the attribute 'post_transform'. False with *why if it is none of the five names.
bool ReadPostTransform(const ge_node& n, PostTransform* how, Why* why);
// Writes to *why: a list attribute has a wrong length or names something absent. False.
bool ListsDiffer(Why* why);
// Whether input 0 is [rows, features] or [features] of float32.
bool RowsOf(const Parser& parser, const ge_node& n, int64_t* rows, int64_t* features, Why* why);
// Whether output `slot` exists with this type and these dims.
bool HasOut(const Parser& parser, const ge_node& n, uint32_t slot, int32_t dtype, const Dims& dims,
            Why* why);

}  // namespace ge_engines
