/* first_run.c's side of GraphEngine, by ge.h with default options. */
#include <ge/ge.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/door/first_run.h"

struct Session {
  const struct Work* work;
  ge_session* ge;
  ge_tensor inputs[kMostTensors], outputs[kMostTensors];
  uint32_t n_inputs, n_outputs;
  ge_error error;
};

static void Try(ge_status status, const char* what, const ge_error* error) {
  if (status == GE_STATUS_OK) return;
  Die(what, error && error->message[0] ? error->message : ge_status_name(status));
}

void SidePrepare(const struct Work* work) { (void)work; }

struct Session* SideCreate(const struct Work* work) {
  struct Session* s = calloc(1, sizeof *s);
  ge_session_options options;
  if (!s) Die("session", "out of memory");
  s->work = work;
  s->error.size = sizeof s->error;
  Try(ge_session_options_init(&options), "ge_session_options_init", NULL);
  options.threads = (uint32_t)work->threads;
  Try(ge_session_create(&options, &s->ge, &s->error), "ge_session_create", &s->error);
  return s;
}

static const struct TensorFile* Named(const struct TensorFile* all, int n, const char* name) {
  int i;
  for (i = 0; i < n; ++i) {
    if (strcmp(all[i].name, name) == 0) return &all[i];
  }
  Die(name, "no file was given for this tensor");
  return NULL;
}

void SideLoad(struct Session* s) {
  ge_tensor_info info = {.size = sizeof info};
  uint32_t i;
  Try(ge_session_load_file(s->ge, s->work->model, GE_FORMAT_AUTO, &s->error),
      "ge_session_load_file", &s->error);
  Try(ge_session_input_count(s->ge, NULL, &s->n_inputs), "ge_session_input_count", NULL);
  Try(ge_session_output_count(s->ge, NULL, &s->n_outputs), "ge_session_output_count", NULL);
  if (s->n_inputs > kMostTensors || s->n_outputs > kMostTensors) Die("model", "too many tensors");
  for (i = 0; i < s->n_inputs; ++i) {
    const struct TensorFile* file;
    ge_tensor* t = &s->inputs[i];
    Try(ge_session_input_info(s->ge, NULL, i, &info), "ge_session_input_info", NULL);
    file = Named(s->work->inputs, s->work->n_inputs, info.name);
    t->size = sizeof *t;
    t->dtype = file->dtype;
    t->rank = file->rank;
    memcpy(t->dims, file->dims, sizeof file->dims);
    t->data = file->data;
    t->bytes = file->bytes;
  }
  for (i = 0; i < s->n_outputs; ++i) s->outputs[i].size = sizeof *s->outputs;
}

void SideRun(struct Session* s) {
  Try(ge_session_run(s->ge, NULL, s->inputs, s->n_inputs, s->outputs, s->n_outputs, &s->error),
      "ge_session_run", &s->error);
}

void SideSave(struct Session* s) {
  ge_tensor_info info = {.size = sizeof info};
  uint32_t i;
  for (i = 0; i < s->n_outputs; ++i) {
    const struct TensorFile* file;
    Try(ge_session_output_info(s->ge, NULL, i, &info), "ge_session_output_info", NULL);
    file = Named(s->work->outputs, s->work->n_outputs, info.name);
    if (strcmp(file->file, "-") != 0) {
      WriteBytes(file->file, s->outputs[i].data, s->outputs[i].bytes);
    }
  }
}

void SideDestroy(struct Session* s) { ge_session_destroy(s->ge); }
