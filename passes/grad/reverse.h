// Reverse: gradients of one function, built at its end: the sweep from results to the wanted
// values. The present nodes stay as they are, with two exceptions: a node without a rule is taken
// apart if possible, and control flow becomes a node that also outputs the values read by its
// backward pass. One sweep an object; one thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/grad/rule.h"

namespace ge::grad {

class Joint;

// How a Loop or Scan keeps values for its backward pass: those of all rounds, or the carried values
// every so many rounds; then these rounds run again.
struct LoopCheckpoint {
  enum Kind { kNone, kEvery, kAuto };  // kAuto: the root of the number of rounds
  Kind kind = kNone;
  int64_t every = 0;
  // "none" or "0", "auto", or a number. Throws a Refusal.
  static LoopCheckpoint Of(const std::string& text);
};

// Shared by one run of a pass: derivations of bodies, made once for each set of active inputs and
// of outputs with cotangents, and every reason for a missing gradient.
struct Context : PassRun {
  explicit Context(const ge_edit* edit = nullptr) : PassRun{edit, "grad."} {}
  LoopCheckpoint checkpoint = {};
  // Runs a recursive function once more on the backward pass, by an ordinary function, derivable
  // again, instead of one returning a function with its residuals.
  bool again = false;
  std::map<std::string, std::shared_ptr<Joint>> joints;
  std::vector<std::string> problems;
  std::map<std::string, uint32_t> recursions;  // forward functions of recursive functions
  std::vector<std::string> stack;              // derivations in progress
};

class Reverse {
 public:
  Reverse(Fn& fn, Context& context) : fn_(fn), context_(context) {}
  // `name`: for messages, where the value has none of its own.
  void Want(Val value, std::string name = {}) { wants_[value.id] = std::move(name); }
  void Seed(Val value, Val ct);
  // False where a value has no gradient; Context::problems says which.
  bool Run();
  // Of a wanted value; absent = zero.
  Val Gradient(Val value);

  // Nodes belonging to the function's own results; all others are backward nodes.
  bool IsForward(uint32_t node) const { return node <= last_forward_ || forward_.count(node) != 0; }
  // Whether an original value depends on a wanted one.
  bool IsActive(uint32_t value) { return value < active_.size() && active_[value]; }
  Fn& fn() { return fn_; }
  Context& context() { return context_; }

  // For control flow: the present replacement of a value of the picture, cotangents by output, and
  // the inputs with a wanted gradient.
  Val Now(uint32_t value);
  std::vector<Val> Cotangents(const ge_node& n);
  std::vector<bool> Wanted(const ge_node& n);
  void Add(uint32_t value, Val ct);
  // Removes the node before the sweep has begun; `made` replaces its outputs.
  void Supplant(const ge_node& n, const std::vector<Val>& made);
  // Replaces the node by `to`; its output i becomes made[i].
  void Replace(const ge_node& n, uint32_t to, const std::vector<Val>& made);
  // Marks a new node as one of the function's own results.
  void MarkForward(uint32_t node) { forward_.insert(node); }
  void Problem(const ge_node& n, std::string_view why);

 private:
  bool Prepare();     // takes nodes without a rule apart
  void FindActive();  // values depending on a wanted one
  void FindNeeded();  // values that a seed depends on
  bool Active(const ge_node& n) const;
  bool Carries(const ge_node& n, int32_t dtype) const;
  std::vector<uint32_t> PartsOf(const ge_node& n);
  bool TakeApart(const ge_node& n);
  bool Resolve();
  Back BackOf(const ge_node& n, std::vector<Val> cts, std::vector<bool> wants);
  uint32_t BeforeSwap(uint32_t value) const;
  void Through(const ge_node& n);
  bool OwnRule(const ge_node& n, const std::vector<Val>& cts, const std::vector<bool>& wants);
  std::string Where(const ge_node& n) const;

  Fn& fn_;
  Context& context_;
  const ge_graph* g_ = nullptr;  // as it was when the sweep began
  std::map<uint32_t, std::string> wants_;
  std::set<uint32_t> forward_;
  std::map<uint32_t, std::vector<Val>> seeds_;
  std::vector<std::vector<Val>> cts_;  // by value
  std::vector<char> active_, needed_;
  std::unordered_map<uint32_t, uint32_t> moved_;
  uint32_t last_forward_ = 0;
  bool ok_ = true;
};

// Turns one ge.CallIndirect of a known function, or ge.Call that hands a function on, into a call,
// an If of calls, or the callee's nodes. Answers whether it did.
bool ResolveFunction(Reverse& reverse, const ge_graph* graph, const ge_node& n);

// Turns one SequenceAt of a SplitToSequence, both known here, into a Slice. Answers whether it did.
bool ResolveSequence(Reverse& reverse, const ge_graph* graph, const ge_node& n);

// Through If, Loop, Scan and ge.Call; false where the node is none of them.
bool BackThroughFlow(Reverse& reverse, const ge_node& n);
bool IsFlow(const ge_node& n);

}  // namespace ge::grad
