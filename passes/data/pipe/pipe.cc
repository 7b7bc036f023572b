#include "passes/data/pipe/pipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "passes/kit/refusal.h"

namespace ge::data {
namespace {

using passes::Refusal;

// The words of a text and their bars: a bar is the word "|" with `bar` set.
struct Word {
  std::string text;
  bool bar = false;
  bool quoted = false;  // from its first character on: it names nothing
};

std::vector<Word> WordsOf(std::string_view text) {
  std::vector<Word> out;
  std::string word;
  bool any = false, quoted = false, source = true, list = false;
  char quote = 0;
  const auto end = [&] {
    if (any) out.push_back({std::move(word), false, quoted});
    word.clear();
    any = quoted = list = false;
  };
  for (const char c : text) {
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote != 0) {
      word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      quoted = quoted || !any;
      any = true;
    } else if (c == '|') {
      end();
      out.push_back({"|", true, false});
      source = false;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (!list) end();  // NEW=[A, B] is one word
    } else {
      list = !source && (c == '[' || (list && c != ']'));
      word += c;
      any = true;
    }
  }
  if (quote != 0) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("a quote {} has no end in the pipe: {}", quote, text)};
  }
  end();
  return out;
}

// NAME=VALUE with a name of small letters and '-'.
bool IsNamed(const std::string& word, size_t* equals) {
  *equals = word.find('=');
  return *equals != std::string::npos && *equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(*equals),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
}

void AddWord(Step* step, const Word& of) {
  const std::string& word = of.text;
  step->text += (step->text.empty() ? "" : " ") + word;
  size_t equals = 0;
  if (step->name.empty()) {
    step->name = word;
  } else if (!of.quoted && IsNamed(word, &equals)) {
    step->named[word.substr(0, equals)] = word.substr(equals + 1);
  } else {
    step->args.push_back(word);
  }
}

}  // namespace

Pipe ParsePipe(std::string_view text) {
  Pipe out;
  Step step;
  bool first = true;
  const auto end = [&] {
    if (first && out.source.empty()) {
      throw Refusal{
          GE_INVALID_ARGUMENT,
          fmt::format("the pipe names no source; write SOURCE | step | ..., found '{}'", text)};
    }
    if (!first && step.name.empty()) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("the pipe has an empty step between bars: {}", text)};
    }
    if (!first) out.steps.push_back(std::move(step));
    step = {};
    first = false;
  };
  for (const Word& w : WordsOf(text)) {
    if (w.bar) {
      end();
    } else if (!first) {
      AddWord(&step, w);
    } else if (out.source.empty()) {
      out.source = w.text;
    } else {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("'{}' stands behind the source '{}'; put a bar between them, or "
                                "quotes around a path with blanks",
                                w.text, out.source)};
    }
  }
  end();
  return out;
}

void RefuseStep(const Step& step, std::string_view wanted) {
  throw Refusal{GE_INVALID_ARGUMENT, fmt::format("step '{}': wanted {}", step.text, wanted)};
}

int64_t WholeOf(const Step& step, const std::string& text, int64_t least, int64_t most,
                std::string_view wanted) {
  if (text.starts_with('@')) {
    RefuseStep(step,
               fmt::format("a number in place of '{}': sizes are those of the graph, which no "
                           "state changes",
                           text));
  }
  int64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool good = r.ec == std::errc() && r.ptr == text.data() + text.size();
  if (!good || n < least || n > most) RefuseStep(step, wanted);
  return n;
}

double NumberOf(const Step& step, const std::string& text, std::string_view wanted) {
  char* end = nullptr;
  const double n = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(n)) {
    RefuseStep(step, wanted);
  }
  return n;
}

}  // namespace ge::data
