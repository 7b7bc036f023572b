#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "frontend/text/parser.h"
#include "frontend/text/plan_fields.h"
#include "frontend/text/plan_text.h"

namespace ge {
namespace text {
namespace {

constexpr int64_t kPlanVersion = 1;

}  // namespace

class PlanParser : Parser {
 public:
  PlanParser(std::vector<Token> tokens, std::string_view file, const ParseLimits& limits)
      : Parser(std::move(tokens), file, limits) {}

  Status Run(Plan* plan) {
    if (!AcceptWord("plan")) return Wanted("'plan' and the version, as in \"plan 1\"");
    const size_t token = at_;
    int64_t version = 0;
    GE_RETURN_IF_ERROR(Int(&version, "the version, as in \"plan 1\""));
    if (version != kPlanVersion) {
      return FailAt(
          version > kPlanVersion ? Code::kUnsupported : Code::kDataCorrupt, token,
          fmt::format("the plan has version {}, this version reads {}", version, kPlanVersion));
    }
    GE_RETURN_IF_ERROR(ParseFields(plan));
    while (Peek().kind != TokenKind::kEnd) GE_RETURN_IF_ERROR(ParseStatement(plan));
    return Status();
  }

 private:
  Status ParseStatement(Plan* plan) {
    if (AcceptWord("engine")) return Named(&plan->engines);
    if (AcceptWord("device")) return Named(&plan->devices);
    if (AcceptWord("domain")) return Named(&plan->domains);
    if (AcceptWord("link")) return ParseFields(&plan->links.emplace_back());
    if (AcceptWord("layout")) return Numbered(&plan->layouts);
    if (AcceptWord("conversion")) return Numbered(&plan->conversions);
    if (AcceptWord("function")) return ParsePlanFunction(plan);
    if (AcceptWord("node")) {
      NodeReport& node = plan->report.emplace_back();
      GE_RETURN_IF_ERROR(Uint32(&node.node, "a node id"));
      GE_RETURN_IF_ERROR(String(&node.label, "the node's label in quotes"));
      return ParseFields(&node);
    }
    if (IsKeyword("bid") && !plan->report.empty()) {
      ++at_;
      return ParseFields(&plan->report.back().bids.emplace_back());
    }
    return Wanted(
        "engine, device, domain, link, layout, conversion, function, node, or bid after a node");
  }

  // The number of the next thing of a table: "value 5" must come after "value 4".
  Status Number(size_t wanted) {
    const size_t token = at_;
    uint32_t found = 0;
    GE_RETURN_IF_ERROR(Uint32(&found, "a number"));
    if (found == wanted) return Status();
    return FailAt(
        Code::kInvalidGraph, token,
        fmt::format("found number {}, wanted {}: things are numbered in order", found, wanted));
  }
  template <typename T>
  Status Numbered(std::vector<T>* table) {
    GE_RETURN_IF_ERROR(Number(table->size()));
    return ParseFields(&table->emplace_back());
  }
  template <typename T>
  Status Named(std::vector<T>* table) {
    GE_RETURN_IF_ERROR(Number(table->size()));
    GE_RETURN_IF_ERROR(String(&table->emplace_back().name, "a name in quotes"));
    return ParseFields(&table->back());
  }

  Status ParsePlanFunction(Plan* plan) {
    GE_RETURN_IF_ERROR(Number(plan->functions.size()));
    PlanFunction& f = plan->functions.emplace_back();
    f.values.resize(1);
    GE_RETURN_IF_ERROR(String(&f.name, "the function's name in quotes"));
    GE_RETURN_IF_ERROR(ParseFields(&f));
    GE_RETURN_IF_ERROR(Expect("{", "and the body of the function"));
    while (!AcceptWord("code")) GE_RETURN_IF_ERROR(ParseDeclaration(&f));
    GE_RETURN_IF_ERROR(Expect(":", "after 'code'"));
    while (!Accept("}")) {
      Instruction& i = f.code.emplace_back();
      GE_RETURN_IF_ERROR(Field(&i.op));
      GE_RETURN_IF_ERROR(ParseFields(&i));
    }
    return Status();
  }

  Status ParseDeclaration(PlanFunction* f) {
    if (AcceptWord("stream")) return Numbered(&f->streams);
    if (AcceptWord("event")) return Numbered(&f->events);
    if (AcceptWord("arena")) return Numbered(&f->arenas);
    if (AcceptWord("segment")) return Numbered(&f->segments);
    if (AcceptWord("value")) return ParseValue(f);
    if (IsKeyword("offer") && !f->segments.empty()) {
      ++at_;
      return ParseFields(&f->segments.back().offers.emplace_back());
    }
    return Wanted("stream, event, arena, value, segment, offer after a segment, or code");
  }

