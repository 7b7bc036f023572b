/* ge.h: the C API of GraphEngine for applications. C11 and C++17, stands alone.
 *
 * Every function answers a status (GE_STATUS_OK = 0); the text goes into the caller's ge_error,
 * which may be NULL. No function throws, aborts or exits. A NULL object, and a struct whose `size`
 * is smaller than in any version, answer GE_STATUS_INVALID_ARGUMENT.
 *
 * Ownership: handles are freed by their own destroy function (NULL is allowed there). Strings from
 * a call live as long as the session, unless said otherwise. The caller owns input and output
 * memory.
 * Threads: one session may be used by any number of threads at once for run, run_async and the
 * inspecting calls; load and destroy need it alone (asynchronous runs apart).
 * Version rule: structs only grow at their end; set `size` to sizeof the struct you compiled with.
 * A newer library reads and writes no more of it; fields unknown to the caller are 0.
 */
#ifndef GE_H_
#define GE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GE_API __attribute__((visibility("default")))
#else
#define GE_API
#endif

typedef int32_t ge_status;
enum {
  GE_STATUS_OK = 0,
  GE_STATUS_INVALID_GRAPH = 1,
  GE_STATUS_INVALID_ARGUMENT = 2,
  GE_STATUS_UNSUPPORTED = 3,
  GE_STATUS_LIMIT_EXCEEDED = 4,
  GE_STATUS_PLUGIN_ERROR = 5,
  GE_STATUS_RESOURCE_EXHAUSTED = 6,
  GE_STATUS_CANCELLED = 7,
  GE_STATUS_DEADLINE_EXCEEDED = 8,
  GE_STATUS_IO_ERROR = 9,
  GE_STATUS_DATA_CORRUPT = 10,
  GE_STATUS_FAILED_PRECONDITION = 11,
  GE_STATUS_DEVICE_LOST = 12, /* no other engine could take over; see ge_session_cancel, too */
  GE_STATUS_INTERNAL = 13
};

typedef struct ge_error {
  uint32_t size; /* sizeof(ge_error) */
  ge_status status;
  char message[1016]; /* NUL-terminated */
  char node[256];     /* the node at fault, by the model's own name, cut to fit; "" = none */
} ge_error;

typedef struct ge_runtime ge_runtime;
typedef struct ge_session ge_session;
typedef struct ge_run ge_run;
typedef struct ge_prepared ge_prepared;
typedef struct ge_batches ge_batches;
typedef struct ge_batch ge_batch;
typedef struct ge_cancel_token ge_cancel_token;
typedef struct ge_any ge_any;
typedef struct ge_states ge_states;
typedef struct ge_graph_builder ge_graph_builder;
struct ge_edit;         /* of ge_plugin_pass.h */
struct DLManagedTensor; /* of <dlpack/dlpack.h> */

/* "0.1.0". Never NULL. */
GE_API const char* ge_version(void);
/* "INVALID_GRAPH" and so on; "UNKNOWN" for any other number. */
GE_API const char* ge_status_name(ge_status status);

enum { GE_LOG_ERROR = 0, GE_LOG_WARNING = 1, GE_LOG_INFO = 2, GE_LOG_DEBUG = 3, GE_LOG_TRACE = 4 };
/* Lines of the process's log, from `level` down to 0, go to `log` from now on, one call a line and
 * one at a time, from any thread. `text` has no line break, at most 4,096 bytes, and lives for the
 * call. `log` NULL = as at first: on stderr, up to $GE_LOG_LEVEL (1), whatever `level` is. When
 * this returns, the former function is not called any more. Lines caused by `log` itself are not
 * passed to it; FAILED_PRECONDITION where `log` calls this. */
GE_API ge_status ge_set_log(void (*log)(void* context, uint32_t level, const char* text),
                            void* context, uint32_t level, ge_error* error);

/* ---- runtimes -------------------------------------------------------------------------------- */

/* Shared by sessions: the process's threads and instruction set, opened engines, known prices. A
 * session without a runtime uses the process's own, which lives from the first such session to the
 * last. An application with a runtime keeps its engines open between sessions, so later sessions
 * open them at little cost. */
typedef struct ge_runtime_options {
  uint32_t size; /* sizeof(ge_runtime_options) */
  /* Compute threads of the process, at most 4096; 0 = the cores it may use. If the system gives
   * fewer, the process has those; the log says so at GE_LOG_INFO. */
  uint32_t threads;
  uint32_t isa_cap; /* 0 = $GE_MAX_ISA or all, 1 = sse4.2, 2 = avx2, 3 = avx512 */
  uint32_t reserved;
  /* Bytes of the process's packed constants that no run reads; beyond it the longest unused ones
   * give way and are packed again when needed. 0 = half of the machine's memory.
   */
  uint64_t resident_bytes;
} ge_runtime_options;
/* The whole process has one of both: a second runtime with others is refused with
 * FAILED_PRECONDITION naming the present ones. `options` NULL = defaults. *out is NULL on failure.
 */
GE_API ge_status ge_runtime_create(const ge_runtime_options* options, ge_runtime** out,
                                   ge_error* error);
/* Sessions of the runtime keep the parts they use. */
GE_API void ge_runtime_destroy(ge_runtime* runtime);
/* The number of engines open in it: those of all its sessions so far. */
GE_API ge_status ge_runtime_engine_count(ge_runtime* runtime, uint32_t* out);

/* ---- sessions -------------------------------------------------------------------------------- */

