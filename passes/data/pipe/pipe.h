// Pipe: the text of a data pipeline, `SOURCE | step | step`, taken apart. It opens nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ge::data {

struct Step {
  std::string name;                          // "random-crop"
  std::vector<std::string> args;             // "32"
  std::map<std::string, std::string> named;  // "pad" -> "4"
  std::string text;                          // as it was written, for messages
};

struct Pipe {
  std::string source;
  std::vector<Step> steps;
};

// Words are parted by blanks; '...' and "..." hold blanks and bars. INVALID_ARGUMENT as Refusal:
// no source, an empty step, a quote without its end.
Pipe ParsePipe(std::string_view text);

// For messages: "random-crop: wanted SIZE [pad=N], found 'random-crop'".
[[noreturn]] void RefuseStep(const Step& step, std::string_view wanted);

// An argument as a number; RefuseStep where it is none or out of [least, most].
int64_t WholeOf(const Step& step, const std::string& text, int64_t least, int64_t most,
                std::string_view wanted);
double NumberOf(const Step& step, const std::string& text, std::string_view wanted);

}  // namespace ge::data
