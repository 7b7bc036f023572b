// Joint: a function named by control flow, with its backward pass, cut in two: the forward part
// outputs its results and the values that the backward pass reads (residuals). Both parts are put
// into functions of any signature that the caller needs. The originals do not change.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "passes/grad/reverse.h"
#include "passes/grad/shape_needs.h"

namespace ge::grad {

// The key of a derivation: the function, and masks of parameters and results.
std::string KeyOf(uint32_t fn, const std::vector<bool>& active, const std::vector<bool>& seeded);

// In the body of a Loop: the value deciding whether it goes on, behind Identities.
uint32_t GoesOn(const ge_graph* body);

class Joint {
 public:
  // The gradient of the results in `seeded` (by result) for the parameters in `active` (by
  // parameter). Made once for each of these in a Context. Null where there is none; the Context's
  // problems say why.
  static std::shared_ptr<Joint> Of(Context& context, uint32_t fn, const std::vector<bool>& active,
                                   const std::vector<bool>& seeded);

  // Parameters read by the backward pass, and the types of the residuals.
  const std::vector<bool>& reads() const { return reads_; }
  const std::vector<Type>& residuals() const { return residual_types_; }
  // The origins of a residual's sizes.
  const Needs& needs(size_t residual) const { return needs_[residual]; }
  // Parameters with a gradient other than zero.
  const std::vector<bool>& gives() const { return gives_; }

  // Where a size of a residual is the trip count of a loop in here, known beforehand: the
  // parameters that give it. Null otherwise.
  const std::vector<size_t>* Trips(const ge_dim& dim) const {
    const auto found = trips_.find(dim.id);
    return found == trips_.end() ? nullptr : &found->second;
  }
  // Results depending on an active parameter.
  const std::vector<bool>& reached() const { return reached_; }
  Type result(size_t i) const { return result_types_[i]; }

  // Functions named by ge.Call, made once; 0 = not yet.
  struct Calls {
    uint32_t forward = 0, back = 0;
  };
  Calls& calls() { return calls_; }

  struct Forward {
    std::vector<Val> results, residuals;
  };
  Forward PutForward(Fn& to, const std::vector<Val>& params) const;
  // params: those of reads(); cts: by result, absent = not seeded. Answers by parameter.
  std::vector<Val> PutBack(Fn& to, const std::vector<Val>& params,
                           const std::vector<Val>& residuals, const std::vector<Val>& cts) const;

 private:
  Joint(Context& context, uint32_t copy) : context_(context), fn_(context.edit, copy) {}
  bool Derive(const std::vector<bool>& active, const std::vector<bool>& seeded);
  void Cut(const Reverse& sweep);
  void FindTrips();

  Context& context_;
  Fn fn_;  // the copy, forward and back
  const ge_graph* g_ = nullptr;
  std::vector<uint32_t> params_, results_, cts_;  // values; cts_ 0 = not seeded
  std::vector<uint32_t> gradients_;               // by parameter, 0 = zero
  std::vector<uint32_t> forward_, back_;          // node indices in order
  std::vector<uint32_t> residuals_;               // values
  std::vector<Type> residual_types_;
  std::map<uint32_t, std::vector<size_t>> trips_;  // by id of the size
  std::vector<Needs> needs_;                       // by residual
  std::vector<Type> result_types_;
  std::vector<bool> reads_, gives_, reached_;
  Calls calls_;
};

}  // namespace ge::grad
