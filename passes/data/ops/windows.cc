// Windows: rows[n] -> tokens i64[n, length + 1] of a column of texts: window i begins at token
// i * length of the stream, so that the last token of a window is the first of the next, and a
// window's tokens 1 to length are the labels of those before them. `model`: a file of
// SentencePiece; without it tokens are bytes.
#include <fmt/format.h>

#include "passes/data/ops/source_column.h"
#include "passes/data/tokens/token_stream.h"

namespace ge::data {
namespace {

constexpr int64_t kLongestWindow = int64_t{1} << 24;

ge_rc InferWindows(const ge_infer* c, ge_err* err) {
  return Run(err, "Windows", [&] {
    const int64_t length = plugin::AttrInt(*c->graph->node, "length");
    const ge_value* row = ge_input(c->graph, 0);
    if (length < 1 || length > kLongestWindow || row->type.rank > 1) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("Windows: length {} and rows of rank {}, wanted 1 to {} and rank 1",
                                length, row->type.rank, kLongestWindow)};
    }
    ge_dim dims[2] = {};
    if (row->type.rank == 1) dims[0] = row->dim[0];
    dims[1].value = dims[1].min = dims[1].max = length + 1;
    c->output(c->host, 0, GE_I64, row->type.rank == 1 ? 2 : -1, dims);
  });
}

ge_rc OpenWindows(const ge_node* n, const ge_host_api*, void** kept, ge_err* err) {
  return Run(err, "Windows", [&] {
    SourceColumn of = OpenColumn(*n);
    if (of.column().kind != Column::Kind::kText) {
      throw Refusal{GE_FAILED_PRECONDITION, fmt::format("Windows: column '{}' of '{}' has no texts",
                                                        of.column().name, of.source->path())};
    }
    auto stream =
        OpenTokens(std::move(of.source), of.index, std::string(plugin::AttrString(*n, "model")),
                   std::string(plugin::AttrString(*n, "model_digest")), {});
    *kept = new std::shared_ptr<const TokenStream>(std::move(stream));
  });
}

void CloseWindows(void* kept) { delete static_cast<std::shared_ptr<const TokenStream>*>(kept); }

ge_rc RunWindows(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "Windows", [&] {
    const TokenStream& stream = **static_cast<const std::shared_ptr<const TokenStream>*>(c->kept);
    const int64_t length = plugin::AttrInt(*c->node, "length");
    const auto rows = Elements<int64_t>(c->in[0]);
    WantRows(rows, (stream.tokens() - 1) / length, "Windows");
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    for (size_t i = 0; i < rows.size(); ++i) {
      CheckStop(c->stop);
      stream.Read(rows[i] * length, length + 1, out + i * static_cast<size_t>(length + 1));
    }
  });
}

ge_rc WindowsWork(const ge_graph* g, double* flops, double* bytes, ge_err*) {
  int64_t n = 0;
  plugin::ElementCount(ge_input(g, 0)->type, &n);
  const auto length = static_cast<double>(plugin::AttrInt(*g->node, "length"));
  *flops = 0;
  *bytes = 9 * length * static_cast<double>(n);
  return GE_OK;
}

}  // namespace

ge_op_def WindowsOp() {
  static const ge_port ports[] = {Port("row", 1u << GE_I64), Port("token", 1u << GE_I64)};
  static const std::vector<ge_attr_def> attrs = ColumnAttrs(
      {WantedAttr("length", GE_ATTR_INT), TextAttr("model", ""), TextAttr("model_digest", "")});
  ge_op_def d = Record("Windows", ports, attrs);
  d.infer = InferWindows;
  d.kernel = RunWindows;
  d.work = WindowsWork;
  d.open = OpenWindows;
  d.close = CloseWindows;
  return d;
}

}  // namespace ge::data