typedef struct ge_session_options {
  uint32_t size;                   /* sizeof(ge_session_options) */
  uint32_t threads;                /* of the process, as in ge_runtime_options */
  uint32_t isa_cap;                /* 0 = $GE_MAX_ISA or all, 1 = sse4.2, 2 = avx2, 3 = avx512 */
  uint32_t max_streams_per_device; /* 0 = 3 */
  /* Engines to use, "onednn,ref"; each may carry options: "devsim:wrap=ref;delay=7". A path with a
   * slash is loaded as a plugin. NULL = every engine found. */
  const char* engines;
  /* Bytes of kept plans; 0 = 1 GiB. Memory shared by plans does not count: packed constants, and
   * arenas, whose memory follows the largest run and the number of runs at once. */
  uint64_t plan_cache_bytes;
  uint32_t prices; /* GE_PRICES_* */
  uint32_t replan; /* 1 = runs may replace a plan whose time differs from the prediction */
  uint32_t measure_budget_ms; /* of GE_PRICES_MEASURE, each compile, twice; 0 = 2000 */
  uint32_t reserved;
  const char*
      skip_passes;    /* rewrites not to run, "recognise-gelu,fold-batchnorm"; NULL = all run */
  uint32_t denormals; /* GE_*_DENORMALS: of all engines, and of constants folded at load */
  uint32_t numerics;  /* GE_*_NUMERICS */
  /* The limit of one run: arenas, outputs, values between pieces. Beyond it: LIMIT_EXCEEDED. 0 =
   * 768 MiB and 64 bytes for each byte of the weights and inputs, at most 3/4 of the memory. */
  uint64_t memory_limit_bytes;
  uint64_t time_limit_ms; /* as ge_session_set_time_limit; 0 = none */
  /* NULL = the process's own. With a runtime, `threads` and `isa_cap` are 0, or the runtime's. */
  ge_runtime* runtime;
  /* Other than 0: keeps the past of a decoder in states. A decoder takes its past as inputs and
   * gives it out with new rows behind; these inputs and outputs are removed. So many rows, rounded
   * up to a power of two, fit at first (GE_KV_CACHE_ROWS is a good number); a full cache doubles,
   * and each size has its own plan. A mask over past and new rows stays an input, as long as both.
   * ge_session_reset_states begins anew. Loading a model without such a past, or with an operator
   * without a rule for it, answers UNSUPPORTED with its name. */
  uint64_t kv_cache;
  /* Plugins with operators and passes, "acme_ops,./mine.so": names as in `engines`, or paths with a
   * slash. NULL = none. */
  const char* plugins;
  /* Binds nodes to one engine: "NODE=ENGINE" or "NODE=ENGINE/DEVICE", separated by ';'. NODE is a
   * node's name as ge_session_explain tells it, "#ID", an operator ("Conv"), or a pattern of names
   * or operators with '*' and '?'; an exact name counts before an operator or pattern. "@LAYOUT"
   * behind it, a "layout" of ge_session_explain ("plain", "channels-last", "blocked1x8"), restricts
   * it to offers with images in that layout, or plain ones for values that have no such layout. A
   * node taken by the engine only in parts (its decomposition) becomes these. Planning fails with a
   * message where an engine makes no offer for its pinned node, nor for the node's parts, or where
   * a pin fits no node. NULL = none. */
  const char* pins;
  uint32_t policy; /* GE_PLACE_* */
  uint32_t reserved2;
  /* Passes to run on request, and options of any pass:
   * "observe:output=0;every=2,other". NULL = none. A failure of a requested pass of a
   * plugin fails the load. */
  const char* passes;
  uint32_t precision; /* GE_*_PRECISION: to which inputs of products may be rounded */
  /* Inputs whose dims have one name have one size. Exporters give unlike dims one name, too: with
   * 0, the log warns where a call has two sizes, and each axis has a size of its own from then on
   * (not in models with states). With 1, such a call answers INVALID_ARGUMENT. */
  uint32_t strict_dims;
  /* Folders, separated by ':'. Symbolic links of external data may lead into them, into the model's
   * folder, and into that of the file behind a link to the model. NULL = none. */
  const char* data_roots;
  /* Names of initializers that the caller gives: inputs of the entry, behind the others. Each is
   * one of ge_session_default_info. NULL = none. */
  const char* const* initializer_inputs;
  uint32_t initializer_input_count;
  uint32_t reserved3;
  /* The states of the session's model are those of these names here; see ge_states_create. NULL =
   * states of its own. */
  ge_states* states;
} ge_session_options;
enum {
  GE_PLACE_BY_COST = 0,    /* the cheapest whole plan */
  GE_PLACE_BY_PRIORITY = 1 /* in order, the first of `engines` that offers a node takes it */
};
#define GE_KV_CACHE_ROWS 256
enum {
  /* 0 = numbers below the least normal one (1.2e-38 in float32) count as zero, as operands and as
   * results. Trained networks have them in dead channels; there they cost x86 a hundred times a
   * normal number's time. Operators only moving or comparing bits may hand one on. */
  GE_FLUSH_DENORMALS = 0,
  GE_KEEP_DENORMALS = 1
};
enum {
  /* 0 = convolutions may be computed by Winograd's transforms where that is faster: more rounding
   * (docs/numerics.md has the bound), the same places of infinities and NaN. MatMulNBits may take
   * its input in steps of 8 bits where its accuracy_level is 4. */
  GE_FAST_NUMERICS = 0,
  GE_EXACT_NUMERICS = 1 /* only sums of an operator's own products, in any order */
};
enum {
  /* 0 = cached. Engines' prices are corrected by measurements of this machine, kept in
   * $GE_CACHE_DIR (off = nothing is kept), else $XDG_CACHE_HOME/graphengine or
   * ~/.cache/graphengine; without any, by shipped prices of similar machines. A few runs are timed
   * to learn more; making a session times nothing. */
  GE_PRICES_DEFAULT = 0,
  /* Engines' prices; the same on every machine where the process's first session asks for them and
   * no runtime was made before: then engines see a fixed machine. */
  GE_PRICES_ANALYTIC = 1,
  GE_PRICES_CACHED = 2,
  GE_PRICES_MEASURE = 3, /* as cached, and compiling times offers and runs plans to compare them */
  /* Only shipped prices of similar machines: a machine makes the same plans, and sums in the same
   * order, on another day; nothing is timed. As with analytic ones, where the process's first
   * session asks for it. */
  GE_PRICES_SHIPPED = 4
};
enum {
  GE_F32_PRECISION = 0,
  /* The inputs of MatMul, Gemm and Conv of float32 may be rounded to bfloat16, where an engine asks
   * less for that; sums, and every tensor in between, stay float32 (docs/numerics.md has the
   * bound). Where no engine can, numbers are those of float32. Not with GE_EXACT_NUMERICS. */
  GE_BF16_PRECISION = 1
};
/* Fills in the defaults of a struct of `size` bytes, and sets its `size`. */
GE_API ge_status ge_session_options_init_sized(ge_session_options* options, uint32_t size);
/* The same for the caller's own struct, however much the library's has grown since. The function of
 * this name serves old callers, built before the one above, and fills the ge.h of then. */
