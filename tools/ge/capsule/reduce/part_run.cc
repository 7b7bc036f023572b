#include "tools/ge/capsule/reduce/part_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "ge/base/aligned.h"
#include "ge/capsule/tensor_members.h"
#include "ge/engine/pass/pass_plugin.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/stage/pass.h"
#include "tools/ge/capsule/reduce/model_part.h"
#include "tools/ge/capsule/trial.h"

namespace ge::tool {
namespace {

// A value in a child's answer: kind, dtype, rank, dims, then the bytes.
std::vector<std::byte> Packed(const FlowValue& v) {
  const bool numbers = v.is_tensor() && v.dtype != DType::kString;
  std::vector<int64_t> head = {numbers, static_cast<int64_t>(v.dtype),
                               static_cast<int64_t>(v.dims.size())};
  head.insert(head.end(), v.dims.begin(), v.dims.end());
  std::vector<std::byte> out(head.size() * sizeof(int64_t) + (numbers ? v.bytes : 0));
  std::memcpy(out.data(), head.data(), head.size() * sizeof(int64_t));
  if (numbers && v.bytes > 0) {
    std::memcpy(out.data() + head.size() * sizeof(int64_t), v.data, v.bytes);
  }
  return out;
}

Result<FlowValue> Unpacked(const std::vector<std::byte>& from) {
  const auto number = [&](size_t i) {
    int64_t value = 0;
    if ((i + 1) * sizeof value <= from.size()) {
      std::memcpy(&value, from.data() + i * sizeof value, sizeof value);
    }
    return value;
  };
  FlowValue v;
  if (number(0) == 0) return v;
  v.kind = FlowValue::Kind::kTensor;
  v.dtype = static_cast<DType>(number(1));
  const auto rank = static_cast<size_t>(number(2));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank && i < FlowDims::kMost; ++i) dims.push_back(number(3 + i));
  v.dims = dims;
  const size_t head = (3 + dims.size()) * sizeof(int64_t);
  if (head > from.size()) return Status(Code::kInternal, "a trial's answer is cut short");
  v.bytes = from.size() - head;
  auto block = FlowBlock::Make(v.bytes);
  if (block == nullptr) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for a value of {} bytes", v.bytes));
  }
  if (v.bytes > 0) std::memcpy(block->data(), from.data() + head, v.bytes);
  v.data = block->data();
  v.owner = std::move(block);
  return v;
}

Result<std::vector<FlowValue>> ValuesInChild(
    double seconds, const std::function<Result<std::vector<FlowValue>>()>& work) {
  GE_ASSIGN_OR_RETURN(const TrialAnswer answer, InChild(seconds, [&]() -> Result<TrialAnswer> {
                        GE_ASSIGN_OR_RETURN(const std::vector<FlowValue> values, work());
                        TrialAnswer packed;
                        for (const FlowValue& v : values) packed.push_back(Packed(v));
                        return packed;
                      }));
  std::vector<FlowValue> values;
  for (const auto& bytes : answer) {
    GE_ASSIGN_OR_RETURN(values.emplace_back(), Unpacked(bytes));
  }
  return values;
}

Result<std::unique_ptr<Session>> Loaded(const Recorded& r, SessionOptions options,
                                        const Graph& graph) {
  GE_RETURN_IF_ERROR(UseRecordedMachine(r, &options));
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadGraph(graph));
  GE_RETURN_IF_ERROR(SetStates(r, session.get()));
  return session;
}

Result<std::vector<FlowValue>> RunHere(const Recorded& r, const Options& o, const Graph& graph,
                                       const std::string& entry,
                                       const std::vector<FlowValue>& inputs) {
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_ASSIGN_OR_RETURN(const auto session, Loaded(r, std::move(options), graph));
  GE_ASSIGN_OR_RETURN(const Entry* found, session->FindEntry(entry));
  std::vector<TensorView> views;
  for (const FlowValue& v : inputs) views.push_back(ViewOf(v));
  std::vector<TensorView> outputs(session->graph().fn(found->fn).results.size());
  GE_RETURN_IF_ERROR(session->Run(entry, views, outputs));
  std::vector<FlowValue> values;
  for (const TensorView& view : outputs) {  // their memory is left to the end of the process
    FlowValue& v = values.emplace_back();
    v.kind = FlowValue::Kind::kTensor;
    v.dtype = view.dtype;
    v.dims = view.dims;
    v.data = static_cast<const std::byte*>(view.data);
    v.bytes = view.bytes;
  }
  return values;
}

// No pass of this program or of a plugin.
Status SkipAllPasses(const Options& o, SessionOptions* options) {
  for (const auto& pass : MakePipeline()) options->skip_passes.insert(std::string(pass->name()));
  options->passes.clear();
  GE_ASSIGN_OR_RETURN(const auto plugins, FindPlugins(o.plugins));
  for (const auto& plugin : plugins) {
    GE_ASSIGN_OR_RETURN(const auto passes, ReadPasses(*plugin));
    for (const auto& p : passes) options->skip_passes.insert(p->name);
  }
  return {};
}

Result<std::vector<FlowValue>> EveryValueHere(const Recorded& r, const Options& o,
                                              const Graph& graph, const std::string& entry,
                                              const std::vector<FlowValue>& inputs) {
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_RETURN_IF_ERROR(SkipAllPasses(o, &options));
  const Entry* found = graph.FindEntry(entry);
  if (found == nullptr) return Status(Code::kDataCorrupt, "the model has no such entry");
  Graph whole = graph;
  Function& f = whole.fn(found->fn);
  std::vector<ValueId> asked;
  for (const Node& n : f.nodes) {
    for (const ValueId v : n.outputs) {
      if (v != 0) asked.push_back(v);
    }
  }
  f.results = asked;
  GE_ASSIGN_OR_RETURN(const auto session, Loaded(r, std::move(options), whole));
  std::vector<FlowValue> made;
  GE_RETURN_IF_ERROR(session->RunValues(entry, inputs, &made));
  std::vector<FlowValue> values(f.values.size());
  for (size_t i = 0; i < asked.size() && i < made.size(); ++i) values[asked[i]] = made[i];
  for (size_t i = 0; i < f.params.size() && i < inputs.size(); ++i) values[f.params[i]] = inputs[i];
  return values;
}

}  // namespace

Result<std::vector<FlowValue>> RunPart(const Recorded& r, const Options& options,
                                       const Graph& graph, const std::string& entry,
                                       const std::vector<FlowValue>& inputs, double seconds) {
  return ValuesInChild(seconds, [&] { return RunHere(r, options, graph, entry, inputs); });
}

Result<std::vector<FlowValue>> RunEveryValue(const Recorded& r, const Options& options,
                                             const Graph& graph, const std::string& entry,
                                             const std::vector<FlowValue>& inputs, double seconds) {
  return ValuesInChild(seconds, [&] { return EveryValueHere(r, options, graph, entry, inputs); });
}

Result<FlowValue> RecordedValue(const Recorded& r, const CapsuleTensor& tensor) {
  GE_ASSIGN_OR_RETURN(const auto bytes, ReadTensorMember(*r.capsule, tensor));
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor;
  v.dtype = tensor.dtype;
  v.dims = tensor.dims;
  v.data = bytes.data();
  v.bytes = bytes.size();
  v.owner = r.capsule;
  return v;
}

}  // namespace ge::tool
