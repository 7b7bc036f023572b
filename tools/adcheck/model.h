// Model: a .gt text run by the engine through ge.h alone (except Text), so that it sees a gradient
// as an application does. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ge.h"
#include "ge/ir/graph.h"

namespace ge::adcheck {

// A tensor of doubles, or of integers or bools.
struct Array {
  int32_t dtype = 11;  // float64, float32, int64, int32 or bool
  std::vector<int64_t> dims;
  std::vector<double> f;   // of floats
  std::vector<int64_t> i;  // of any other
  static Array Of(std::vector<int64_t> dims, int32_t dtype = 11);
  bool is_float() const { return dtype == 11 || dtype == 1; }
  static int64_t Count(const std::vector<int64_t>& dims);
};
using Arrays = std::map<std::string, Array>;

// The graph of a text, verified, with defaults and types.
Result<Graph> ParseAndInfer(const std::string& text);

struct ModelOptions {
  std::string engines = "ref";
  std::string plugin;    // the path of grad.so; several, joined by commas
  uint32_t threads = 0;  // 0 = as many as usual
};

class Model {
 public:
  // `pass`: the derivation, "grad:wrt=x;kind=jvp", or nothing.
  static Result<std::unique_ptr<Model>> Load(const std::string& text, const std::string& pass,
                                             const ModelOptions& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Takes the entry's inputs by name and ignores all others.
  Result<Arrays> Run(const std::string& entry, const Arrays& inputs) const;
  bool HasInput(const std::string& entry, const std::string& name) const;
  // The states as they are now, by name.
  Result<Arrays> States() const;
  Status SetState(const std::string& name, const Array& value);
  std::string Metadata(const std::string& key) const;  // empty: there is none
  // The .gt text after rewriting with all elements of all constants. A dump of ge.h is for people
  // and leaves out long ones.
  Result<std::string> Text() const;

 private:
  explicit Model(ge_session* session) : session_(session) {}
  Result<std::vector<std::string>> Names(const std::string& entry, bool inputs) const;
  ge_session* session_;
};

}  // namespace ge::adcheck