GE_API ge_status ge_session_options_init(ge_session_options* options);
#define ge_session_options_init(options) \
  ge_session_options_init_sized((options), (uint32_t)sizeof(ge_session_options))
/* `options` NULL = defaults. Opens the engines that the options name, as far as they are not open
 * in the runtime; where they name none, a load opens all that are found, or of a compiled model
 * those that its plans need, and the others when they are first asked for. *out is NULL on failure,
 * as where an engine is missing, or none is found. */
GE_API ge_status ge_session_create(const ge_session_options* options, ge_session** out,
                                   ge_error* error);
/* Waits for the session's asynchronous runs to have computed, not for their `done`: a `done` may
 * destroy the session of its run. Handles of runs may be used and destroyed later. */
GE_API void ge_session_destroy(ge_session* session);
/* Ends each load, compile and run in progress in the session with CANCELLED, of all threads,
 * asynchronous runs too, and each call on its states that waits for a device or for others. Later
 * calls are not touched, so the session stays in use; a cancelled load may be repeated. From any
 * thread and from a signal handler. Returns at once; the calls end as soon as their engines notice:
 * ref within a second, the other CPU engines after the present operator. A device that does not end
 * its work is waited for half a second; the message then says that it may still use the call's
 * buffers, which have to stay allocated as long as the process lives. */
GE_API ge_status ge_session_cancel(ge_session* session);
/* From now on each load, compile and run of the session ends with DEADLINE_EXCEEDED when it takes
 * longer, counted from its own begin, waiting for other calls included; 0 = no limit. A run with
 * new shapes compiles first, within the same limit. */
GE_API ge_status ge_session_set_time_limit(ge_session* session, uint64_t milliseconds);

enum {
  GE_FORMAT_AUTO = 0,
  GE_FORMAT_ONNX = 1,
  GE_FORMAT_PROTO = 2,
  GE_FORMAT_TEXT = 3,
  GE_FORMAT_CAPSULE = 4
};
/* Loads a model: .onnx, our protobuf (.gepb) or text (.gt), or the model of a capsule (.gecap);
 * AUTO decides by the name, then by the bytes. Weights stay in the mapped file. To change it while
 * a session lives write a new file and rename it over this one: the session keeps the old one. If
 * the file itself is written to or cut short, loads, compiles and runs reading it answer IO_ERROR
 * naming it. Reads behind the end of a file raise SIGBUS: the first load of a file of 1 MiB or more
 * sets a handler, for such reads alone; each other SIGBUS goes to the handler found there.
 * GE_SIGNALS=keep in the environment: no handler is set, and SIGBUS is the application's. A session
 * loads one model; a second load answers FAILED_PRECONDITION. */
GE_API ge_status ge_session_load_file(ge_session* session, const char* path, uint32_t format,
                                      ge_error* error);
/* The bytes are copied. External data cannot be found from bytes and is refused. */
GE_API ge_status ge_session_load_bytes(ge_session* session, const void* bytes, uint64_t size,
                                       uint32_t format, ge_error* error);

/* ---- entries, inputs, outputs -----------------------------------------------------------------
 */

#define GE_MAX_RANK 16
typedef struct ge_tensor_info {
  uint32_t size; /* sizeof(ge_tensor_info) */
  int32_t dtype; /* ONNX's number: 1 = float32, 7 = int64 ...; of a sequence its tensors' */
  int32_t rank;  /* -1 = unknown */
  uint32_t reserved;
  int64_t dims[GE_MAX_RANK]; /* -1 = decided by the caller */
  const char* name;
  /* For sizes decided by the caller: "batch", "2*n+1"; inputs whose names agree have one size. A
   * name that is no identifier is quoted in an expression, and unquoted alone. NULL where the size
   * is known. */
  const char* dim_names[GE_MAX_RANK];
  int32_t kind;      /* GE_ANY_*; of an optional that of its content */
  uint32_t optional; /* 1 = it may be GE_ANY_NONE, too */
  /* As dim_names, but NULL where the model itself has no word for the size. */
  const char* model_dims[GE_MAX_RANK];
  const char* denotations[GE_MAX_RANK]; /* ONNX's, "DATA_BATCH"; NULL where it has none */
  const char* type;    /* in ONNX's words: "tensor(float)", "seq(map(string,tensor(float)))" */
  int32_t value_dtype; /* of a map its values'; else 0 */
  uint32_t reserved2;
} ge_tensor_info;

GE_API ge_status ge_session_entry_count(ge_session* session, uint32_t* out);
GE_API ge_status ge_session_entry_name(ge_session* session, uint32_t entry, const char** out);
/* `entry` is a name, or NULL for the first one, here and below. */
GE_API ge_status ge_session_input_count(ge_session* session, const char* entry, uint32_t* out);
GE_API ge_status ge_session_output_count(ge_session* session, const char* entry, uint32_t* out);
GE_API ge_status ge_session_input_info(ge_session* session, const char* entry, uint32_t index,
                                       ge_tensor_info* out);
GE_API ge_status ge_session_output_info(ge_session* session, const char* entry, uint32_t index,
                                        ge_tensor_info* out);
/* Initializers that are inputs of an ONNX model, too: defaults that a caller may override, in a
 * session whose initializer_inputs names them. dims are those of the default. */
