// PartBound: keeps for each entry a graph in which the sizes equal in all signatures so far are
// bound and folded, and the others left open. So a new signature binds and folds only the
// values that depend on its own sizes. The resulting graph is the one the model's graph would
// have become, with the same numbers for nodes and values. Used under the session's compile
// mutex.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/session/shape_program.h"

namespace ge {

class PartBound {
 public:
  using Shapes = std::vector<std::vector<int64_t>>;  // of an entry's parameters
  // Passes at bind, on a graph that may have open sizes.
  using Fold = std::function<Status(Graph*)>;

  // The graph to bind for these shapes: `model`, or a graph of this entry alone with a part
  // of the sizes bound. Makes the latter once an earlier signature shows which sizes change;
  // if passes or rules need to know more, it stays with `model`. Fails when the call is to
  // end.
  Result<const Graph*> For(const Graph& model, const Entry& entry, const Shapes& shapes,
                           const Fold& fold);
  // The graph of these shapes in *reshape, where an earlier signature has shown how to make it
  // without all passes; false else. After For, of the same shapes. Fails when the call is to end.
  Result<bool> Bind(const Entry& entry, const Shapes& shapes, const Fold& fold,
                    ReshapeInputs* reshape);
  // Takes back the inputs of a plan whose graph came from Bind, or from a part by all passes.
  void TakeBack(const Entry& entry, ReshapeInputs reshape);
  void Learn(const Entry& entry, ReshapeInputs reshape);
  // Whether the function's structure (see ShapeClasses::KeyOf) is new here. A function with bodies,
  // which the key does not see, is always new.
  bool IsNew(const Graph& bound, FunctionId fn);
  size_t made() const { return made_; }

 private:
  struct Part {
    Shapes sizes;  // kOpenSize where they change
    Graph graph;
    bool useless = false;  // it cannot be made, or nothing is bound in it
    std::unique_ptr<ShapeProgram> program;
    int refused = 0;  // how often none could be made
  };
  // Each attempt needs a plan made with all passes.
  static constexpr int kMostRefused = 3;
  static bool Fits(const Shapes& sizes, const Shapes& shapes);
  // Opens the sizes that differ from `shapes`; false where ranks do.
  static bool Open(Shapes* sizes, const Shapes& shapes);
  Status Make(const Graph& model, const Entry& entry, const Fold& fold, Part* part);

  Part* PartOf(const Entry& entry);  // null: the model is bound

  std::map<FunctionId, Part> parts_;
  std::set<uint64_t> structures_;
  size_t made_ = 0;
};

// Renumbers the values of a function in order of first appearance: parameters, nodes in order,
// results. Graphs alike then have the same numbers, however they were made.
void NumberValues(Function* function);

}  // namespace ge
