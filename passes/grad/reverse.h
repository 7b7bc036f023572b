// Reverse: gradients of one function, built at its end: the sweep from results to what is wanted.
// The nodes that are there stay what they are, but for two kinds: one without a rule that can be
// taken apart is, and control flow becomes a node that also answers what its way back reads.
// One sweep an object; one thread.
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

// How a Loop or Scan keeps what its way back reads: of all rounds, or of every so many what is
// carried, and these rounds are run again.
struct LoopCheckpoint {
  enum Kind { kNone, kEvery, kAuto };  // kAuto: the root of how many rounds there are
  Kind kind = kNone;
  int64_t every = 0;
  // "none" or "0", "auto", or a number. Throws a Refusal.
  static LoopCheckpoint Of(const std::string& text);
};

// What one run of a pass shares: derivations of bodies, made once for each set of active inputs and
// of outputs that have cotangents, and every reason why there is no gradient.
struct Context : PassRun {
  explicit Context(const ge_edit* edit = nullptr) : PassRun{edit, "grad."} {}
  LoopCheckpoint checkpoint = {};
  // What calls itself is run once more on the way back, by an ordinary function that can be derived
  // again, rather than answer a function that holds what it reads.
  bool again = false;
  std::map<std::string, std::shared_ptr<Joint>> joints;
  std::vector<std::string> problems;
  std::map<std::string, uint32_t> recursions;  // forward functions of what calls itself
  std::vector<std::string> stack;              // derivations that are under way
};

class Reverse {
 public:
  Reverse(Fn& fn, Context& context) : fn_(fn), context_(context) {}
  // `name`: for messages, where the value has none of its own.
  void Want(Val value, std::string name = {}) { wants_[value.id] = std::move(name); }
  void Seed(Val value, Val ct);
  // False where something has no gradient; Context::problems says what.
  bool Run();
  // Of a value that is wanted; absent = zero.
  Val Gradient(Val value);

  // Nodes that belong to the function's own results; all others are the way back.
  bool IsForward(uint32_t node) const { return node <= last_forward_ || forward_.count(node) != 0; }
  // Of a value that was there: whether it depends on what is wanted.
  bool IsActive(uint32_t value) { return value < active_.size() && active_[value]; }
  Fn& fn() { return fn_; }
  Context& context() { return context_; }

  // For control flow: the value that stands for one of the picture now, cotangents by output, and
  // which inputs have a gradient that somebody wants.
  Val Now(uint32_t value);
  std::vector<Val> Cotangents(const ge_node& n);
  std::vector<bool> Wanted(const ge_node& n);
  void Add(uint32_t value, Val ct);
  // The node goes, and `made` stands for its outputs, before the sweep has begun.
  void Supplant(const ge_node& n, const std::vector<Val>& made);
  // `to` takes the place of the node, whose output i becomes made[i].
  void Replace(const ge_node& n, uint32_t to, const std::vector<Val>& made);
  // A node that was made, and belongs to the function's own results.
  void MarkForward(uint32_t node) { forward_.insert(node); }
  void Problem(const ge_node& n, std::string_view why);

 private:
  bool Prepare();     // takes nodes apart that have no rule
  void FindActive();  // what depends on something wanted
  void FindNeeded();  // what a seed depends on
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

// One ge.CallIndirect whose function is known here, or ge.Call that hands a function on, becomes a
// call, an If of calls, or what it calls. Answers whether one did.
bool ResolveFunction(Reverse& reverse, const ge_graph* graph, const ge_node& n);

// One SequenceAt of a SplitToSequence, both known here, becomes a Slice. Answers whether one did.
bool ResolveSequence(Reverse& reverse, const ge_graph* graph, const ge_node& n);

// Through If, Loop, Scan and ge.Call; false where the node is none of them.
bool BackThroughFlow(Reverse& reverse, const ge_node& n);
bool IsFlow(const ge_node& n);

}  // namespace ge::grad