GE_API ge_status ge_session_default_count(ge_session* session, uint32_t* out);
GE_API ge_status ge_session_default_info(ge_session* session, uint32_t index, ge_tensor_info* out);
/* The model's own metadata ("character" of a recogniser); NULL in *out for an unknown key. */
GE_API ge_status ge_session_metadata(ge_session* session, const char* key, const char** out);
/* Descriptions in the model itself, "" where absent. Texts live as long as the session. */
typedef struct ge_model_info {
  uint32_t size;           /* sizeof(ge_model_info) */
  uint32_t metadata_count; /* pairs of ge_session_metadata_pair */
  const char* name;        /* of the graph */
  const char* producer;    /* "pytorch" */
  const char* producer_version;
  const char* domain;            /* "org.example", its makers' domain */
  const char* description;       /* ONNX's doc_string of the model */
  const char* graph_description; /* and that of the graph */
  int64_t version;               /* of the model itself; 0 where it has none */
  uint32_t has_version;          /* 1 = it has one */
  uint32_t reserved;
} ge_model_info;
GE_API ge_status ge_session_model_info(ge_session* session, ge_model_info* out);
/* One pair of the model's own metadata, in the order of the keys. Both live as long as the session.
 */
GE_API ge_status ge_session_metadata_pair(ge_session* session, uint32_t index, const char** key,
                                          const char** value);

/* ---- running ----------------------------------------------------------------------------------
 */

typedef struct ge_tensor {
  uint32_t size; /* sizeof(ge_tensor); arrays are walked by the first one's size */
  int32_t dtype;
  int32_t rank;
  uint32_t flags; /* GE_TENSOR_*; 0 before the first use */
  int64_t dims[GE_MAX_RANK];
  void* data;     /* dense, row-major. Output: NULL = let the session allocate it */
  uint64_t bytes; /* of data; output with data given: its capacity, then the bytes written */
} ge_tensor;
enum {
  /* Set by the call that allocated `data` for an output. Such a tensor may be an output again, of
   * any session: its memory is used again where it is large enough, ignoring `bytes`, and replaced
   * by larger memory where it is not. Set data = NULL and flags = 0 when another owner takes the
   * memory; that owner frees it with ge_tensor_release, too. */
  GE_TENSOR_ALLOCATED = 1
};
/* Frees memory allocated by a call; leaves other tensors, and NULL, alone. */
GE_API void ge_tensor_release(ge_tensor* tensor);
/* Binds an output of a run as an input of the next one: no byte is copied. `input` gets the
 * output's memory, dtype and dims; `output` gets the input's memory, to be written next, if a call
 * had allocated it, else none: the next run allocates it. Memory of the input owned by the caller
 * stays the caller's. An output fed back each time and growing (present keys of a decoder)
 * alternates between two blocks of memory. A call must have allocated the output's memory,
 * GE_STATUS_INVALID_ARGUMENT otherwise. */
GE_API ge_status ge_tensor_feed(ge_tensor* output, ge_tensor* input, ge_error* error);

/* ---- limits of single calls --------------------------------------------------------------------
 */

/* Options of one call beside the session's. NULL = none. */
typedef struct ge_run_options {
  uint32_t size; /* sizeof(ge_run_options) */
  uint32_t reserved;
  /* As ge_session_set_time_limit, for this call; the shorter of both counts. 0 = none. */
  uint64_t time_limit_ms;
  ge_cancel_token* cancel; /* NULL = none. Stays until the call has returned. */
} ge_run_options;
/* A switch for any number of calls, of any sessions and threads. *out is NULL on failure. */
GE_API ge_status ge_cancel_token_create(ge_cancel_token** out, ge_error* error);
/* Ends the calls using the token with CANCELLED, and later ones, until it is reset. From any
 * thread, but not from a signal handler (ge_session_cancel is for these). */
GE_API ge_status ge_cancel_token_cancel(ge_cancel_token* token);
/* For calls that begin from now on; cancelled ones stay cancelled. */
GE_API ge_status ge_cancel_token_reset(ge_cancel_token* token);
GE_API void ge_cancel_token_destroy(ge_cancel_token* token);

/* ---- runs of tensors ---------------------------------------------------------------------------
 */

/* Plans for these input shapes (dtype and dims are read, data is not), to make the first run as
 * fast as any. Otherwise a run does it itself. */
GE_API ge_status ge_session_compile(ge_session* session, const char* entry, const ge_tensor* inputs,
                                    uint32_t n_inputs, ge_error* error);
/* Runs and waits. Inputs and outputs by position; output buffers may not overlap each other or an
 * input. After a failure outputs hold no promise, states are as they were. */
GE_API ge_status ge_session_run(ge_session* session, const char* entry, const ge_tensor* inputs,
                                uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                                ge_error* error);
/* The same with limits of its own. */
GE_API ge_status ge_session_run_with(ge_session* session, const char* entry,
                                     const ge_tensor* inputs, uint32_t n_inputs, ge_tensor* outputs,
                                     uint32_t n_outputs, const ge_run_options* options,
                                     ge_error* error);
/* Starts a run and returns. The tensors' memory and the `outputs` array must stay until the run is
 * done. `done` (may be NULL) is called once, from another thread, before wait returns; *out is set
 * before that. It may call anything, and destroy its run and its session; waiting for its own run
 * answers FAILED_PRECONDITION. Runs of a runtime take turns on a few threads, in the order of their
 * start: as many as compute, at least 4, and more only while a `done` does not return and others
 * wait. */
GE_API ge_status ge_session_run_async(ge_session* session, const char* entry,
                                      const ge_tensor* inputs, uint32_t n_inputs,
                                      ge_tensor* outputs, uint32_t n_outputs,
                                      void (*done)(void* context, ge_status status), void* context,
                                      ge_run** out, ge_error* error);
/* The same with limits of its own: the time runs from this call on, while the run waits for its
 * turn too; the token stays until the run is done. */
GE_API ge_status ge_session_run_async_with(ge_session* session, const char* entry,
                                           const ge_tensor* inputs, uint32_t n_inputs,
                                           ge_tensor* outputs, uint32_t n_outputs,
                                           const ge_run_options* options,
                                           void (*done)(void* context, ge_status status),
                                           void* context, ge_run** out, ge_error* error);
