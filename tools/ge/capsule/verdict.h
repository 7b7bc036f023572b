// What ge bisect says in the end. Data only.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ge::tool {

struct Verdict {
  std::string kind = "none";  // "pass", "engine", "memory", "pack", "model"
  std::string pass, engine, why;
  std::vector<std::string> nodes;
};

inline Verdict MadeVerdict(std::string kind, std::string why) {
  Verdict v;
  v.kind = std::move(kind);
  v.why = std::move(why);
  return v;
}

}  // namespace ge::tool
