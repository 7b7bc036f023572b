// ge.hpp: thin C++17 sugar over ge.h. Header only; adds ownership and exceptions, nothing else.
// Objects may be moved, not copied. Threads: as ge.h says of the handles.
#ifndef GE_HPP_
#define GE_HPP_

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ge/ge.h"

namespace graphengine {

// Thrown for a failing call; what() is GraphEngine's own message.
class Error : public std::runtime_error {
 public:
  explicit Error(const ge_error& e)
      : std::runtime_error(e.message), status_(e.status), node_(e.node) {}
  ge_status status() const { return status_; }
  // The node at fault by the model's own name; empty where there is none.
  const std::string& node() const { return node_; }

 private:
  ge_status status_;
  std::string node_;
};

namespace detail {
template <typename Call>
void Check(Call call) {
  ge_error error;
  error.size = sizeof error;
  if (call(&error) != GE_STATUS_OK) throw Error(error);
}
}  // namespace detail

// A dense tensor; it owns memory allocated by GraphEngine, and borrows any other.
class Tensor {
 public:
  Tensor() {
    std::memset(&t_, 0, sizeof t_);
    t_.size = sizeof t_;
  }
  // Borrows `data` of `bytes` bytes; it must outlive the runs that use it.
  Tensor(int32_t dtype, const std::vector<int64_t>& dims, void* data, uint64_t bytes) : Tensor() {
    if (dims.size() > GE_MAX_RANK) throw std::length_error("a tensor's rank is beyond GE_MAX_RANK");
    t_.dtype = dtype;
    t_.rank = static_cast<int32_t>(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) t_.dims[i] = dims[i];
    t_.data = data;
    t_.bytes = bytes;
  }
  Tensor(Tensor&& other) noexcept : t_(other.t_) {
    other.t_.flags = 0;
    other.t_.data = nullptr;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(t_, other.t_);
    return *this;
  }
  ~Tensor() { ge_tensor_release(&t_); }

  int32_t dtype() const { return t_.dtype; }
  std::vector<int64_t> dims() const { return {t_.dims, t_.dims + t_.rank}; }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(t_.data);
  }
  uint64_t bytes() const { return t_.bytes; }
  const ge_tensor& raw() const { return t_; }
  ge_tensor& raw() { return t_; }

 private:
  ge_tensor t_;
};

// A model made by calls: those of ge_edit (ge_plugin_pass.h).
class Graph {
 public:
  // `plugins` as ge_graph_options.plugins; empty = none.
  explicit Graph(const std::string& name = {}, const std::string& plugins = {}) {
    ge_graph_options options;
    std::memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.name = name.c_str();
    options.plugins = plugins.empty() ? nullptr : plugins.c_str();
    ge_graph_builder* graph = nullptr;
    detail::Check([&](ge_error* e) { return ge_graph_create(&options, &graph, e); });
    graph_.reset(graph);
    detail::Check([&](ge_error* e) { return ge_graph_edit(get(), &edit_, e); });
  }
  const ge_edit* edit() const { return edit_; }
  // For the answer of a call of edit(): throws what was wrong where it is not GE_OK (0).
  void Check(int32_t answer) const {
    if (answer == 0) return;
    detail::Check([&](ge_error* e) { return ge_graph_error(get(), e); });
  }
  void Save(const std::string& path, uint32_t format = GE_FORMAT_AUTO) {
    detail::Check([&](ge_error* e) { return ge_graph_save(get(), path.c_str(), format, e); });
  }
  ge_graph_builder* get() const { return graph_.get(); }

 private:
  struct Release {
    void operator()(ge_graph_builder* g) const { ge_graph_release(g); }
  };
  std::unique_ptr<ge_graph_builder, Release> graph_;
  const ge_edit* edit_ = nullptr;
};

