#include "tools/ge/own_memory.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace ge::tool {

double StatusMb(const char* key) {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line)) {
    if (line.compare(0, std::strlen(key), key) == 0) {
      return std::strtod(line.c_str() + std::strlen(key) + 1, nullptr) / 1024.0;
    }
  }
  return 0;
}

}  // namespace ge::tool
