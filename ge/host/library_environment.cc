#include "ge/host/library_environment.h"

#include <cstdlib>
#include <string_view>

namespace ge {
namespace {

std::mutex& One() {
  static std::mutex mutex;
  return mutex;
}

// How often a thread of libgomp looks for work, or for the others' end, before it sleeps; a look
// takes 10 to 40 ns. Its default looks for milliseconds, which takes the cores from whoever else
// needs them (two busy cores: resnet50 455 ms for 68); at none every loop of a plan wakes its
// helpers by the kernel, 50 to 100 us on a virtual machine (squeezenet 12 ms for 2).
// In between it is a matter of who else is there: docs/decisions/0018-threads.md has the figures.
constexpr const char kSpinCount[] = "1000";

}  // namespace

LibraryEnvironment::LibraryEnvironment() : one_(One()) {
  const char* wish = std::getenv("GE_LIBRARY_ENV");
  if (wish != nullptr && std::string_view(wish) == "keep") return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  spin_ = setenv("GOMP_SPINCOUNT", kSpinCount, 0) == 0;
}

LibraryEnvironment::~LibraryEnvironment() {
  if (spin_) (void)unsetenv("GOMP_SPINCOUNT");
}

}  // namespace ge
