#include "frontend/text/lexer.h"

#include <fmt/format.h>

namespace ge::text {
namespace {

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> out;
    for (;;) {
      SkipBlanks();
      Token t;
      t.line = line_;
      t.column = static_cast<uint32_t>(at_ - line_begin_ - continuation_ + 1);
      GE_RETURN_IF_ERROR(Next(&t));
      out.push_back(t);
      if (t.kind == TokenKind::kEnd) return out;
    }
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_;
        ++line_;
        line_begin_ = at_;
        continuation_ = 0;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#' || (c == '/' && Peek(1) == '/')) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  Status Next(Token* t) {
    const size_t begin = at_;
    if (at_ >= text_.size()) return Status();
    const char c = text_[at_];
    if (c == '"') return String(t);
    if (IsWordStart(c)) {
      t->kind = TokenKind::kWord;
      while (IsWordStart(Peek()) || IsDigit(Peek())) ++at_;
    } else if (IsDigit(c)) {
      Number(t);
    } else if ((c == '-' && Peek(1) == '>') || (c == '.' && Peek(1) == '.')) {
      t->kind = TokenKind::kPunct;
      at_ += 2;
    } else if (std::string_view("()[]{},:;=@+-*.%$?").find(c) != std::string_view::npos) {
      t->kind = TokenKind::kPunct;
      ++at_;
    } else {
      return Fail(*t, fmt::format("found the character {}, wanted a name, a number or a string; "
                                  "put unusual names in quotes",
                                  Quote(text_.substr(at_, 1))));
    }
    t->text = text_.substr(begin, at_ - begin);
    return Status();
  }

  // Digits, then at most one fraction and one exponent. "1..4" is a range, not a fraction.
  void Number(Token* t) {
    t->kind = TokenKind::kInt;
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.' && IsDigit(Peek(1))) {
      t->kind = TokenKind::kFloat;
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 2 : 1;
    if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(sign))) {
      t->kind = TokenKind::kFloat;
      at_ += sign;
      while (IsDigit(Peek())) ++at_;
    }
  }

  Status String(Token* t) {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && (text_[at_] & 0xc0) == 0x80) ++continuation_;
      ++at_;
    }
    if (at_ >= text_.size() || text_[at_] != '"') {
      return Fail(*t, "found a string without an end, wanted a closing quote in the same line");
    }
    t->kind = TokenKind::kString;
    t->text = text_.substr(begin, at_ - begin);
    ++at_;
    return Status();
  }

  Status Fail(const Token& t, const std::string& what) const {
    return Status(Code::kDataCorrupt, fmt::format("{}:{}:{}: {}", file_, t.line, t.column, what));
  }

  std::string_view text_, file_;
  size_t at_ = 0, line_begin_ = 0;
  size_t continuation_ = 0;  // bytes of the line that continue a UTF-8 character: no column each
  uint32_t line_ = 1;
};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Length of the UTF-8 sequence that begins at text[i]; 0 when it is none. Overlong forms and
// surrogates pass: this decides only what is printed as it is.
size_t Utf8Length(std::string_view text, size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  const size_t n = lead >= 0xf0 && lead < 0xf8   ? 4
                   : lead >= 0xe0 && lead < 0xf0 ? 3
                   : lead >= 0xc2 && lead < 0xe0 ? 2
                                                 : 0;
  if (n == 0 || i + n > text.size()) return 0;
  for (size_t k = 1; k < n; ++k) {
    if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return 0;
  }
  return n;
}

}  // namespace

Result<std::vector<Token>> Lex(std::string_view text, std::string_view file_name) {
  return Lexer(text, file_name).Run();
}

bool IsWord(std::string_view text) {
  if (text.empty() || !IsWordStart(text[0])) return false;
  for (const char c : text) {
    if (!IsWordStart(c) && !IsDigit(c)) return false;
  }
  return true;
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else if (const size_t n = Utf8Length(text, i)) {
      out.append(text, i, n);
      i += n - 1;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += '"';
  return out;
}

bool Unquote(std::string_view inner, std::string* out) {
  out->clear();
  out->reserve(inner.size());
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\') {
      out->push_back(inner[i]);
      continue;
    }
    if (++i >= inner.size()) return false;
    switch (inner[i]) {
      case '"':
      case '\\':
        out->push_back(inner[i]);
        break;
      case 'n':
        out->push_back('\n');
        break;
      case 't':
        out->push_back('\t');
        break;
      case 'x': {
        if (i + 2 >= inner.size()) return false;
        const int high = HexDigit(inner[i + 1]), low = HexDigit(inner[i + 2]);
        if (high < 0 || low < 0) return false;
        out->push_back(static_cast<char>(high * 16 + low));
        i += 2;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

std::string ToHex(const void* bytes, size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto* p = static_cast<const unsigned char*>(bytes);
  std::string out(size * 2, '0');
  for (size_t i = 0; i < size; ++i) {
    out[2 * i] = kDigits[p[i] >> 4];
    out[2 * i + 1] = kDigits[p[i] & 15];
  }
  return out;
}

bool FromHex(std::string_view hex, std::string* out) {
  if (hex.size() % 2 != 0) return false;
  out->assign(hex.size() / 2, '\0');
  for (size_t i = 0; i < out->size(); ++i) {
    const int high = HexDigit(hex[2 * i]), low = HexDigit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    (*out)[i] = static_cast<char>(high * 16 + low);
  }
  return true;
}

}  // namespace ge::text
