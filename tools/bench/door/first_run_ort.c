/* first_run.c's side of ONNX Runtime, by its C API with default options.
 *
 * Its wheels have the library but no header, so what is called is declared here: places in the
 * table of functions that version 1 of the API names. That table is a binary contract: a library
 * answers it to whoever asks for version 1, and later versions only append to it. door.py compares
 * the outputs with those of the Python package, so that a wrong place cannot go unseen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/door/first_run.h"

typedef void (*Function)(void);
typedef void* Status; /* NULL = good */

struct ApiBase {
  const Function* (*get_api)(uint32_t version);
  const char* (*get_version)(void);
};

enum Place {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kCreateTensorWithData = 49,
  kGetTensorMutableData = 51,
  kGetTensorElementType = 60,
  kGetTensorShapeElementCount = 64,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kReleaseSession = 95,
  kReleaseValue = 96
};

enum { kLogErrors = 3, kArenaAllocator = 1, kDefaultMemory = 0 };

struct Session {
  const struct Work* work;
  void *options, *ort, *memory;
  void *inputs[kMostTensors], *outputs[kMostTensors];
  const char *input_names[kMostTensors], *output_names[kMostTensors];
};

static const struct ApiBase* (*get_base)(void);
static const Function* api;
static void* env; /* one for the process, as it asks for */

static void Try(Status status, const char* what) {
  if (status) Die(what, ((const char* (*)(Status))api[kGetErrorMessage])(status));
}

void SidePrepare(const struct Work* work) {
  void* library = dlopen(work->library ? work->library : "libonnxruntime.so.1", RTLD_LAZY);
  if (!library) Die("dlopen", dlerror());
  *(void**)&get_base = dlsym(library, "OrtGetApiBase");
  if (!get_base) Die("dlsym", dlerror());
}

struct Session* SideCreate(const struct Work* work) {
  struct Session* s = calloc(1, sizeof *s);
  if (!s) Die("session", "out of memory");
  s->work = work;
  if (!api) api = get_base()->get_api(1);
  if (!api) Die("GetApi", "the library does not answer to version 1 of its API");
  if (!env) {
    Try(((Status(*)(int, const char*, void**))api[kCreateEnv])(kLogErrors, "door", &env),
        "CreateEnv");
  }
  Try(((Status(*)(void**))api[kCreateSessionOptions])(&s->options), "CreateSessionOptions");
  if (work->threads > 0) {
    Try(((Status(*)(void*, int))api[kSetIntraOpNumThreads])(s->options, work->threads),
        "SetIntraOpNumThreads");
  }
  return s;
}

void SideLoad(struct Session* s) {
  Status (*create)(void*, const char*, void*, void**) =
      (Status(*)(void*, const char*, void*, void**))api[kCreateSession];
  Status (*tensor)(void*, void*, size_t, const int64_t*, size_t, int, void**) = (Status(*)(
      void*, void*, size_t, const int64_t*, size_t, int, void**))api[kCreateTensorWithData];
  int i;
  Try(create(env, s->work->model, s->options, &s->ort), "CreateSession");
  Try(((Status(*)(int, int, void**))api[kCreateCpuMemoryInfo])(kArenaAllocator, kDefaultMemory,
                                                               &s->memory),
      "CreateCpuMemoryInfo");
  for (i = 0; i < s->work->n_inputs; ++i) {
    const struct TensorFile* file = &s->work->inputs[i];
    s->input_names[i] = file->name;
    Try(tensor(s->memory, file->data, file->bytes, file->dims, (size_t)file->rank, file->dtype,
               &s->inputs[i]),
        "CreateTensorWithDataAsOrtValue");
  }
  for (i = 0; i < s->work->n_outputs; ++i) s->output_names[i] = s->work->outputs[i].name;
}

void SideRun(struct Session* s) {
  Status (*run)(void*, void*, const char* const*, void* const*, size_t, const char* const*, size_t,
                void**) = (Status(*)(void*, void*, const char* const*, void* const*, size_t,
                                     const char* const*, size_t, void**))api[kRun];
  int i;
  for (i = 0; i < s->work->n_outputs; ++i) {
    if (s->outputs[i]) ((void (*)(void*))api[kReleaseValue])(s->outputs[i]);
    s->outputs[i] = NULL;
  }
  Try(run(s->ort, NULL, s->input_names, s->inputs, (size_t)s->work->n_inputs, s->output_names,
          (size_t)s->work->n_outputs, s->outputs),
      "Run");
}

static size_t BytesOf(int dtype) {
  /* ONNX's numbers from 0: none, f32, u8, i8, u16, i16, i32, i64, text, bool, f16, f64, u32, u64 */
  static const size_t kBytes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8};
  return dtype >= 0 && dtype < 14 ? kBytes[dtype] : 0;
}

void SideSave(struct Session* s) {
  int i;
  for (i = 0; i < s->work->n_outputs; ++i) {
    void *data = NULL, *shape = NULL;
    size_t count = 0;
    int dtype = 0;
    if (strcmp(s->work->outputs[i].file, "-") == 0) continue;
    Try(((Status(*)(void*, void**))api[kGetTensorMutableData])(s->outputs[i], &data),
        "GetTensorMutableData");
    Try(((Status(*)(void*, void**))api[kGetTensorTypeAndShape])(s->outputs[i], &shape),
        "GetTensorTypeAndShape");
    Try(((Status(*)(void*, size_t*))api[kGetTensorShapeElementCount])(shape, &count),
        "GetTensorShapeElementCount");
    Try(((Status(*)(void*, int*))api[kGetTensorElementType])(shape, &dtype),
        "GetTensorElementType");
    WriteBytes(s->work->outputs[i].file, data, count * BytesOf(dtype));
  }
}

void SideDestroy(struct Session* s) { ((void (*)(void*))api[kReleaseSession])(s->ort); }