/* Answers the run's status, or DEADLINE_EXCEEDED when it is still going after timeout_ns
 * (UINT64_MAX = no limit). May be called again. */
GE_API ge_status ge_run_wait(ge_run* run, uint64_t timeout_ns, ge_error* error);
/* Asks this run to stop, as ge_session_cancel; it ends with CANCELLED unless it was already done.
 */
GE_API ge_status ge_run_cancel(ge_run* run);
/* Waits for the run, then frees the handle; in the `done` of this run it returns at once, and the
 * handle is freed when `done` has returned. */
GE_API void ge_run_destroy(ge_run* run);

/* ---- prepared runs -----------------------------------------------------------------------------
 */

/* A run with a known entry, plan and buffers: the work that ge_session_run repeats in each call is
 * done once. Inputs and outputs as there; `outputs` gets dtype, dims and bytes at once, and memory
 * where data is NULL; the caller releases that memory after the prepared run is gone. The memory
 * stays in place until then, or until another tensor is bound. An entry planned piece by piece as
 * its data decide, or with growing states, is looked up at each run as ever, and the first needs
 * buffers for all outputs (INVALID_ARGUMENT otherwise). The prepared run follows a plan replaced by
 * the session, and keeps an evicted one. One thread at a time (FAILED_PRECONDITION otherwise): make
 * one for each. It keeps the parts of its session in use, even when that is destroyed. *out is NULL
 * on failure. */
GE_API ge_status ge_prepared_create(ge_session* session, const char* entry, const ge_tensor* inputs,
                                    uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                                    ge_prepared** out, ge_error* error);
/* Other memory for one input or output, of the same dtype, dims and bytes (an output may have
 * more). A tensor that does not fit leaves the bound one. */
GE_API ge_status ge_prepared_set_input(ge_prepared* prepared, uint32_t index,
                                       const ge_tensor* tensor, ge_error* error);
GE_API ge_status ge_prepared_set_output(ge_prepared* prepared, uint32_t index,
                                        const ge_tensor* tensor, ge_error* error);
/* Runs and waits, as ge_session_run. Allocates nothing where one plan holds the entry. */
GE_API ge_status ge_prepared_run(ge_prepared* prepared, const ge_run_options* options,
                                 ge_error* error);
/* The same on other memory, which is bound from then on: the data of all inputs and all outputs, of
 * the dtypes, dims and bytes that are bound. After INVALID_ARGUMENT, as where buffers overlap, the
 * former ones still are. */
GE_API ge_status ge_prepared_run_on(ge_prepared* prepared, void* const* inputs,
                                    void* const* outputs, const ge_run_options* options,
                                    ge_error* error);
/* The tensor bound to an output, with the dims of the last run. */
GE_API ge_status ge_prepared_output(ge_prepared* prepared, uint32_t index, ge_tensor* out,
                                    ge_error* error);
/* Not while it runs. */
GE_API void ge_prepared_destroy(ge_prepared* prepared);

/* ---- batches -----------------------------------------------------------------------------------
 */

/* Rows of a data entry, a function of their global positions (i64[n] -> columns [n, ...]), batch by
 * batch. What is made ahead is a cache of a pure function: it is never saved, and a place to go on
 * is a number. */
typedef struct ge_batches_options {
  uint32_t size; /* sizeof(ge_batches_options) */
  uint32_t reserved;
  const char* entry; /* NULL: "data" */
  uint64_t batch;    /* rows, of all ranks together, some for each; 0: 64 */
  /* Batches made before somebody takes them; none where a batch costs less than to wake a thread,
   * or where the entry reads or writes states. At most as many as ahead_bytes holds, and one. */
  uint64_t ahead;
  uint64_t ahead_bytes; /* 0: 1 GiB */
  /* Of one run, into its part of the batch; 0: what takes about a millisecond. All of the batch
   * where an entry looks across rows. */
  uint64_t rows;
  /* The slice of each batch that is made; world 0: 1. Slices are rounded up, the last smaller. */
  uint64_t rank, world;
  uint64_t first; /* position of the first row */
  uint64_t limit; /* rows in all, the last batch may be shorter; 0: there is no end */
} ge_batches_options;
/* ahead = 2, all else 0. */
GE_API void ge_batches_options_init(ge_batches_options* options);
/* Plans the entry and makes a few rows. `options` NULL: the defaults. It keeps the parts of its
 * session in use, even when that is destroyed. INVALID_ARGUMENT: not such an entry; UNSUPPORTED:
 * rows of a column have no one shape. *out is NULL on failure. */
GE_API ge_status ge_batches_create(ge_session* session, const ge_batches_options* options,
                                   ge_batches** out, ge_error* error);
/* The next batch, NULL at the end. After a failure the next call makes the same batch again. One
 * thread at a time. */
GE_API ge_status ge_batches_next(ge_batches* batches, const ge_run_options* options, ge_batch** out,
                                 ge_error* error);
/* Waits for the rows being made. Batches that somebody has stay. */
GE_API void ge_batches_destroy(ge_batches* batches);
/* The columns, by result of the entry, of this rank's rows: do not write to them; they stay as they
 * are until the batch is released. */
GE_API ge_status ge_batch_columns(const ge_batch* batch, const ge_tensor** out, uint32_t* n_out);
/* Position of the batch's first row, of all ranks. */
GE_API uint64_t ge_batch_position(const ge_batch* batch);
/* From any thread. Its memory may be written again. */
GE_API void ge_batch_release(ge_batch* batch);

/* ---- values of any kind ------------------------------------------------------------------------
 */

/* Values of an entry beside tensors of numbers: tensors of texts, sequences, maps, and nothing, for
 * an empty optional. A value never changes; any number of threads may use it. The caller releases
 * each handle; a value lives as long as a handle or another value has it. */