class Session {
 public:
  // `engines` as ge_session_options.engines; empty = all found.
  explicit Session(const std::string& engines = {}, uint32_t threads = 0) {
    ge_session_options options;
    ge_session_options_init(&options);
    options.engines = engines.empty() ? nullptr : engines.c_str();
    options.threads = threads;
    Create(options);
  }
  // From options filled in by ge_session_options_init; their texts are copied.
  explicit Session(const ge_session_options& options) { Create(options); }
  void Load(const std::string& path, uint32_t format = GE_FORMAT_AUTO) {
    detail::Check(
        [&](ge_error* e) { return ge_session_load_file(get(), path.c_str(), format, e); });
  }
  // The graph as it is now.
  void Load(const Graph& graph) {
    detail::Check([&](ge_error* e) { return ge_session_load_graph(get(), graph.get(), e); });
  }
  // Runs `entry` (empty = the first); GraphEngine allocates the outputs.
  std::vector<Tensor> Run(const std::vector<const Tensor*>& inputs, const std::string& entry = {}) {
    const char* name = entry.empty() ? nullptr : entry.c_str();
    uint32_t n = 0;
    if (ge_session_output_count(get(), name, &n) != GE_STATUS_OK) {
      throw std::invalid_argument("the session has no model, or no entry '" + entry + "'");
    }
    std::vector<ge_tensor> in, out(n, Tensor().raw());
    for (const Tensor* t : inputs) in.push_back(t->raw());
    detail::Check([&](ge_error* e) {
      return ge_session_run(get(), name, in.data(), static_cast<uint32_t>(in.size()), out.data(), n,
                            e);
    });
    std::vector<Tensor> result(n);
    for (uint32_t i = 0; i < n; ++i) result[i].raw() = out[i];
    return result;
  }
  // Plans for the shapes of `inputs`, to make the first run as fast as any.
  void Compile(const std::vector<const Tensor*>& inputs, const std::string& entry = {}) {
    std::vector<ge_tensor> in;
    for (const Tensor* t : inputs) in.push_back(t->raw());
    detail::Check([&](ge_error* e) {
      return ge_session_compile(get(), entry.empty() ? nullptr : entry.c_str(), in.data(),
                                static_cast<uint32_t>(in.size()), e);
    });
  }
  // The model's own metadata; empty for an unknown key.
  std::string Metadata(const char* key) const {
    const char* text = nullptr;
    ge_session_metadata(get(), key, &text);
    return text ? text : "";
  }
  // JSON about the first entry's latest plan.
  std::string Report() const {
    char* text = nullptr;
    detail::Check([&](ge_error* e) { return ge_session_report(get(), nullptr, &text, e); });
    std::string out = text;
    ge_text_release(text);
    return out;
  }
  ge_session* get() const { return session_.get(); }

 private:
  void Create(const ge_session_options& options) {
    ge_session* session = nullptr;
    detail::Check([&](ge_error* e) { return ge_session_create(&options, &session, e); });
    session_.reset(session);
  }
  struct Destroy {
    void operator()(ge_session* s) const { ge_session_destroy(s); }
  };
  std::unique_ptr<ge_session, Destroy> session_;
};

// A run with known entry, plan and tensors. The tensors stay in place while it lives; outputs
// without memory get some. One thread at a time.
class Prepared {
 public:
  Prepared(Session& session, const std::vector<const Tensor*>& inputs,
           const std::vector<Tensor*>& outputs, const std::string& entry = {}) {
    std::vector<ge_tensor> in, out;
    for (const Tensor* t : inputs) in.push_back(t->raw());
    for (const Tensor* t : outputs) out.push_back(t->raw());
    ge_prepared* prepared = nullptr;
    detail::Check([&](ge_error* e) {
      return ge_prepared_create(session.get(), entry.empty() ? nullptr : entry.c_str(), in.data(),
                                static_cast<uint32_t>(in.size()), out.data(),
                                static_cast<uint32_t>(out.size()), &prepared, e);
    });
    prepared_.reset(prepared);
    for (size_t i = 0; i < out.size(); ++i) outputs[i]->raw() = out[i];
  }
  void Run() {
    detail::Check([&](ge_error* e) { return ge_prepared_run(prepared_.get(), nullptr, e); });
  }
  ge_prepared* get() const { return prepared_.get(); }

 private:
  struct Destroy {
    void operator()(ge_prepared* p) const { ge_prepared_destroy(p); }
  };
  std::unique_ptr<ge_prepared, Destroy> prepared_;
};

// States that sessions share: ge_session_options.states = states.get(). Sessions keep what they
// use.
class States {
 public:
  States() {
    ge_states* states = nullptr;
    detail::Check([&](ge_error* e) { return ge_states_create(&states, e); });
    states_.reset(states);
  }
  // Copies the value.
  void Set(const std::string& name, const Tensor& value) {
    detail::Check(
        [&](ge_error* e) { return ge_states_set(get(), name.c_str(), &value.raw(), nullptr, e); });
  }
  // A copy, in the caller's memory: `out` has enough, as Info tells.
  void Get(const std::string& name, Tensor& out) const {
    detail::Check(
        [&](ge_error* e) { return ge_states_get(get(), name.c_str(), &out.raw(), nullptr, e); });
  }
  void Erase(const std::string& name) {
    detail::Check([&](ge_error* e) { return ge_states_erase(get(), name.c_str(), e); });
  }
  // In their order, as they are now.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    ge_tensor_info info;
    info.size = sizeof info;
    for (uint32_t i = 0; ge_states_info(get(), i, &info) == GE_STATUS_OK; ++i) {
      names.push_back(info.name);
    }
    return names;
  }
  ge_states* get() const { return states_.get(); }

 private:
  struct Release {
    void operator()(ge_states* s) const { ge_states_release(s); }
  };
  std::unique_ptr<ge_states, Release> states_;
};

}  // namespace graphengine
#endif  // GE_HPP_
