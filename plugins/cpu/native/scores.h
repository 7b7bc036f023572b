// What is made of the scores of a row by the learned models of ai.onnx.ml: their post transforms,
// in doubles, as ref has them. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/cpu/kit/specs.h"
#include "plugins/cpu/kit/unit.h"

namespace ge_engines::cpu::native {

// Attribute 'post_transform'. False, and said, where it is none of the five names.
bool ReadTransform(const ge_node& n, ScoreTransform* how, Why* why);
// Scores of one row, in place.
void TransformScores(ScoreTransform how, double* s, int64_t n);
// The same of targets: a score alone stays as it is, but for PROBIT.
void TransformTargets(ScoreTransform how, double* s, int64_t n);
// Two scores of one: itself at either sign for LOGISTIC, else what it lacks to 1 and itself.
void PairOfScore(ScoreTransform how, double score, double* s);
// ns a score takes.
double TransformNs(ScoreTransform how);

// False, and said: an attribute's list has another length, or names what is not there.
bool ListsDiffer(Why* why);
// Input 0 is [rows, features] or [features] of float32.
bool RowsOf(const Parser& g, const ge_node& n, int64_t* rows, int64_t* features, Why* why);
// Output `slot` is there, of that type and these dims.
bool HasOut(const Parser& g, const ge_node& n, uint32_t slot, int32_t dtype, const Dims& dims,
            Why* why);

}  // namespace ge_engines::cpu::native
