// A session's engines: all of them, opened with what plans of an ordinary model need, or those
// alone that the plans of a compiled model name.
#include <algorithm>
#include <cstdlib>

#include "ge/base/interrupt.h"
#include "ge/compile/fold/evaluator.h"
#include "ge/compile/rewrite/open_plugins.h"
#include "ge/compile/rewrite/price_each.h"
#include "ge/compile/rewrite/price_nodes.h"
#include "ge/compile/rewrite/same_values.h"
#include "ge/engine/pass/pass_plugin.h"
#include "ge/session/compiled_file.h"
#include "ge/session/session.h"

namespace ge {

Status Session::OpenEngines() {
  if (all_open_.load(std::memory_order_acquire)) return {};
  Runtime& runtime = *options_.runtime;
  GE_ASSIGN_OR_RETURN(EngineList engines, runtime.Open(options_.engines, engine_words_));
  GE_ASSIGN_OR_RETURN(
      OpenedPlugins opened,
      OpenPlugins(options_.plugins, engines, [&](const auto& plugin, const std::string&) {
        return runtime.Open(plugin, engine_words_);
      }));
  ops_ = std::move(opened.ops);
  engines.insert(engines.end(), opened.kernels.begin(), opened.kernels.end());
  engines_ = std::move(engines);
  StartPricing();
  evaluator_ = MakeEvaluator(engines_);
  StartRewriting(std::move(opened.passes));
  all_open_.store(true, std::memory_order_release);
  return {};
}

Status Session::OpenPlanEngines() {
  if (all_open_.load(std::memory_order_acquire)) return {};
  std::vector<EngineSpec> wanted;
  for (const CompiledEngine& e : compiled_file_->index().engines) {
    // A file opens nothing by a path, and has nothing to say about options.
    const bool by_name = e.name.find('/') == e.name.npos && !e.name.empty() && e.options.empty();
    if (e.used && !by_name) return OpenEngines();
    if (e.used) wanted.push_back({e.name, ""});
  }
  if (wanted.empty()) return OpenEngines();
  auto opened = options_.runtime->Open(wanted, engine_words_);
  const auto more_than_engine = [](const std::shared_ptr<Engine>& e) {
    return (e->plugin().desc->kinds & (GE_KIND_OPS | GE_KIND_PASSES)) != 0;
  };
  // What it misses is said as of any session.
  if (!opened.ok() || std::any_of(opened->begin(), opened->end(), more_than_engine)) {
    return OpenEngines();
  }
  plan_engines_ = *std::move(opened);
  return {};
}

Result<const EngineList*> Session::Engines() {
  if (!all_open_.load(std::memory_order_acquire)) {
    std::unique_lock<std::mutex> one(compile_mutex_, std::defer_lock);
    GE_RETURN_IF_ERROR(LockOrStop(&one));
    GE_RETURN_IF_ERROR(OpenEngines());
  }
  return &engines_;
}

std::vector<std::string> Session::OpenEngineNames() const {
  const bool all = all_open_.load(std::memory_order_acquire);
  std::vector<std::string> names;
  for (const auto& e : all ? engines_ : plan_engines_) names.push_back(e->name());
  return names;
}

void Session::StartRewriting(std::vector<std::shared_ptr<const PluginPass>> plugins) {
  RewriteOptions rewrite;
  rewrite.runner = options_.build.runner;
  rewrite.runner.roll_back = false;  // A load, bind or piece that fails leaves nothing.
  rewrite.runner.skip.insert(options_.skip_passes.begin(), options_.skip_passes.end());
  rewrite.asked = options_.passes;
  const bool at_bind =
      std::any_of(plugins.begin(), plugins.end(), [](auto& p) { return p->phases & kAtBind; });
  whole_binds_ = at_bind || !options_.passes.empty() || rewrite.runner.after != nullptr;
  if (options_.kv_cache > 0) rewrite.asked.push_back({"recognise-kv-cache", ""});
  rewrite.plugins = [plugins = std::move(plugins)] {
    PassList made;
    for (const auto& p : plugins) made.push_back(MakePass(p));
    return made;
  };
  rewrite.price = [this](const Graph& graph, FunctionId fn, const std::vector<NodeId>& nodes) {
    return PriceNodes(graph, fn, nodes, engines_, options_.build);
  };
  if (options_.numerics != Numerics::kExact) {
    rewrite.price_each = [this](const Graph& graph, FunctionId fn,
                                const std::map<ValueId, Type>& as) {
      return PriceEach(graph, fn, as, engines_);
    };
  }
  const char* tried = secure_getenv("GE_CHECK_PASSES");
  if (tried != nullptr && std::string_view(tried) == "1") {
    whole_binds_ = true;
    rewrite.compare = [this](const Graph& before, const Graph& after) {
      return SameValues(before, after, engines_, options_.build);
    };
  }
  rewriter_.emplace(std::move(rewrite), evaluator_.get());
}

}  // namespace ge
