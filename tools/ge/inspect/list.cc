// ge ops, ge passes, ge dump.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "frontend/onnx/export.h"
#include "frontend/proto/proto.h"
#include "ge/base/replace_file.h"
#include "ge/engine/op/op_plugin.h"
#include "ge/engine/pass/pass_plugin.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/infer/infer.h"
#include "ge/ops/op.h"
#include "ge/stage/pass_order.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

// After a stage. A model whose sizes the data decide is run once on these inputs; what it planned
// then is shown.
Result<std::string> TextAfter(Session* session, const Entry& entry, StageId stage,
                              const std::vector<Tensor>& inputs, const Options& o) {
  auto text = session->DumpText(o.entry, stage, Views(inputs));
  if (text.ok() || stage <= StageId::kBind) return text;
  if (session->Compile(o.entry, Views(inputs)).ok() || !session->RunsInPieces(o.entry)) return text;
  std::vector<Tensor> outputs(session->graph().fn(entry.fn).results.size());
  GE_RETURN_IF_ERROR(RunAnyValues(session, o.entry, inputs, false, &outputs));
  if (session->Pieces().empty()) {
    return std::string("# no piece: what runs is the host's own work and needs no plan\n");
  }
  fmt::print(stderr,
             "note: the model is planned piece by piece as it runs; these are the finished "
             "plans of one run\n");
  return session->DumpText(o.entry, stage, {});
}

Status DumpModel(const Options& o) {
  if (o.format != "text" && o.format != "proto" && o.format != "onnx") {
    return Status(Code::kInvalidArgument,
                  fmt::format("--format is '{}', wanted text, proto or onnx", o.format));
  }
  const char* last = o.format == "text" ? "memory" : "rewrite";
  GE_ASSIGN_OR_RETURN(StageId stage, StageFromName(o.to.empty() ? last : o.to));
  const bool graph_only =
      stage == StageId::kLoad || stage == StageId::kInfer || stage == StageId::kRewrite;
  if (o.format != "text" && !graph_only) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("--format {} writes the graph after load, infer or rewrite, not after "
                    "{}; add --to rewrite",
                    o.format, o.to));
  }
  if (!o.output_file.empty()) GE_RETURN_IF_ERROR(CheckReplaceable(o.output_file));
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  std::vector<Tensor> inputs;
  if (stage >= StageId::kBind) {
    GE_ASSIGN_OR_RETURN(inputs, MakeInputs(*session, *entry, o));
  }
  std::string text;
  if (o.format == "text") {
    GE_ASSIGN_OR_RETURN(text, TextAfter(session.get(), *entry, stage, inputs, o));
  } else {
    Graph graph = stage == StageId::kRewrite ? session->graph() : session->loaded_graph();
    if (stage == StageId::kInfer) GE_RETURN_IF_ERROR(Infer(&graph));
    GE_ASSIGN_OR_RETURN(text,
                        o.format == "proto" ? WriteProto(graph) : ExportOnnx(graph, entry->name));
  }
  if (!o.output_file.empty()) return WriteFile(o.output_file, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

std::vector<std::string> NamesOf(DTypeSet set) {
  std::vector<std::string> names;
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    if (set & Bit(t)) names.emplace_back(DTypeName(t));
  }
  return names;
}

// Of the first input, or output where there is none.
std::string DTypesOf(const OpDef& op) {
  if (op.inputs.empty() && op.outputs.empty()) return "";
  const DTypeSet set = op.inputs.empty() ? op.outputs[0].dtypes : op.inputs[0].dtypes;
  return fmt::format("{}", fmt::join(NamesOf(set), " "));
}

nlohmann::json PortsOf(const std::vector<Port>& ports) {
  nlohmann::json list = nlohmann::json::array();
  for (const Port& p : ports) {
    const char* arity[] = {"one", "optional", "variadic"};
    list.push_back({{"name", p.name},
                    {"dtypes", NamesOf(p.dtypes)},
                    {"type", p.type_var},
                    {"arity", arity[static_cast<int>(p.arity)]}});
  }
  return list;
}

nlohmann::json DefaultOf(const Attr::Payload& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  if (const auto* f = std::get_if<double>(&value)) return *f;
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return *list;
  return nullptr;
}

