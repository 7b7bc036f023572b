#include "ge/compile/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/clock.h"
#include "ge/base/plugin_call.h"
#include "ge/compile/states/in_place_states.h"
#include "ge/ir/graph_files.h"
#include "ge/partition/partition.h"

namespace ge {
namespace {

Status RefuseBodies(const Function& f) {
  for (const Node& node : f.nodes) {
    if (!node.callees.empty()) {
      return Status(Code::kUnsupported, fmt::format("{} has bodies; no single plan holds it; "
                                                    "run the entry, which plans it piece by piece",
                                                    node.op))
          .AtNode(NodeLabel(node));
    }
    for (ValueId v : node.outputs) {
      if (v && f.values[v].type.is_tensor() && !f.values[v].type.is_static()) {
        return Status(Code::kUnsupported,
                      fmt::format(
                          "the shape of output '{}' of {} depends on the data, so no single plan "
                          "holds it; run the entry, which plans it piece by piece",
                          f.values[v].name, node.op))
            .AtNode(NodeLabel(node));
      }
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Compiled>> Builder::Run(Graph bound, FunctionId fn) {
  double start = NowMs();
  c_->graph = std::move(bound);
  c_->fn = fn;
  GE_RETURN_IF_ERROR(RefuseBodies(function()));
  LookForClass();
  if (options_.saved) {
    GE_RETURN_IF_ERROR(Stage(StageId::kCompile, [&] { return TakeSaved(); }));
  } else if (const auto like = CloseOne()) {
    GE_RETURN_IF_ERROR(Stage(StageId::kCompile, [&] { return TryReshape(like); }));
  }
  if (!reshaped_ && !options_.saved) {
    GE_RETURN_IF_ERROR(PlaceAndCompile());
    if (keep_incumbent_) return std::shared_ptr<Compiled>();
  }
  if (stopped_ || Stop(StageId::kCompile)) return Finish(start);
  OverwriteInPlace(function(), options_.states, options_.least_in_place_bytes, &c_->plan);
  GE_RETURN_IF_ERROR(
      Stage(StageId::kStreams, [&] { return AssignStreams(&c_->plan, options_.streams); }));
  if (Stop(StageId::kStreams)) return Finish(start);
  GE_RETURN_IF_ERROR(Stage(StageId::kMemory, [&] { return AssignMemory(&c_->plan, Memory()); }));
  GE_RETURN_IF_ERROR(CheckFootprint());
  if (Stop(StageId::kMemory)) return Finish(start);
  if (options_.check) GE_RETURN_IF_ERROR(Stage(StageId::kCheck, [&] { return CheckPlan(); }));
  GE_RETURN_IF_ERROR(MakeProgram());
  c_->nodes = static_cast<uint32_t>(function().nodes.size());
  RememberInClass();
  if (reshaped_) {
    ForgetGraph();
    c_->placing = Compiled::Placing::kShaped;
  }
  c_->unpin_.reset();
  return Finish(start);
}

Result<std::shared_ptr<Compiled>> Builder::Finish(double start) {
  c_->compile_ms = NowMs() - start;
  c_->times = runner_.times();
  c_->struck_offers = static_cast<uint32_t>(struck_.size());
  c_->plan.searches += market_cover_.searches;
  return c_;
}

MemoryOptions Builder::Memory() const {
  if (options_.red_zones) return MemoryOptions{kRedZone, false};
  MemoryOptions memory = options_.memory;
  memory.quick = memory.quick || reshaped_;
  return memory;
}

Status Builder::Compile(bool* again) {
  compiler_.emplace(engines(), c_.get(), options_.saved);
  return compiler_->Compile(&struck_, &last_failure_, again);
}

Status Builder::CheckPlan() {
  GE_ASSIGN_OR_RETURN(c_->check, ge::Check(c_->plan));
  return {};
}

Status Builder::MakeProgram() {
  ProgramParts parts;
  parts.engines.resize(engines().size() + 1);
  for (size_t e = 0; e < engines().size(); ++e) {
    parts.engines[e + 1] = {engines()[e]->name(),
                            engines()[e]->api(),
                            engines()[e]->handle(),
                            Interned(CallText(*engines()[e], "enqueue")),
                            {}};
    for (const EngineDevice& d : engines()[e]->devices()) {
      parts.engines[e + 1].limit_ns.push_back(d.timeout_ns);
    }
    for (uint32_t d = 0; d < engines()[e]->devices().size(); ++d) {
      std::vector<DomainMemory*>& memory = parts.engines[e + 1].memory.emplace_back();
      for (uint32_t i = 0; i < engines()[e]->devices()[d].domains.size(); ++i) {
        memory.push_back(engines()[e]->memory(d, i));
      }
    }
  }
  parts.lose = [engines = engines()](const DeviceFault& f) {
    engines[f.engine - 1]->Lose(f.device, f.all, f.why);
  };
  parts.execs = compiler_->execs();
  parts.steps = compiler_->steps();
  parts.packs = c_->PackBufs();
  c_->arenas_ = options_.arenas;
  parts.arenas = c_->arenas_.get();
  parts.red_zones = options_.red_zones;
  // What a plan takes that was placed unseen has no offers to be compared with.
  const bool asked = !reshaped_ && !options_.saved;
  const bool timed = options_.prices.mode != PriceMode::kShipped || options_.prices.replan;
  if (options_.price_cache && timed && !options_.red_zones && asked)
    c_->clock = std::make_shared<RunClock>(c_->plan);
  parts.clock = c_->clock;
  for (const PlanValue& v : c_->plan.functions[0].values) {
    const void* data = nullptr;
    if (v.kind == PlanValueKind::kConstant) data = GE_VALUE(c_->view_->get(), v.graph_value)->data;
    parts.constants.push_back(data);
  }
  for (const Instruction& i : c_->plan.functions[0].code) {  // results that are constants
    const PlanValue& v = c_->plan.functions[0].values[i.op == PlanOp::kCopy ? i.src : 0];
    if (v.kind == PlanValueKind::kConstant) AddFileOf(c_->graph.consts[v.constant], &c_->files_);
  }
  // A serial segment is compiled once more for each further frame, from the same graph view.
  parts.make_exec = [engines = engines_, c = c_.get()](SegmentId segment) {
    return SegmentCompiler(*engines, c).OneMore(segment);
  };
  GE_ASSIGN_OR_RETURN(c_->program_, Program::Make(c_->plan, std::move(parts)));
  return {};
}

Result<std::shared_ptr<Compiled>> BuildCompiled(Graph bound, FunctionId fn,
                                                const EngineList& engines,
                                                const BuildOptions& options) {
  Builder builder(engines, options);
  auto compiled = builder.Run(std::move(bound), fn);
  return compiled;
}

}  // namespace ge
