// Keywords: the keyword arguments of a call with many of them. Errors name a mistyped keyword, a
// wrong type or a value out of range, not the whole signature. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace graphengine {

// Takes each keyword once; None counts as not given. All functions throw graphengine.Error for a
// wrong value.
class Keywords {
 public:
  // `function` names the call in messages.
  Keywords(const char* function, const nanobind::kwargs& given);

  nanobind::object Take(const char* name);  // None where it is not given
  uint64_t Count(const char* name, uint64_t most);
  double Number(const char* name);
  bool Flag(const char* name);
  // Index of a keyword's value among `words`; 0 if it is not given. An empty word matches none.
  uint32_t Place(const char* name, std::initializer_list<const char*> words);
  // Texts and paths, one or a sequence, joined to one text by `between`.
  std::optional<std::string> List(const char* name, const char* between);
  // The same, each by itself; empty where it is not given.
  std::vector<std::string> Texts(const char* name);

  // Throws TypeError for a keyword that nobody took, and names the nearest one asked for.
  void CheckAllTaken() const;
  [[noreturn]] void Refuse(const char* name, nanobind::handle value,
                           const std::string& wanted) const;

 private:
  const char* function_;
  nanobind::dict left_;
  nanobind::list asked_;
};

}  // namespace graphengine
