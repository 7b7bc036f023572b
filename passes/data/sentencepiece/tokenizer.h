// The C interface of libgraphengine_sentencepiece.so, which the plugin `data` opens when a pipe
// names a model of tokens: texts to numbers of pieces. No C++ crosses the border.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GE_TOKENIZER_NAME "ge_tokenizer_1"

typedef struct ge_tokenizer {
  // A model of these bytes; NULL, with the reason in `why`, where it is none. Bytes are copied.
  void* (*open)(const void* bytes, uint64_t size, char* why, uint64_t why_size);
  void (*close)(void* model);
  // Number of pieces, and of the one that ends a text; -1: the model has none.
  int64_t (*pieces)(void* model);
  int64_t (*end)(void* model);
  // The pieces of a text, at most `room` of them; returns how many there are, -1 where it cannot be
  // done. Any number of threads.
  int64_t (*encode)(void* model, const char* text, uint64_t size, int32_t* out, uint64_t room);
} ge_tokenizer;

// Exported as GE_TOKENIZER_NAME; lives as long as the process.
const ge_tokenizer* ge_tokenizer_1(void);

#ifdef __cplusplus
}
#endif
