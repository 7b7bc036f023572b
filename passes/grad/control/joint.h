// Joint: a function that control flow names, with its way back, cut in two: what runs forward and
// answers what the way back reads beside the results (residuals), and the way back itself. Both are
// put into functions of whatever signature the caller needs. The originals stay what they are.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "passes/grad/reverse.h"
#include "passes/grad/shape_needs.h"

namespace ge::grad {

// What names a derivation: the function, and masks of parameters and results.
std::string KeyOf(uint32_t fn, const std::vector<bool>& active, const std::vector<bool>& seeded);

// Of the body of a Loop: the value that says whether it goes on, behind Identities.
uint32_t GoesOn(const ge_graph* body);

class Joint {
 public:
  // The gradient of the results that `seeded` says (by result) for the parameters that `active`
  // says (by parameter). Made once for each of these in a Context. Null where there is none; the
  // Context's problems say why.
  static std::shared_ptr<Joint> Of(Context& context, uint32_t fn, const std::vector<bool>& active,
                                   const std::vector<bool>& seeded);

  // Which parameters the way back reads, and the types of the residuals.
  const std::vector<bool>& reads() const { return reads_; }
  const std::vector<Type>& residuals() const { return residual_types_; }
  // What the sizes of a residual follow from.
  const Needs& needs(size_t residual) const { return needs_[residual]; }
  // Which parameters have a gradient that is not zero.
  const std::vector<bool>& gives() const { return gives_; }

  // Where a size of a residual is how often a loop in here runs, and that is known beforehand: the
  // parameters that say it. Null where it is not so.
  const std::vector<size_t>* Trips(const ge_dim& dim) const {
    const auto found = trips_.find(dim.id);
    return found == trips_.end() ? nullptr : &found->second;
  }
  // Which results depend on an active parameter.
  const std::vector<bool>& reached() const { return reached_; }
  Type result(size_t i) const { return result_types_[i]; }

  // Functions that ge.Call names, made once; 0 = not yet.
  struct Calls {
    uint32_t forward = 0, back = 0;
  };
  Calls& calls() { return calls_; }

  struct Forward {
    std::vector<Val> results, residuals;
  };
  Forward PutForward(Fn& to, const std::vector<Val>& params) const;
  // params: those that reads() says; cts: by result, absent = not seeded. Answers by parameter.
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
