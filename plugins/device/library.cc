#include "plugins/device/library.h"

#include <dlfcn.h>

namespace ge_engines::device {

Library::~Library() {
  if (handle_ != nullptr) (void)dlclose(handle_);
}

bool Library::Open(const std::string& name) {
  if (handle_ != nullptr) return true;
  name_ = name;
  // Its names stay its own: another library of the process may bring a second copy.
  handle_ = dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return true;
  const char* said = dlerror();
  why_ = said == nullptr ? name_ + " cannot be opened" : said;
  return false;
}

void* Library::Find(const char* symbol) {
  void* found = handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
  if (found == nullptr) why_ = name_ + " has no " + symbol;
  return found;
}

bool Library::Has(const char* symbol) const {
  return handle_ != nullptr && dlsym(handle_, symbol) != nullptr;
}

}  // namespace ge_engines::device
