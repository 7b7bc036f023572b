#include <fmt/format.h>

#include "frontend/text/lexer.h"
#include "frontend/text/printer.h"

namespace ge::text {
namespace {

constexpr int kMaxDepth = 640;  // beyond what any reader or DimTable makes

const char* FunctionOf(DimOp op) {
  switch (op) {
    case DimOp::kFloorDiv:
      return "floordiv";
    case DimOp::kCeilDiv:
      return "ceildiv";
    case DimOp::kMod:
      return "mod";
    case DimOp::kMin:
      return "min";
    case DimOp::kMax:
      return "max";
    default:
      return "!";
  }
}

}  // namespace

std::string Printer::SumText(const DimTable::Expr& expr, int depth) const {
  std::string out;
  for (const DimTable::Term& term : expr.terms) {
    if (term.coefficient == -1) {
      out += "-";
    } else if (term.coefficient != 1) {
      if (!out.empty() && term.coefficient > 0) out += "+";
      out += std::to_string(term.coefficient) + "*";
    } else if (!out.empty()) {
      out += "+";
    }
    out += DimText(Dim{0, term.atom}, depth + 1);
  }
  if (expr.constant != 0 || expr.terms.empty()) {
    if (!out.empty() && expr.constant > 0) out += "+";
    out += std::to_string(expr.constant);
  }
  return out;
}

std::string Printer::DimText(const Dim& dim, int depth) const {
  if (dim.known()) return std::to_string(dim.value);
  if (depth > kMaxDepth) return "!";
  const DimTable::Expr& e = g_.dims.expr(dim.expr);
  switch (e.op) {
    case DimOp::kSymbol:
      return Name(g_.dims.symbol(e.symbol).name);
    case DimOp::kSum:
      return SumText(e, depth);
    case DimOp::kMul: {
      auto factor = [&](const Dim& f) {
        const bool sum = !f.known() && g_.dims.expr(f.expr).op == DimOp::kSum;
        const std::string inner = DimText(f, depth + 1);
        return sum ? "(" + inner + ")" : inner;
      };
      return factor(e.a) + "*" + factor(e.b);
    }
    default:
      return fmt::format("{}({}, {})", FunctionOf(e.op), DimText(e.a, depth + 1),
                         DimText(e.b, depth + 1));
  }
}

std::string Printer::ShapeText(const Type& type) const {
  if (!type.ranked) return "[?]";
  std::string out = "[";
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (i) out += ",";
    out += DimText(type.dims[i]);
  }
  return out + "]";
}

std::string Printer::TypeText(const Type& type, int depth) const {
  if (depth > kMaxDepth) return "!";
  auto elem = [&](size_t i) {
    return i < type.elems.size() ? TypeText(type.elems[i], depth + 1) : std::string("!");
  };
  auto list = [&](size_t begin, size_t end) {
    std::string out;
    for (size_t i = begin; i < end; ++i) out += (i > begin ? ", " : "") + elem(i);
    return out;
  };
  switch (type.kind) {
    case TypeKind::kUnknown:
      return "?";
    case TypeKind::kTensor:
      return std::string(DTypeName(type.dtype)) + ShapeText(type);
    case TypeKind::kSequence:
      return fmt::format("seq({})", elem(0));
    case TypeKind::kOptional:
      return fmt::format("optional({})", elem(0));
    case TypeKind::kMap:
      return fmt::format("map({}, {})", DTypeName(type.dtype), elem(0));
    case TypeKind::kTuple: {
      if (type.field_names.size() != type.elems.size()) {
        return fmt::format("tuple({})", list(0, type.elems.size()));
      }
      std::string out = "tuple(";
      for (size_t i = 0; i < type.elems.size(); ++i) {
        out += fmt::format("{}{}: {}", i ? ", " : "", Name(type.field_names[i]), elem(i));
      }
      return out + ")";
    }
    case TypeKind::kFunc: {
      const size_t split = std::min<size_t>(type.params, type.elems.size());
      std::string out =
          fmt::format("func(({}) -> ({})", list(0, split), list(split, type.elems.size()));
      for (size_t i = 0; i < type.candidates.size(); ++i) {
        out += fmt::format("{}{}", i ? ", " : ", [", FunctionName(type.candidates[i]));
      }
      return out + (type.candidates.empty() ? ")" : "])");
    }
    case TypeKind::kPack:
      return fmt::format("pack({})", FunctionName(type.fn));
    case TypeKind::kSparse:
      return fmt::format("sparse({}, {}, {})", DTypeName(type.dtype), ShapeText(type), elem(0));
    case TypeKind::kRagged:
      return fmt::format("ragged({}, {})", elem(0), elem(1));
    case TypeKind::kToken:
      return "token";
    case TypeKind::kZero:
      return fmt::format("zero({})", elem(0));
  }
  return "!";
}

}  // namespace ge::text
