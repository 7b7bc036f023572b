// KernelExec: one compiled node of a plugin's operator: a copy of its attributes and the places of
// its inputs and outputs in a launch. Several threads may call Run at once.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ge/engine/op/op_plugin.h"
#include "ge/ge_plugin.h"

namespace ge {

// A node of a view, to outlive the view: names and attributes, no values.
class KeptNode {
 public:
  void Keep(const ge_node& node);
  const ge_node* get() const { return &node_; }

 private:
  ge_str Str(ge_str text);
  ge_attr CopyOf(const ge_attr& attr);
  ge_node node_{};
  std::vector<ge_attr> attrs_;
  std::deque<std::string> texts_;  // deques: addresses stay
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> floats_;
  std::deque<std::vector<ge_str>> strings_;
  std::deque<std::vector<uint32_t>> values_;
};

class KernelExec {
 public:
  static constexpr uint32_t kMostPorts = 64;
  KernelExec() = default;
  ~KernelExec();  // closes what the operator keeps
  KernelExec(const KernelExec&) = delete;
  KernelExec& operator=(const KernelExec&) = delete;
  // The segment has one node with known sizes. The code of the operator's `open`.
  ge_rc Compile(std::shared_ptr<const PluginOp> op, const ge_segment& segment, ge_err* err);
  // Outputs without readers.
  const std::vector<ge_internal>& internals() const { return internals_; }
  ge_rc Run(const ge_launch& launch, ge_err* err) const;

 private:
  struct Port {
    enum class From : uint8_t { kNowhere, kInput, kConstant, kOutput, kInternal } from;
    uint32_t position = 0;  // among the launch's
    ge_buf buf{};           // of a constant whole, else dtype and dims
  };
  Port PortOf(const ge_value& value);
  ge_rc Open(ge_err* err);
  std::shared_ptr<const PluginOp> op_;
  const char* kernel_text_ = nullptr;  // for PluginCall
  KeptNode node_;
  bool opened_ = false;
  void* kept_ = nullptr;  // of the operator's `open`
  std::vector<Port> in_, out_;
  std::vector<ge_internal> internals_;
  std::deque<std::vector<int64_t>> dims_;
};

}  // namespace ge
