#include <charconv>
#include <cmath>

#include "passes/grad/entry.h"
#include "passes/grad/remat/rematerialise.h"

namespace ge::grad {
namespace {

[[noreturn]] void Refuse(const std::string& text) {
  throw Refusal{GE_INVALID_ARGUMENT,
                "remat is '" + text +
                    "', wanted none, all, dots, names:A+B, bytes:NUMBER with K, M or G behind it, "
                    "or a number of pieces from 0 to 65536"};
}

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// 0 where it is no such number.
double BytesFrom(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || !std::isfinite(number) || number <= 0) return 0;
  const std::string_view unit(read.ptr, static_cast<size_t>(end - read.ptr));
  if (unit.empty()) return number;
  const size_t power = std::string_view("KMG").find(unit);
  return unit.size() != 1 || power == std::string_view::npos
             ? 0
             : number * std::pow(1024.0, static_cast<double>(power + 1));
}

}  // namespace

RematPolicy RematPolicy::Of(const std::string& text, int64_t rows) {
  constexpr int64_t kMostPieces = 65536;
  RematPolicy p;
  p.rows = rows;
  if (rows < 0) {
    throw Refusal{GE_INVALID_ARGUMENT, "rows is " + std::to_string(rows) + ", wanted 0 or more"};
  }
  std::string_view rest = text;
  if (text == "none") return p;
  if (text == "all") return p.kind = kAll, p;
  if (text == "dots") return p.kind = kDots, p;
  if (TakePrefix(&rest, "names:")) {
    p.kind = kNames;
    p.names = Listed(std::string(rest));
    if (p.names.empty()) Refuse(text);
    return p;
  }
  if (TakePrefix(&rest, "bytes:")) {
    p.kind = kBytes;
    p.bytes = BytesFrom(rest);
    if (p.bytes == 0) Refuse(text);
    return p;
  }
  const char* end = rest.data() + rest.size();
  const auto read = std::from_chars(rest.data(), end, p.pieces);
  const bool number = read.ec == std::errc() && read.ptr == end;
  if (!number || p.pieces < 0 || p.pieces > kMostPieces) Refuse(text);
  p.kind = p.pieces > 1 ? kPieces : kNone;
  return p;
}

LoopCheckpoint LoopCheckpoint::Of(const std::string& text) {
  constexpr int64_t kMost = int64_t{1} << 31;
  LoopCheckpoint how;
  if (text == "none") return how;
  if (text == "auto") return how.kind = kAuto, how;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, how.every);
  if (read.ec != std::errc() || read.ptr != end || how.every < 0 || how.every > kMost) {
    throw Refusal{GE_INVALID_ARGUMENT, "loop-checkpoint is '" + text +
                                           "', wanted none, auto, or a number of rounds from 1 to "
                                           "2^31, 0 = none"};
  }
  how.kind = how.every > 0 ? kEvery : kNone;
  return how;
}

}  // namespace ge::grad
