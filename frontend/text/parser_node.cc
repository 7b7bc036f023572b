#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "frontend/text/parser.h"

namespace ge::text {

// "Conv", "ge.Read", "ai.onnx.ml.Scaler": the last part is the operator.
Status Parser::ParseOpName(Node* n) {
  GE_RETURN_IF_ERROR(Name(&n->op, "an operator"));
  while (Accept(".")) {
    if (!n->domain.empty()) n->domain += '.';
    n->domain += n->op;
    GE_RETURN_IF_ERROR(Name(&n->op, "an operator after '.'"));
  }
  return Status();
}

Status Parser::ParseStringList(std::vector<std::string>* out) {
  GE_RETURN_IF_ERROR(Expect("[", "and a list of strings"));
  while (!Accept("]")) {
    GE_RETURN_IF_ERROR(String(&out->emplace_back(), "a string"));
    if (!Accept(",") && !IsPunct("]")) return Wanted("',' or ']' after a string");
  }
  return Status();
}

// "nan" or "nan(0x7ff8000000000001)"; the lexer splits the number into "0" and "x7ff8...".
Status Parser::ParseNan(double* out) {
  *out = std::bit_cast<double>(uint64_t{0x7ff8000000000000});
  if (!Accept("(")) return Status();
  const std::string_view digits = Peek(1).text;
  uint64_t bits = 0;
  if (Peek().text != "0" || digits.size() < 2 || digits[0] != 'x') return Wanted("0x and the bits");
  const auto r = std::from_chars(digits.data() + 1, digits.data() + digits.size(), bits, 16);
  *out = std::bit_cast<double>(bits);
  if (r.ec != std::errc() || r.ptr != digits.data() + digits.size() || *out == *out) {
    return Wanted("the bits of a NaN");
  }
  at_ += 2;
  return Expect(")", "after the bits");
}

// An integer, or a double: 1.5, 1e-05f (rounded to float32), inf, -inf, nan.
Status Parser::ParseNumber(Attr::Payload* out) {
  const size_t begin = at_;
  const bool minus = Accept("-");
  if (AcceptWord("inf")) {
    const double inf = std::numeric_limits<double>::infinity();
    *out = minus ? -inf : inf;
    return Status();
  }
  if (!minus && AcceptWord("nan")) {
    double nan = 0;
    GE_RETURN_IF_ERROR(ParseNan(&nan));
    *out = nan;
    return Status();
  }
  const Token number = Peek();
  if (number.kind != TokenKind::kInt && number.kind != TokenKind::kFloat) {
    return Wanted("a number, a string, a list, or type, dim, const, fn or $ and a name");
  }
  const Token& suffix = Peek(1);
  const bool narrow = suffix.kind == TokenKind::kWord && suffix.text == "f" &&
                      suffix.text.data() == number.text.data() + number.text.size();
  if (number.kind == TokenKind::kInt && !narrow) {
    at_ = begin;
    int64_t i = 0;
    GE_RETURN_IF_ERROR(Int(&i, "a number"));
    *out = i;
    return Status();
  }
  const std::string text = (minus ? "-" : "") + std::string(number.text);
  const char* end = text.data() + text.size();
  double wide = 0;
  float single = 0;
  const std::errc ec = narrow ? std::from_chars(text.data(), end, single).ec
                              : std::from_chars(text.data(), end, wide).ec;
  if (ec != std::errc()) {
    return FailAt(Code::kDataCorrupt, begin,
                  fmt::format("found {}, wanted a number in the range of a {}", text,
                              narrow ? "float" : "double"));
  }
  at_ += narrow ? 2 : 1;
  *out = narrow ? static_cast<double>(single) : wide;
  return Status();
}

// After '['. The first element decides; integers among floats become floats.
Status Parser::ParseAttrList(Attr::Payload* out) {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  std::vector<Type> types;
  const size_t begin = at_;
  size_t count = 0;
  for (; !Accept("]"); ++count) {
    const size_t token = at_;
    Attr::Payload item;
    // Refused here, not by recursion: a text may open any number of brackets.
    if (IsPunct("[") || IsPunct("[", 1)) return Wanted("numbers, strings or types in a list");
    GE_RETURN_IF_ERROR(ParseAttrValue(&item));
    if (const auto* i = std::get_if<int64_t>(&item)) {
      ints.push_back(*i);
      floats.push_back(static_cast<double>(*i));
    } else if (const auto* f = std::get_if<double>(&item)) {
      floats.push_back(*f);
    } else if (auto* s = std::get_if<std::string>(&item)) {
      strings.push_back(std::move(*s));
    } else if (auto* t = std::get_if<Type>(&item)) {
      types.push_back(std::move(*t));
    } else {
      at_ = token;
      return Wanted("numbers, strings or types in a list");
    }
    if (!Accept(",") && !IsPunct("]")) return Wanted("',' or ']' after an element");
  }
  if (ints.size() == count) {
    *out = std::move(ints);
  } else if (floats.size() == count) {
    *out = std::move(floats);
  } else if (strings.size() == count) {
    *out = std::move(strings);
  } else if (types.size() == count) {
    *out = std::move(types);
  } else {
    return FailAt(Code::kDataCorrupt, begin, "found a list of different kinds, wanted one kind");
  }
  return Status();
}

Status Parser::ParseAttrValue(Attr::Payload* out) {
  if (Peek().kind == TokenKind::kString) {
    std::string s;
    GE_RETURN_IF_ERROR(String(&s, "a string"));
    *out = std::move(s);
    return Status();
  }
  if (Accept("[")) return ParseAttrList(out);
  if (IsPunct("[", 1)) {  // an empty list whose kind cannot be seen
    if (IsKeyword("floats")) *out = std::vector<double>();
    if (IsKeyword("strings")) *out = std::vector<std::string>();
    if (IsKeyword("types")) *out = std::vector<Type>();
    if (out->index() == 0) return Wanted("floats[], strings[], types[] or a value");
    at_ += 2;
    return Expect("]", "after '[': lists that are not empty are written without a word");
  }
  if (AcceptWord("type")) {
    Type t;
    GE_RETURN_IF_ERROR(ParseType(&t, 0));
    *out = std::move(t);
    return Status();
  }
  if (AcceptWord("dim")) {
    Dim d;
    GE_RETURN_IF_ERROR(ParseDim(&d, 0));
    *out = d;
    return Status();
  }
  if (AcceptWord("const")) {
    ConstRef ref;
    GE_RETURN_IF_ERROR(Reference(consts_, "const", &ref.id));
    *out = ref;
    return Status();
  }
  if (AcceptWord("fn")) {
    FunctionRef ref;
    GE_RETURN_IF_ERROR(Reference(functions_, "function", &ref.id));
    *out = ref;
    return Status();
  }
  if (Accept("$")) {
    AttrRef ref;
    GE_RETURN_IF_ERROR(Name(&ref.param, "an attribute parameter after '$'"));
    *out = std::move(ref);
    return Status();
  }
  return ParseNumber(out);
}

Status Parser::ParseAttrs(Node* n) {
  if (!Accept("{")) return Status();
  while (!Accept("}")) {
    Attr a;
    GE_RETURN_IF_ERROR(Name(&a.name, "an attribute's name"));
    GE_RETURN_IF_ERROR(Expect("=", "after the attribute's name"));
    GE_RETURN_IF_ERROR(ParseAttrValue(&a.value));
    n->attrs.push_back(std::move(a));
    if (!Accept(",") && !IsPunct("}")) return Wanted("',' or '}' after an attribute");
  }
  return Status();
}

Status Parser::ParseLocRef(LocId* out) {
  ++at_;
  const size_t token = at_;
  GE_RETURN_IF_ERROR(Uint32(out, "a location's number"));
  if (*out < g_.locs.size()) return Status();
  return FailAt(
      Code::kInvalidGraph, token,
      fmt::format("found location {}, wanted one of the {} above", *out, g_.locs.size() - 1));
}

Status Parser::ParseCallees(Node* n) {
  GE_RETURN_IF_ERROR(Expect("{", "and the called functions, as in calls {body=f}"));
  while (!Accept("}")) {
    Callee c;
    GE_RETURN_IF_ERROR(Name(&c.role, "a role"));
    GE_RETURN_IF_ERROR(Expect("=", "after the role"));
    GE_RETURN_IF_ERROR(Reference(functions_, "function", &c.fn));
    n->callees.push_back(std::move(c));
    if (!Accept(",") && !IsPunct("}")) return Wanted("',' or '}' after a function");
  }
  return Status();
}

Status Parser::ParseEffects(std::vector<Effect>* out) {
  static constexpr std::string_view kKinds[] = {"state", "rng", "io", "collective", "stream"};
  GE_RETURN_IF_ERROR(Expect("[", "and the effects"));
  while (!Accept("]")) {
    Effect e;
    const auto* kind = std::find(std::begin(kKinds), std::end(kKinds), Peek().text);
    if (Peek().kind != TokenKind::kWord || kind == std::end(kKinds)) {
      return Wanted(fmt::format("an effect: {}", fmt::join(kKinds, ", ")));
    }
    ++at_;
    e.kind = static_cast<EffectKind>(kind - kKinds);
    if (e.kind == EffectKind::kState) {
      GE_RETURN_IF_ERROR(Reference(states_, "state", &e.object));
    } else {
      GE_RETURN_IF_ERROR(Uint32(&e.object, "the object's number"));
    }
    if (AcceptWord("seq")) GE_RETURN_IF_ERROR(Uint32(&e.sequence, "the place in the order"));
    out->push_back(e);
    if (!Accept(",") && !IsPunct("]")) return Wanted("',' or ']' after an effect");
  }
  return Status();
}

// from "pass" ["a", "b"]; without a pass: the importer
Status Parser::ParseOrigin(Node* n) {
  Origin o;
  if (!IsPunct("[")) GE_RETURN_IF_ERROR(String(&o.pass, "a pass in quotes or a list of names"));
  GE_RETURN_IF_ERROR(ParseStringList(&o.from_nodes));
  n->origin.push_back(std::move(o));
  return Status();
}

Status Parser::ParseHints(Hints* hints) {
  GE_RETURN_IF_ERROR(Expect("{", "and the hints, as in hints {priority=1}"));
  while (!Accept("}")) {
    const Token hint = Peek();
    ++at_;
    GE_RETURN_IF_ERROR(Expect("=", "after the hint's name"));
    if (hint.text == "remat") {
      if (!IsKeyword("auto") && !IsKeyword("never") && !IsKeyword("always")) {
        return Wanted("auto, never or always");
      }
      hints->remat = IsKeyword("auto") ? 0 : IsKeyword("never") ? 1 : 2;
      ++at_;
    } else if (hint.text == "priority") {
      int64_t wide = 0;
      const size_t token = at_;
      GE_RETURN_IF_ERROR(Int(&wide, "a number"));
      if (wide < INT32_MIN || wide > INT32_MAX) {
        return FailAt(Code::kDataCorrupt, token, "a priority has more than 32 bits");
      }
      hints->priority = static_cast<int32_t>(wide);
    } else if (hint.text == "remat_name") {
      GE_RETURN_IF_ERROR(String(&hints->remat_name, "a name in quotes"));
    } else if (hint.text == "no_cse") {
      GE_RETURN_IF_ERROR(String(&hints->no_cse_group, "a group in quotes"));
    } else if (hint.text == "stage") {
      GE_RETURN_IF_ERROR(String(&hints->stage, "a stage in quotes"));
    } else if (hint.text == "engine") {
      GE_RETURN_IF_ERROR(String(&hints->engine_pin, "an engine in quotes"));
    } else {
      at_ -= 2;
      return Wanted("a hint: remat, remat_name, no_cse, stage, engine, priority");
    }
    if (!Accept(",") && !IsPunct("}")) return Wanted("',' or '}' after a hint");
  }
  return Status();
}

Status Parser::ParseClause(Node* n, bool* found) {
  *found = true;
  // On a new line a string or a clause's word may also begin the next node.
  if (Peek().kind == TokenKind::kString && OnSameLine()) return String(&n->name, "a name");
  const bool next_node = IsPunct("=", 1) || IsPunct(":", 1) || IsPunct(",", 1) || IsPunct("%", 1) ||
                         IsPunct("(", 1) || IsPunct(".", 1);
  if (next_node) {
    *found = false;
    return Status();
  }
  if (AcceptWord("id")) return Uint32(&n->id, "a node id");
  if (AcceptWord("calls")) return ParseCallees(n);
  if (AcceptWord("effects")) return ParseEffects(&n->effects);
  if (IsKeyword("loc")) return ParseLocRef(&n->loc);
  if (AcceptWord("from")) return ParseOrigin(n);
  if (AcceptWord("hints")) return ParseHints(&n->hints);
  if (IsKeyword("unknown")) return AcceptUnknown(&n->unknown_fields);
  if (AcceptWord("after")) {
    GE_RETURN_IF_ERROR(Expect("[", "and node ids"));
    while (!Accept("]")) {
      GE_RETURN_IF_ERROR(Uint32(&n->after.emplace_back(), "a node id"));
      if (!Accept(",") && !IsPunct("]")) return Wanted("',' or ']' after a node id");
    }
    return Status();
  }
  *found = false;
  return Status();
}

Status Parser::ParseNode(FunctionScope* scope, std::vector<ValueId> outputs) {
  Node n;
  n.outputs = std::move(outputs);
  n.id = scope->greatest + 1;
  const size_t token = at_;
  GE_RETURN_IF_ERROR(ParseOpName(&n));
  GE_RETURN_IF_ERROR(Expect("(", "and the inputs of the node"));
  while (!Accept(")")) {
    GE_RETURN_IF_ERROR(ValueReference(scope, &n.inputs.emplace_back()));
    if (!Accept(",") && !IsPunct(")")) return Wanted("',' or ')' after an input");
  }
  GE_RETURN_IF_ERROR(ParseAttrs(&n));
  for (bool found = true; found;) GE_RETURN_IF_ERROR(ParseClause(&n, &found));
  if (n.id == 0 || n.id > kMaxFileNodeId) {
    return FailAt(Code::kInvalidGraph, token,
                  fmt::format("found node id {}, wanted 1..{}", n.id, kMaxFileNodeId));
  }
  scope->greatest = std::max(scope->greatest, n.id);
  scope->f->nodes.push_back(std::move(n));
  return Status();
}

}  // namespace ge::text
