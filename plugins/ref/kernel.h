// Kernel: the contract between the reference engine and its kernels, one record and one file in
// kernels/ per operator. It is not the plugin ABI (ge_plugin.h) and knows nothing of segments.
// Prepare runs at query (to check whether ref takes the node) and at compile; the exec owns its
// result. Several threads may call Run on one Prepared at once. Run neither allocates nor locks: a
// kernel asks for scratch in `workspace`.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "ge/ge_plugin.hpp"

namespace ref {

// Highest rank of a kernel's tensors: its loop nests live on the stack.
inline constexpr int kMaxRank = 32;

using Ints = ge::plugin::Span<int64_t>;

// Element type and static dims; the maker of a TensorType owns dims.
struct TensorType {
  int32_t dtype = 0;
  int rank = 0;
  const int64_t* dims = nullptr;
  int64_t count = 0;   // elements
  uint64_t bytes = 0;  // dense; sub-byte elements are packed, low bits first
  Ints shape() const { return {dims, static_cast<size_t>(rank)}; }
};

struct Tensor : TensorType {
  void* data = nullptr;
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// The reason for declining a node: a GE_WHY_* code and a sentence.
struct Why {
  uint32_t code = 0;
  char text[200] = "";
  // Returns false, for use as `return why->Say(...)`.
  __attribute__((format(printf, 3, 4))) bool Say(uint32_t why_code, const char* format, ...);
};

// A node as Prepare sees it: types are static, attributes are the host's. Valid for the call.
class NodeView {
 public:
  // Checks for all kernels: static dims, sized dtypes, rank <= kMaxRank.
  static bool Open(const ge_graph& graph, uint32_t index, NodeView* out, Why* why);

  const ge_node& node() const { return *node_; }
  uint32_t n_in() const { return node_->n_in; }
  uint32_t n_out() const { return node_->n_out; }
  bool has_in(uint32_t i) const { return ge::plugin::Input(*graph_, *node_, i) != nullptr; }
  bool has_out(uint32_t i) const { return ge::plugin::Output(*graph_, *node_, i) != nullptr; }
  TensorType in(uint32_t i) const;         // only when has_in(i)
  TensorType out(uint32_t i) const;        // only when has_out(i)
  const void* constant(uint32_t i) const;  // payload of a constant input, maybe unaligned

  bool Has(std::string_view name) const;
  // Nodes carry all attributes with defaults; `absent` is for an attribute whose absence has a
  // meaning of its own.
  int64_t Int(std::string_view name, int64_t absent = 0) const {
    return ge::plugin::AttrInt(*node_, name, absent);
  }
  double Float(std::string_view name, double absent = 0) const {
    return ge::plugin::AttrFloat(*node_, name, absent);
  }
  std::string_view Text(std::string_view name, std::string_view absent = {}) const {
    return ge::plugin::AttrString(*node_, name, absent);
  }
  Ints List(std::string_view name) const { return ge::plugin::AttrInts(*node_, name); }

 private:
  const ge_graph* graph_ = nullptr;
  const ge_node* node_ = nullptr;
};

// One launch of one prepared node. Tensors point at the launch's buffers and constants.
class Call {
 public:
  virtual uint32_t n_in() const = 0;
  virtual uint32_t n_out() const = 0;
  virtual bool has_in(uint32_t i) const = 0;
  virtual bool has_out(uint32_t i) const = 0;
  virtual Tensor in(uint32_t i) const = 0;   // only when has_in(i)
  virtual Tensor out(uint32_t i) const = 0;  // only when has_out(i)
  virtual void* workspace() const = 0;       // 64-byte aligned
  // Says what is wrong with the data; the node's name is put in front. Returns rc.
  __attribute__((format(printf, 3, 4))) virtual ge_rc Fail(ge_rc rc, const char* format,
                                                           ...) const = 0;

 protected:
  ~Call() = default;
};

class Prepared {
 public:
  virtual ~Prepared() = default;
  virtual ge_rc Run(const Call& call) const = 0;

  uint64_t workspace = 0;    // bytes of scratch
  uint32_t const_align = 0;  // as ge_offer.const_align
  // Bit i: output 0 may lie on input i (equal bytes, element k is read before it is written).
  uint64_t in_place = 0;
};

// Wraps a callable ge_rc(const Call&) with its captures.
template <class F>
class PreparedFn final : public Prepared {
 public:
  explicit PreparedFn(F call) : f_(std::move(call)) {}
  ge_rc Run(const Call& call) const override { return f_(call); }

 private:
  F f_;
};
template <class F>
std::unique_ptr<Prepared> Make(F call) {
  return std::make_unique<PreparedFn<F>>(std::move(call));
}

struct Kernel {
  const char* op;  // "Relu" as ge_node.version means it; of other domains "ai.onnx.ml.Scaler"
  // Prepares the node; nullptr with *why if ref declines it.
  std::unique_ptr<Prepared> (*prepare)(const NodeView& node, Why* why);
};

// The kernel for the node's operator; nullptr when there is none.
const Kernel* FindKernel(const ge_node& node);

}  // namespace ref

// Defines the record of kernels/STEM.cc; the table of all is generated from the file names.
#define GE_REF_KERNEL(stem, ...)              \
  namespace ref {                             \
  extern const Kernel kernel_##stem;          \
  const Kernel kernel_##stem = {__VA_ARGS__}; \
  }
