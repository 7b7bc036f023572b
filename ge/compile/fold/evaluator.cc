// Constant folding by running: one node as a graph of its own, through place .. run, on the
// engines of the session that are synchronous and work on host memory.
#include "ge/compile/fold/evaluator.h"

#include <cstring>

#include "ge/base/aligned.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/fold/fold_memo.h"

namespace ge {
namespace {

class OneNodeEvaluator : public Evaluator {
 public:
  explicit OneNodeEvaluator(const EngineList& engines) : engines_(engines) {}

  Result<std::vector<Const>> Evaluate(const Graph& graph, const Function& function,
                                      const Node& node,
                                      const std::vector<const Const*>& inputs) override {
    FoldMemo::Question question{node, inputs, {}};
    for (const ValueId v : node.outputs) question.outputs.push_back(function.value(v).type);
    if (auto made = memo_.Find(question)) return *std::move(made);
    auto made = EvaluateAnew(graph, function, node, inputs);
    if (made.ok()) memo_.Keep(question, *made);
    return made;
  }

 private:
  Result<std::vector<Const>> EvaluateAnew(const Graph& graph, const Function& function,
                                          const Node& node,
                                          const std::vector<const Const*>& inputs) {
    Graph one;
    one.ops = graph.ops;
    one.opsets = graph.opsets;
    Function& f = one.AddFunction("fold");
    Node copy = node;
    copy.effects.clear();
    copy.after.clear();
    for (Attr& a : copy.attrs) {
      if (auto* ref = std::get_if<ConstRef>(&a.value))
        ref->id = one.AddConst(graph.consts[ref->id]);
    }
    std::vector<ConstScratch> scratch(inputs.size());
    std::vector<AlignedBytes> aligned;
    std::vector<const void*> in;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) {
        copy.inputs[i] = 0;
        continue;
      }
      copy.inputs[i] = AddValue(&f, inputs[i]->type, "in" + std::to_string(i));
      f.params.push_back(copy.inputs[i]);
      const std::byte* data = ConstBytes(*inputs[i], &scratch[i]);
      const auto bytes = static_cast<uint64_t>(ByteCount(inputs[i]->type).value_or(0));
      if (!data && bytes > 0)
        return Status(Code::kResourceExhausted, "no memory to fold a constant");
      if (reinterpret_cast<uintptr_t>(data) % 16 != 0) {
        aligned.push_back(AllocateAligned(bytes, 64));
        if (!aligned.back())
          return Status(Code::kResourceExhausted, "no memory to fold a constant");
        std::memcpy(aligned.back().get(), data, bytes);
        data = aligned.back().get();
      }
      in.push_back(data);
    }
    for (ValueId& v : copy.outputs) {
      if (!v) continue;
      v = AddValue(&f, function.value(v).type, "out");
      f.results.push_back(v);
    }
    f.nodes.push_back(std::move(copy));
    return RunOne(std::move(one), std::move(in));
  }

  Result<std::vector<Const>> RunOne(Graph one, std::vector<const void*> in) {
    GE_ASSIGN_OR_RETURN(auto compiled, BuildCompiled(std::move(one), 1, engines_, {}));
    const Function& f = compiled->graph.fn(1);
    std::vector<Const> results;
    std::vector<void*> out;
    for (ValueId r : f.results) {
      const Type& type = f.value(r).type;
      auto bytes = ByteCount(type);
      if (!bytes) return Status(Code::kUnsupported, "a result without a fixed size is not folded");
      std::shared_ptr<std::byte> memory = AllocateShared(static_cast<uint64_t>(*bytes));
      if (!memory) return Status(Code::kResourceExhausted, "no memory to fold a constant");
      Const c;
      c.type = type;
      c.bytes = static_cast<uint64_t>(*bytes);
      c.data = memory.get();
      out.push_back(memory.get());
      c.owner = std::move(memory);
      results.push_back(std::move(c));
    }
    GE_ASSIGN_OR_RETURN(auto frame, compiled->TakeFrame());
    GE_RETURN_IF_ERROR(compiled->program().Run(frame.get(), in.data(), out.data()));
    return results;
  }

  const EngineList& engines_;
  FoldMemo memo_;
};

}  // namespace

std::unique_ptr<Evaluator> MakeEvaluator(const EngineList& engines) {
  return std::make_unique<OneNodeEvaluator>(engines);
}

}  // namespace ge
