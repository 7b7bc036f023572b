#include "ge/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace ge {
namespace {

constexpr size_t kMostBytes = 4096;

// Lines may come while the process ends.
struct Sink {
  std::mutex mutex;  // of the following, and held while the sink is called
  LogSink call = nullptr;
  void* context = nullptr;
  uint32_t level = 0;
};
Sink& TheSink() {
  static Sink* sink = new Sink;
  return *sink;
}
std::atomic<bool> has_sink{false};
thread_local bool in_sink = false;

// Whether there is one, which has been told where it is to be.
bool TellSink(uint32_t level, std::string_view text) {
  if (in_sink) return true;
  Sink& sink = TheSink();
  std::lock_guard<std::mutex> lock(sink.mutex);
  if (sink.call == nullptr) return false;
  if (level > sink.level) return true;
  std::string line(text.substr(0, kMostBytes));
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  }
  in_sink = true;
  sink.call(sink.context, level, line.c_str());
  in_sink = false;
  return true;
}

}  // namespace

void LogLine(uint32_t level, std::string_view text) {
  static const char* const kNames[] = {"error", "warning", "info", "debug", "trace"};
  static const uint32_t limit = [] {
    const char* wanted = std::getenv("GE_LOG_LEVEL");
    return wanted ? static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10)) : 1u;
  }();
  if (has_sink.load(std::memory_order_acquire) && TellSink(level, text)) return;
  if (level > limit) return;
  // Not fmt::print, which throws where stderr cannot be written.
  const std::string line =
      fmt::format("graphengine: {}: {}\n", kNames[std::min(level, 4u)], text.substr(0, kMostBytes));
  (void)std::fputs(line.c_str(), stderr);
}

void LogOnce(uint32_t level, std::string_view text) {
  static std::mutex* mutex = new std::mutex;  // never freed: lines may come while the process ends
  static auto* told = new std::set<std::string, std::less<>>;
  {
    std::lock_guard<std::mutex> lock(*mutex);
    if (!told->emplace(text).second) return;
  }
  LogLine(level, text);
}

Status SetLogSink(LogSink call, void* context, uint32_t level) {
  if (in_sink) {
    return Status(Code::kFailedPrecondition,
                  "the log's function set another one; set it when the line was told");
  }
  Sink& sink = TheSink();
  std::lock_guard<std::mutex> lock(sink.mutex);
  sink.call = call;
  sink.context = context;
  sink.level = level;
  has_sink.store(call != nullptr, std::memory_order_release);
  return {};
}

}  // namespace ge
