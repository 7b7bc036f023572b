// GraphBuilder: a graph made by calls, as graphengine.jit traces functions into it. With the GIL
// held; one thread at a time.
//
// Functions, values and states are the numbers of ge_plugin_pass.h; 0 is an omitted value.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "ge/ge.h"
#include "ge/ge_plugin_pass.h"

namespace graphengine {

// A size that is known when the graph runs. Equal ids are provably equal sizes.
struct Dim {
  uint32_t id;
  std::string name;  // "" for an expression
};

Dim DimOf(const ge_dim& d);
// (dtype, sizes: ints and Dims; None where the number of axes is not known). Throws for no tensor.
nanobind::tuple TypeOfValue(const ge_value& v);

class GraphBuilder {
 public:
  // `plugins`: those whose operators it has, a list as in ge_graph_options, or null.
  explicit GraphBuilder(const char* plugins);
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;
  ~GraphBuilder() { ge_graph_release(graph_); }

  uint32_t Function(std::string_view name, bool recursive, uint32_t custom_vjp);
  // `shape`: ints, a str for a size of this name, Dims of other values.
  uint32_t Param(uint32_t fn, std::string_view name, nanobind::handle dtype,
                 nanobind::handle shape);
  uint32_t ParamLike(uint32_t fn, std::string_view name, uint32_t of_fn, uint32_t of_value);
  // A result of a function that calls itself, until it has its own.
  uint32_t Placeholder(uint32_t fn, nanobind::handle dtype, nanobind::handle shape);
  // The values of a new node. `inputs`: values; `bodies`: functions by role.
  std::vector<uint32_t> Node(uint32_t fn, std::string_view domain, std::string_view op,
                             const std::vector<uint32_t>& inputs, nanobind::dict attributes,
                             uint32_t outputs, std::string_view name, nanobind::dict bodies);
  // The Tensor's memory is shared.
  uint32_t Constant(uint32_t fn, nanobind::handle tensor);
  uint32_t State(std::string_view name, nanobind::handle dtype, nanobind::handle shape,
                 bool trainable);
  uint32_t Read(uint32_t fn, uint32_t state);
  void Assign(uint32_t fn, uint32_t state, uint32_t value);
  void Results(uint32_t fn, const std::vector<uint32_t>& values,
               const std::vector<std::string>& names);
  void Entry(std::string_view name, uint32_t fn);
  // (dtype, sizes: ints and Dims); None for sizes where the number of axes is not known.
  nanobind::tuple ValueType(uint32_t fn, uint32_t value) const;
  void Save(nanobind::handle path) const;
  ge_graph_builder* get() const { return graph_; }

 private:
  void Done(ge_rc rc) const;  // throws what the last call found

  ge_graph_builder* graph_ = nullptr;
  const ge_edit* edit_ = nullptr;
};

void AddGraphBuilder(nanobind::module_& m);

}  // namespace graphengine
