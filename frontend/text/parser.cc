#include "frontend/text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "frontend/text/kinds.h"

namespace ge {
namespace text {
namespace {

constexpr int64_t kIrVersion = 1;

std::string Describe(const Token& t) {
  constexpr size_t kLongest = 40;
  const std::string text(t.text.substr(0, kLongest));
  const char* dots = t.text.size() > kLongest ? "..." : "";
  switch (t.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kString:
      return fmt::format("the string \"{}{}\"", text, dots);
    default:
      return fmt::format("'{}{}'", text, dots);
  }
}

}  // namespace

// ---- the cursor ---------------------------------------------------------------------------------

const Token& Parser::Peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}
bool Parser::IsPunct(std::string_view text, size_t ahead) const {
  return Peek(ahead).kind == TokenKind::kPunct && Peek(ahead).text == text;
}
bool Parser::IsKeyword(std::string_view text, size_t ahead) const {
  return Peek(ahead).kind == TokenKind::kWord && Peek(ahead).text == text;
}
bool Parser::Accept(std::string_view punct) {
  if (!IsPunct(punct)) return false;
  ++at_;
  return true;
}
bool Parser::AcceptWord(std::string_view word) {
  if (!IsKeyword(word)) return false;
  ++at_;
  return true;
}

Status Parser::FailAt(Code code, size_t token, const std::string& what) const {
  const Token& t = tokens_[std::min(token, tokens_.size() - 1)];
  return Status(code, fmt::format("{}:{}:{}: {}", file_, t.line, t.column, what));
}
Status Parser::Wanted(std::string_view wanted) const {
  return FailAt(Code::kDataCorrupt, at_,
                fmt::format("found {}, wanted {}", Describe(Peek()), wanted));
}
Status Parser::Expect(std::string_view punct, std::string_view where) {
  if (Accept(punct)) return Status();
  return Wanted(fmt::format("'{}' {}", punct, where));
}

bool Parser::OnSameLine() const { return at_ > 0 && Peek().line == tokens_[at_ - 1].line; }
bool Parser::AtName(size_t ahead) const {
  return Peek(ahead).kind == TokenKind::kWord || Peek(ahead).kind == TokenKind::kString;
}

Status Parser::String(std::string* out, std::string_view wanted) {
  if (Peek().kind != TokenKind::kString) return Wanted(wanted);
  if (!Unquote(Peek().text, out)) {
    return FailAt(Code::kDataCorrupt, at_,
                  "found an escape that means nothing in a string, wanted \\\" \\\\ \\n \\t or "
                  "\\xHH");
  }
  ++at_;
  return Status();
}

Status Parser::Name(std::string* out, std::string_view wanted) {
  if (Peek().kind == TokenKind::kString) return String(out, wanted);
  if (Peek().kind != TokenKind::kWord) return Wanted(wanted);
  *out = Peek().text;
  ++at_;
  return Status();
}

// hex"0011"
Status Parser::Hex(std::string* out) {
  if (!AcceptWord("hex") || Peek().kind != TokenKind::kString) return Wanted("hex\"...\"");
  if (!FromHex(Peek().text, out)) return Wanted("an even number of hex digits");
  ++at_;
  return Status();
}

Status Parser::AcceptUnknown(std::string* out) {
  if (!AcceptWord("unknown")) return Status();
  return Hex(out);
}

Status Parser::Int(int64_t* out, std::string_view wanted) {
  const size_t begin = at_;
  const bool minus = Accept("-");
  if (Peek().kind != TokenKind::kInt) return Wanted(wanted);
  const std::string text = (minus ? "-" : "") + std::string(Peek().text);
  const auto r = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (r.ec != std::errc()) {
    return FailAt(Code::kDataCorrupt, begin,
                  fmt::format("found {}, wanted a number of at most 64 bits", text));
  }
  ++at_;
  return Status();
}

Status Parser::Uint(uint64_t* out, uint64_t most, std::string_view wanted) {
  if (Peek().kind != TokenKind::kInt) return Wanted(wanted);
  const std::string_view text = Peek().text;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (r.ec != std::errc() || *out > most) {
    return FailAt(
        Code::kDataCorrupt, at_,
        fmt::format("found {}, wanted {} of at most {}", text.substr(0, 40), wanted, most));
  }
  ++at_;
  return Status();
}

Status Parser::Uint32(uint32_t* out, std::string_view wanted) {
  uint64_t wide = 0;
  GE_RETURN_IF_ERROR(Uint(&wide, UINT32_MAX, wanted));
  *out = static_cast<uint32_t>(wide);
  return Status();
}

// NAME, %N or NAME%N
Status Parser::ParseLabel(Label* out, std::string_view wanted) {
  out->token = at_;
  out->name.clear();
  const bool named = AtName();
  if (named) GE_RETURN_IF_ERROR(Name(&out->name, wanted));
  if (!named && !IsPunct("%")) return Wanted(wanted);
  out->key = out->name;
  // The number belongs to a name only when it touches it: a new statement may begin with '%'.
  const Token& last = tokens_[at_ - (named ? 1 : 0)];
  const char* end = last.text.data() + last.text.size() + (last.kind == TokenKind::kString ? 1 : 0);
  if (!(named ? IsPunct("%") && Peek().text.data() == end && Accept("%") : Accept("%"))) {
    if (!out->name.empty()) return Status();
    at_ = out->token;
    return Wanted(std::string(wanted) + " that is not empty");
  }
  uint32_t number = 0;
  GE_RETURN_IF_ERROR(Uint32(&number, "a number after '%'"));
  out->key += '\0' + std::to_string(number);
  return Status();
}

Status Parser::Find(const Labels& table, const Label& label, std::string_view kind,
                    uint32_t* id) const {
  const auto it = table.find(label.key);
  if (it == table.end()) {
    const size_t last = tokens_[label.token].kind == TokenKind::kPunct ? 1 : 0;
    return FailAt(Code::kInvalidGraph, label.token,
                  fmt::format("found {}, wanted the name of a {}; none is so named{}",
                              Describe(tokens_[label.token + last]), kind,
                              kind == "const" ? " above this line" : ""));
  }
  *id = it->second;
  return Status();
}

Status Parser::Reference(const Labels& table, std::string_view kind, uint32_t* id) {
  Label label;
  GE_RETURN_IF_ERROR(ParseLabel(&label, fmt::format("the name of a {}", kind)));
  return Find(table, label, kind, id);
}

Status Parser::Declare(Labels* table, const Label& label, std::string_view kind,
                       uint32_t id) const {
  if (table->try_emplace(label.key, id).second) return Status();
  return FailAt(Code::kInvalidGraph, label.token,
                fmt::format("found a second {} named {}, wanted another name or a '%' number after "
                            "it",
                            kind, Quote(label.name)));
}

// ---- the module ---------------------------------------------------------------------------------

// Functions and states may be named before their text comes, so their ids are given first.
void Parser::Prescan() {
  int depth = 0;
  const size_t end = tokens_.size();
  for (at_ = 0; at_ < end; ++at_) {
    if (Peek().kind == TokenKind::kPunct) {
      const char c = Peek().text[0];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
    }
    const bool fn = IsKeyword("fn");
    if (depth != 0 || !(fn || IsKeyword("state"))) continue;
    ++at_;
    Label label;
    Status s = ParseLabel(&label, "a name");
    if (s.ok() && fn) {
      Function& f = g_.AddFunction(label.name);
      s = Declare(&functions_, label, "function", f.id);
    } else if (s.ok()) {
      g_.states.emplace_back().name = label.name;
      s = Declare(&states_, label, "state", static_cast<StateId>(g_.states.size() - 1));
    }
    if (prescan_.ok()) prescan_ = s;
    --at_;
  }
  at_ = 0;
}

Status Parser::CheckPrescanned(const Labels& table, const Label& label, uint32_t next) const {
  GE_RETURN_IF_ERROR(prescan_);
  const auto it = table.find(label.key);
  if (it != table.end() && it->second == next) return Status();
  return FailAt(Code::kDataCorrupt, label.token,
                "found brackets that do not match above this line, wanted one ')', ']' or '}' for "
                "each that is opened");
}

Status Parser::ParseVersion() {
  if (!AcceptWord("ge")) return Wanted("'ge' and the version, as in \"ge 1\"");
  const size_t token = at_;
  GE_RETURN_IF_ERROR(Int(&g_.ir_version, "the version, as in \"ge 1\""));
  if (g_.ir_version > kIrVersion) {
    return FailAt(Code::kUnsupported, token,
                  fmt::format("the text has version {}, this version reads up to {}; update "
                              "GraphEngine",
                              g_.ir_version, kIrVersion));
  }
  if (g_.ir_version < 1) {
    return FailAt(Code::kDataCorrupt, token,
                  fmt::format("found version {}, wanted 1", g_.ir_version));
  }
  return Status();
}

Status Parser::ParseModule() {
  Prescan();
  GE_RETURN_IF_ERROR(ParseVersion());
  while (Peek().kind != TokenKind::kEnd) GE_RETURN_IF_ERROR(ParseStatement());
  GE_RETURN_IF_ERROR(prescan_);
  for (const PendingMaster& p : masters_) {
    GE_RETURN_IF_ERROR(Find(states_, p.master, "state", &g_.states[p.state].master_of));
  }
  return Status();
}

Status Parser::ParseStatement() {
  if (AcceptWord("module")) return String(&g_.name, "the module's name in quotes");
  if (AcceptWord("producer")) return String(&g_.producer, "the producer in quotes");
  if (AcceptWord("opset")) return ParseOpset();
  if (AcceptWord("meta")) return ParseMeta();
  if (AcceptWord("symbol")) return ParseSymbol();
  if (AcceptWord("loc")) return ParseLoc();
  if (AcceptWord("const")) return ParseConstStatement();
  if (AcceptWord("state")) return ParseState();
  if (AcceptWord("fn")) return ParseFunction();
  if (AcceptWord("entry")) return ParseEntry();
  if (IsKeyword("unknown")) return AcceptUnknown(&g_.unknown_fields);
  return Wanted("one of module, producer, opset, meta, symbol, loc, const, state, fn, entry");
}

Status Parser::ParseOpset() {
  std::string domain;
  GE_RETURN_IF_ERROR(String(&domain, "the opset's domain in quotes"));
  return Int(&g_.opsets[domain], "the opset's version");
}

Status Parser::ParseMeta() {
  std::string key;
  GE_RETURN_IF_ERROR(String(&key, "a key in quotes"));
  GE_RETURN_IF_ERROR(Expect("=", "after the key"));
  return String(&g_.meta[key], "a value in quotes");
}

// symbol N in 1..64 multiple 2 from "x axis 0" data_dependent
Status Parser::ParseSymbol() {
  Symbol s;
  const size_t token = at_;
  GE_RETURN_IF_ERROR(Name(&s.name, "the symbol's name"));
  if (s.name.empty()) return FailAt(Code::kInvalidGraph, token, "found a symbol without a name");
  if (AcceptWord("in")) {
    GE_RETURN_IF_ERROR(Int(&s.min, "the least size"));
    GE_RETURN_IF_ERROR(Expect("..", "between the least and the greatest size"));
    if (Peek().kind == TokenKind::kInt) GE_RETURN_IF_ERROR(Int(&s.max, "the greatest size"));
  }
  if (AcceptWord("multiple")) GE_RETURN_IF_ERROR(Int(&s.multiple_of, "a number"));
  if (AcceptWord("from")) GE_RETURN_IF_ERROR(String(&s.origin, "the origin in quotes"));
  s.data_dependent = AcceptWord("data_dependent");
  if (s.min < 0 || s.max < s.min || s.multiple_of < 1) {
    return FailAt(Code::kInvalidGraph, token,
                  fmt::format("symbol {} has the range {}..{} in multiples of {}; wanted 0 <= min "
                              "<= max and a positive multiple",
                              Quote(s.name), s.min, s.max, s.multiple_of));
  }
  if (g_.dims.FindSymbol(s.name) != 0) {
    return FailAt(Code::kInvalidGraph, token,
                  fmt::format("found a second symbol {}, wanted it before its first use and once",
                              Quote(s.name)));
  }
  g_.dims.AddSymbol(s);
  return Status();
}

// loc 1 = "file.py":12:3-12:20 scope "Net.layer1" caller 2
Status Parser::ParseLoc() {
  Loc l;
  const size_t token = at_;
  uint32_t id = 0;
  GE_RETURN_IF_ERROR(Uint32(&id, "the location's number"));
  if (id != g_.locs.size()) {
    return FailAt(Code::kInvalidGraph, token,
                  fmt::format("found location {}, wanted {}: locations are numbered in order", id,
                              g_.locs.size()));
  }
  GE_RETURN_IF_ERROR(Expect("=", "after the location's number"));
  GE_RETURN_IF_ERROR(String(&l.file, "a file name in quotes"));
  GE_RETURN_IF_ERROR(Expect(":", "after the file name"));
  GE_RETURN_IF_ERROR(Uint32(&l.line, "a line"));
  GE_RETURN_IF_ERROR(Expect(":", "after the line"));
  GE_RETURN_IF_ERROR(Uint32(&l.col, "a column"));
  if (Accept("-")) {
    GE_RETURN_IF_ERROR(Uint32(&l.end_line, "the last line"));
    GE_RETURN_IF_ERROR(Expect(":", "after the last line"));
    GE_RETURN_IF_ERROR(Uint32(&l.end_col, "the last column"));
  }
  if (AcceptWord("scope")) GE_RETURN_IF_ERROR(String(&l.scope, "the scope in quotes"));
  const size_t caller = at_ + 1;
  if (AcceptWord("caller")) GE_RETURN_IF_ERROR(Uint32(&l.caller, "a location's number"));
  if (l.caller >= id) {
    return FailAt(
        Code::kInvalidGraph, caller,
        fmt::format("found caller {}, wanted a number below {}: callers come first", l.caller, id));
  }
  g_.locs.push_back(std::move(l));
  return Status();
}

Status Parser::ParseStateClause(State* state) {
  if (AcceptWord("trainable")) {
    state->trainable = true;
  } else if (AcceptWord("alias")) {
    return String(&state->alias_group, "the alias group in quotes");
  } else if (AcceptWord("master")) {
    masters_.push_back({static_cast<StateId>(state - g_.states.data()), {}});
    return ParseLabel(&masters_.back().master, "the name of a state");
  } else if (AcceptWord("init")) {
    Label label;
    GE_RETURN_IF_ERROR(ParseLabel(&label, "a const, or a function and ()"));
    if (!Accept("(")) return Find(consts_, label, "const", &state->init);
    GE_RETURN_IF_ERROR(Expect(")", "after '('"));
    return Find(functions_, label, "function", &state->init_fn);
  } else {
    return AcceptUnknown(&state->unknown_fields);
  }
  return Status();
}

// state s : f32[10] param trainable init b alias "g" master m
Status Parser::ParseState() {
  Label label;
  GE_RETURN_IF_ERROR(ParseLabel(&label, "the state's name"));
  GE_RETURN_IF_ERROR(CheckPrescanned(states_, label, next_state_));
  State& s = g_.states[next_state_++];
  GE_RETURN_IF_ERROR(Expect(":", "after the state's name"));
  GE_RETURN_IF_ERROR(ParseType(&s.type, 0));
  const auto* kind = std::find(std::begin(kStateKinds), std::end(kStateKinds), Peek().text);
  if (Peek().kind != TokenKind::kWord || kind == std::end(kStateKinds)) {
    return Wanted(fmt::format("the state's kind: {}", fmt::join(kStateKinds, ", ")));
  }
  ++at_;
  s.kind = static_cast<State::Kind>(kind - kStateKinds);
  for (size_t before = 0; before != at_;) {
    before = at_;
    GE_RETURN_IF_ERROR(ParseStateClause(&s));
  }
  return Status();
}

// entry infer "main" = main
Status Parser::ParseEntry() {
  Entry e;
  const auto* role = std::find(std::begin(kRoles), std::end(kRoles), Peek().text);
  if (Peek().kind != TokenKind::kWord || role == std::end(kRoles)) {
    return Wanted(fmt::format("the entry's role: {}", fmt::join(kRoles, ", ")));
  }
  ++at_;
  e.role = static_cast<Entry::Role>(role - kRoles);
  GE_RETURN_IF_ERROR(String(&e.name, "the entry's name in quotes"));
  GE_RETURN_IF_ERROR(Expect("=", "after the entry's name"));
  GE_RETURN_IF_ERROR(Reference(functions_, "function", &e.fn));
  GE_RETURN_IF_ERROR(AcceptUnknown(&e.unknown_fields));
  g_.entries.push_back(std::move(e));
  return Status();
}

}  // namespace text

