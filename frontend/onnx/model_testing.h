// TestModel: builds the bytes of small ONNX models for unit tests. Not part of the importer.
// One thread; messages belong to the model.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "frontend/onnx/import.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace wire = ::graphengine::onnx_wire;
}

namespace ge::testing {

// Dims of a test's value: a number, -1 for an unnamed size, or a name.
struct TestDim {
  TestDim(int64_t given) : value(given) {}  // NOLINT: implicit on purpose
  TestDim(const char* n) : name(n) {}       // NOLINT: implicit on purpose
  int64_t value = 0;
  std::string name;
};

inline void SetInfo(wire::ValueInfo* info, const std::string& name, int dtype,
                    const std::vector<TestDim>& dims) {
  info->set_name(name);
  auto* t = info->mutable_type()->mutable_tensor_type();
  t->set_elem_type(dtype);
  t->mutable_shape();
  for (const TestDim& d : dims) {
    auto* dim = t->mutable_shape()->add_dim();
    if (d.name.empty()) {
      dim->set_dim_value(d.value);
    } else {
      dim->set_dim_param(d.name);
    }
  }
}

// Node of a graph with inputs and outputs named in words ("x w", "y"); "-" is an omitted one.
inline wire::Node* AddNode(wire::Graph* graph, const std::string& op, const std::string& inputs,
                           const std::string& outputs, const std::string& name = {}) {
  wire::Node* n = graph->add_node();
  n->set_op_type(op);
  n->set_name(name);
  auto each = [](const std::string& words, auto add) {
    for (size_t at = 0; at < words.size();) {
      size_t end = std::min(words.find(' ', at), words.size());
      std::string word = words.substr(at, end - at);
      add(word == "-" ? std::string() : word);
      at = end + 1;
    }
  };
  each(inputs, [&](std::string w) { n->add_input(std::move(w)); });
  each(outputs, [&](std::string w) { n->add_output(std::move(w)); });
  return n;
}

inline wire::Attribute* AddAttr(wire::Node* n, const std::string& name, int type) {
  wire::Attribute* a = n->add_attribute();
  a->set_name(name);
  a->set_type(type);
  return a;
}
inline void AddInt(wire::Node* n, const std::string& name, int64_t value) {
  AddAttr(n, name, 2)->set_i(value);
}
inline void AddFloat(wire::Node* n, const std::string& name, float value) {
  AddAttr(n, name, 1)->set_f(value);
}
inline void AddInts(wire::Node* n, const std::string& name, std::initializer_list<int64_t> values) {
  auto* a = AddAttr(n, name, 7);
  for (int64_t i : values) a->add_ints(i);
}

template <typename T>
void SetRaw(wire::Tensor* tensor, const std::string& name, int dtype, std::vector<int64_t> dims,
            const std::vector<T>& values) {
  tensor->set_name(name);
  tensor->set_data_type(dtype);
  for (int64_t d : dims) tensor->add_dims(d);
  tensor->set_raw_data(values.data(), values.size() * sizeof(T));
}

struct TestModel {
  wire::Model m;
  explicit TestModel(int64_t opset, int64_t ir_version = 8) {
    m.set_ir_version(ir_version);
    auto* import = m.add_opset_import();
    import->set_domain("");
    import->set_version(opset);
    m.mutable_graph()->set_name("test");
  }
  wire::Graph* g() { return m.mutable_graph(); }
  void Input(const std::string& name, const std::vector<TestDim>& dims, int dtype = 1) {
    SetInfo(g()->add_input(), name, dtype, dims);
  }
  void Output(const std::string& name) { g()->add_output()->set_name(name); }
  std::string Bytes() const { return m.SerializeAsString(); }
  Result<Graph> Import(ImportStats* stats = nullptr, const ImportOptions& options = {}) const {
    std::string bytes = Bytes();
    return ImportOnnxBytes({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
                           nullptr, options, stats);
  }
};

inline void ExpectImportRefused(const TestModel& model, Code code, const std::string& part) {
  auto g = model.Import();
  ASSERT_FALSE(g.ok()) << part;
  EXPECT_EQ(g.status().code(), code) << g.status().ToString();
  EXPECT_NE(g.status().ToString().find(part), std::string::npos) << g.status().ToString();
}

// A small convolutional net with about 250 KB of weights.
inline TestModel SmallNet() {
  TestModel m(17);
  m.Input("x", {"N", 1, 28, 28});
  SetRaw(m.g()->add_initializer(), "w1", 1, {8, 1, 5, 5}, std::vector<float>(200, 0.5f));
  SetRaw(m.g()->add_initializer(), "b1", 1, {8}, std::vector<float>(8, 0.1f));
  SetRaw(m.g()->add_initializer(), "w2", 1, {4608, 13}, std::vector<float>(59904, 0.25f));
  SetRaw(m.g()->add_initializer(), "b2", 1, {13}, std::vector<float>(13, 1.0f));
  AddNode(m.g(), "Conv", "x w1 b1", "c", "conv");
  AddNode(m.g(), "Relu", "c", "r", "relu");
  AddInt(AddNode(m.g(), "Flatten", "r", "f", "flatten"), "axis", 1);
  AddNode(m.g(), "Gemm", "f w2 b2", "y", "gemm");
  m.Output("y");
  return m;
}

}  // namespace ge::testing
