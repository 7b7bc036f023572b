// Steps on texts: tokens, pack.
#include <fmt/format.h>

#include <algorithm>

#include "passes/data/ops/ops.h"
#include "passes/data/pipe/chain.h"
#include "passes/data/tokens/token_stream.h"

namespace ge::data {

// tokens bytes: the texts are tokens 0 to 255, each text ended by token 10. tokens FILE.model: of
// SentencePiece, each text ended by the model's end of texts.
void ApplyTokens(const Step& step, Chain* chain) {
  const bool model = step.args.size() == 1 && step.args[0].ends_with(".model");
  const bool bytes = step.args == std::vector<std::string>{"bytes"};
  if ((!model && !bytes) || !step.named.empty()) RefuseStep(step, "tokens bytes or tokens F.model");
  const auto is_text = [&](const ChainColumn& c) {
    return !c.value && chain->ColumnOf(c).kind == Column::Kind::kText;
  };
  const auto texts = std::count_if(chain->columns.begin(), chain->columns.end(), is_text);
  if (texts != 1) {
    RefuseStep(step, fmt::format("one column of texts ahead of it; there are {}; choose by select",
                                 texts));
  }
  const auto at = std::find_if(chain->columns.begin(), chain->columns.end(), is_text);
  chain->columns = {*at};
  chain->tokens = true;
  if (model) chain->model = step.args[0];
}

// pack LENGTH: rows are windows of so many tokens: x, and y with the tokens that follow.
void ApplyPack(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted = "pack LENGTH behind tokens, a length of 1 to 2^24";
  if (step.args.size() != 1 || !step.named.empty() || !chain->tokens || chain->row ||
      !chain->kept.empty()) {
    RefuseStep(step, kWanted);
  }
  const int64_t length = WholeOf(step, step.args[0], 1, int64_t{1} << 24, kWanted);
  const size_t column = chain->columns[0].of;
  Attrs attrs = chain->SourceOf(chain->columns[0]);
  attrs.Int("length", length);
  std::string digest;
  if (!chain->model.empty()) {
    digest = DigestOfModel(chain->model);
    attrs.Text("model", chain->model).Text("model_digest", digest);
  }
  const auto stream = OpenTokens(chain->source, column, chain->model, digest, chain->options);
  chain->rows = stream->tokens() == 0 ? 0 : (stream->tokens() - 1) / length;
  if (chain->rows < 1) {
    RefuseStep(step, fmt::format("more than {} tokens in '{}', which has {}", length,
                                 chain->source->path(), stream->tokens()));
  }
  const Val window = chain->fn->Node(kDomain, "Windows", {chain->Row()}, attrs, 1)[0];
  chain->columns = {{"x", column, passes::Slice(window, {0}, {length}, {1})},
                    {"y", column, passes::Slice(window, {1}, {length + 1}, {1})}};
  chain->tokens = false;
}

}  // namespace ge::data
