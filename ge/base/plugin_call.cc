#include "ge/base/plugin_call.h"

#include <mutex>
#include <set>

namespace ge {

const char* Interned(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string>* texts = new std::set<std::string>;  // signal handlers read them
  std::lock_guard<std::mutex> lock(mutex);
  return texts->insert(text).first->c_str();
}

}  // namespace ge
