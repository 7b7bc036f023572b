// A loaded model for calls: the handle of ge.h, and the inputs and outputs of its entries.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "element.h"
#include "ge/ge.h"
#include "output_pool.h"

namespace graphengine {

// The session and its calls share it, so closing a session in use is safe. The last owner destroys
// it, with the GIL.
class Handle {
 public:
  explicit Handle(ge_session* session) : session_(session) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();
  ge_session* get() const { return session_; }

 private:
  ge_session* session_;
};

// An input, output or state.
struct Port {
  std::string name;
  nanobind::object key;  // the name as Python has it
  const Element* element = nullptr;
  int32_t rank = -1;                   // -1 = unknown
  int64_t dims[GE_MAX_RANK];           // -1 = decided by the caller
  std::vector<std::string> dim_names;  // by axis, of those; "" where the size is known
  // By axis: the model's own word for a size that varies, and ONNX's denotation; "" for none.
  std::vector<std::string> model_dims, denotations;
  std::string type;                        // "tensor(float)"
  const Element* value_element = nullptr;  // of a map's values; its `element` is that of its keys
  int32_t kind = GE_ANY_TENSOR;  // GE_ANY_*; of a sequence `element` is that of its tensors
  bool optional = false;

  std::string Shape() const;  // "[1, None, 3]"
};

struct EntryPorts {
  std::string name;
  std::vector<Port> inputs, outputs;
  bool has_values = false;  // it takes or gives more than tensors of numbers
  std::shared_ptr<OutputPool> pool = std::make_shared<OutputPool>();
};

// With the GIL held; throws graphengine.Error.
std::vector<EntryPorts> ReadEntries(ge_session* session);
std::vector<Port> ReadStates(ge_session* session);
std::vector<Port> ReadDefaults(ge_session* session);
std::string ShapeText(const int64_t* dims, int32_t rank);

}  // namespace graphengine
