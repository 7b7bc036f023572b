#include "tools/adcheck/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace ge::adcheck {
namespace {

std::string Trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\r')) s.remove_suffix(1);
  return std::string(s);
}

// By commas that lie in no bracket.
std::vector<std::string> Parts(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0) {
      parts.push_back(Trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!Trim(part).empty()) parts.push_back(Trim(part));
  return parts;
}

Status Bad(const std::string& where, const std::string& found, const char* wanted) {
  return Status(Code::kDataCorrupt, fmt::format("{}: found '{}', wanted {}; see "
                                                "tools/adcheck/cases/README.md",
                                                where, found, wanted));
}

// "[1, 2.5]"; a number alone is one.
std::vector<double> Numbers(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '[' || c == ']'; }),
             text.end());
  std::vector<double> numbers;
  for (const std::string& part : Parts(text)) numbers.push_back(std::atof(part.c_str()));
  return numbers;
}

bool IsWhole(const std::string& dtype) {
  return dtype == "i64" || dtype == "i32" || dtype == "bool";
}

Result<CaseInput> ParseInput(const std::string& text, const std::string& where,
                             bool whole_numbers) {
  CaseInput in;
  if (text == "_") return in.absent = true, in;
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos) {
    return Bad(where, text, "an input such as f64[2,3]");
  }
  in.dtype = text.substr(0, open);
  for (const std::string& d : Parts(std::string_view(text).substr(open + 1, close - open - 1))) {
    in.dims.push_back(std::atoll(d.c_str()));
  }
  const std::string rest = Trim(text.substr(close + 1));
  if (rest.starts_with("at ")) {
    in.at = Numbers(rest.substr(3));
    if (in.at.size() != static_cast<size_t>(Array::Count(in.dims))) {
      return Bad(where, rest, "as many numbers as the type has elements");
    }
  } else if (rest.starts_with("=")) {
    in.constant = true;
    in.text = text;
  } else if (rest.starts_with("in ")) {
    const size_t dots = rest.find("..");
    if (dots == std::string::npos) return Bad(where, rest, "in LOW..HIGH");
    in.ranged = true;
    in.low = std::atof(rest.substr(3, dots - 3).c_str());
    in.high = std::atof(rest.substr(dots + 2).c_str());
    if (!(in.low < in.high)) return Bad(where, rest, "in LOW..HIGH with LOW less than HIGH");
  } else if (!rest.empty()) {
    return Bad(where, rest, "'= PAYLOAD' or 'in LOW..HIGH' behind a type");
  }
  const bool filled =
      in.dtype == "f64" || in.dtype == "f32" || (whole_numbers && IsWhole(in.dtype));
  if (!in.constant && !filled) return Bad(where, text, "f64 or f32, or a constant by '='");
  return in;
}

// What follows the node: "{attrs}", "-> 2" or "-> 1,_,1", "static", "=> [slopes]".
Status ParseTail(std::string tail, const std::string& where, Case* c) {
  if (tail.starts_with("{")) {
    const size_t end = tail.rfind('}');
    if (end == std::string::npos) return Bad(where, tail, "attributes in braces");
    c->attrs = tail.substr(0, end + 1);
    tail = Trim(tail.substr(end + 1));
  }
  const size_t stated = tail.find("=>"), bent = tail.find("bent", stated);
  for (size_t at = stated;
       at != std::string::npos && (at = tail.find('[', at)) != std::string::npos;) {
    const size_t close = tail.find(']', at);
    if (close == std::string::npos) return Bad(where, tail, "slopes in brackets");
    (at < bent ? c->slopes : c->bends).push_back(Numbers(tail.substr(at, close - at + 1)));
    at = close;
  }
  if (stated != std::string::npos) tail = Trim(tail.substr(0, stated));
  if (tail.ends_with("static")) {
    c->only_static = true;
    tail = Trim(tail.substr(0, tail.size() - 6));
  }
  c->out = {true};
  if (!tail.starts_with("->")) return tail.empty() ? Status() : Bad(where, tail, "-> OUTPUTS");
  const std::vector<std::string> parts = Parts(std::string_view(tail).substr(2));
  if (parts.size() == 1 && parts[0] != "_") {
    const int n = std::atoi(parts[0].c_str());
    if (n < 1 || n > 64) return Bad(where, tail, "1 to 64 outputs");
    c->out.assign(static_cast<size_t>(n), true);
    return {};
  }
  c->out.clear();
  for (const std::string& part : parts) c->out.push_back(part != "_");
  return {};
}

