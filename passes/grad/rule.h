// Rule: how gradients go back through one operator. A rule sees one node with its inputs and
// outputs, and gives each input that wants one its cotangent, in terms of ordinary operators: so
// its results have rules, too. It is linear in the cotangents: its transpose is the forward mode.
// One file an operator in rules/ (operators of one input in unary.cc); the table is generated from
// the file names. Ties and kinks follow PyTorch: each rule notes its own.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "passes/grad/kit.h"

namespace ge::grad {

struct Context;  // reverse.h

class Back {
 public:
  Back(Fn& fn, const ge_node& node, std::vector<Val> in, std::vector<Val> out, std::vector<Val> ct,
       std::vector<bool> wants, Context* context = nullptr);
  Context& context() const { return *context_; }  // for a rule that makes a body
  Fn& fn() const { return fn_; }
  const ge_node& node() const { return node_; }
  uint32_t inputs() const { return static_cast<uint32_t>(in_.size()); }
  uint32_t outputs() const { return static_cast<uint32_t>(out_.size()); }
  Val x(uint32_t i = 0) const { return i < in_.size() ? in_[i] : Val{}; }
  Val y(uint32_t i = 0) const { return i < out_.size() ? out_[i] : Val{}; }
  // x(i) with its last two axes exchanged: the original before a Transpose that does just that, so
  // the backward pass reads a weight and not a transposed copy of it.
  Val Turned(uint32_t i) const { return turned_.count(i) ? turned_.at(i) : SwapLast(x(i)); }
  void SetTurned(uint32_t i, Val from) { turned_[i] = from; }
  // The cotangent of an output; absent where it is zero. At least one is there.
  Val ct(uint32_t i = 0) const { return i < ct_.size() ? ct_[i] : Val{}; }
  bool wants(uint32_t i) const { return i < wants_.size() && wants_[i]; }
  Type type(Val value) const { return fn_.TypeOf(value); }
  int32_t rank(Val value) const { return fn_.TypeOf(value).rank; }
  // An axis of x(0), counted from its front; -1 for an unknown rank, a failure.
  int64_t Axis(int64_t axis, Val of);

  // Attributes; the default is the meaning of absence.
  int64_t Int(const char* name, int64_t otherwise = 0) const;
  double Float(const char* name, double otherwise = 0) const;
  std::string Text(const char* name, const char* otherwise = "") const;
  std::vector<int64_t> Ints(const char* name) const;  // empty where there is none
  bool Has(const char* name) const;
  // The content of a constant input of whole numbers; false where it is none.
  bool Known(Val value, std::vector<int64_t>* numbers) const;

  // Gives input i its cotangent, summed to the input's shape where the operator broadcast it.
  // Absent = zero. At most once an input; ignored for an input that wants none.
  void Give(uint32_t i, Val value);
  // The gradient of this node cannot be built: why, for the user ("of an unknown rank").
  void Fail(std::string why) {
    if (failed_.empty()) failed_ = std::move(why);
  }

  const std::string& failed() const { return failed_; }
  const std::vector<Val>& given() const { return given_; }

 private:
  Fn& fn_;
  const ge_node& node_;
  std::vector<Val> in_, out_, ct_, given_;
  std::map<uint32_t, Val> turned_;
  std::vector<bool> wants_;
  Context* context_;
  std::string failed_;
};

// An input that has no gradient: ZERO (it is constant around every point, or no number), or ERROR
// (there is one, and we do not build it).
struct NoGradient {
  uint32_t input;  // kAllInputs; of a variadic operator, this one and all behind it
  const char* reason;
  bool error = false;
};
inline constexpr uint32_t kAllInputs = UINT32_MAX;

struct Rule {
  const char* domain;
  const char* op;
  void (*back)(Back&) = nullptr;  // NULL: no input has a gradient, or it is taken apart
  std::vector<NoGradient> none = {};
  // Builds the node out of others, before it, and answers by output; empty = it stays as it is. For
  // operators whose parts have rules, and for nodes in need of more outputs.
  std::vector<Val> (*apart)(Back&) = nullptr;
};

// All rules of rules/<stem>.cc: GE_GRAD(conv) { return {{"", "Conv", BackOfConv}}; }
#define GE_GRAD(stem) std::vector<Rule> RulesOf_##stem()

// NULL where there is none.
const Rule* FindRule(std::string_view domain, std::string_view op);
// In the order of their files.
std::span<const Rule> AllRules();

}  // namespace ge::grad
