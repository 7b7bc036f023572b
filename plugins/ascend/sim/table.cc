// Each function of the simulated libascendcl.so is what the engine's table takes it for.
#include <type_traits>

#include "plugins/ascend/api/acl.h"

using namespace ge_engines::ascend::acl;  // NOLINT

#define GE_ACL_SAME(name, ...)         \
  extern "C" Status name(__VA_ARGS__); \
  [[maybe_unused]] static Status (*const k_##name)(__VA_ARGS__) = &name;
GE_ACL_FUNCTIONS(GE_ACL_SAME)
GE_ACL_OPTIONAL_FUNCTIONS(GE_ACL_SAME)
