// EditUndo: what a failed call of a graph's ge_edit has begun is taken back, so that later calls
// work (ge_graph_edit of ge.h). It keeps where everything ended before a call, and copies of what
// the call may change. It also gives nodes names that no other node has, which belong to what is
// taken back. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>

#include "ge/ops/edit.h"

namespace ge {

// What a call may change beside what it adds behind the rest.
struct Touched {
  enum class Part : uint8_t {
    kEnd,       // nothing: it adds to `fn` (0 = to no function)
    kFunction,  // anything in `fn`
    kModel,
  };
  Part part = Part::kEnd;
  FunctionId fn = 0;
};

// The transaction that edits a graph. Between two calls nothing of it waits to be committed.
class TransactionPlace {
 public:
  explicit TransactionPlace(Graph* graph) : graph_(*graph) { Begin(); }
  ~TransactionPlace() { End(); }
  TransactionPlace(const TransactionPlace&) = delete;
  TransactionPlace& operator=(const TransactionPlace&) = delete;
  Graph& graph() { return graph_; }
  Transaction* transaction() { return &transaction_; }
  // It ends, as a call has left it, and another one takes its place.
  void Renew() noexcept {
    End();
    Begin();
  }

 private:
  void Begin() noexcept { new (&transaction_) Transaction(&graph_, std::string()); }
  void End() noexcept;
  Graph& graph_;
  union {
    Transaction transaction_;  // its end may throw, which std::optional does not stand
  };
};

class EditUndo {
 public:
  explicit EditUndo(TransactionPlace* place) : place_(*place), graph_(place->graph()) {}
  EditUndo(const EditUndo&) = delete;
  EditUndo& operator=(const EditUndo&) = delete;
  // Before a call; what an exception leaves is as if it had not been called.
  void Begin(const Touched& touched);
  // The graph is as it was at Begin.
  void Undo() noexcept;
  // The call has succeeded: its copies go.
  void End() noexcept;
  // The opset of the domain, which may be a new one.
  void AddOpset(const std::string& domain, int64_t version);
  // `name`, or with " #2" behind it, " #3" ... where a node of the graph has it.
  std::string NameOf(const std::string& name);

 private:
  struct Sizes {  // of the lists of the graph and of one function, before the call
    size_t functions = 0, consts = 0, states = 0, entries = 0;
    size_t values = 0, params = 0, nodes = 0, effects = 0;
    NodeId next_node = 0;
  };
  struct DimCounts {
    uint32_t symbols = 0, exprs = 0;
    friend bool operator==(const DimCounts&, const DimCounts&) = default;
  };
  DimCounts Counts() const { return {graph_.dims.symbol_count(), graph_.dims.expr_count()}; }
  void UndoNames() noexcept;
  void Shrink() noexcept;

  TransactionPlace& place_;
  Graph& graph_;
  FunctionId fn_ = 0;
  Sizes sizes_;
  // The graph's table, copied anew before a call where the calls before it have made sizes; most
  // make none.
  std::optional<DimTable> dims_;
  DimCounts dim_counts_;
  std::optional<Function> function_;
  std::optional<Graph> model_;
  std::unordered_map<std::string, uint32_t> names_;  // of nodes -> the last number behind it
  // Of this call; null: none.
  const std::string* new_name_ = nullptr;
  const std::string* new_opset_ = nullptr;
  uint32_t* counter_ = nullptr;
  uint32_t counted_ = 0;  // what *counter_ was
};

}  // namespace ge
