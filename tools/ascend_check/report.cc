#include "tools/ascend_check/report.h"

#include <algorithm>
#include <cstdio>

namespace ascend_check {
namespace {

constexpr size_t kNameWidth = 36;
constexpr Outcome kOutcomes[] = {Outcome::kPass,    Outcome::kDiffers, Outcome::kTold,
                                 Outcome::kSkipped, Outcome::kCrashed, Outcome::kHung};

std::string Padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      (void)std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string Seconds(double seconds) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

}  // namespace

size_t Report::count(Outcome outcome) const {
  return static_cast<size_t>(std::count_if(tried.begin(), tried.end(), [&](const Tried& one) {
    return one.run.finding.outcome == outcome;
  }));
}

size_t Report::wrong() const {
  return count(Outcome::kDiffers) + count(Outcome::kCrashed) + count(Outcome::kHung);
}

std::string HeadOf(const Report& report) {
  std::string text;
  for (const auto& file : report.files) {
    text += Padded(file.library, 18) + file.file +
            (file.bytes < 0 ? "" : ", " + std::to_string(file.bytes) + " bytes") + "\n";
  }
  text += Padded("chip", 18) + (report.chip.empty() ? "not told" : report.chip) +
          (report.simulated ? ", simulated" : "") + "\n";
  text += Padded("devices", 18) +
          (report.devices < 0 ? "not told" : std::to_string(report.devices)) + "\n\n";
  return text;
}

std::string LineOf(const Tried& tried) {
  const Finding& f = tried.run.finding;
  std::string line = Padded(NameOf(f.outcome), 8) + Padded(tried.check.name, kNameWidth) + " " +
                     tried.check.sentence + "\n";
  if (!f.text.empty())
    line += std::string(8, ' ') + Padded(tried.check.rule, kNameWidth) + " " + f.text + "\n";
  return line;
}

std::string EndOf(const Report& report) {
  std::string text = "\n" + std::to_string(report.tried.size()) + " checks";
  for (const Outcome outcome : kOutcomes) {
    text += ", " + std::to_string(report.count(outcome)) + " " + NameOf(outcome);
  }
  return text + "\n";
}

std::string JsonOf(const Report& report) {
  std::string text = "{\"simulated\": " + std::string(report.simulated ? "true" : "false") +
                     ", \"chip\": " + Quoted(report.chip) +
                     ", \"devices\": " + std::to_string(report.devices) +
                     ", \"ASCEND_HOME_PATH\": " + Quoted(report.home) + ",\n \"libraries\": [";
  for (const auto& file : report.files) {
    text += std::string(&file == report.files.data() ? "" : ",\n  ") +
            "{\"name\": " + Quoted(file.library) + ", \"file\": " + Quoted(file.file) +
            ", \"bytes\": " + std::to_string(file.bytes) + "}";
  }
  text += "],\n \"checks\": [";
  for (const Tried& one : report.tried) {
    text += std::string(&one == report.tried.data() ? "" : ",") +
            "\n  {\"name\": " + Quoted(one.check.name) + ", \"rule\": " + Quoted(one.check.rule) +
            ", \"sentence\": " + Quoted(one.check.sentence) +
            ", \"outcome\": " + Quoted(NameOf(one.run.finding.outcome)) +
            ", \"text\": " + Quoted(one.run.finding.text) +
            ", \"seconds\": " + Seconds(one.run.seconds) + "}";
  }
  text += "],\n \"totals\": {\"checks\": " + std::to_string(report.tried.size());
  for (const Outcome outcome : kOutcomes) {
    text += ", " + Quoted(NameOf(outcome)) + ": " + std::to_string(report.count(outcome));
  }
  return text + "}}\n";
}

}  // namespace ascend_check