enum {
  GE_ANY_NONE = 0,
  GE_ANY_TENSOR = 1, /* of numbers */
  GE_ANY_TEXTS = 2,  /* a tensor of texts */
  GE_ANY_SEQUENCE = 3,
  GE_ANY_MAP = 4
};
typedef struct ge_any_info {
  uint32_t size;             /* sizeof(ge_any_info) */
  int32_t kind;              /* GE_ANY_* */
  int32_t dtype;             /* of a tensor; of a sequence's elements, of a map's keys; 8 = texts */
  int32_t rank;              /* of a tensor of either kind; else 0 */
  int64_t dims[GE_MAX_RANK]; /* the same */
  uint64_t count;            /* elements of a tensor or sequence, entries of a map */
} ge_any_info;
GE_API ge_status ge_any_inspect(const ge_any* value, ge_any_info* out, ge_error* error);

/* In all of these *out is NULL on failure. */
GE_API ge_status ge_any_of_none(ge_any** out, ge_error* error);
/* With `release` the memory is read in place, and `release` is called with `context` when nobody
 * has the value any more, from any thread; it may not fail, and is not called where this fails.
 * Without it the bytes are copied. */
GE_API ge_status ge_any_of_tensor(const ge_tensor* tensor, void (*release)(void* context),
                                  void* context, ge_any** out, ge_error* error);
/* Copies as many texts as `dims` say, in row-major order, each of `lengths` bytes, or up to its NUL
 * where lengths is NULL. */
GE_API ge_status ge_any_of_texts(const char* const* texts, const uint64_t* lengths,
                                 const int64_t* dims, int32_t rank, ge_any** out, ge_error* error);
/* `dtype` is that of all the elements: tensors of either kind. */
GE_API ge_status ge_any_of_sequence(int32_t dtype, const ge_any* const* elements, uint64_t count,
                                    ge_any** out, ge_error* error);
/* Keys are a tensor of int64 or of texts, none of them twice; values a tensor of as many elements.
 */
GE_API ge_status ge_any_of_map(const ge_any* keys, const ge_any* values, ge_any** out,
                               ge_error* error);
/* A tensor of numbers in place: do not write to `out`; it is good as long as the value.
 * */
GE_API ge_status ge_any_tensor(const ge_any* value, ge_tensor* out, ge_error* error);
/* One of a tensor's texts, by its index in row-major order: `length` bytes and a NUL behind them,
 * with the lifetime of the value. */
GE_API ge_status ge_any_text(const ge_any* value, uint64_t index, const char** out,
                             uint64_t* length, ge_error* error);
/* An element of a sequence; of a map 0 = its keys, 1 = its values, each as a tensor. */
GE_API ge_status ge_any_element(const ge_any* value, uint64_t index, ge_any** out, ge_error* error);
GE_API void ge_any_release(ge_any* value);

/* As ge_session_run_with, for any kinds; `outputs` gets a handle for each output. The entry is
 * planned piece by piece, so the runs above are faster if all are tensors of numbers. After a
 * failure all of `outputs` are NULL. */
GE_API ge_status ge_session_run_values(ge_session* session, const char* entry,
                                       const ge_any* const* inputs, uint32_t n_inputs,
                                       ge_any** outputs, uint32_t n_outputs,
                                       const ge_run_options* options, ge_error* error);

/* ---- DLPack ------------------------------------------------------------------------------------
 */

/* Tensors to and from other libraries, by DLPack's struct, in place: no byte is copied. Memory of
 * the host alone is taken (kDLCPU, and pinned: kDLCUDAHost, kDLROCMHost), UNSUPPORTED with the
 * device's name otherwise; `stream` orders the memory of a device and is NULL for the host's,
 * INVALID_ARGUMENT otherwise. So is a tensor that is not dense in row-major order. from: `out` gets
 * a view. `managed` stays the caller's; the caller calls its deleter when no run needs the view any
 * more. */
GE_API ge_status ge_tensor_from_dlpack(struct DLManagedTensor* managed, void* stream,
                                       ge_tensor* out, ge_error* error);
/* Gives away the memory that a call has allocated for `tensor` (GE_TENSOR_ALLOCATED,
 * INVALID_ARGUMENT otherwise); `tensor` is empty then, and the deleter frees the memory. */
GE_API ge_status ge_tensor_to_dlpack(ge_tensor* tensor, void* stream, struct DLManagedTensor** out,
                                     ge_error* error);
/* The value owns `managed` from then on and calls its deleter when nobody has the value any more;
 * after a failure it is the caller's as before. */
GE_API ge_status ge_any_from_dlpack(struct DLManagedTensor* managed, void* stream, ge_any** out,
                                    ge_error* error);
/* Another owner of the value's bytes; they must not be written to. */
GE_API ge_status ge_any_to_dlpack(const ge_any* value, void* stream, struct DLManagedTensor** out,
                                  ge_error* error);

/* ---- states ------------------------------------------------------------------------------------
 */

GE_API ge_status ge_session_state_count(ge_session* session, uint32_t* out);
GE_API ge_status ge_session_state_info(ge_session* session, uint32_t index, ge_tensor_info* out);
/* Copies the present content; data NULL = only dtype, dims and bytes are answered. */
GE_API ge_status ge_session_get_state(ge_session* session, const char* name, ge_tensor* out,
                                      ge_error* error);
/* Copies the value, of the state's own dtype, dims and bytes. GE_INVALID_ARGUMENT, with all as it
 * was, also for a state counting the rows in use of a cache (kv_length of a decoder) if it would be
 * negative or beyond them: set caches before it to make them larger, behind it to make them
 * smaller. The same holds for ge_session_donate_state. */
GE_API ge_status ge_session_set_state(ge_session* session, const char* name, const ge_tensor* value,
                                      ge_error* error);
/* The caller's memory becomes the state's: no byte is copied, and runs write it. data begins at a
 * multiple of 64, has the state's own dtype, dims and bytes, and is nobody else's until `release`
 * is called with `context`, from any thread: when the state gets other memory or the session goes.
 * After a failure it is the caller's as before. */
GE_API ge_status ge_session_donate_state(ge_session* session, const char* name,
                                         const ge_tensor* value, void (*release)(void* context),
                                         void* context, ge_error* error);
