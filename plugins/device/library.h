// Library: a shared library of the vendor's, opened at run time, since most machines have none. It
// stays open as long as the object. One thread opens it; any thread may ask afterwards.
#pragma once

#include <string>

namespace ge_engines::device {

class Library {
 public:
  Library() = default;
  ~Library();
  Library(const Library&) = delete;
  // Where the linker looks. False: why() says what is missing.
  bool Open(const std::string& name);
  // nullptr, and why(), where there is no such symbol.
  void* Find(const char* symbol);
  // Whether there is such a symbol.
  bool Has(const char* symbol) const;
  // What Find found, as a pointer to a function.
  template <class F>
  bool Set(F* function, const char* symbol) {
    *function = reinterpret_cast<F>(Find(symbol));
    return *function != nullptr;
  }
  const std::string& why() const { return why_; }

 private:
  void* handle_ = nullptr;
  std::string name_, why_;
};

}  // namespace ge_engines::device
