#include <fmt/format.h>

#include <algorithm>

#include "frontend/text/parser.h"

namespace ge::text {

Status Parser::Combined(std::optional<Dim> result, size_t token, Dim* out) const {
  if (!result) {
    return FailAt(Code::kInvalidGraph, token,
                  "found a dimension expression that overflows or divides by zero");
  }
  *out = *result;
  return Status();
}

// floordiv(N, 2); the name is the token at the cursor.
Status Parser::ParseDimFunction(Dim* out, int depth) {
  const size_t token = at_;
  const std::string_view name = Peek().text;
  at_ += 2;
  Dim a, b;
  GE_RETURN_IF_ERROR(ParseDim(&a, depth + 1));
  GE_RETURN_IF_ERROR(Expect(",", "and a second argument"));
  GE_RETURN_IF_ERROR(ParseDim(&b, depth + 1));
  GE_RETURN_IF_ERROR(Expect(")", "after the second argument"));
  DimTable& t = g_.dims;
  if (name == "floordiv") return Combined(t.FloorDiv(a, b), token, out);
  if (name == "ceildiv") return Combined(t.CeilDiv(a, b), token, out);
  if (name == "mod") return Combined(t.Mod(a, b), token, out);
  if (name == "min") return Combined(t.Min(a, b), token, out);
  if (name == "max") return Combined(t.Max(a, b), token, out);
  at_ = token;
  return Wanted("floordiv, ceildiv, mod, min or max before '('");
}

Status Parser::ParseFactor(Dim* out, int depth) {
  if (depth > limits_.max_depth) {
    return FailAt(Code::kLimitExceeded, at_,
                  fmt::format("an expression nests deeper than {}", limits_.max_depth));
  }
  if (Accept("(")) {
    GE_RETURN_IF_ERROR(ParseDim(out, depth + 1));
    return Expect(")", "after the expression");
  }
  if (Peek().kind == TokenKind::kInt) return Int(&out->value, "a size");
  if (Peek().kind == TokenKind::kWord && IsPunct("(", 1)) return ParseDimFunction(out, depth);
  std::string name;
  const size_t token = at_;
  GE_RETURN_IF_ERROR(Name(&name, "a size: a number, a symbol or an expression of them"));
  if (name.empty()) return FailAt(Code::kInvalidGraph, token, "found a symbol without a name");
  SymbolId id = g_.dims.FindSymbol(name);
  if (id == 0) {
    Symbol s;
    s.name = name;
    id = g_.dims.AddSymbol(s);
  }
  *out = g_.dims.OfSymbol(id);
  return Status();
}

Status Parser::ParseProduct(Dim* out, int depth) {
  GE_RETURN_IF_ERROR(ParseFactor(out, depth));
  while (IsPunct("*")) {
    const size_t token = at_++;
    Dim right;
    GE_RETURN_IF_ERROR(ParseFactor(&right, depth));
    GE_RETURN_IF_ERROR(Combined(g_.dims.Mul(*out, right), token, out));
  }
  return Status();
}

// Sums in canonical form are printed with few terms; the bound keeps their quadratic cost small.
Status Parser::ParseDim(Dim* out, int depth) {
  constexpr int kMostTerms = 2048;
  const size_t first = at_;
  const bool minus = Accept("-");
  if (minus && Peek().kind == TokenKind::kInt && !IsPunct("*", 1)) {
    --at_;  // one number, so that the least int64 has a text
    GE_RETURN_IF_ERROR(Int(&out->value, "a size"));
  } else {
    GE_RETURN_IF_ERROR(ParseProduct(out, depth));
    if (minus) GE_RETURN_IF_ERROR(Combined(g_.dims.Sub(KnownDim(0), *out), first, out));
  }
  for (int terms = 1; IsPunct("+") || IsPunct("-"); ++terms) {
    const size_t token = at_;
    if (terms >= kMostTerms) {
      return FailAt(Code::kLimitExceeded, token,
                    fmt::format("a sum has more than {} terms", kMostTerms));
    }
    const bool plus = Accept("+");
    if (!plus) ++at_;
    Dim right;
    GE_RETURN_IF_ERROR(ParseProduct(&right, depth));
    GE_RETURN_IF_ERROR(
        Combined(plus ? g_.dims.Add(*out, right) : g_.dims.Sub(*out, right), token, out));
  }
  return Status();
}

// "[2,N]" or "[?]"
Status Parser::ParseShape(Type* out) {
  GE_RETURN_IF_ERROR(Expect("[", "and the shape: [] is a scalar, [?] an unknown rank"));
  if (Accept("?")) return Expect("]", "after '?'");
  out->ranked = true;
  if (Accept("]")) return Status();
  do {
    GE_RETURN_IF_ERROR(ParseDim(&out->dims.emplace_back(), 0));
  } while (Accept(","));
  return Expect("]", "after the shape");
}

Status Parser::ParseDType(DType* out) {
  const std::string_view name = Peek().text;
  const auto dtype = DTypeFromName(name);
  if (Peek().kind != TokenKind::kWord || (!dtype && name != DTypeName(DType::kUndefined))) {
    return Wanted("a type, as f32[2,N], seq(...) or ?");
  }
  *out = dtype.value_or(DType::kUndefined);
  ++at_;
  return Status();
}

Status Parser::ParseTensor(Type* out) {
  out->kind = TypeKind::kTensor;
  GE_RETURN_IF_ERROR(ParseDType(&out->dtype));
  GE_RETURN_IF_ERROR(ParseShape(out));
  if (!IsPunct("@")) return Status();
  return FailAt(Code::kUnsupported, at_,
                "found a type that says how it is spread over a mesh; values are local now: leave "
                "out '@...', and split the model with the pass parallel");
}

Status Parser::ParseElem(Type* out, int depth) {
  return ParseType(&out->elems.emplace_back(), depth + 1);
}

// After '('.
Status Parser::ParseTuple(Type* out, int depth) {
  if (Accept(")")) return Status();
  const bool named = AtName() && IsPunct(":", 1);
  do {
    if (named) {
      GE_RETURN_IF_ERROR(Name(&out->field_names.emplace_back(), "a field's name"));
      GE_RETURN_IF_ERROR(Expect(":", "after the field's name"));
    }
    GE_RETURN_IF_ERROR(ParseElem(out, depth));
  } while (Accept(","));
  return Expect(")", "after the elements of the tuple");
}

// After '(': (T, T) -> (T), [f, g])
Status Parser::ParseFunc(Type* out, int depth) {
  for (int part = 0; part < 2; ++part) {
    if (part == 1) GE_RETURN_IF_ERROR(Expect("->", "and the results"));
    GE_RETURN_IF_ERROR(Expect("(", "and a list of types"));
    while (!Accept(")")) {
      GE_RETURN_IF_ERROR(ParseElem(out, depth));
      if (!Accept(",") && !IsPunct(")")) return Wanted("',' or ')' after a type");
    }
    if (part == 0) out->params = static_cast<uint32_t>(out->elems.size());
  }
  if (Accept(",")) {
    GE_RETURN_IF_ERROR(Expect("[", "and the candidate functions"));
    while (!Accept("]")) {
      GE_RETURN_IF_ERROR(Reference(functions_, "function", &out->candidates.emplace_back()));
      if (!Accept(",") && !IsPunct("]")) return Wanted("',' or ']' after a function");
    }
  }
  return Expect(")", "after the function type");
}

// A word and '(' stand at the cursor.
Status Parser::ParseContainer(Type* out, int depth) {
  const std::string_view word = Peek().text;
  at_ += 2;
  if (word == "tuple" || word == "func") {
    out->kind = word == "tuple" ? TypeKind::kTuple : TypeKind::kFunc;
    return word == "tuple" ? ParseTuple(out, depth) : ParseFunc(out, depth);
  }
  if (word == "pack") {
    out->kind = TypeKind::kPack;
    GE_RETURN_IF_ERROR(Reference(functions_, "function", &out->fn));
  } else if (word == "map" || word == "sparse") {
    out->kind = word == "map" ? TypeKind::kMap : TypeKind::kSparse;
    GE_RETURN_IF_ERROR(ParseDType(&out->dtype));
    GE_RETURN_IF_ERROR(Expect(",", "after the element type"));
    if (word == "sparse") {
      GE_RETURN_IF_ERROR(ParseShape(out));
      GE_RETURN_IF_ERROR(Expect(",", "after the dense shape"));
    }
    GE_RETURN_IF_ERROR(ParseElem(out, depth));
  } else if (word == "ragged") {
    out->kind = TypeKind::kRagged;
    GE_RETURN_IF_ERROR(ParseElem(out, depth));
    GE_RETURN_IF_ERROR(Expect(",", "and the type of the splits"));
    GE_RETURN_IF_ERROR(ParseElem(out, depth));
  } else if (word == "seq" || word == "optional" || word == "zero") {
    out->kind = word == "seq"        ? TypeKind::kSequence
                : word == "optional" ? TypeKind::kOptional
                                     : TypeKind::kZero;
    GE_RETURN_IF_ERROR(ParseElem(out, depth));
  } else {
    at_ -= 2;
    return Wanted("seq, optional, map, tuple, func, pack, sparse, ragged or zero before '('");
  }
  return Expect(")", "after the type");
}

Status Parser::ParseType(Type* out, int depth) {
  if (depth > limits_.max_depth) {
    return FailAt(Code::kLimitExceeded, at_,
                  fmt::format("a type nests deeper than {}", limits_.max_depth));
  }
  if (Accept("?")) return Status();
  if (AcceptWord("token")) {
    out->kind = TypeKind::kToken;
    return Status();
  }
  if (Peek().kind == TokenKind::kWord && IsPunct("(", 1)) return ParseContainer(out, depth);
  return ParseTensor(out);
}

}  // namespace ge::text
