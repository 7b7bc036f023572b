/* What the faulty engines of these files have in common: Add of float32, of inputs of one shape and
 * of constants that may lack outer dims, as a bias does, done right. Each file includes it and
 * breaks one thing. */
#ifndef GE_SAMPLES_FAULTY_ADDER_H_
#define GE_SAMPLES_FAULTY_ADDER_H_

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ge/ge_plugin.h"

/* Where a node's operands come from: by position, of the launch's inputs or of its packs. */
struct adder {
  uint32_t from[2];
  uint64_t count[2]; /* elements; 1 where there are none */
  uint8_t packed[2];
  uint32_t value[2]; /* of packs */
  ge_pack pack[2];
  ge_const_use use[2];
};

static inline int adder_is(ge_str str, const char* text) {
  return str.n == strlen(text) && (str.n == 0 || memcmp(str.p, text, (size_t)str.n) == 0);
}

static inline ge_rc adder_fail(ge_err* err, ge_rc rc, const char* text) {
  if (err == 0) return rc;
  err->code = rc;
  err->scope = GE_SCOPE_CALL;
  err->node = UINT32_MAX;
  err->msg_len = (uint32_t)strlen(text);
  memcpy(err->msg, text, err->msg_len);
  return rc;
}

/* What refuses a call for the sake of one of its structs; NULL where nothing does. */
typedef const ge_hdr* adder_rule(const ge_hdr* h, uint32_t size);
static inline const ge_hdr* adder_must(const ge_hdr* header, uint32_t size) {
  (void)size;
  return ge_not_understood(header, 0, 0);
}
/* The first of a graph's structs that the rule refuses. */
static inline const ge_hdr* adder_graph(const ge_graph* graph, adder_rule* rule) {
  const ge_hdr* x = rule(&graph->h, sizeof *graph);
  for (uint32_t i = 0; i < graph->n_node && x == 0; ++i)
    x = rule(&GE_NODE(graph, i)->h, sizeof *graph->node);
  for (uint32_t i = 1; i < graph->n_value && x == 0; ++i)
    x = rule(&GE_VALUE(graph, i)->h, sizeof *graph->value);
  return x;
}
static inline void adder_say(const ge_hdr* x, const char* call, char text[96]) {
  snprintf(text, 96, "faulty: %s: extension 0x%x must be understood", call, x->tag);
}
static inline ge_rc adder_refuse(ge_err* err, const ge_hdr* x, const char* call) {
  char text[96];
  adder_say(x, call, text);
  return adder_fail(err, GE_UNIMPLEMENTED, text);
}

/* Elements of a type whose dims are all known, else -1; below 2^31. */
static inline int64_t adder_count(const ge_type* type) {
  int64_t n = 1;
  if (type->rank < 0) return -1;
  for (int32_t d = 0; d < type->rank; ++d) {
    if (type->dims[d] < 0 || type->dims[d] > INT32_MAX / (n ? n : 1)) return -1;
    n *= type->dims[d];
  }
  return n;
}

/* Elements of the node's result where it is taken, else -1. */
static inline int64_t adder_takes(const ge_graph* graph, const ge_node* n) {
  if (!adder_is(n->domain, "") || !adder_is(n->op, "Add")) return -1;
  const ge_type* y = &GE_VALUE(graph, n->out[0])->type;
  if (y->dtype != GE_F32 || n->n_body != 0) return -1;
  for (uint32_t i = 0; i < 2; ++i) {
    const ge_value* v = GE_VALUE(graph, n->in[i]);
    const ge_type* x = &v->type;
    const int32_t outer = y->rank - x->rank;
    const int constant = (v->flags & GE_VALUE_CONSTANT) != 0;
    if (x->rank < 0 || outer < 0 || (outer > 0 && !constant)) return -1;
    if (constant && v->data_bytes == 0) return -1; /* there are no packs of nothing */
    for (int32_t d = 0; d < x->rank; ++d)
      if (x->dims[d] != y->dims[outer + d]) return -1;
  }
  return adder_count(y);
}

/* Measured with plain loops on a 2.8 GHz Xeon, rounded. */
static inline uint64_t adder_ns(int64_t count) { return 20 + (uint64_t)count / 2; }

static inline void adder_prepare(const ge_segment* segment, struct adder* a,
                                 ge_compiled* compiled) {
  const ge_node* n = GE_NODE(segment->graph, segment->taken[0].node[0]);
  uint32_t packs = 0;
  for (uint32_t k = 0; k < 2; ++k) {
    const ge_value* x = GE_VALUE(segment->graph, n->in[k]);
    const int64_t count = adder_count(&x->type);
    a->count[k] = count > 0 ? (uint64_t)count : 1;
    if (x->flags & GE_VALUE_CONSTANT) {
      ge_pack* p = &a->pack[packs];
      a->value[packs] = n->in[k];
      memset(p, 0, sizeof *p);
      p->h.size = sizeof *p;
      p->h.tag = GE_TAG_PACK;
      p->value = &a->value[packs];
      p->n_value = 1;
      p->key.p = "plain";
      p->key.n = 5;
      p->bytes = x->data_bytes;
      memset(&a->use[packs], 0, sizeof a->use[packs]);
      a->use[packs].value = n->in[k];
      a->use[packs].disposition = GE_CONST_PACKED;
      a->packed[k] = 1;
      a->from[k] = packs++;
      continue;
    }
    for (uint32_t i = 0; i < segment->n_in; ++i)
      if (segment->in[i] == n->in[k]) {
        a->packed[k] = 0;
        a->from[k] = i;
      }
  }
  compiled->pack = a->pack;
  compiled->n_pack = packs;
  compiled->pack_stride = sizeof a->pack[0];
  compiled->constant = a->use;
  compiled->n_constant = packs;
}

static inline const float* adder_operand(const struct adder* a, const ge_launch* launch,
                                         uint32_t k) {
  return (const float*)(a->packed[k] ? launch->pack : launch->in)[a->from[k]].ptr;
}

static inline ge_rc adder_fill(ge_engine* engine, const ge_pack* pack, const ge_buf* from,
                               const ge_buf* to, ge_err* err) {
  (void)engine;
  (void)err;
  if (pack->bytes != 0) memcpy(to->ptr, from->ptr, (size_t)pack->bytes);
  return GE_OK;
}

#endif /* GE_SAMPLES_FAULTY_ADDER_H_ */
