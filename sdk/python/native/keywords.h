// The keyword arguments of a call that has many, by name: what is mistyped, of another type or out
// of range is named, not the whole signature. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

namespace graphengine {

// Each keyword is taken once; None counts as not given. All leave with graphengine.Error where a
// value is not what is wanted.
class Keywords {
 public:
  // `function` names the call in messages.
  Keywords(const char* function, const nanobind::kwargs& given);

  nanobind::object Take(const char* name);  // None where it is not given
  uint64_t Count(const char* name, uint64_t most);
  double Number(const char* name);
  bool Flag(const char* name);
  // The place of a word among `words`; 0 where it is not given. An empty word is none of the words.
  uint32_t Place(const char* name, std::initializer_list<const char*> words);
  // Texts and paths, one or a sequence, as one text with `between` between them.
  std::optional<std::string> List(const char* name, const char* between);

  // TypeError for a keyword that nobody took, with the nearest one that was asked for.
  void CheckAllTaken() const;
  [[noreturn]] void Refuse(const char* name, nanobind::handle value,
                           const std::string& wanted) const;

 private:
  const char* function_;
  nanobind::dict left_;
  nanobind::list asked_;
};

}  // namespace graphengine
