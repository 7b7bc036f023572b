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

std::string ShardingText(const Sharding& s) {
  static constexpr const char* kKinds[] = {"@none", "@replicated", "@sharded", "@partial"};
  if (s == Sharding()) return {};
  const char* kind = kKinds[static_cast<int>(s.kind)];
  return s.axes.empty() ? kind : fmt::format("{}({})", kind, fmt::join(s.axes, ","));
}

}  // namespace

std::string Printer::SumText(const DimTable::Expr& e, int depth) const {
  std::string out;
  for (const DimTable::Term& term : e.terms) {
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
  if (e.constant != 0 || e.terms.empty()) {
    if (!out.empty() && e.constant > 0) out += "+";
    out += std::to_string(e.constant);
  }
  return out;
}

std::string Printer::DimText(const Dim& d, int depth) const {
  if (d.known()) return std::to_string(d.value);
  if (depth > kMaxDepth) return "!";
  const DimTable::Expr& e = g_.dims.expr(d.expr);
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

std::string Printer::ShapeText(const Type& t) const {
  if (!t.ranked) return "[?]";
  std::string out = "[";
  for (size_t i = 0; i < t.dims.size(); ++i) {
    if (i) out += ",";
    out += DimText(t.dims[i]);
  }
  return out + "]";
}

std::string Printer::TypeText(const Type& t, int depth) const {
  if (depth > kMaxDepth) return "!";
  auto elem = [&](size_t i) {
    return i < t.elems.size() ? TypeText(t.elems[i], depth + 1) : std::string("!");
  };
  auto list = [&](size_t begin, size_t end) {
    std::string out;
    for (size_t i = begin; i < end; ++i) out += (i > begin ? ", " : "") + elem(i);
    return out;
  };
  switch (t.kind) {
    case TypeKind::kUnknown:
      return "?";
    case TypeKind::kTensor:
      return std::string(DTypeName(t.dtype)) + ShapeText(t) + ShardingText(t.sharding);
    case TypeKind::kSequence:
      return fmt::format("seq({})", elem(0));
    case TypeKind::kOptional:
      return fmt::format("optional({})", elem(0));
    case TypeKind::kMap:
      return fmt::format("map({}, {})", DTypeName(t.dtype), elem(0));
    case TypeKind::kTuple: {
      if (t.field_names.size() != t.elems.size()) {
        return fmt::format("tuple({})", list(0, t.elems.size()));
      }
      std::string out = "tuple(";
      for (size_t i = 0; i < t.elems.size(); ++i) {
        out += fmt::format("{}{}: {}", i ? ", " : "", Name(t.field_names[i]), elem(i));
      }
      return out + ")";
    }
    case TypeKind::kFunc: {
      const size_t split = std::min<size_t>(t.params, t.elems.size());
      std::string out =
          fmt::format("func(({}) -> ({})", list(0, split), list(split, t.elems.size()));
      for (size_t i = 0; i < t.candidates.size(); ++i) {
        out += fmt::format("{}{}", i ? ", " : ", [", FunctionName(t.candidates[i]));
      }
      return out + (t.candidates.empty() ? ")" : "])");
    }
    case TypeKind::kPack:
      return fmt::format("pack({})", FunctionName(t.fn));
    case TypeKind::kSparse:
      return fmt::format("sparse({}, {}, {})", DTypeName(t.dtype), ShapeText(t), elem(0));
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
