// A context for tests of inference rules: types and contents written as text, answers as text.
// Not INFER: it knows one node. Tests only; one thread.
//
// A value is "f32[N,3,8]", "f32[?]" (unranked), "" (absent), with a known content
// "i64[2]={N,-1}" or as a constant of floats "f32[2]=(1,0.5)", of half floats in hexadecimal bits
// "f16[1]=(3c00)".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ge/ops/op.h"

namespace ge {

class TestContext : public InferContext {
 public:
  TestContext(std::string_view op, const std::vector<std::string>& inputs, std::vector<Attr> attrs,
              size_t outputs = 1);

  // Checks the node against its record, then the dtypes, then infers. Answers "f32[N,4]" of each
  // output, joined by "; ", with its content; or "! " and the refusal's message.
  std::string Run();

  const Node& node() const override { return node_; }
  DimTable& dims() override { return graph.dims; }
  size_t input_count() const override { return node_.inputs.size(); }
  bool has_input(size_t i) const override {
    return i < node_.inputs.size() && node_.inputs[i] != 0;
  }
  const Type& input_type(size_t i) const override { return inputs_[i].type; }
  const std::vector<Dim>* input_ints(size_t i) const override;
  const Const* input_const(size_t i) const override;
  const Const& tensor_attr(ConstRef ref) const override { return graph.consts[ref.id]; }
  size_t output_count() const override { return node_.outputs.size(); }
  bool has_output(size_t i) const override {
    return i < node_.outputs.size() && node_.outputs[i] != 0;
  }
  void SetOutput(size_t i, Type type) override { outputs_[i].type = std::move(type); }
  void SetOutputInts(size_t i, std::vector<Dim> values) override {
    outputs_[i].ints = std::move(values);
  }
  Dim FreshDim(const std::string& stem, bool data_dependent) override;
  const Function* callee(std::string_view role) const override;
  const State* state(StateId id) const override;

  const Type& output_type(size_t i) const { return outputs_[i].type; }

  Graph graph;
  Node node_;

 private:
  struct Slot {
    Type type;
    std::optional<std::vector<Dim>> ints;
    std::optional<Const> constant;
  };
  Slot Parse(const std::string& text);
  Dim ParseDim(const std::string& text);

  std::vector<Slot> inputs_, outputs_;
  int fresh_ = 0;
};

Attr A(std::string name, Attr::Payload value);

}  // namespace ge