  Status ParseValue(PlanFunction* f) {
    GE_RETURN_IF_ERROR(Number(f->values.size()));
    PlanValue& v = f->values.emplace_back();
    GE_RETURN_IF_ERROR(String(&v.name, "the value's name in quotes"));
    GE_RETURN_IF_ERROR(Expect(":", "and the value's type"));
    const size_t token = at_;
    GE_RETURN_IF_ERROR(ParseType(&v.type, 0));
    const auto unknown = [](Dim d) { return !d.known(); };
    if (std::any_of(v.type.dims.begin(), v.type.dims.end(), unknown) || !v.type.elems.empty()) {
      return FailAt(Code::kInvalidGraph, token,
                    "found a type with symbols or elements, wanted a tensor type of known sizes");
    }
    GE_RETURN_IF_ERROR(Field(&v.kind));
    return ParseFields(&v);
  }

  // NAME=VALUE as long as there are any.
  template <typename T>
  Status ParseFields(T* x) {
    while (Peek().kind == TokenKind::kWord && IsPunct("=", 1)) {
      const Token name = Peek();
      bool known = false;
      std::string names;
      Status status;
      Fields(
          [&](std::string_view field_name, auto& field, const auto&) {
            names += (names.empty() ? "" : ", ") + std::string(field_name);
            if (known || name.text != field_name) return;
            known = true;
            at_ += 2;
            status = Field(&field);
          },
          *x, T());
      GE_RETURN_IF_ERROR(status);
      if (!known) return Wanted("one of " + names);
    }
    return Status();
  }

  Status Field(std::string* out) { return String(out, "a string in quotes"); }
  Status Field(bool* out) {
    *out = IsKeyword("true");
    if (!*out && !IsKeyword("false")) return Wanted("true or false");
    ++at_;
    return Status();
  }
  Status Field(uint64_t* out) { return Uint(out, UINT64_MAX, "a number"); }
  Status Field(uint32_t* out) { return Uint32(out, "a number"); }
  Status Field(int64_t* out) { return Int(out, "a number"); }
  Status Field(int32_t* out) {
    const size_t token = at_;
    int64_t wide = 0;
    GE_RETURN_IF_ERROR(Int(&wide, "a number"));
    if (wide < INT32_MIN || wide > INT32_MAX) {
      return FailAt(Code::kDataCorrupt, token, "found a number of more than 32 bits");
    }
    *out = static_cast<int32_t>(wide);
    return Status();
  }
  Status Field(double* out) {
    const bool minus = Accept("-");
    if (IsKeyword("inf") || IsKeyword("nan")) {
      *out = IsKeyword("inf") ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
    } else {
      const std::string_view text = Peek().text;
      const bool number = Peek().kind == TokenKind::kInt || Peek().kind == TokenKind::kFloat;
      if (!number ||
          std::from_chars(text.data(), text.data() + text.size(), *out).ec != std::errc()) {
        return Wanted("a number");
      }
    }
    ++at_;
    if (minus) *out = -*out;
    return Status();
  }
  template <typename E>
  requires std::is_enum_v<E> Status Field(E* out) {
    const auto& names = EnumNames<E>::names;
    const auto it = std::find(names.begin(), names.end(), Peek().text);
    if (Peek().kind != TokenKind::kWord || it == names.end()) {
      return Wanted(fmt::format("one of {}", fmt::join(names, ", ")));
    }
    *out = static_cast<E>(it - names.begin());
    ++at_;
    return Status();
  }
  template <typename A, typename B>
  Status Field(std::pair<A, B>* out) {
    GE_RETURN_IF_ERROR(Field(&out->first));
    GE_RETURN_IF_ERROR(Expect(":", "between the numbers of a pair"));
    return Field(&out->second);
  }
  template <typename T>
  Status Field(std::vector<T>* out) {
    GE_RETURN_IF_ERROR(Expect("[", "and a list"));
    out->clear();
    while (!Accept("]")) {
      GE_RETURN_IF_ERROR(Field(&out->emplace_back()));
      if (!Accept(",") && !IsPunct("]")) return Wanted("',' or ']' after an element");
    }
    return Status();
  }
};

}  // namespace text

Result<Plan> ParsePlan(std::string_view text, std::string_view file_name,
                       const ParseLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Status(Code::kLimitExceeded, fmt::format("{}: the text has {} bytes, the limit is {}",
                                                    file_name, text.size(), limits.max_bytes));
  }
  GE_ASSIGN_OR_RETURN(std::vector<text::Token> tokens, text::Lex(text, file_name));
  Plan plan;
  GE_RETURN_IF_ERROR(text::PlanParser(std::move(tokens), file_name, limits).Run(&plan));
  return plan;
}

}  // namespace ge
