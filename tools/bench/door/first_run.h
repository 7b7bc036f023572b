/* What first_run.c asks of a runtime. It is linked with first_run_ge.c (GraphEngine, by ge.h) or
 * with first_run_ort.c (ONNX Runtime, by its C API), never with both: each side has a process of
 * its own. A call that fails ends the process with the runtime's words. One session is used by one
 * thread at a time. */
#ifndef TOOLS_BENCH_FIRST_RUN_H_
#define TOOLS_BENCH_FIRST_RUN_H_

#include <stdint.h>

enum { kMostTensors = 64, kMostRank = 16 };

struct TensorFile {
  const char *name, *file; /* raw bytes; file "-" = an output that is not wanted */
  int dtype, rank;         /* dtype is ONNX's number; of inputs alone, as the rest */
  int64_t dims[kMostRank];
  void* data;
  uint64_t bytes;
};

struct Work {
  const char *model, *library; /* library: ONNX Runtime's, to be opened */
  int threads;                 /* 0 = the runtime's default */
  struct TensorFile inputs[kMostTensors], outputs[kMostTensors];
  int n_inputs, n_outputs;
};

struct Session;

/* What the loader of a linked program would have done before main. */
void SidePrepare(const struct Work* work);
/* The first call of the API, up to a session that may load a model. */
struct Session* SideCreate(const struct Work* work);
void SideLoad(struct Session* session);
void SideRun(struct Session* session);
/* Writes the outputs of the latest run into their files. */
void SideSave(struct Session* session);
void SideDestroy(struct Session* session);

/* Of first_run.c. */
void Die(const char* what, const char* why);
void WriteBytes(const char* file, const void* data, uint64_t bytes);

#endif /* TOOLS_BENCH_FIRST_RUN_H_ */
