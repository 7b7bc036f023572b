#include <fmt/format.h>

#include "frontend/text/elements.h"
#include "frontend/text/parser.h"

namespace ge::text {

Status Parser::ParseOneElement(const Type& type, std::string* bytes) {
  const size_t begin = at_;
  std::string text;
  if (Accept("-")) text.push_back('-');
  const bool number = Peek().kind == TokenKind::kInt || Peek().kind == TokenKind::kFloat;
  if (!number && Peek().kind != TokenKind::kWord) return Wanted("a number");
  text += Peek().text;
  if (!HasDecimalForm(type.dtype)) {
    return FailAt(Code::kDataCorrupt, begin,
                  fmt::format("found a number, wanted hex\"...\": elements of {} have no decimal "
                              "form here",
                              DTypeName(type.dtype)));
  }
  if (!ParseElement(type.dtype, text, bytes)) {
    return FailAt(
        Code::kDataCorrupt, begin,
        fmt::format("found '{}', wanted a number in the range of {}", text, DTypeName(type.dtype)));
  }
  ++at_;
  return Status();
}

// After '['. Nested lists are read in order; only the count is compared with the shape.
Status Parser::ParseElements(const Type& type, std::string* bytes, int64_t* count, int depth) {
  if (depth > limits_.max_depth) return Wanted("fewer nested lists");
  if (Accept("]")) return Status();
  do {
    if (Accept("[")) {
      GE_RETURN_IF_ERROR(ParseElements(type, bytes, count, depth + 1));
    } else {
      GE_RETURN_IF_ERROR(ParseOneElement(type, bytes));
      ++*count;
    }
  } while (Accept(","));
  return Expect("]", "after the elements");
}

Status Parser::ParseStrings(Const* constant) {
  GE_RETURN_IF_ERROR(ParseStringList(&constant->strings));
  return Status();
}

Status Parser::ParseExternal(Const* constant) {
  ExternalRef& e = constant->external;
  const size_t token = at_;
  GE_RETURN_IF_ERROR(String(&e.file, "a file name in quotes"));
  if (e.file.empty()) return FailAt(Code::kInvalidGraph, token, "found no file, wanted its name");
  GE_RETURN_IF_ERROR(Expect("@", "and the offset in bytes, as in @128"));
  GE_RETURN_IF_ERROR(Uint(&e.offset, UINT64_MAX, "the offset in bytes"));
  GE_RETURN_IF_ERROR(Expect("+", "and the length in bytes, as in +600"));
  GE_RETURN_IF_ERROR(Uint(&e.length, UINT64_MAX, "the length in bytes"));
  if (AcceptWord("sha256")) GE_RETURN_IF_ERROR(String(&e.sha256, "a digest in quotes"));
  return Status();
}

Status Parser::ParsePayload(Const* constant) {
  const size_t token = at_;
  std::string bytes;
  if (AcceptWord("external")) return ParseExternal(constant);
  if (IsKeyword("elided")) {
    return FailAt(Code::kUnsupported, token,
                  "the payload of this constant was elided when the text was printed; print it "
                  "again without eliding");
  }
  if (AcceptWord("splat")) {
    if (IsKeyword("hex")) {
      GE_RETURN_IF_ERROR(Hex(&bytes));
    } else {
      GE_RETURN_IF_ERROR(ParseOneElement(constant->type, &bytes));
    }
    const auto* p = reinterpret_cast<const std::byte*>(bytes.data());
    constant->splat.assign(p, p + bytes.size());
    return Status();
  }
  if (constant->type.is_tensor() && constant->type.dtype == DType::kString)
    return ParseStrings(constant);
  if (IsKeyword("hex")) {
    GE_RETURN_IF_ERROR(Hex(&bytes));
  } else {
    int64_t count = 0;
    if (Accept("[")) {
      GE_RETURN_IF_ERROR(ParseElements(constant->type, &bytes, &count, 0));
    } else {
      GE_RETURN_IF_ERROR(ParseOneElement(constant->type, &bytes));
      count = 1;
    }
    const auto wanted = ElementCount(constant->type);
    if (wanted && *wanted != count) {
      return FailAt(Code::kInvalidGraph, token,
                    fmt::format("found {} elements, wanted {} for {}", count, *wanted,
                                TypeToString(constant->type, g_.dims)));
    }
  }
  const Const made = MakeConst(Type(), bytes.data(), bytes.size());
  constant->owner = made.owner;
  constant->data = made.data;
  constant->bytes = made.bytes;
  return Status();
}

Status Parser::ParseConstBody(Const* constant) {
  GE_RETURN_IF_ERROR(ParseType(&constant->type, 0));
  GE_RETURN_IF_ERROR(Expect("=", "after the const's type"));
  return ParsePayload(constant);
}

// const b : f32[2] = [1, 2.5]
Status Parser::ParseConstStatement() {
  Label label;
  GE_RETURN_IF_ERROR(ParseLabel(&label, "the const's name"));
  GE_RETURN_IF_ERROR(Declare(&consts_, label, "const", static_cast<ConstId>(g_.consts.size())));
  Const c;
  c.name = label.name;
  GE_RETURN_IF_ERROR(Expect(":", "after the const's name"));
  GE_RETURN_IF_ERROR(ParseConstBody(&c));
  GE_RETURN_IF_ERROR(AcceptUnknown(&c.unknown_fields));
  g_.consts.push_back(std::move(c));
  return Status();
}

Status Parser::ParseLoneConst(Const* out) {
  GE_RETURN_IF_ERROR(ParseConstBody(out));
  if (Peek().kind != TokenKind::kEnd) return Wanted("the end of the text");
  return Status();
}

}  // namespace ge::text
