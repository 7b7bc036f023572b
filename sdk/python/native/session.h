// Sessions and runtimes as Python holds them. Any thread may use one, with the GIL held; the engine
// works without it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "ge/ge.h"
#include "model.h"
#include "prepared.h"
#include "run.h"

namespace graphengine {

// What sessions share, as ge_runtime.
class Runtime {
 public:
  Runtime(uint32_t threads, std::optional<std::string> isa, uint64_t resident_bytes);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime() { ge_runtime_destroy(runtime_); }
  uint32_t EngineCount() const;
  ge_runtime* get() const { return runtime_; }

 private:
  ge_runtime* runtime_ = nullptr;
};

// ge_session_options in Python's words. Texts are copied: the session reads them once.
struct Options {
  nanobind::object engines;  // None, "onednn,ref" or a sequence of such
  uint32_t threads, max_streams;
  std::optional<std::string> isa;
  uint64_t plan_cache_bytes, memory_limit, kv_cache;
  std::optional<std::string> prices, denormals, numerics, precision;
  bool replan;
  uint32_t measure_budget_ms;
  nanobind::object skip_passes;  // as engines
  nanobind::object pins;         // None, "Conv=onednn;..." or a sequence of such
  std::optional<std::string> policy;
  double time_limit;  // seconds, 0 = none
  const Runtime* runtime;
};

class Session {
 public:
  // `model` is a path or the bytes of a model; `format` None, "onnx", "proto" or "text".
  Session(nanobind::handle model, std::optional<std::string> format, const Options& options);

  const std::vector<std::string>& entries() const { return entry_names_; }
  const std::vector<Port>& Inputs(std::optional<std::string_view> entry) const;
  const std::vector<Port>& Outputs(std::optional<std::string_view> entry) const;
  const std::vector<Port>& States() const;
  nanobind::object Metadata(const std::string& key) const;

  nanobind::object Run(nanobind::handle feed, nanobind::handle out,
                       std::optional<std::string_view> entry, std::string_view outputs);
  std::unique_ptr<graphengine::Run> RunAsync(nanobind::handle feed, nanobind::handle out,
                                             std::optional<std::string_view> entry,
                                             std::string_view outputs);
  std::unique_ptr<Prepared> Prepare(nanobind::handle feed, nanobind::handle out,
                                    std::optional<std::string_view> entry,
                                    std::string_view outputs);
  void Compile(nanobind::handle shapes, std::optional<std::string_view> entry);
  void Cancel();
  void SetTimeLimit(double seconds);
  // Calls that are going on keep the model; later ones are refused.
  void Close();

  nanobind::object GetState(const std::string& name);
  void SetState(const std::string& name, nanobind::handle value);
  void ResetStates();
  void SaveStates(nanobind::handle path);
  void RestoreStates(nanobind::handle path);

  nanobind::object Report(std::optional<std::string> entry);
  nanobind::object Explain(std::optional<std::string> entry);
  nanobind::object Dump(const std::string& stage, std::optional<std::string> entry);

 private:
  std::shared_ptr<Handle> Open() const;  // refuses a closed session
  const std::shared_ptr<const EntryPorts>& Entry(std::optional<std::string_view> name) const;

  std::shared_ptr<Handle> handle_;
  std::vector<std::shared_ptr<const EntryPorts>> entries_;
  std::vector<std::string> entry_names_;
  std::vector<Port> states_;
};

}  // namespace graphengine