namespace {

Result<text::Parser> MakeParser(std::string_view text, std::string_view file_name,
                                const ParseLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Status(Code::kLimitExceeded, fmt::format("{}: the text has {} bytes, the limit is {}",
                                                    file_name, text.size(), limits.max_bytes));
  }
  GE_ASSIGN_OR_RETURN(std::vector<text::Token> tokens, text::Lex(text, file_name));
  return text::Parser(std::move(tokens), file_name, limits);
}

}  // namespace

Result<Graph> ParseText(std::string_view text, std::string_view file_name,
                        const ParseLimits& limits) {
  GE_ASSIGN_OR_RETURN(text::Parser parser, MakeParser(text, file_name, limits));
  GE_RETURN_IF_ERROR(parser.ParseModule());
  return parser.TakeGraph();
}

Result<Const> ParseConst(std::string_view text, std::string_view file_name,
                         const ParseLimits& limits) {
  GE_ASSIGN_OR_RETURN(text::Parser parser, MakeParser(text, file_name, limits));
  Const c;
  GE_RETURN_IF_ERROR(parser.ParseLoneConst(&c));
  return c;
}

bool LooksLikeText(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++i;
    } else {
      break;
    }
  }
  return text.size() >= i + 3 && text.substr(i, 2) == "ge" &&
         (text[i + 2] == ' ' || text[i + 2] == '\t');
}

}  // namespace ge
