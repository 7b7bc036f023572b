/* A plugin that can do without no part of ABI 1.7: hosts before it are refused by a sentence. */
#include <stdio.h>

#define ge_plugin_query of_any_host
#include "sdk/samples/minimal/minimal.c"
#undef ge_plugin_query

GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args* q);
const ge_plugin_desc* ge_plugin_query(ge_query_args* q) {
  if (q->host_major != 1 || q->host_minor >= 7) return of_any_host(q);
  snprintf(q->refusal, sizeof q->refusal, "needs ABI 1.7, the host has %u.%u; use a newer host",
           q->host_major, q->host_minor);
  return NULL;
}
