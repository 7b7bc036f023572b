// GraphView: a function as the flat read-only ge_graph for engines. Value indices are the
// function's value ids; node indices are positions. It points into its Graph, which must outlive it
// unchanged.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/ir/graph.h"

namespace ge {

// Arrays with fixed addresses, many to a block: a picture has several for each node and value.
template <typename T>
class ArrayPool {
 public:
  // n elements; null for none. The next call leaves them alone.
  T* Take(size_t n) {
    if (n == 0) return nullptr;
    if (left_ < n) {
      left_ = std::max(n, block_);
      block_ = std::min(2 * block_, kMostInBlock);
      blocks_.push_back(std::make_unique<T[]>(left_));
      next_ = blocks_.back().get();
    }
    left_ -= n;
    T* at = next_;
    next_ += n;
    return at;
  }

 private:
  static constexpr size_t kMostInBlock = 1024;
  size_t block_ = 64;  // of the next; a small graph takes a small one
  std::vector<std::unique_ptr<T[]>> blocks_;
  T* next_ = nullptr;
  size_t left_ = 0;
};

class GraphView {
 public:
  static Result<std::unique_ptr<GraphView>> Make(const Graph& graph, const Function& function);
  // `dims` describes unknown sizes; every value of known rank then has ge_value.dim.
  static Result<std::unique_ptr<GraphView>> Make(const Graph& graph, const Function& function,
                                                 const DimTable& dims);
  // The view for passes: with `dim`, bodies, effects, `after`, attributes that name functions and
  // parameters, and no payload of a splat of more than kMaxSplatRead bytes.
  static Result<std::unique_ptr<GraphView>> MakeWhole(const Graph& graph, const Function& function);
  const ge_graph* get() const { return &graph_; }
  // Takes sizes and contents of constants from the graph as it is now. It may have moved, but its
  // functions must be those of the view, with the same ranks.
  Status Renew(const Graph& graph, const Function& function);
  // Replaces the payload pointer of a constant (an aligned copy); `bytes` must outlive the view.
  void SetConstData(ValueId value, const void* bytes) { values_[value].data = bytes; }
  // Expanded splats that values point to, to keep them when the view is dropped earlier.
  std::vector<ConstScratch> TakeSplats() { return std::move(splats_); }

 private:
  struct Payload {
    const std::byte* data = nullptr;
    uint64_t bytes = 0;
  };
  static Result<std::unique_ptr<GraphView>> Make(const Graph& graph, const Function& function,
                                                 bool whole);
  Result<Payload> PayloadOf(const Const& constant);
  void AddLinks(const Node& node, ge_node* record);
  Status AddValueRecord(const Graph& graph, const Value& value, ValueId id);
  void AddDims(const DimTable& table, const Function& function);
  Status AddNodeRecord(const Graph& graph, const Node& node);
  Result<bool> AddAttr(const Graph& graph, const Node& node, const Attr& attr, ge_attr* out);
  void AddUsers(const Function& function);

  bool whole_ = false;  // see MakeWhole
  ge_graph graph_{};
  std::vector<ge_node> nodes_;
  std::vector<ge_value> values_;
  ArrayPool<int64_t> dims_;
  ArrayPool<ge_dim> sizes_;
  ArrayPool<ge_attr> attrs_;
  std::vector<uint32_t> users_;    // of value after value
  std::deque<std::string> names_;  // deques: addresses stay
  std::deque<std::vector<ge_str>> strings_;
  std::deque<std::vector<uint32_t>> bodies_;
  std::deque<std::vector<ge_effect>> effects_;
  std::vector<ConstScratch> splats_;
};

ge_effect AbiEffect(const Effect& effect);
// A size for plugins; keeps its name in *names.
ge_dim AbiDim(Dim dim, const DimTable& table, std::deque<std::string>* names);
// A size given by a plugin; nothing where the table has no such expression.
std::optional<Dim> DimFromAbi(const ge_dim& dim, const DimTable& table);

}  // namespace ge
