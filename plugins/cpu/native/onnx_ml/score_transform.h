// What is made of the scores of a row by the learned models of ai.onnx.ml, in doubles, as ref has
// it. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/onnx_ml/post_transform.h"

namespace ge_engines::cpu::native {

// Scores of one row, in place.
void TransformScores(PostTransform how, double* scores, int64_t n);

// The same of targets: a score alone stays as it is, but for PROBIT.
void TransformTargets(PostTransform how, double* scores, int64_t n);

// Two scores of one: itself at either sign for LOGISTIC, else what it lacks to 1 and itself.
void PairOfScore(PostTransform how, double score, double* scores);

// ns a score takes.
double TransformNs(PostTransform how);

}  // namespace ge_engines::cpu::native
