#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "ge/base/text/utf8.h"
#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// RE2 matches in time linear in the text, whatever the pattern; this bounds what one may take.
constexpr int64_t kMostTokenPatternBytes = int64_t{8} << 20;
constexpr size_t kTokensPerCheck = 4096;  // tokens between two looks at what memory is left

bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

size_t NextCharacter(std::string_view text, size_t at) {
  for (++at; at < text.size() && !BeginsCharacter(text[at]);) ++at;
  return at;
}

class Tokenizer {
 public:
  static Result<Tokenizer> Make(HostCall* call) {
    Tokenizer t(call);
    const Node& n = call->node;
    t.least_ = AttrInt(n, "mincharnum");
    const Attr* given = n.attr("separators");
    const auto* list = given ? std::get_if<std::vector<std::string>>(&given->value) : nullptr;
    if (list == nullptr) {
      GE_RETURN_IF_ERROR(t.Add("tokenexp", std::string(AttrString(n, "tokenexp"))));
      t.matches_are_tokens_ = true;
      return t;
    }
    t.characters_ = list->size() == 1 && list->front().empty();
    if (t.characters_ && t.least_ != 1) {
      return Status(Code::kInvalidArgument,
                    fmt::format("attribute 'mincharnum' is {}, wanted 1: an empty separator makes "
                                "each character a token",
                                t.least_));
    }
    if (t.characters_) return t;
    for (const std::string& pattern : *list) GE_RETURN_IF_ERROR(t.Add("separators", pattern));
    return t;
  }

  // The tokens of one text.
  Result<std::vector<std::string>> Of(std::string_view text) {
    row_.clear();
    if (!IsUtf8(text)) {
      return Status(Code::kInvalidArgument, "a text of input 'X' is no UTF-8");
    }
    if (characters_) {
      for (size_t at = 0; at < text.size();) {
        const size_t end = NextCharacter(text, at);
        GE_RETURN_IF_ERROR(Keep(text.substr(at, end - at)));
        at = end;
      }
    } else if (matches_are_tokens_) {
      GE_RETURN_IF_ERROR(Match(text));
    } else {
      GE_RETURN_IF_ERROR(Cut(text));
    }
    return std::move(row_);
  }

  uint64_t bytes() const { return bytes_; }

 private:
  explicit Tokenizer(HostCall* call) : call_(call) {}

  Status Add(const char* attribute, const std::string& pattern) {
    re2::RE2::Options options(re2::RE2::Quiet);
    options.set_max_mem(kMostTokenPatternBytes);
    options.set_longest_match(true);
    patterns_.push_back(std::make_unique<re2::RE2>(pattern, options));
    if (patterns_.back()->ok()) return {};
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute '{}' has '{:.200}', which is no regular expression of "
                              "RE2: {}",
                              attribute, pattern, patterns_.back()->error()));
  }

  Status Match(std::string_view text) {
    re2::StringPiece found;
    for (size_t at = 0; at < text.size();) {
      if (!Find(*patterns_[0], text, at, &found)) break;
      const size_t begin = static_cast<size_t>(found.data() - text.data());
      if (found.empty()) {
        at = begin < text.size() ? NextCharacter(text, begin) : text.size();
        continue;
      }
      GE_RETURN_IF_ERROR(Keep({found.data(), found.size()}));
      at = begin + found.size();
    }
    return {};
  }

  // What lies between matches of a separator is cut at the later ones.
  Status Cut(std::string_view text) {
    std::vector<std::string_view> parts = {text}, smaller;
    for (const auto& pattern : patterns_) {
      smaller.clear();
      for (const std::string_view part : parts) {
        GE_RETURN_IF_ERROR(CutPart(*pattern, part, &smaller));
      }
      parts.swap(smaller);
    }
    for (const std::string_view part : parts) GE_RETURN_IF_ERROR(Keep(part));
    return {};
  }

  Status CutPart(const re2::RE2& pattern, std::string_view text,
                 std::vector<std::string_view>* to) {
    re2::StringPiece found;
    size_t from = 0;
    while (from < text.size() && Find(pattern, text, from, &found)) {
      if (found.empty()) {
        return Status(Code::kInvalidArgument,
                      fmt::format("attribute 'separators' has '{:.200}', which matches between "
                                  "characters; wanted what a text is cut at",
                                  pattern.pattern()));
      }
      const size_t begin = static_cast<size_t>(found.data() - text.data());
      if (begin > from) to->push_back(text.substr(from, begin - from));
      from = begin + found.size();
      if (to->size() % kTokensPerCheck != 1) continue;
      GE_RETURN_IF_ERROR(call_->pool->Room(bytes_ + 2 * to->size() * sizeof(std::string_view)));
    }
    if (from < text.size()) to->push_back(text.substr(from));
    return {};
  }

  static bool Find(const re2::RE2& pattern, std::string_view text, size_t from,
                   re2::StringPiece* found) {
    const re2::StringPiece whole(text.data(), text.size());
    return pattern.Match(whole, from, text.size(), re2::RE2::UNANCHORED, found, 1);
  }

  Status Keep(std::string_view token) {
    if (std::count_if(token.begin(), token.end(), BeginsCharacter) < least_) return {};
    row_.emplace_back(token);
    bytes_ += sizeof(std::string) + token.size();
    if (++kept_ % kTokensPerCheck != 0) return {};
    return call_->pool->Room(bytes_);
  }

  HostCall* call_;
  std::vector<std::unique_ptr<re2::RE2>> patterns_;
  int64_t least_ = 1;  // characters of a token
  bool matches_are_tokens_ = false, characters_ = false;
  std::vector<std::string> row_;
  uint64_t bytes_ = 0;  // of all tokens kept
  size_t kept_ = 0;
};

Status RunTokenizer(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  GE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Make(&c));
  std::vector<std::vector<std::string>> rows;
  size_t width = 0;
  for (const std::string& text : *x) {
    GE_ASSIGN_OR_RETURN(rows.emplace_back(), tokenizer.Of(text));
    width = std::max(width, rows.back().size());
  }
  const bool mark = AttrInt(c.node, "mark") != 0 && width > 0;
  if (mark) width += 2;
  const std::string pad(AttrString(c.node, "pad_value"));
  // Each row is as wide as the widest.
  const uint64_t cells = static_cast<uint64_t>(rows.size()) * width;
  GE_RETURN_IF_ERROR(c.pool->Room(tokenizer.bytes() + cells * (sizeof(std::string) + pad.size())));
  std::vector<std::string> tokens;
  tokens.reserve(cells);
  for (std::vector<std::string>& row : rows) {
    const size_t end = tokens.size() + width;
    if (mark) tokens.emplace_back("\x02");
    std::move(row.begin(), row.end(), std::back_inserter(tokens));
    if (mark) tokens.emplace_back("\x03");
    tokens.resize(end, pad);
  }
  std::vector<int64_t> dims = c.in(0).dims.vector();
  dims.push_back(static_cast<int64_t>(width));
  return c.pool->NewStrings(dims, std::move(tokens), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(microsoft_tokenizer) = {"com.microsoft", "Tokenizer", RunTokenizer};

}  // namespace ge
