// GraphView: a function as the flat read-only ge_graph that engines see. Value indices are the
// function's value ids; node indices are positions. It points into the Graph that it was made
// from, which must outlive it unchanged.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/ir/graph.h"

namespace ge {

class GraphView {
 public:
  static Result<std::unique_ptr<GraphView>> Make(const Graph& graph, const Function& function);
  // `dims` says what sizes are that are not known; every value of known rank then has ge_value.dim.
  static Result<std::unique_ptr<GraphView>> Make(const Graph& graph, const Function& function,
                                                 const DimTable& dims);
  // As passes see it: with `dim`, bodies, effects, `after`, attributes that name functions and
  // parameters, and no payload of a splat of more than kMaxSplatRead bytes.
  static Result<std::unique_ptr<GraphView>> MakeWhole(const Graph& graph, const Function& function);
  const ge_graph* get() const { return &graph_; }
  // Replaces the payload pointer of a constant (an aligned copy); `bytes` must outlive the view.
  void SetConstData(ValueId value, const void* bytes) { values_[value].data = bytes; }
  // What constants point to that the graph does not own, for who drops the view while it is read.
  std::vector<ConstScratch> TakeSplats() { return std::move(splats_); }

 private:
  struct Payload {
    const std::byte* data = nullptr;
    uint64_t bytes = 0;
  };
  static Result<std::unique_ptr<GraphView>> Make(const Graph& graph, const Function& function,
                                                 bool whole);
  Result<Payload> PayloadOf(const Const& c);
  void AddLinks(const Node& node, ge_node* record);
  Status AddValueRecord(const Graph& graph, const Value& v, ValueId id);
  void AddDims(const DimTable& table, const Function& f);
  Status AddNodeRecord(const Graph& graph, const Node& node);
  Status AddAttr(const Graph& graph, const Node& node, const Attr& attr, std::vector<ge_attr>* out);

  bool whole_ = false;  // see MakeWhole
  ge_graph graph_{};
  std::vector<ge_node> nodes_;
  std::vector<ge_value> values_;
  std::deque<std::vector<int64_t>> dims_;  // deques: addresses stay
  std::deque<std::vector<ge_dim>> sizes_;
  std::deque<std::string> names_;
  std::deque<std::vector<ge_attr>> attrs_;
  std::deque<std::vector<ge_str>> strings_;
  std::deque<std::vector<uint32_t>> users_;
  std::deque<std::vector<uint32_t>> bodies_;
  std::deque<std::vector<ge_effect>> effects_;
  std::vector<ConstScratch> splats_;
};

ge_effect AbiEffect(const Effect& e);
// A size as plugins see it; a name is kept in *names.
ge_dim AbiDim(Dim d, const DimTable& table, std::deque<std::string>* names);
// A size that a plugin gave; nothing where the table has no such expression.
std::optional<Dim> DimFromAbi(const ge_dim& d, const DimTable& table);

}  // namespace ge
