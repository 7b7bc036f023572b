#include "passes/recognise/kv_cache.h"

#include <algorithm>

#include "passes/recognise/kv_cache_rewrite.h"

namespace ge {
namespace {

bool HasCaches(const Graph& g) {
  for (const Function& f : g.functions) {
    for (const Node& n : f.nodes) {
      if (n.domain == "ge" && n.op == "KvAppend") return true;
    }
  }
  return false;
}

}  // namespace

Status RecogniseKvCache::Run(Transaction& t, const PassContext& context) {
  if (HasCaches(t.graph())) return {};  // it has states, or has got them in an earlier round
  if (!context.infer_node) return Status(Code::kInternal, "nobody infers types for it");
  bool any = false;
  for (size_t e = 0; e < t.graph().entries.size(); ++e) {
    const FunctionId fn = t.graph().entries[e].fn;
    JoinAsRead(&t, fn);
    std::vector<KvPair> pairs = FindKvPairs(t.graph().fn(fn));
    if (pairs.empty()) continue;
    if (t.graph().entries.size() > 1) {
      return Status(Code::kUnsupported, "the model has several entries; caches are made for one");
    }
    GE_RETURN_IF_ERROR(KvCacheRewrite(t.Rebuild(), fn, std::move(pairs), context.infer_node).Run());
    any = true;
  }
  if (any) return {};
  return Status(Code::kUnsupported,
                "no output is an input with new rows behind it (Concat of both along an axis of "
                "free size), so there is no past to keep; run it without key and value caches");
}

}  // namespace ge
