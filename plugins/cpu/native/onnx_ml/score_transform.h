// Transforms of a row's scores for the learned models of ai.onnx.ml, in doubles, as in ref. Pure;
// any thread.
#pragma once

#include <cstdint>

#include "plugins/units/onnx_ml/post_transform.h"

namespace ge_engines::cpu::native {

// Transforms the scores of one row in place.
void TransformScores(PostTransform how, double* scores, int64_t n);

// The same for targets: of a single score only PROBIT changes the value.
void TransformTargets(PostTransform how, double* scores, int64_t n);

// Makes two scores of one: -score and score for LOGISTIC, else 1 - score and score.
void PairOfScore(PostTransform how, double score, double* scores);

// ns for one score.
double TransformNs(PostTransform how);

}  // namespace ge_engines::cpu::native