/* All states get their first values again; a decoder's caches are empty. */
GE_API ge_status ge_session_reset_states(ge_session* session, ge_error* error);
/* Writes all states, as they are between two runs, into one file, which is replaced whole.
 * GE_IO_ERROR leaves it as it was. */
GE_API ge_status ge_session_save_states(ge_session* session, const char* path, ge_error* error);
/* Reads all states from such a file, or none: GE_DATA_CORRUPT where it is damaged or its values do
 * not go together, GE_INVALID_ARGUMENT where it is not of a model with the same states. Files of
 * earlier releases are read, though their digest covers values alone; earlier releases do not read
 * files of this one. */
GE_API ge_status ge_session_restore_states(ge_session* session, const char* path, ge_error* error);

/* ---- shared states -----------------------------------------------------------------------------
 */

/* States by name that sessions share (ge_session_options.states): weights that one model trains and
 * others evaluate, each loaded when it is wanted. A state of a session's model is the one of its
 * name here: one memory in all, whatever the sessions do with it by the calls above. A load adds
 * states that are not here, with the model's first values; those that are here keep their values.
 * It answers INVALID_ARGUMENT for a state of another type than the one here, and UNSUPPORTED, with
 * the name, for caches that runs append to (kv_cache), for states without a fixed size and for
 * models whose runs wait for those of other ranks (collectives).
 *
 * A run that writes a state waits for runs that use it, one that reads it for a run that writes it,
 * and neither for any other; a run on another device than where the state lies moves it there,
 * alone with it. Of those that wait none is passed over for ever. Failed and cancelled runs leave
 * all states as they were. In an operator's kernel, on the thread that it is called on, runs and
 * the calls below answer FAILED_PRECONDITION where the kernel's own run uses states of the same
 * ge_states: they would wait for themselves.
 *
 * Any number of threads may use one. Sessions keep what they use: release it at any time. *out is
 * NULL on failure. */
GE_API ge_status ge_states_create(ge_states** out, ge_error* error);
GE_API void ge_states_release(ge_states* states);
/* Copies the value into the state of this name; where there is none it is added, and where no
 * session uses it it may have another type from now on. INVALID_ARGUMENT, naming both types,
 * otherwise. `options` (NULL = none) limit the wait for runs, here and below. */
GE_API ge_status ge_states_set(ge_states* states, const char* name, const ge_tensor* value,
                               const ge_run_options* options, ge_error* error);
/* As ge_session_get_state. INVALID_ARGUMENT where there is none of this name. */
GE_API ge_status ge_states_get(ge_states* states, const char* name, ge_tensor* out,
                               const ge_run_options* options, ge_error* error);
/* Frees a state. FAILED_PRECONDITION while a session, or a prepared run of one, may use it: else
 * one name could stand for two memories. */
GE_API ge_status ge_states_erase(ge_states* states, const char* name, ge_error* error);
/* Ends calls of ge_states_set and ge_states_get that wait with CANCELLED, as ge_session_cancel:
 * from any thread and from a signal handler. */
GE_API ge_status ge_states_cancel(ge_states* states);
GE_API ge_status ge_states_count(ge_states* states, uint32_t* out);
/* By order of names, as they are now. The name lives as long as `states`. */
GE_API ge_status ge_states_info(ge_states* states, uint32_t index, ge_tensor_info* out);

/* ---- graphs by calls ---------------------------------------------------------------------------
 */

/* A model made by calls instead of bytes. One thread at a time for each. */
typedef struct ge_graph_options {
  uint32_t size; /* sizeof(ge_graph_options) */
  uint32_t reserved;
  const char* name; /* of the model; NULL = none */
  /* Plugins with operators, as in ge_session_options. A session that loads the graph names them,
   * too. NULL = none. */
  const char* plugins;
} ge_graph_options;
/* `options` NULL = defaults. *out is NULL on failure. */
GE_API ge_status ge_graph_create(const ge_graph_options* options, ge_graph_builder** out,
                                 ge_error* error);
/* The ge_edit of ge_plugin_pass.h over this graph, which has no functions at first: the same calls
 * with the same numbers, as of a DERIVE pass at load; `price` has nobody to ask. It stays valid as
 * long as the graph. Other than for a pass
 *  - a call that fails, for want of memory too, leaves the graph as it was, and later calls work;
 *    ge_graph_error tells what was wrong;
 *  - a node whose name another one has gets " #2" behind it, then " #3", and so on. A name is best
 *    the place in the user's source ("net.py:42 Net.fc1"): messages name nodes by it;
 *  - a node of functions, too, is refused at once where its types do not fit. So functions come
 *    before nodes that name them, with their results; one that calls itself
 *    (GE_FUNCTION_RECURSIVE) has placeholders (ge_graph_placeholder) as results first;
 *  - a result that is a parameter or another result, and has another name, is refused: an Identity
 *    between them has a name of its own. */
GE_API ge_status ge_graph_edit(ge_graph_builder* graph, const struct ge_edit** out,
                               ge_error* error);
/* What the last failing call of the graph's ge_edit has found, as that call's own error: its
 * status is answered, too. GE_STATUS_OK before there was one. */
GE_API ge_status ge_graph_error(const ge_graph_builder* graph, ge_error* error);
/* A constant in a function of the graph; *value is its number for ge_edit, 0 on failure. With
 * `release` the memory is read in place, and `release` is called with `context` when neither the
 * graph nor a session has it any more, from any thread; it is not called where this fails. Without
 * it the bytes are copied. */
GE_API ge_status ge_graph_constant(ge_graph_builder* graph, uint32_t function,
                                   const ge_tensor* tensor, void (*release)(void* context),
                                   void* context, uint32_t* value, ge_error* error);
/* A value that nothing computes, for a result of a function that calls itself: calls of it have
 * that type until ge_edit.results gives it another value, of the same dtype and rank. `param` is a
 * ge_param of ge_plugin_pass.h, whose type and sizes are read. *value is 0 on failure. */