// Type with sizes, or with a symbol for each.
std::string TypeText(const CaseInput& in, size_t i, bool symbolic) {
  std::string text = in.dtype + "[";
  for (size_t d = 0; d < in.dims.size(); ++d) {
    text += d == 0 ? "" : ",";
    text += symbolic ? fmt::format("D{}_{}", i, d) : std::to_string(in.dims[d]);
  }
  return text + "]";
}

void SplitDomain(Case* c) {
  const size_t dot = c->op.rfind('.');
  if (dot != std::string::npos) {
    c->domain = c->op.substr(0, dot);
    c->op = c->op.substr(dot + 1);
  }
}

}  // namespace

Result<Case> ParseCase(const std::string& line, const std::string& where, bool whole_numbers) {
  Case c;
  c.where = where;
  c.line = Trim(line);
  if (c.line.starts_with("untested ")) {
    const size_t colon = c.line.find(": ");
    if (colon == std::string::npos) return Bad(where, c.line, "untested Op: why");
    c.op = Trim(c.line.substr(9, colon - 9));
    c.untested = Trim(c.line.substr(colon + 1));
    return SplitDomain(&c), c;
  }
  const size_t open = c.line.find('(');
  if (open == std::string::npos) return Bad(where, c.line, "Op(inputs)");
  const size_t end = c.line.find(')', open);
  if (end == std::string::npos) return Bad(where, c.line, "a ')' behind the inputs");
  c.op = Trim(c.line.substr(0, open));
  SplitDomain(&c);
  for (const std::string& part : Parts(std::string_view(c.line).substr(open + 1, end - open - 1))) {
    GE_ASSIGN_OR_RETURN(CaseInput in, ParseInput(part, where, whole_numbers));
    c.in.push_back(std::move(in));
  }
  GE_RETURN_IF_ERROR(ParseTail(Trim(c.line.substr(end + 1)), where, &c));
  return c;
}

Result<std::vector<CaseLine>> ReadLines(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (file.path().extension() == ".txt") files.push_back(file.path());
  }
  if (files.empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("folder '{}' holds no *.txt with cases; run from the source tree or "
                              "name the folder by --cases",
                              folder));
  }
  std::sort(files.begin(), files.end());
  std::vector<CaseLine> lines;
  for (const auto& path : files) {
    std::ifstream in(path);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      line = Trim(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      lines.push_back({fmt::format("{}:{}", path.filename().string(), number), line});
    }
  }
  return lines;
}

Result<std::vector<Case>> ReadCases(const std::string& folder) {
  GE_ASSIGN_OR_RETURN(const std::vector<CaseLine> lines, ReadLines(folder));
  std::vector<Case> cases;
  for (const CaseLine& line : lines) {
    GE_ASSIGN_OR_RETURN(Case c, ParseCase(line.text, line.where));
    cases.push_back(std::move(c));
  }
  return cases;
}

