#include "report.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ge::conform {
namespace {

std::array<int, kVerdicts> CountsOf(const Report& report) {
  std::array<int, kVerdicts> n = {};
  for (const Result& r : report.results) ++n[static_cast<size_t>(r.outcome.verdict)];
  return n;
}

std::string Escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

const char* ColourOf(Verdict v) {
  if (IsBad(v)) return "\033[31m";
  return v == Verdict::kPass ? "\033[32m" : "\033[33m";
}

}  // namespace

std::string Badge(const Report& report, const std::vector<Case>& all) {
  int last = -1;
  for (int level = 0; level < kLevels; ++level) {
    size_t wanted = 0, run = 0;
    bool good = false, bad = false;
    for (const Case& c : all) wanted += c.level == level;
    for (const Result& r : report.results) {
      if (r.what.level != level) continue;
      ++run;
      bad |= IsBad(r.outcome.verdict) || r.outcome.verdict == Verdict::kNotRun;
      good |= r.outcome.verdict == Verdict::kPass || r.outcome.verdict == Verdict::kXfail;
    }
    if (bad || !good || run < wanted) break;
    last = level;
  }
  return last < 0 ? "none" : last == 0 ? "L0" : fmt::format("L0-L{}", last);
}

std::string Line(const Result& r, bool colours) {
  const Verdict v = r.outcome.verdict;
  const std::string word = fmt::format("{:<11}", NameOf(v));
  return fmt::format("L{} {:<28} {}{}{} {:8.1f} ms  {}", r.what.level, r.what.name,
                     colours ? ColourOf(v) : "", word, colours ? "\033[0m" : "", r.ms,
                     r.outcome.reason);
}

std::string LastLine(const Report& report, const std::string& badge) {
  const auto counts = CountsOf(report);
  std::string text;
  for (int v = 0; v < kVerdicts; ++v) {
    if (counts[static_cast<size_t>(v)] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[static_cast<size_t>(v)],
                        NameOf(static_cast<Verdict>(v)));
  }
  return fmt::format("{} cases: {}; badge: {}", report.results.size(), text, badge);
}

std::string JsonOf(const Report& report, const std::string& badge) {
  nlohmann::ordered_json out;
  out["plugin"] = report.setup.plugin;
  out["engine"] = report.engine;
  out["options"] = report.setup.options;
  out["badge"] = badge;
  out["seed"] = report.setup.seed;
  const auto counts = CountsOf(report);
  for (int v = 0; v < kVerdicts; ++v) {
    out["counts"][NameOf(static_cast<Verdict>(v))] = counts[static_cast<size_t>(v)];
  }
  out["cases"] = nlohmann::ordered_json::array();
  for (const Result& r : report.results) {
    nlohmann::ordered_json c;
    c["level"] = fmt::format("L{}", r.what.level);
    c["case"] = r.what.name;
    c["verdict"] = NameOf(r.outcome.verdict);
    c["reason"] = r.outcome.reason;
    c["ms"] = static_cast<double>(static_cast<int64_t>(r.ms * 10)) / 10;
    out["cases"].push_back(std::move(c));
  }
  // Texts of a plugin may hold any bytes.
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string WriteHtml(const Report& report, const std::string& badge, const std::string& path) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>ge-conform: {0}</title>\n<style>body{{font-family:sans-serif;margin:2em}}"
      "table{{border-collapse:collapse}}td,th{{padding:.2em .7em;text-align:left;"
      "border-bottom:1px solid #ddd}}.PASS{{color:#186a2c}}"
      ".FAIL,.CRASH,.HANG{{color:#b00020;font-weight:bold}}"
      ".UNSUPPORTED,.EXCLUDED,.XFAIL,.NOT_RUN{{color:#8a6d00}}</style></head><body>\n"
      "<h1>{0}</h1>\n<p>{1}</p>\n<p>Plugin {2}, options '{3}', seed {4}</p>\n",
      Escaped(report.engine.empty() ? report.setup.plugin : report.engine),
      Escaped(LastLine(report, badge)), Escaped(report.setup.plugin), Escaped(report.setup.options),
      report.setup.seed);
  int level = -1;
  for (const Result& r : report.results) {
    if (r.what.level != level) {
      if (level >= 0) page += "</table>\n";
      level = r.what.level;
      page += fmt::format(
          "<h2>L{} {}</h2>\n<table><tr><th>case</th><th>verdict</th><th>ms</th>"
          "<th>reason</th></tr>\n",
          level, LevelTitle(level));
    }
    const char* verdict = NameOf(r.outcome.verdict);
    page += fmt::format("<tr><td>{}</td><td class=\"{}\">{}</td><td>{:.1f}</td><td>{}</td></tr>\n",
                        Escaped(r.what.name), verdict, verdict, r.ms, Escaped(r.outcome.reason));
  }
  page += level >= 0 ? "</table>\n</body></html>\n" : "</body></html>\n";
  const std::string temporary = path + ".part";
  std::ofstream out(temporary, std::ios::binary);
  out << page;
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return fmt::format("'{}' cannot be written", path);
  }
  return "";
}

}  // namespace ge::conform