GE_API ge_status ge_graph_placeholder(ge_graph_builder* graph, uint32_t function, const void* param,
                                      uint32_t* value, ge_error* error);
/* Loads the graph as it is now, as ge_session_load_bytes does a file: constants are shared, and the
 * graph stays in use, for more edits and other sessions. */
GE_API ge_status ge_session_load_graph(ge_session* session, ge_graph_builder* graph,
                                       ge_error* error);
/* Checks the graph and writes it, as it is now, into a file, which is replaced whole. AUTO decides
 * by the name: .gt, .gepb, .onnx; CAPSULE is INVALID_ARGUMENT. An ONNX file holds one entry, so a
 * graph for it has one; operators of ours and of plugins become their parts; states, and other
 * things without a form there, answer UNSUPPORTED with their names. */
GE_API ge_status ge_graph_save(ge_graph_builder* graph, const char* path, uint32_t format,
                               ge_error* error);
/* Sessions keep what they loaded. */
GE_API void ge_graph_release(ge_graph_builder* graph);

/* ---- looking inside ----------------------------------------------------------------------------
 */

/* Text of the graph or plan after `stage` ("load" .. "memory"), in .gt form; stages from
 * "bind" on need the shapes of a run compiled before. For an entry planned piece by piece they
 * are the finished plans of the pieces made by its runs so far. Free it with ge_text_release.
 * */
GE_API ge_status ge_session_dump(ge_session* session, const char* entry, const char* stage,
                                 char** out, ge_error* error);
/* One JSON object: load_ms, compile_ms, arena_bytes, max_live_bytes, weight_bytes,
 * copied_constant_bytes, nodes, segments, transfers, engines ... of the entry's latest plan, and
 * rounded_nodes, nodes of offers that round inputs of products (GE_BF16_PRECISION), and
 * state_bytes_written, bytes of states written by one run of it; and of the session: evicted,
 * plans that gave way to others; compiles, plans made, flow_plans, plans of pieces of control
 * flow, and flow_programs, plans of pieces made without passes; plans_searched, plans_by_class and
 * plans_shaped, how they were placed: by a search, by a known cover with new prices, like another
 * plan; plans_saved, taken from a compiled model, incompatible, why none can be, and open_engines,
 * names of the engines open in the session; flow_cuts,
 * structures of control flow; classes and covers of like shapes. Of the process: residents,
 * constants packed for kernels, resident_bytes, fills, how often one was written, packs_mapped,
 * how many lie in a file instead, and queries, how often an engine was asked for offers. */
GE_API ge_status ge_session_report(ge_session* session, const char* entry, char** out,
                                   ge_error* error);
/* One JSON object: the engine of each node of the entry's latest plan, its price, and the reasons,
 * as in `ge explain --json`: nodes [{node, op, segment, price_ns, price_source, chosen {device,
 * price_ns ...}, runner_up, bids, refusals [{engine, why}]}], predicted_ns, method ... For an entry
 * planned piece by piece: pieces, a list of such objects. */
GE_API ge_status ge_session_explain(ge_session* session, const char* entry, char** out,
                                    ge_error* error);
GE_API void ge_text_release(char* text);

/* Writes a compiled model: the rewritten graph, and of each plan so far the plan and the constants
 * packed for it. A session that loads the file (GE_FORMAT_CAPSULE) on the same processor, with the
 * same engines, threads and options begins to run at once; elsewhere it warns and plans anew.
 * FAILED_PRECONDITION where nothing was compiled, UNSUPPORTED for caches that grow. */
GE_API ge_status ge_session_save_compiled(ge_session* session, const char* path, ge_error* error);

/* Which runs are recorded as capsules, for `ge replay` and `ge bisect`. */
typedef struct ge_observe_options {
  uint32_t size; /* sizeof(ge_observe_options) */
  uint32_t reserved;
  const char* record; /* a folder, made if need be, for run-000001.gecap and so on; or F.gecap,
                         which holds the latest run */
  const char* values; /* "none", "stats", "border", "all"; NULL: border */
  uint64_t every;     /* each so manieth run is recorded; 0 and 1: each */
  uint64_t first;     /* so many records alone; 0: no end */
} ge_observe_options;
/* Records the session's runs from now on, asynchronous and prepared ones too; runs of several
 * threads at once are recorded each into a file of its own. `options` NULL: no longer. The plans
 * are those of runs that nobody observes. Where nothing can be written any more, the log says so
 * once and the runs go on. GE_OBSERVE="record=DIR;values=border" in the environment observes each
 * session made from its begin, with the graphs after each pass. */
GE_API ge_status ge_session_observe(ge_session* session, const ge_observe_options* options,
                                    ge_error* error);

/* The engines of the session, in its order, and their devices. Texts live as long as the session.
 */
typedef struct ge_engine_info {
  uint32_t size;    /* sizeof(ge_engine_info) */
  uint32_t devices; /* their number */
  const char* name;
  const char* version;
  const char* vendor;
  const char* path;    /* of the plugin */
  const char* options; /* as given to the session: "wrap=ref;delay=7", or "" */
} ge_engine_info;
enum {
  GE_DEVICE_INFO_ASYNC = 1,      /* it works while the host goes on */
  GE_DEVICE_INFO_OWN_MEMORY = 2, /* tensors are copied to it and back */
};
typedef struct ge_device_info {
  uint32_t size;         /* sizeof(ge_device_info) */
  uint32_t flags;        /* GE_DEVICE_INFO_* */
  uint64_t memory_bytes; /* of its own memory that we may use; 0 = not stated */
  uint32_t max_streams;
  uint32_t reserved;
  const char* name; /* "onednn/cpu": as a pin names it */
} ge_device_info;
GE_API ge_status ge_session_engine_count(ge_session* session, uint32_t* out);
GE_API ge_status ge_session_engine_info(ge_session* session, uint32_t engine, ge_engine_info* out);
GE_API ge_status ge_session_device_info(ge_session* session, uint32_t engine, uint32_t device,
                                        ge_device_info* out);

#ifdef __cplusplus
}
#endif
#endif /* GE_H_ */
