// Fn: one function of the model as rules build in it: nodes, constants and types behind values for
// calculations. Over ge_plugin_pass.h alone. The host keeps failures (rule 4 there), so nothing
// here answers a status. One thread, for one run of a pass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_pass.h"

namespace ge::passes {

class Fn;

// A value of a function; without one it is a zero that is never made.
struct Val {
  Fn* fn = nullptr;
  uint32_t id = 0;
  explicit operator bool() const { return id != 0; }
  bool operator==(const Val&) const = default;
};

struct Type {
  int32_t dtype = 0;
  int32_t rank = -1;
  std::vector<ge_dim> dims;          // by axis, of a known rank; names are not kept
  uint32_t of_fn = 0, of_value = 0;  // its owner, where dtype is 0: no tensor
  bool known() const;                // all sizes are numbers
  int64_t elements() const;          // of a known one
};

bool IsFloat(int32_t dtype);
// The content of a constant of whole numbers; false where it is none.
bool KnownInts(const ge_value& value, std::vector<int64_t>* numbers);
// Provably equal sizes.
bool Same(const ge_dim& left, const ge_dim& right);
bool Same(const Type& left, const Type& right);
inline bool Is(const ge_dim& dim, int64_t n) { return dim.value == n; }

// Attributes of a node being made: Attrs().Int("axis", 1).Ints("pads", {0, 1}). Names are
// literals.
class Attrs {
 public:
  Attrs& Int(const char* name, int64_t value);
  Attrs& Float(const char* name, double value);
  Attrs& Text(const char* name, std::string text);
  Attrs& Ints(const char* name, std::vector<int64_t> values);
  Attrs& Add(const ge_attr& attr);  // one of a picture
  std::vector<ge_attr> Abi() const;

 private:
  struct Item {
    ge_attr a{};
    std::vector<int64_t> ints;
    std::string text;
  };
  std::vector<Item> items_;
};

class Fn {
 public:
  Fn(const ge_edit* edit, uint32_t id) : e_(edit), id_(id) {}
  Fn(const Fn&) = delete;
  Fn& operator=(const Fn&) = delete;
  uint32_t id() const { return id_; }
  const ge_edit* edit() const { return e_; }
  // A picture as the function is now; good until the next call.
  const ge_graph* Picture() const { return e_->graph(e_->host, id_); }

  Val At(uint32_t value) { return {this, value}; }
  // Puts nodes before this one from now on, or at the end (0).
  void PutBefore(uint32_t node) { before_ = node; }
  // The end is before this node from now on, so that who reads it finds its nodes in order.
  void EndAt(uint32_t node) { end_ = node; }
  uint32_t end() const { return end_; }
  // Names the origin of nodes put at the end from now on, for messages; 0 =
  // none.
  void Derive(uint32_t node) { of_ = node; }
  // The name of the next node, for people; it is no other node's of the function.
  void NameNext(std::string name) { next_name_ = std::move(name); }
  // Notes ids of new nodes there from now on; NULL = nowhere.
  void Record(std::vector<uint32_t>* nodes) { record_ = nodes; }
  Type TypeOf(Val val) const;
  Val Param(std::string_view name, const Type& type);

  // `in` may hold absent values; those at its end are left out.
  Val Op(std::string_view op, const std::vector<Val>& in, const Attrs& attrs = {});
  std::vector<Val> Ops(std::string_view op, const std::vector<Val>& in, const Attrs& attrs,
                       uint32_t outputs);
  // A node of a plugin's own or of a domain of ours ("ge"), with bodies and effects where given.
  std::vector<Val> Node(std::string_view domain, std::string_view op, const std::vector<Val>& in,
                        const Attrs& attrs, uint32_t outputs, const ge_links* links = nullptr,
                        uint32_t before = 0, uint32_t* node = nullptr);

  Val Scalar(int32_t dtype, double value);  // floats and integers
  Val Ints(const std::vector<int64_t>& values);
  Val Vector(int32_t dtype, const std::vector<double>& values);  // one more each time
  Val Constant(const ge_type& type, const void* data, uint64_t bytes);

  // The shape as a vector: a constant where it is known.
  Val ShapeOf(Val value);
  Val Fill(Val like, double value);  // of that dtype and shape
  Val Zeros(Val like) { return Fill(like, 0); }
  // value, broadcast from `like`, summed back to its shape.
  Val SumTo(Val value, Val like);
  Val ExpandTo(Val value, Val like);  // broadcast to that shape
  Val Cast(Val value, int32_t dtype);
  Val Sum(const std::vector<Val>& terms);  // one node; absent ones do not count

 private:
  const ge_edit* e_;
  uint32_t id_;
  uint32_t before_ = 0, of_ = 0, end_ = 0;
  std::vector<uint32_t>* record_ = nullptr;
  std::string next_name_;
  // Constants that are there already.
  std::map<std::pair<int32_t, double>, Val> scalars_;
  std::map<std::vector<int64_t>, Val> ints_;
};

Val operator+(Val left, Val right);
Val operator-(Val left, Val right);
Val operator*(Val left, Val right);
Val operator/(Val left, Val right);
Val operator-(Val value);
Val operator+(Val left, double right);
Val operator-(Val left, double right);
Val operator*(Val left, double right);
Val operator/(Val left, double right);
Val operator+(double left, Val right);
Val operator-(double left, Val right);
Val operator*(double left, Val right);
Val operator/(double left, Val right);
// A node of one input.
Val Unary(std::string_view op, Val x);
inline Val Exp(Val x) { return Unary("Exp", x); }
inline Val Log(Val x) { return Unary("Log", x); }
inline Val Sqrt(Val x) { return Unary("Sqrt", x); }
inline Val Sin(Val x) { return Unary("Sin", x); }
inline Val Cos(Val x) { return Unary("Cos", x); }
inline Val Tanh(Val x) { return Unary("Tanh", x); }
inline Val Sign(Val x) { return Unary("Sign", x); }
inline Val Sigmoid(Val x) { return Unary("Sigmoid", x); }
Val Compare(std::string_view op, Val left, Val right);  // "Less", "Greater", "Equal" ...: boolean
Val Compare(std::string_view op, Val left, double right);
Val Where(Val condition, Val left, Val right);
Val Where(Val condition, Val left, double right);
Val Pow(Val left, double right);
Val MatMul(Val left, Val right);
Val Transpose(Val x, std::vector<int64_t> perm);
Val SwapLast(Val x);  // the last two axes
Val Reshape(Val x, std::vector<int64_t> dims);
Val ReshapeLike(Val x, Val like);
Val ReduceSum(Val x, const std::vector<int64_t>& axes, bool keepdims);
Val Unsqueeze(Val x, const std::vector<int64_t>& axes);
Val Squeeze(Val x, const std::vector<int64_t>& axes);
Val Concat(const std::vector<Val>& parts, int64_t axis);
Val Slice(Val x, const std::vector<int64_t>& starts, const std::vector<int64_t>& ends,
          const std::vector<int64_t>& axes);
Val Gather(Val x, Val indices, int64_t axis);

}  // namespace ge::passes
