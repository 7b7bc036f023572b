// Python objects for sessions and runtimes. Any thread may use one, with the GIL held; the engine
// works without it.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "batches.h"
#include "ge/ge.h"
#include "model.h"
#include "prepared.h"
#include "prepared_runs.h"
#include "run.h"

namespace graphengine {

// State shared by sessions, as ge_runtime.
class Runtime {
 public:
  // threads, isa, resident_bytes.
  explicit Runtime(const nanobind::kwargs& words);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime() { ge_runtime_destroy(runtime_); }
  uint32_t EngineCount() const;
  ge_runtime* get() const { return runtime_; }

 private:
  ge_runtime* runtime_ = nullptr;
};

class Session {
 public:
  // `model`: a path or a model's bytes. `words`: ge_session_options in Python's words, and
  // `format`.
  Session(const nanobind::args& model, const nanobind::kwargs& words);

  const std::vector<std::string>& entries() const { return entry_names_; }
  const std::vector<Port>& Inputs(std::optional<std::string_view> entry) const;
  const std::vector<Port>& Outputs(std::optional<std::string_view> entry) const;
  const std::vector<Port>& States() const;
  const std::vector<Port>& Defaults() const;
  nanobind::object Metadata(const std::string& key) const;
  // ge_model_info as a dict, the model's own metadata as its "metadata".
  nanobind::dict ModelInfo() const;

  nanobind::object Run(nanobind::handle feed, nanobind::handle out,
                       std::optional<std::string_view> entry, std::string_view outputs);
  // The first entry on Tensors: the outputs as a tuple of Tensors.
  nanobind::object RunTensors(nanobind::handle inputs);
  nanobind::object RunOnTensors(std::span<PyObject* const> inputs);
  std::unique_ptr<graphengine::Run> RunAsync(nanobind::handle feed, nanobind::handle out,
                                             std::optional<std::string_view> entry,
                                             std::string_view outputs);
  std::unique_ptr<Prepared> Prepare(nanobind::handle feed, nanobind::handle out,
                                    std::optional<std::string_view> entry,
                                    std::string_view outputs);
  // Of the entry, "data" where it is none.
  std::unique_ptr<graphengine::Batches> Batches(std::optional<std::string_view> entry,
                                                const nanobind::kwargs& words);
  void Compile(nanobind::handle shapes, std::optional<std::string_view> entry);
  void Cancel();
  void SetTimeLimit(double seconds);
  // Running calls keep the model; later ones are refused.
  void Close();

  nanobind::object GetState(const std::string& name);
  void SetState(const std::string& name, nanobind::handle value);
  void ResetStates();
  void SaveStates(nanobind::handle path);
  void SaveCompiled(nanobind::handle path);
  void RestoreStates(nanobind::handle path);

  nanobind::object Report(std::optional<std::string> entry);
  nanobind::object Explain(std::optional<std::string> entry);
  // None for `record`: no longer.
  void Observe(nanobind::handle record, std::optional<std::string> values, uint64_t every,
               uint64_t first);
  nanobind::object Dump(const std::string& stage, std::optional<std::string> entry);

 private:
  std::shared_ptr<Handle> Open() const;  // refuses a closed session
  const std::shared_ptr<const EntryPorts>& Entry(std::optional<std::string_view> name) const;
  // This session, or one more of the model whose inputs have the defaults that `feed` overrides.
  Session& Taking(nanobind::handle feed);

  std::shared_ptr<Handle> handle_;
  std::unique_ptr<PreparedRuns> runs_;  // of RunTensors, once asked for
  std::vector<std::shared_ptr<const EntryPorts>> entries_;
  std::vector<std::string> entry_names_;
  std::vector<Port> states_, defaults_;
  // Where there are defaults: what made the session, and others of the model by what they override.
  nanobind::object model_;
  nanobind::dict words_;
  std::map<std::vector<std::string>, nanobind::object> overriding_;
};

}  // namespace graphengine
