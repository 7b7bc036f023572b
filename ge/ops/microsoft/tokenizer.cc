#include "ge/ops/microsoft/checks.h"

namespace ge {
namespace {

Status InferTokenizer(InferContext& c) {
  const Node& n = c.node();
  const Attr* separators = n.attr("separators");
  if (separators == nullptr && AttrString(n, "tokenexp").empty()) {
    return Bad(n, "neither attribute 'separators' nor 'tokenexp' is given, wanted one of them");
  }
  const int64_t least = AttrInt(n, "mincharnum");
  if (least < 1)
    return Bad(n, fmt::format("attribute 'mincharnum' is {}, wanted 1 or more", least));
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(DType::kString));
    return {};
  }
  if (x.rank() != 1 && x.rank() != 2) {
    return Bad(n,
               fmt::format("input 'X' has shape {}, wanted [C] or [N,C]", Show(c.dims(), x.dims)));
  }
  std::vector<Dim> dims = x.dims;
  dims.push_back(c.FreshDim("tokens", true));
  return SetTensor(c, 0, DType::kString, std::move(dims));
}

OpDef TokenizerRecord() {
  OpDef op = MicrosoftRecord("Tokenizer", InferTokenizer, nullptr);
  op.inputs = {{"X", Bit(DType::kString)}};
  op.outputs = {{"Y", Bit(DType::kString)}};
  op.attrs = {{"mark", AttrKind::kInt, true},
              {"mincharnum", AttrKind::kInt, true},
              {"pad_value", AttrKind::kString, true},
              {"separators", AttrKind::kStrings},
              {"tokenexp", AttrKind::kString}};
  op.work = PerOutput<100>;
  return op;
}

}  // namespace

// The words of each text along a new last axis, filled up with `pad_value`: what lies between
// `separators`, or what `tokenexp` matches. skl2onnx writes it for vectorizers of texts.
GE_OP(microsoft_tokenizer) = TokenizerRecord();

}  // namespace ge
