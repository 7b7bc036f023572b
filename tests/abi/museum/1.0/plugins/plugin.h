/* What the operator plugins of these tests share: a descriptor for an array of operators. */
#ifndef TESTS_OPS_PLUGIN_H_
#define TESTS_OPS_PLUGIN_H_

#include <stddef.h>

#include "ge/ge_plugin_op.h"

#define ACME_PORT(name_, types_)                                \
  {                                                             \
    {name_, sizeof(name_) - 1}, types_, {"", 0}, 0, 0, { 0, 0 } \
  }
#define ACME_STATE(name_, types_)                                           \
  {                                                                         \
    {name_, sizeof(name_) - 1}, types_, {"", 0}, GE_PORT_STATE, 0, { 0, 0 } \
  }
#define ACME_F32 (1u << GE_F32)
#define ACME_FLOATS (1u << GE_F32 | 1u << GE_F64)
#define ACME_I64 (1u << GE_I64)

/* `out` of size `n` beside the axes of value `like` from `first` on. */
static inline ge_dim acme_size(int64_t n) {
  const ge_dim d = {n, n, n, 0, 0, {0, 0}, 0};
  return d;
}

#define ACME_PLUGIN(name_, ops_)                                          \
  static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,                     \
                                      .name = {name_, sizeof(name_) - 1}, \
                                      .version = {"1.0", 3},              \
                                      .vendor = {"acme", 4},              \
                                      .kinds = GE_KIND_OPS,               \
                                      .sanitizer = GE_SANITIZER_HERE,     \
                                      .op = ops_,                         \
                                      .n_op = sizeof ops_ / sizeof *ops_, \
                                      .op_stride = sizeof *ops_};         \
  const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }

#endif
