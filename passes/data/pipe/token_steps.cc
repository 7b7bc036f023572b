// Steps on texts: tokens, pack.
#include <fmt/format.h>

#include <algorithm>

#include "passes/data/ops/ops.h"
#include "passes/data/pipe/chain.h"
#include "passes/data/sources/text_stream.h"

namespace ge::data {

// tokens bytes: the texts are tokens 0 to 255, each text ended by token 10.
void ApplyTokens(const Step& step, Chain* chain) {
  if (step.args != std::vector<std::string>{"bytes"} || !step.named.empty()) {
    RefuseStep(step, "tokens bytes");
  }
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
  const TextStream stream(chain->source, column, chain->options);
  chain->rows = stream.bytes() == 0 ? 0 : (stream.bytes() - 1) / length;
  if (chain->rows < 1) {
    RefuseStep(step, fmt::format("more than {} tokens in '{}', which has {}", length,
                                 chain->source->path(), stream.bytes()));
  }
  Attrs attrs = chain->SourceOf(chain->columns[0]);
  attrs.Int("length", length);
  const Val window = chain->fn->Node(kDomain, "Windows", {chain->Row()}, attrs, 1)[0];
  chain->columns = {{"x", column, passes::Slice(window, {0}, {length}, {1})},
                    {"y", column, passes::Slice(window, {1}, {length + 1}, {1})}};
  chain->tokens = false;
}

}  // namespace ge::data