const char* KindOf(const AttrDef& a) {
  constexpr const char* kNames[] = {"int",    "float",   "string", "tensor", "ints",
                                    "floats", "strings", "fn",     "type"};
  return kNames[static_cast<size_t>(a.kind)];
}

nlohmann::json RecordOf(const OpDef& op) {
  nlohmann::json attributes = nlohmann::json::array();
  for (const AttrDef& a : op.attrs) {
    nlohmann::json attribute = {{"name", a.name}, {"kind", KindOf(a)}, {"required", a.required}};
    if (a.default_value) attribute["default"] = DefaultOf(*a.default_value);
    attributes.push_back(std::move(attribute));
  }
  return {{"name", op.name},
          {"domain", op.domain},
          {"since", op.since_version},
          {"dtypes", DTypesOf(op)},
          {"inputs", PortsOf(op.inputs)},
          {"outputs", PortsOf(op.outputs)},
          {"attributes", std::move(attributes)},
          {"decomposes", op.decompose != nullptr},
          {"deterministic", op.deterministic},
          {"effects", op.has_effects},
          {"kernel", op.kernel != nullptr},
          {"states", op.states}};
}

Status AddOpsOf(const std::string& list, OpTable* table) {
  GE_ASSIGN_OR_RETURN(const auto plugins, FindPlugins(list));
  for (const auto& plugin : plugins) {
    if (!(plugin->desc->kinds & GE_KIND_OPS)) continue;
    GE_RETURN_IF_ERROR(AddOps(*plugin, InferNode, table));
  }
  return {};
}

const char* KindName(PassKind kind) {
  constexpr const char* kNames[] = {"canonicalise", "lower", "derive"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<std::string> PhasesOf(const Pass& pass) {
  std::vector<std::string> out;
  if (pass.phases() & kAtLoad) out.emplace_back("load");
  if (pass.phases() & kAtBind) out.emplace_back("bind");
  if (pass.phases() & kWhenAsked) out.emplace_back("asked");
  return out;
}

// Those of this program and of --plugins, in the order in which they run.
Result<PassList> AllPasses(const Options& o) {
  PassList all = MakePipeline();
  for (auto& p : MakeAskedPasses()) all.push_back(std::move(p));
  GE_ASSIGN_OR_RETURN(const auto plugins, FindPlugins(o.plugins));
  for (const auto& plugin : plugins) {
    GE_ASSIGN_OR_RETURN(const auto passes, ReadPasses(*plugin));
    for (const auto& p : passes) all.push_back(MakePass(p));
  }
  GE_RETURN_IF_ERROR(OrderPasses(&all));
  return all;
}

}  // namespace

int Passes(const Options& options) {
  const auto all = AllPasses(options);
  if (!all.ok()) return Fail(all.status());
  nlohmann::json list = nlohmann::json::array();
  for (const auto& p : *all) {
    const std::vector<std::string> phases = PhasesOf(*p);
    list.push_back({{"name", p->name()},
                    {"kind", KindName(p->kind())},
                    {"phases", phases},
                    {"plugin", p->plugin()},
                    {"summary", p->summary()}});
    if (options.json) continue;
    fmt::print("{:<31} {:<12} {:<15} {:<10} {}\n", p->name(), KindName(p->kind()),
               fmt::format("{}", fmt::join(phases, ",")), p->plugin().empty() ? "-" : p->plugin(),
               p->summary());
  }
  if (options.json) fmt::print("{}\n", nlohmann::json{{"passes", list}}.dump());
  return 0;
}

int Dump(const Options& options) {
  Status status = options.values.empty() ? DumpModel(options) : RecordModel(options);
  return status.ok() ? 0 : Fail(status);
}

int Ops(const Options& options) {
  OpTable brought;
  Status status = AddOpsOf(options.plugins, &brought);
  if (!status.ok()) return Fail(status);
  nlohmann::json list = nlohmann::json::array();
  const auto add = [&](const OpDef& op) {
    list.push_back(RecordOf(op));
    if (!options.json)
      fmt::print("{:<22} {:>3}  {}\n", FullName(op), op.since_version, DTypesOf(op));
  };
  for (const OpDef* op : AllOps()) add(*op);
  for (const OpDef& op : brought.all()) add(op);
  if (options.json)
    fmt::print("{}\n", nlohmann::json{{"ops", list}}.dump(
                           -1, ' ', false, nlohmann::json::error_handler_t::replace));
  return 0;
}

}  // namespace ge::tool
