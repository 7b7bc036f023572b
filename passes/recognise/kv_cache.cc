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

// How many new rows there may be: as many as the types say, where an input tells that; otherwise,
// as when a mask of unknown length takes part in their making, as some axis of an input.
std::vector<Dim> RowsOf(const Function& f, const std::vector<KvPair>& pairs) {
  const std::vector<Dim>& joined = f.value(pairs[0].rows).type.dims;
  if (joined.size() <= pairs[0].axis) return {};
  const Dim typed = joined[pairs[0].axis];
  if (typed.known()) return {typed};
  std::vector<Dim> sizes;
  for (const ValueId v : f.params) {
    const bool past =
        std::any_of(pairs.begin(), pairs.end(), [&](const KvPair& p) { return p.past == v; });
    if (past) continue;
    for (const Dim& d : f.value(v).type.dims) {
      if (d == typed) return {d};
      if (!d.known() && std::find(sizes.begin(), sizes.end(), d) == sizes.end()) {
        sizes.push_back(d);
      }
    }
  }
  return sizes.empty() ? std::vector<Dim>{typed} : sizes;
}

// The first attempt that succeeds, or what kept the first one that went farthest from it.
Status Rewrite(Transaction* t, FunctionId fn, const std::vector<KvPair>& pairs,
               KvCacheRewrite::InferNode infer) {
  Status refused(Code::kUnsupported, "the rank of what joins the past is not known");
  size_t farthest = 0;
  for (const Dim& rows : RowsOf(t->graph().fn(fn), pairs)) {
    KvCacheRewrite attempt(t->Rebuild(), fn, pairs, rows, infer);
    Status status = attempt.Run();
    if (status.ok()) return status;
    if (attempt.steps() >= farthest) {
      refused = std::move(status);
      farthest = attempt.steps() + 1;
    }
  }
  return refused;
}

}  // namespace

Status RecogniseKvCache::Run(Transaction& transaction, const PassContext& context) {
  if (HasCaches(transaction.graph()))
    return {};  // it has states, or has got them in an earlier round
  if (!context.infer_node) return Status(Code::kInternal, "nobody infers types for it");
  bool any = false;
  for (size_t e = 0; e < transaction.graph().entries.size(); ++e) {
    const FunctionId fn = transaction.graph().entries[e].fn;
    JoinAsRead(&transaction, fn);
    const std::vector<KvPair> pairs = FindKvPairs(transaction.graph().fn(fn));
    if (pairs.empty()) continue;
    if (transaction.graph().entries.size() > 1) {
      return Status(Code::kUnsupported, "the model has several entries; caches are made for one");
    }
    GE_RETURN_IF_ERROR(Rewrite(&transaction, fn, pairs, context.infer_node));
    any = true;
  }
  if (any) return {};
  return Status(Code::kUnsupported,
                "no output is an input with new rows behind it (Concat of both along an axis of "
                "free size), so there is no past to keep; run it without key and value caches");
}

}  // namespace ge