std::string TextOf(const Case& sample, bool symbolic) {
  std::string text = "ge 1\nopset \"\" 28\n", params, inputs, outputs, results;
  if (!sample.domain.empty()) text += fmt::format("opset \"{}\" 1\n", sample.domain);
  for (size_t i = 0; i < sample.in.size(); ++i) {
    inputs += inputs.empty() ? "" : ", ";
    inputs += sample.in[i].absent ? "_" : fmt::format("x{}", i);
    if (sample.in[i].absent) continue;
    if (sample.in[i].constant) {
      text += fmt::format("const x{} : {}\n", i, sample.in[i].text);
      continue;
    }
    params += params.empty() ? "" : ", ";
    params += fmt::format("x{}: {}", i, TypeText(sample.in[i], i, symbolic));
  }
  for (size_t k = 0; k < sample.out.size(); ++k) {
    outputs += outputs.empty() ? "" : ", ";
    outputs += sample.out[k] ? fmt::format("y{}", k) : "_";
    if (sample.out[k]) results += (results.empty() ? "y" : ", y") + std::to_string(k);
  }
  const std::string name = sample.domain.empty() ? sample.op : sample.domain + "." + sample.op;
  return text +
         fmt::format("fn main({}) -> ({}) {{\n  {} = {}({}) {}\n}}\nentry infer \"main\" = main\n",
                     params, results, outputs, name, inputs, sample.attrs);
}

std::vector<uint32_t> Filled(const Case& sample) {
  std::vector<uint32_t> filled;
  for (uint32_t i = 0; i < sample.in.size(); ++i) {
    if (!sample.in[i].absent && !sample.in[i].constant) filled.push_back(i);
  }
  return filled;
}

bool IsEmpty(const Case& sample) {
  for (const uint32_t i : Filled(sample)) {
    if (std::count(sample.in[i].dims.begin(), sample.in[i].dims.end(), 0) != 0) return true;
  }
  return false;
}

namespace {

int32_t DTypeOf(const std::string& dtype) {
  if (dtype == "f32") return 1;
  if (dtype == "i32") return 6;
  if (dtype == "i64") return 7;
  return dtype == "bool" ? 9 : 11;
}

// From the range, both its ends included; else from -9 to 9.
void FillWhole(const CaseInput& in, std::mt19937_64& random, Array* a) {
  int64_t low = in.ranged ? static_cast<int64_t>(in.low) : -9;
  int64_t high = in.ranged ? static_cast<int64_t>(in.high) : 9;
  if (in.dtype == "bool") {
    low = 0;
    high = 1;
  }
  std::uniform_int_distribution<int64_t> draw(low, high);
  for (const double v : in.at) a->i.push_back(static_cast<int64_t>(v));
  if (!in.at.empty()) return;
  a->i.resize(static_cast<size_t>(Array::Count(in.dims)));
  for (int64_t& v : a->i) v = draw(random);
}

}  // namespace

// Each element has a part of the range of its own, so that no two are near each other: a greatest
// one stays so when it moves a little.
Arrays FillInputs(const Case& sample, std::mt19937_64& random) {
  Arrays arrays;
  for (const uint32_t i : Filled(sample)) {
    const CaseInput& in = sample.in[i];
    Array& made = arrays[fmt::format("x{}", i)];
    made = Array::Of(in.dims, DTypeOf(in.dtype));
    if (IsWhole(in.dtype)) {
      made.f.clear();
      FillWhole(in, random, &made);
      continue;
    }
    std::vector<size_t> place(made.f.size());
    for (size_t k = 0; k < place.size(); ++k) place[k] = k;
    std::shuffle(place.begin(), place.end(), random);
    std::uniform_real_distribution<double> part(0.2, 0.8);
    for (size_t k = 0; k < made.f.size(); ++k) {
      const double u =
          (static_cast<double>(place[k]) + part(random)) / static_cast<double>(place.size());
      made.f[k] = in.ranged ? in.low + (in.high - in.low) * u
                  : u < 0.5 ? -2 + 3.8 * u
                            : 0.1 + 3.8 * (u - 0.5);
    }
    if (!in.at.empty()) made.f = in.at;
    if (made.dtype == 1) {
      std::transform(made.f.begin(), made.f.end(), made.f.begin(),
                     [](double v) { return static_cast<float>(v); });
    }
  }
  return arrays;
}

bool IsListed(const std::string& list, const std::string& name) {
  return list == "all" || ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace ge::adcheck
