// PartBound: graphs of a session's entries in which the sizes that were the same in all signatures
// so far are bound and folded, and the others are left open, so that a new signature binds and
// folds what depends on its own sizes alone. What it makes of a signature is what the model's graph
// would have become, with the same numbers for nodes and values. Used under the session's compile
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

  // What to bind for these shapes: `model`, or a graph of this entry alone in which a part of the
  // sizes is bound. It is made where an earlier signature shows which sizes change; where that does
  // not work out, because passes or rules want to know more, `model` it stays. Fails when the call
  // is to end.
  Result<const Graph*> For(const Graph& model, const Entry& entry, const Shapes& shapes,
                           const Fold& fold);
  // The graph of these shapes in *reshape, where an earlier signature has shown how it is made
  // without all passes; false else. After For, of the same shapes. Fails when the call is to end.
  Result<bool> Bind(const Entry& entry, const Shapes& shapes, const Fold& fold,
                    ReshapeInputs* reshape);
  // What the plan of a graph hands back that Bind gave, or the long way from a part.
  void TakeBack(const Entry& entry, ReshapeInputs reshape);
  void Learn(const Entry& entry, ReshapeInputs reshape);
  // Whether the function's structure (see ShapeClasses::KeyOf) was not asked about yet. One with
  // bodies, which the key does not see, is always new.
  bool IsNew(const Graph& bound, FunctionId fn);
  size_t made() const { return made_; }

 private:
  struct Part {
    Shapes sizes;  // kOpenSize where they change
    Graph graph;
    bool useless = false;  // it is not to be had, or nothing is bound in it
    std::unique_ptr<ShapeProgram> program;
    int refused = 0;  // how often there was none to be made
  };
  // Each is asked for by a plan that was made the long way.
  static constexpr int kMostRefused = 3;
  static bool Fits(const Shapes& sizes, const Shapes& shapes);
  // Opens what differs from `shapes`; false where ranks do.
  static bool Open(Shapes* sizes, const Shapes& shapes);
  Status Make(const Graph& model, const Entry& entry, const Fold& fold, Part* part);

  Part* PartOf(const Entry& entry);  // null: the model is bound

  std::map<FunctionId, Part> parts_;
  std::set<uint64_t> structures_;
  size_t made_ = 0;
};

// Renumbers the values of a function by where they are first met: parameters, nodes in order,
// results. Graphs that are alike then have the same numbers, however they were made.
void NumberValues(Function* function);

}  // namespace ge
