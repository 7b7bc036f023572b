// Sessions over ref and the simulated vendor (simdev.so), whose simulator a test sees: its
// schedule, its faults, its findings. Tests only.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ge/ir/walk.h"
#include "plugins/device/sim/engine/sim_engine.h"
#include "tests/unit/graph_session.h"
#include "tests/unit/plan_generator.h"

namespace ge::test {

namespace sim = ge_engines::device::sim;

// The engine with option label=NAME; null where none was made.
inline sim::SimEngine* SimulatedEngine(const std::string& label) {
  void* library = dlopen((SamplesFolder() + "simdev.so").c_str(), RTLD_NOW);
  if (library == nullptr) return nullptr;
  const auto find = reinterpret_cast<decltype(&simdev_engine)>(dlsym(library, "simdev_engine"));
  sim::SimEngine* engine = find == nullptr ? nullptr : find(label.c_str());
  dlclose(library);  // a session has it open, too
  return engine;
}

struct Simulated {
  // Findings until the engine's end, leaks among them. The engine may live longer.
  std::shared_ptr<std::vector<sim::Report>> left = std::make_shared<std::vector<sim::Report>>();
  std::unique_ptr<Session> session;
  sim::SimEngine* engine = nullptr;
  std::string label;

  sim::Simulator& simulator() const { return engine->simulator(); }
};

struct SimulatedOptions {
  std::string engine;       // more options of simdev, each behind a semicolon
  std::string before = "";  // engines that come first
  uint32_t pinned = 80;     // of a hundred nodes
  std::vector<std::string> pins = {"simdev/sim:0", "simdev/sim:1"};
  bool strict = false;  // findings fail calls
};

// So many of a hundred nodes of a RandomGraph, each to one of these.
inline Status PinAtRandom(uint64_t seed, const Graph& graph, uint32_t percent,
                          const std::vector<std::string>& where, SessionOptions* to) {
  GE_ASSIGN_OR_RETURN(auto ref, OpenGraph("ref", graph));
  GE_ASSIGN_OR_RETURN(const auto placed, ref->Compile("", Io(seed).views));
  Random random(seed);
  for (const Node& n : placed->graph.fn(placed->fn).nodes) {
    if (random.Below(100) >= percent) continue;
    const uint32_t one = random.Below(static_cast<uint32_t>(where.size()));
    to->build.place.pins.push_back({"#" + std::to_string(n.id), where[one]});
  }
  return {};
}

// Opens a session of an engine of its own.
inline Result<std::unique_ptr<Simulated>> OpenSimulated(uint64_t seed, const Graph& graph,
                                                        const SimulatedOptions& options = {}) {
  static std::atomic<uint64_t> number{0};
  auto made = std::make_unique<Simulated>();
  made->label = "test" + std::to_string(++number);
  SessionOptions with;
  GE_ASSIGN_OR_RETURN(
      with.engines, ParseEngineList(options.before + "ref," + SamplesFolder() +
                                    "simdev.so:device=all;strict=" + (options.strict ? "1" : "0") +
                                    ";label=" + made->label + options.engine));
  if (options.pinned != 0) {
    GE_RETURN_IF_ERROR(PinAtRandom(seed, graph, options.pinned, options.pins, &with));
  }
  GE_ASSIGN_OR_RETURN(made->session, Session::Create(std::move(with)));
  GE_RETURN_IF_ERROR(made->session->LoadGraph(graph));
  made->engine = SimulatedEngine(made->label);
  if (made->engine == nullptr) return Status(Code::kInternal, "simdev has no such engine");
  made->engine->at_end = [left = made->left](const auto& reports) { *left = reports; };
  return made;
}

}  // namespace ge::test
