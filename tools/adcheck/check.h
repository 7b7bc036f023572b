// Check: compares one model's gradients with an oracle without gradient rules, and with each other.
//   value    what the engine computes against what the oracle does
//   grad     J'w, element by element, against the oracle
//   jvp      Jt against the oracle
//   adjoint  <Jt, w> = <t, J'w> for 20 random pairs, each engine by itself
//   hvp      Hv, element by element, against the oracle; u'Hv = v'Hu
// Errors are shares of the sum of the magnitudes of all terms; the greatest of any element counts.
// A slope's terms are all contributions on the way from inputs to results (Real::m): where they
// cancel, the difference is as inexact as they are.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tools/adcheck/model.h"

namespace ge::adcheck {

struct CheckSpec {
  std::string text;  // of a model with one entry, "main"
  std::string of;    // its output
  std::vector<std::string> wrt;
  Arrays inputs;
  Arrays expected;  // stated slopes at a kink, by input; none = the oracle tells
  Arrays bends;     // stated sums of the rows of the Hessian there; none = nothing is said
  int order = 2;
  int pairs = 20;
};

// The bound is 1e-12 for exact answers and 1e-6 for differences. kStated: the case states slopes.
enum class Oracle : uint8_t { kDual, kDifferences, kStated };

struct CheckResult {
  Oracle oracle = Oracle::kDual;
  std::string why_not_dual;  // why the oracle has to take differences
  std::string failure;       // empty = all is well; else what is wrong, for people
  bool refused = false;      // the pass would not derive it: `failure` says why
  double value = 0, grad = 0, jvp = 0, adjoint = 0, hvp = 0, symmetry = 0;  // greatest errors
  double worst() const;
  uint64_t primal_nodes = 0, grad_nodes = 0;  // executed; counted by CountNodes alone
};

// One spec's answers of an oracle without gradient rules, and the draws for them. Models that
// differ in their derivatives alone are compared with them without asking again.
struct OracleAnswers {
  struct InputElement {
    std::string input;
    size_t element;
  };
  struct Numbers {
    std::vector<double> want, magnitude;
    void Add(double w, double m) {
      want.push_back(w);
      magnitude.push_back(m);
    }
  };
  Array y;                   // the results, as the engine has them
  Array w;                   // weights of them
  Arrays v;                  // a direction
  std::string why_not_dual;  // set where the oracle takes differences
  std::vector<InputElement> places;
  Numbers value, grad, jvp, hvp;
  std::vector<double> ways;  // by place: what its slope adds up, of all results together
  bool told = false;
};

inline constexpr double kExactBound = 1e-12, kDifferenceBound = 1e-6;
inline constexpr double kSingleBound = 1e-5;  // of models in float32

CheckResult CheckModel(const CheckSpec& spec, const ModelOptions& options, std::mt19937_64& random);
// The same. The first call fills `answers`, others of the same spec read them. `hasty` stops at the
// first fault.
CheckResult CheckModel(const CheckSpec& spec, const ModelOptions& options, std::mt19937_64& random,
                       bool hasty, OracleAnswers* answers);

// Nodes executed by one run of the entry, counted by the interpreter: of the model, and of its
// derived entry `grad`, after rewriting.
Result<uint64_t> CountNodes(const std::string& text, const std::string& entry,
                            const Arrays& inputs);

}  // namespace ge::adcheck
