// A pixel has 256 values: what Cast and arithmetic with a constant a channel make of it is a table.
// The table is computed by the very nodes that were there, on 0 to 255, so that no bit changes.
#include "passes/data/fuse_pictures.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "passes/data/ops/ops.h"
#include "passes/kit/fn.h"

namespace ge::data {
namespace {

using passes::Attrs;
using passes::Fn;
using passes::Val;

constexpr uint32_t kTable = 4;  // input of Pictures

bool IsPictures(const ge_node& n) {
  return plugin::View(n.domain) == kDomain && plugin::View(n.op) == "Pictures";
}

bool IsArithmetic(const ge_node& n) {
  return n.n_in == 2 && (plugin::IsOp(n, "Add") || plugin::IsOp(n, "Sub") ||
                         plugin::IsOp(n, "Mul") || plugin::IsOp(n, "Div"));
}

// The one node that reads a value; NULL where there are none or several, or it is a result.
const ge_node* ReaderOf(const ge_graph& g, uint32_t value) {
  const ge_value& v = *GE_VALUE(&g, value);
  const std::span<const uint32_t> results(g.out, g.n_out);
  if (v.n_user != 1 || std::find(results.begin(), results.end(), value) != results.end()) {
    return nullptr;
  }
  return GE_NODE(&g, v.user[0]);
}

// A constant that is one number, or one for each of the channels of [n, channels, h, w].
bool ByChannel(const ge_value& v, int64_t channels) {
  const auto rank = static_cast<uint64_t>(std::max(v.type.rank, 0));
  if (v.data == nullptr || v.type.dtype != GE_F32 || v.type.rank < 0 || rank > 4) return false;
  const auto dims = plugin::Dims(v.type);
  for (uint64_t i = 0; i < rank; ++i) {
    const bool channel = i + 3 == rank;
    if (dims[i] != 1 && !(channel && dims[i] == channels)) return false;
  }
  return true;
}

// What follows Pictures and fits a table: nodes in their order.
std::vector<const ge_node*> ChainOf(const ge_graph& g, const ge_node& pictures) {
  const int64_t channels = plugin::AttrInt(pictures, "channels", 3);
  std::vector<const ge_node*> out;
  uint32_t at = pictures.out[0];
  bool floats = GE_VALUE(&g, at)->type.dtype == GE_F32;
  while (const ge_node* reader = ReaderOf(g, at)) {
    if (!floats) {
      if (!plugin::IsOp(*reader, "Cast") || GE_VALUE(&g, reader->out[0])->type.dtype != GE_F32)
        break;
      floats = true;
    } else {
      if (!IsArithmetic(*reader)) break;
      const uint32_t other = reader->in[0] == at ? reader->in[1] : reader->in[0];
      if (!ByChannel(*GE_VALUE(&g, other), channels)) break;
    }
    out.push_back(reader);
    at = reader->out[0];
  }
  return out;
}

// The table of Pictures by now, as [1, channels or 1, 1, 256].
Val TableOf(Fn* fn, const ge_node& pictures) {
  if (pictures.n_in > kTable && pictures.in[kTable] != 0) {
    return passes::Reshape(fn->At(pictures.in[kTable]), {1, -1, 1, 256});
  }
  std::vector<double> values(256);
  std::iota(values.begin(), values.end(), 0.0);
  return passes::Reshape(fn->Vector(GE_F32, values), {1, 1, 1, 256});
}

void Fuse(const ge_edit* e, Fn* fn, const ge_node& pictures,
          const std::vector<const ge_node*>& chain) {
  const int64_t channels = plugin::AttrInt(pictures, "channels", 3);
  fn->PutBefore(pictures.id);
  Val table = TableOf(fn, pictures);
  uint32_t at = pictures.out[0];
  for (const ge_node* n : chain) {
    if (!plugin::IsOp(*n, "Cast")) {
      const auto side = [&](uint32_t v) { return v == at ? table : fn->At(v); };
      table = fn->Op(plugin::View(n->op), {side(n->in[0]), side(n->in[1])});
    }
    at = n->out[0];
  }
  table = fn->Op("Expand", {table, fn->Ints({1, channels, 1, 256})});
  table = passes::Reshape(table, {channels, 256});
  std::vector<Val> in;
  for (uint32_t i = 0; i < kTable; ++i) {
    in.push_back(i < pictures.n_in && pictures.in[i] != 0 ? fn->At(pictures.in[i]) : Val{});
  }
  in.push_back(table);
  Attrs attrs;
  for (uint32_t i = 0; i < pictures.n_attr; ++i) attrs.Add(pictures.attr[i]);
  const Val made = fn->Node(kDomain, "Pictures", in, attrs, 1, nullptr, pictures.id)[0];
  e->replace_uses(e->host, fn->id(), at, made.id);
  for (size_t i = chain.size(); i-- > 0;) e->erase(e->host, fn->id(), chain[i]->id);
  e->erase(e->host, fn->id(), pictures.id);
}

ge_rc RunFusePictures(const ge_edit* e, ge_err* err) {
  return Run(err, "fuse-pictures", [&] {
    const uint32_t functions = e->model(e->host)->n_fn;
    for (uint32_t f = 1; f < functions; ++f) {
      const ge_graph* g = e->graph(e->host, f);
      if (g == nullptr) continue;
      Fn fn(e, f);
      for (uint32_t i = 0; i < g->n_node; ++i) {
        const ge_node& n = *GE_NODE(g, i);
        if (!IsPictures(n)) continue;
        const auto chain = ChainOf(*g, n);
        if (!chain.empty()) Fuse(e, &fn, n, chain);
      }
    }
  });
}

}  // namespace

ge_pass_def FusePicturesPass() {
  static const ge_str after[] = {ge_text("fold-constants")};
  ge_pass_def pass{};
  pass.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  pass.name = ge_text("fuse-pictures");
  pass.summary = ge_text("a cast and arithmetic by channel behind Pictures become its table");
  pass.kind = GE_PASS_LOWER;
  pass.phases = GE_PHASE_LOAD;
  pass.after = after;
  pass.n_after = 1;
  pass.run = RunFusePictures;
  return pass;
}

}  // namespace ge::data
