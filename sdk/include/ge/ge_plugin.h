/* ge_plugin.h: the interface between a plugin and the host. C11 and C++17, stands alone; operators
 * and passes have headers of their own beside it.
 *
 * A plugin is a shared object that exports ONE symbol, ge_plugin_query, and links to nothing of
 * ours. Three functions make a complete engine: query (price nodes), compile, enqueue. Every other
 * slot of ge_engine_api may be NULL for the whole major version; its comment states the host's
 * action then.
 *
 * Rules
 *  1. Within a major version structs only grow at the end and values keep their meaning, so that
 *     host and plugin may be of different minor ones. A reader takes the present ones of its known
 *     fields, the others are zero; it asks for no more than a struct's size when first published.
 *  2. A struct beginning with ge_hdr may grow. It is passed by pointer, or in an array with an
 *     explicit stride. Structs without ge_hdr are frozen and carry spare words, which are
 *     zero.
 *  3. An unknown extension in `next` is skipped, unless GE_HDR_MUST_UNDERSTAND is set: then the
 *     call answers GE_UNIMPLEMENTED and names the tag (ge_not_understood finds it). The host does
 *     the same with structs from plugins.
 *  4. Ownership: arguments are valid for their call only, unless said otherwise. Plugin objects
 *     (engine, exec, stream, event, mem, frame, stamps, capture) are made by the plugin, freed by
 *     the host.
 *  5. Threads: query and compile of one engine are called by one thread at a time. enqueue of one
 *     exec may be called by several threads at once, unless the exec declares GE_COMPILED_SERIAL.
 *     The host serialises calls with a stream per stream.
 *  6. No exception, signal, exit or abort may leave the plugin. Failures are return codes; text
 *     goes into the caller's ge_err (which may be NULL).
 *  7. Sizes are bytes, times are nanoseconds, unless the name says otherwise.
 *  8. query, compile, fill, enqueue and copy are called in the session's floating-point mode:
 *     rounding to nearest, no traps, denormals flushed or kept as the user wants (on x86 the
 *     calling thread's MXCSR). Work on other threads takes that mode along; a thread from outside
 *     the plugin (the application shares OpenMP's workers, too) gets its former one back.
 */
#ifndef GE_PLUGIN_H_
#define GE_PLUGIN_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GE_ABI_MAJOR 1u
#define GE_ABI_MINOR 1u
#define GE_PLUGIN_MAGIC 0x4e49474c50454721ull /* "!GEPLGIN" read little-endian */
/* Names this state of the structs: the first 8 bytes of the SHA-256 of tests/abi/layout.golden. The
 * ABI test recomputes it. For people and tools: at load versions and sizes count. */
#define GE_HEADER_HASH 0x135727a2c6372d4bull

/* ---- basic words ---------------------------------------------------------------------------- */

typedef int32_t ge_rc; /* 0 = done, else one of GE_* below */
enum {
  GE_OK = 0,
  GE_INVALID_ARGUMENT = 1,
  GE_NOT_FOUND = 2,
  GE_OUT_OF_RANGE = 3,
  GE_OUT_OF_MEMORY = 4,
  GE_UNIMPLEMENTED = 5,
  GE_FAILED_PRECONDITION = 6,
  GE_CANCELLED = 7,
  GE_DEADLINE = 8,
  GE_UNAVAILABLE = 9,
  GE_DATA_LOSS = 10,
  GE_INTERNAL = 11,
  GE_DEVICE_LOST = 12,
  GE_PENDING = 13 /* event_wait: not reached yet */
};

enum { GE_HDR_MUST_UNDERSTAND = 1 };
typedef struct ge_hdr {
  uint32_t size; /* bytes filled by the producer, this header included */
  uint16_t tag;  /* which struct, GE_TAG_*; vendor tags from 0x8000 */
  uint16_t flags;
  const struct ge_hdr* next; /* extensions, or NULL */
} ge_hdr;
/* clang-format off */
enum {
  GE_TAG_PLUGIN = 1, GE_TAG_ENGINE_API = 2, GE_TAG_HOST_API = 3, GE_TAG_OFFER = 4,
  GE_TAG_COST = 5, GE_TAG_DECLINE = 6, GE_TAG_GRAPH = 7, GE_TAG_NODE = 8, GE_TAG_VALUE = 9,
  GE_TAG_SEGMENT = 10, GE_TAG_COMPILED = 11, GE_TAG_LAUNCH = 12, GE_TAG_DEVICE = 13,
  GE_TAG_LAYOUT = 14, GE_TAG_ERR = 15, GE_TAG_QUERY_ARGS = 16, GE_TAG_COPY = 17,
  GE_TAG_CREATE_ARGS = 18, GE_TAG_LINK = 19, GE_TAG_SINK = 20, GE_TAG_DOMAIN = 21,
  GE_TAG_PACK = 22, GE_TAG_OP_DEF = 23, GE_TAG_INFER = 24, GE_TAG_BUILDER = 25,
  GE_TAG_NEW_NODE = 26, GE_TAG_KERNEL_CALL = 27, GE_TAG_SHARD = 28, GE_TAG_PASS_DEF = 29,
  GE_TAG_EDIT = 30, GE_TAG_MODEL = 31, GE_TAG_FUNCTION = 32, GE_TAG_STATE = 33,
  GE_TAG_ENTRY = 34, GE_TAG_LINKS = 35, GE_TAG_RULE = 36, GE_TAG_STEP = 37
};
/* clang-format on */
/* First member initialiser: GE_HDR(ge_cost, GE_TAG_COST). */
#define GE_HDR(type, tag) \
  { (uint32_t)sizeof(type), (uint16_t)(tag), 0, 0 }

/* The first must-understand extension of `h` with a tag outside `known` (which may be NULL). NULL
 * where all are understood. A chain of over 64 is taken for one without an end.
 */
static inline const ge_hdr* ge_not_understood(const ge_hdr* h, const uint16_t* known,
                                              uint32_t n_known) {
  uint32_t seen = 0;
  for (const ge_hdr* x = h->next; x != 0; x = x->next) {
    uint32_t k = 0;
    if (++seen > 64) return x;
    if (!(x->flags & GE_HDR_MUST_UNDERSTAND)) continue;
    while (k < n_known && known[k] != x->tag) ++k;
    if (k == n_known) return x;
  }
  return 0;
}

typedef struct { /* text, not NUL-terminated; complete, so without spare words */
  const char* p;
  uint64_t n;
} ge_str;

enum { GE_SCOPE_CALL = 0, GE_SCOPE_EXEC = 1, GE_SCOPE_DEVICE = 2, GE_SCOPE_PLUGIN = 3 };
typedef struct ge_err { /* owned by the caller; NULL is allowed wherever one is passed */
  ge_hdr h;
  int32_t code;
  uint32_t scope; /* GE_SCOPE_*: the scope that is unusable now */
  uint32_t node;  /* node index at fault, or UINT32_MAX */
  uint32_t vendor_code;
  uint32_t retryable;
  uint32_t msg_len;
  char msg[480]; /* no terminator needed */
} ge_err;

typedef struct ge_engine ge_engine; /* opaque, defined by the plugin */
typedef struct ge_exec ge_exec;
typedef struct ge_stream ge_stream;
typedef struct ge_event ge_event;
typedef struct ge_mem ge_mem;
typedef struct ge_frame ge_frame;
typedef struct ge_stamps ge_stamps;
typedef struct ge_capture ge_capture;
typedef struct ge_host ge_host; /* opaque, defined by the host */

/* ---- tensors -------------------------------------------------------------------------------- */

/* clang-format off */
enum { /* ONNX's numbers */
  GE_F32 = 1, GE_U8 = 2, GE_I8 = 3, GE_U16 = 4, GE_I16 = 5, GE_I32 = 6, GE_I64 = 7, GE_STRING = 8,
  GE_BOOL = 9, GE_F16 = 10, GE_F64 = 11, GE_U32 = 12, GE_U64 = 13, GE_C64 = 14, GE_C128 = 15,
  GE_BF16 = 16, GE_F8E4M3FN = 17, GE_F8E4M3FNUZ = 18, GE_F8E5M2 = 19, GE_F8E5M2FNUZ = 20,
  GE_U4 = 21, GE_I4 = 22, GE_F4E2M1 = 23, GE_F8E8M0 = 24, GE_U2 = 25, GE_I2 = 26,
  GE_F6E2M3 = 27, GE_F6E3M2 = 28
};
/* clang-format on */

typedef struct {
  int32_t dtype;
  int32_t rank;        /* -1 = unknown */
  const int64_t* dims; /* -1 = unknown; row-major, last dim fastest */
  uint32_t bits;       /* bits of an element; below 8 they are packed, low bits first */
  uint32_t sharding;   /* reserved, 0 */
  uint64_t spare[2];
} ge_type;

typedef struct {   /* the place of a tensor at run time; one without bytes has some address, too */
  void* ptr;       /* address in its domain; touch it only where the device may */
  ge_mem* mem;     /* the block's handle, NULL in host memory */
  uint64_t offset; /* of ptr inside mem */
  uint64_t bytes;
  const int64_t* dims;    /* at this run */
  const int64_t* strides; /* in elements; NULL = dense in its layout */
  int32_t rank;
  int32_t dtype;
  uint32_t domain; /* memory domain index of the plan; 0 = host */
  uint32_t layout; /* layout id; 0 = plain row-major */
  uint64_t spare[2];
} ge_buf;

/* ---- the graph, read-only for the call ------------------------------------------------------- */

enum {
  GE_ATTR_INT = 1,
  GE_ATTR_FLOAT = 2,
  GE_ATTR_STRING = 3,
  GE_ATTR_INTS = 4,
  GE_ATTR_FLOATS = 5,
  GE_ATTR_STRINGS = 6,
  GE_ATTR_TENSOR = 7,
  /* Seen by passes alone. */
  GE_ATTR_FUNCTION = 8, /* i: the function's index */
  GE_ATTR_PARAM = 9     /* s: the enclosing function's attribute parameter standing here */
};
typedef struct {
  ge_str name;
  uint32_t kind; /* GE_ATTR_*; only the fields of that kind are set */
  uint32_t n;    /* elements of ints, floats, strings */
  int64_t i;
  double f;
  ge_str s;
  const int64_t* ints;
  const double* floats;
  const ge_str* strings;
  ge_type tensor_type;
  const void* tensor; /* payload, maybe unaligned */
  uint64_t tensor_bytes;
  uint64_t spare[2];
} ge_attr;

/* A size, where `dims` of ge_type has -1. */
typedef struct {
  int64_t value;    /* the size, or -1 */
  int64_t min, max; /* its range, both included; max INT64_MAX = no known limit */
  uint32_t id;      /* 0 = known; else equal numbers are provably equal sizes */
  uint32_t reserved;
  ge_str name; /* of a free size ("batch"); empty for an expression */
  uint64_t spare;
} ge_dim;

/* Effects of a node beside its outputs: effects on one object happen in the order of the nodes. */
enum {
  GE_EFFECT_STATE = 0, /* object: the state's index */
  GE_EFFECT_RNG = 1,
  GE_EFFECT_IO = 2,
  GE_EFFECT_COLLECTIVE = 3, /* object: the group; sequence rises in node order */
  GE_EFFECT_STREAM = 4
};
typedef struct ge_effect { /* complete */
  uint32_t kind;           /* GE_EFFECT_* */
  uint32_t object;
  uint32_t sequence;
  uint32_t reserved;
} ge_effect;

enum { GE_VALUE_CONSTANT = 1, GE_VALUE_INPUT = 2, GE_VALUE_OUTPUT = 4 };
typedef struct ge_value {
  ge_hdr h;
  ge_type type;
  const void* data; /* payload of a constant, else NULL */
  uint64_t data_bytes;
  uint32_t flags;       /* GE_VALUE_* */
  uint32_t producer;    /* node index, or UINT32_MAX */
  const uint32_t* user; /* indices of reading nodes, in order, once per use */
  uint32_t n_user;
  uint32_t id; /* the user graph's value id */
  ge_str name;
  const ge_dim* dim; /* by axis; NULL where all sizes are known, or there is no rank */
} ge_value;

typedef struct ge_node {
  ge_hdr h;
  ge_str domain, op;  /* "" = ai.onnx */
  uint32_t version;   /* opset of the node's meaning; ai.onnx: 28, for any model */
  uint32_t id;        /* the user graph's node id */
  const uint32_t* in; /* value indices; 0 = an omitted optional input */
  const uint32_t* out;
  uint32_t n_in, n_out;
  /* A node of an operator known to the host always carries its attributes with defaults (ONNX's at
   * `version`): engines read them and need know no default. An absent attribute has no default: the
   * operator's specification defines its absence. */
  const ge_attr* attr;
  uint32_t n_attr;
  uint32_t n_body; /* nested bodies; 0 for every node that may be offered */
  ge_str name;     /* the user's own name */
  /* In the views of passes; else NULL and 0. */
  const uint32_t* body;    /* function indices, n_body of them */
  const ge_str* body_role; /* "then_branch", "body", "fn", by body */
  const ge_effect* effect;
  const uint32_t* after; /* ids of nodes that come first though they give it no value */
  uint32_t n_effect, n_after;
} ge_node;

typedef struct ge_graph {
  ge_hdr h;
  const ge_node* node;   /* topological order; walk with GE_NODE */
  const ge_value* value; /* [0] is the absent value; walk with GE_VALUE */
  uint32_t n_node, n_value;
  uint32_t node_stride, value_stride;
  const uint32_t* in; /* value indices */
  const uint32_t* out;
  uint32_t n_in, n_out;
} ge_graph;
#define GE_NODE(g, i) ((const ge_node*)((const char*)(g)->node + (uint64_t)(i) * (g)->node_stride))
#define GE_VALUE(g, i) \
  ((const ge_value*)((const char*)(g)->value + (uint64_t)(i) * (g)->value_stride))

/* ---- layouts -------------------------------------------------------------------------------- */

enum { GE_LAYOUT_STRIDED = 0, GE_LAYOUT_BLOCKED = 1, GE_LAYOUT_OPAQUE = 2 };
typedef struct ge_layout {
  ge_hdr h;
  uint32_t kind;
  uint32_t n_perm; /* STRIDED, BLOCKED: order of dims, outermost first */
  const uint32_t* perm;
  uint32_t n_block; /* BLOCKED: inner blocks, outermost first; dims are padded up */
  uint32_t reserved;
  const uint32_t* block_axis;
  const uint32_t* block_size;
  ge_str tag;            /* OPAQUE: vendor's name; equal tags are one layout */
  uint64_t opaque_bytes; /* OPAQUE: upper bound; 0 = said by compile */
} ge_layout;

/* ---- offers and prices ---------------------------------------------------------------------- */

/* Prices are the engine's expectation at the dims of the view. The host turns measurements into a
 * factor on setup, launch and marginal alike; copies, conversions, workspace and persistent have
 * none. Offers may overlap: in the end each node is in one offer taken. */
enum { GE_PRICE_GUESS = 0, GE_PRICE_ANALYTIC = 1, GE_PRICE_TABLE = 2, GE_PRICE_MEASURED = 3 };
#define GE_UNKNOWN_NS UINT64_MAX
typedef struct ge_cost { /* cost of a segment = greatest setup + sum of marginals + greatest launch
                          */
  ge_hdr h;
  uint64_t setup_ns;    /* once a segment and run */
  uint64_t marginal_ns; /* GE_UNKNOWN_NS: the host estimates from flops and bytes */
  uint64_t launch_ns;   /* once a segment and run, of the host's time */
  uint64_t workspace;   /* bytes, upper bound */
  uint64_t persistent;  /* bytes kept between runs (packed weights) */
  uint32_t confidence;  /* 0..1000: the weight of the price against the first times measured by the
                         * host, of this offer or similar ones; no effect without any */
  uint32_t source;      /* GE_PRICE_* */
  uint64_t shape_ns;    /* once for each shape: code made for it. The host divides it by the
                         * expected number of runs of one */
} ge_cost;

typedef struct {
  uint32_t value;  /* value index at the offer's border */
  uint32_t layout; /* id from ge_sink.layout; unlisted values are plain */
  uint64_t spare;
} ge_value_layout;

typedef struct {
  const ge_value_layout* v;
  uint32_t n;
  uint32_t reserved;
  uint64_t marginal_ns; /* in place of ge_cost.marginal_ns */
  uint64_t spare[2];
} ge_layout_choice;

enum {
  GE_OFFER_GROWABLE = 1, /* any connected union of the engine's growable offers is one segment */
  GE_OFFER_CONVERT = 2,  /* no nodes: turns `convert_from` into `convert_to` for any value */
  /* Rounds inputs as ge_create_args.precision permits; rejected where it permits nothing. Times of
   * such offers are kept apart from the prices of others. */
  GE_OFFER_ROUNDS = 4
};
typedef struct ge_offer {
  ge_hdr h;
  const uint32_t* node; /* indices, ascending; more than one = a pattern, taken whole or not */
  uint32_t n_node;
  uint32_t flags;
  uint32_t device;      /* index of the engine's own device list */
  uint32_t const_align; /* alignment of constants' data at compile: 0 = that of the element type,
                           1 = any; a misaligned constant is copied by the host, and counted */
  uint64_t cookie;      /* comes back at compile, so nothing is matched twice */
  const ge_cost* cost;
  /* GROWABLE: saved once for each value made by this offer and read by another one of its segment,
   * with other readers or without. */
  uint64_t edge_saving_ns;
  const ge_layout_choice* choice; /* alternatives; n_choice 0 = everything plain */
  uint32_t n_choice;
  uint32_t convert_from, convert_to; /* layout ids of a CONVERT offer */
  uint32_t spare;
  double convert_ns_per_byte;
} ge_offer;

enum {
  GE_WHY_OP = 1,
  GE_WHY_VERSION = 2,
  GE_WHY_DTYPE = 3,
  GE_WHY_SHAPE = 4,
  GE_WHY_DYNAMIC = 5,
  GE_WHY_ATTRIBUTE = 6,
  GE_WHY_LAYOUT = 7,
  GE_WHY_MEMORY = 8,
  GE_WHY_RESOURCE = 9,
  GE_WHY_NUMERICS = 10,
  GE_WHY_DRIVER = 11,
  GE_WHY_POLICY = 12,
  GE_WHY_OTHER = 13
};
typedef struct ge_decline { /* for a node that the engine does not run alone; its patterns stand */
  ge_hdr h;
  uint32_t node;
  uint32_t why; /* GE_WHY_* */
  ge_str text;  /* short, may be empty */
} ge_decline;

typedef struct ge_sink { /* given to query; everything passed in is copied by the host */
  ge_hdr h;
  void* host;
  ge_rc (*offer)(void* host, const ge_offer*); /* an illegal one is left out; ge explain says why */
  ge_rc (*decline)(void* host, const ge_decline*);
  ge_rc (*layout)(void* host, const ge_layout*, uint32_t* id); /* equal layouts, equal ids */
} ge_sink;

/* ---- compile and run ------------------------------------------------------------------------ */

typedef struct {
  uint64_t cookie;
  const uint32_t* node;
  uint32_t n_node;
  uint32_t choice; /* index of the layout choice, 0 when there is none */
  uint64_t spare[2];
} ge_taken; /* an offer taken by this segment */

enum {
  GE_SEGMENT_OBSERVE = 1,
  /* No query was made about this graph: the cover comes from a file. Nothing about cookies, layouts
   * and nodes is known to be so. The answer is GE_UNIMPLEMENTED where the engine would not offer
   * what is taken. Only for engines that promise GE_ENGINE_UNASKED. */
  GE_SEGMENT_UNASKED = 2
};
typedef struct ge_segment {
  ge_hdr h;
  const ge_graph* graph; /* same indices as at query */
  const ge_taken* taken; /* in topological order; one, unless all of them are GROWABLE */
  uint32_t n_taken;
  uint32_t device;
  /* Value indices read from outside, constants excluded; once for each layout wanted for the value
   * by offers of the segment. */
  const uint32_t* in;
  /* Value indices leaving it: read by other segments or results of the graph, and maybe read by the
   * segment itself as well. */
  const uint32_t* out;
  uint32_t n_in, n_out;
  const uint32_t* in_layout; /* layout ids, by position */
  const uint32_t* out_layout;
  const ge_layout* const* layout; /* id -> record, for ids above; [0] is NULL (plain) */
  uint32_t n_layout;
  uint32_t flags; /* GE_SEGMENT_*. OBSERVE: the segment has a single node, whose time is wanted */
  const uint32_t* stop; /* as ge_launch.stop; valid until compile returns */
} ge_segment;

typedef struct {                  /* a tensor inside a segment; the host gives it a place */
  uint64_t bytes, align;          /* align 0 = 64 */
  uint32_t first_step, last_step; /* the exec's own step numbers, both inclusive */
  uint32_t alias_of;              /* UINT32_MAX, or an earlier internal value that it may overlay */
  uint32_t value;                 /* value index, 0 = scratch without a name */
  uint64_t spare[2];
} ge_internal;

/* Constants in the form that an exec reads: laid out anew, widened, summed. The host owns it: it
 * allocates it in the first domain of the segment's device, has `fill` write it once, and hands it
 * to every launch. It gives it to each exec, of any graph, shape or session of the process, whose
 * engine has the same build and options and asks for the same key of the same payloads. */
enum {
  /* No content leads a launch outside its buffers, so the host may read the pack from a file. Never
   * set where the bytes hold sizes, offsets, indices or addresses. */
  GE_PACK_ANY_BYTES = 1
};
typedef struct ge_pack { /* array of the plugin's, walked by a stride; valid until exec_destroy */
  ge_hdr h;
  const uint32_t* value; /* value indices of its constants; at least one */
  uint32_t n_value;
  uint32_t flags; /* GE_PACK_* */
  /* Any bytes. Together with dtype, dims and payload of the values they decide the bytes written by
   * fill, and fill sees nothing else. */
  ge_str key;
  uint64_t bytes, align; /* align 0 = 64 */
} ge_pack;

enum {
  GE_CONST_KEEP = 0,   /* data must stay while the exec lives */
  GE_CONST_COPIED = 1, /* not read again */
  GE_CONST_PACKED = 2  /* read by fill alone */
};
typedef struct {
  uint32_t value;        /* value index */
  uint32_t disposition;  /* GE_CONST_* */
  uint64_t packed_bytes; /* of the plugin's own copy, 0 = none */
  uint64_t spare[2];
} ge_const_use;

/* For hosts that look into a launch: which nodes a step runs, and which values are whole behind it,
 * each until a later step writes its place. */
enum { GE_PLACE_IN = 0, GE_PLACE_OUT = 1, GE_PLACE_INTERNAL = 2, GE_PLACE_WORKSPACE = 3 };
typedef struct {
  uint32_t value; /* value index */
  uint32_t place; /* GE_PLACE_* */
  uint32_t index; /* position in ge_launch.in, .out or .internal */
  uint32_t reserved;
  uint64_t offset;         /* bytes from the place's address */
  const ge_layout* layout; /* NULL = plain */
  uint64_t spare[2];
} ge_made;
typedef struct ge_step { /* array of the plugin's, walked by a stride; valid until exec_destroy */
  ge_hdr h;
  const uint32_t* node; /* node indices; those of a unit are in each of its steps */
  uint32_t n_node;
  uint32_t n_made;
  const ge_made* made;
} ge_step;

enum {
  GE_COMPILED_SERIAL = 1, /* one launch at a time: the host makes one exec a frame */
  /* No launch fails: it allocates nothing, refuses no data, ignores stop. Such a segment may
   * overwrite a state where it lies, at the end of a run, when no fallible instruction is left. A
   * launch that fails all the same costs its user the state. */
  GE_COMPILED_INFALLIBLE = 2,
  /* enqueue may be captured: what it queues follows from the launch's addresses and dims alone. It
   * waits for nothing, allocates nothing and reads no tensor on the host. */
  GE_COMPILED_CAPTURABLE = 4
};
typedef struct ge_compiled { /* array of the host's, walked by the stride passed to compile */
  ge_hdr h;
  ge_rc rc; /* of this segment; others may have succeeded */
  uint32_t flags;
  ge_exec* exec;                       /* freed by exec_destroy */
  uint64_t workspace, workspace_align; /* align 0 = 64 */
  const ge_internal* internal;         /* plugin's, valid until exec_destroy */
  uint32_t n_internal;
  uint32_t n_step;              /* steps that first_step and last_step count; 0 = 1 */
  const uint64_t* out_bytes;    /* by output; NULL = by the type and layout */
  const ge_const_use* constant; /* unlisted ones are KEEP */
  uint32_t n_constant;
  uint32_t alias_count;
  const uint32_t* alias; /* pairs (output position, input position): may share one place */
  ge_err* err;           /* the host's, never NULL: the reason if rc is not 0 */
  const ge_pack* pack;   /* packs wanted by launches */
  uint32_t n_pack, pack_stride;
  /* NULL, or n_step records, by step number. An engine that fills it calls ge_launch.after_step. */
  const ge_step* step;
  uint32_t step_stride, spare;
} ge_compiled;

typedef struct ge_launch {
  ge_hdr h;
  ge_stream* stream; /* NULL on a synchronous device: finish before returning */
  const ge_buf* in;  /* by position of ge_segment.in */
  /* By position of ge_segment.out. The launch alone uses them while it runs, except for the aliases
   * permitted by compile: a step may read an earlier one's output there. */
  ge_buf* out;
  ge_buf* internal; /* by position of ge_compiled.internal */
  uint32_t n_in, n_out, n_internal;
  uint32_t reserved;
  ge_buf workspace;
  ge_frame* frame;    /* of this exec, or NULL */
  uint64_t launch_id; /* the launch's place among the plan's instructions, the same in each run */
  /* NULL, or a word that stays 0 until the user cancels the run or its time is over; read it
   * atomically. A launch that may take longer than some 100 ms looks at it now and then, and once
   * it is not 0 answers GE_CANCELLED soon; outputs hold no promise then. Valid until the launch's
   * work is done. */
  const uint32_t* stop;
  const ge_buf* pack; /* by position of ge_compiled.pack; not written. An address may change until
                       * the next launch */
  uint32_t n_pack, spare;
  /* NULL, or to be called behind each step, in order, by the thread that called enqueue, when the
   * step's values are whole; it reads them, and changes nothing. Set on synchronous devices alone,
   * for execs with ge_compiled.step. */
  void (*after_step)(void* observer, uint32_t step);
  void* observer;
} ge_launch;

typedef struct ge_copy { /* between two domains; the engine knows at least one of them */
  ge_hdr h;
  ge_stream* stream; /* NULL: finish before returning */
  ge_buf src, dst;   /* same bytes, same layout, no overlap */
} ge_copy;

/* ---- devices -------------------------------------------------------------------------------- */

enum {
  GE_DEVICE_ASYNC = 1 /* enqueue returns before the work is done; streams and events are needed */
};
enum {
  GE_MEM_HOST_VISIBLE = 1,
  GE_MEM_COHERENT = 2,
  GE_MEM_DEVICE_LOCAL = 4,
  GE_MEM_SLOW = 8,
  GE_MEM_PINNED = 16 /* page-locked host memory; with HOST_VISIBLE, and an id of its own */
};
typedef struct ge_domain { /* memory within a device's reach; array of the plugin's, by a stride */
  ge_hdr h;
  ge_str name;    /* "device", "pinned"; may be empty */
  uint8_t id[16]; /* all zero = host memory; equal ids = same memory, of other engines' too */
  uint32_t flags; /* GE_MEM_* */
  uint32_t reserved;
  uint64_t align; /* of blocks, 0 = 64 */
  /* All that the host may allocate there at a time; 0 = no limit. Domains of equal ids share it. */
  uint64_t bytes;
} ge_domain;
typedef struct ge_device { /* array of the plugin's, walked by a stride */
  ge_hdr h;
  ge_str name; /* "cpu", "sim:0" */
  uint8_t uuid[16];
  /* [0]: the place of the device's tensors. In one that is GE_MEM_PINNED lies the host's own end of
   * the engine's copies; a caller's memory goes through it where the links say that it pays.
   * n_domain 0 = host memory alone. */
  const ge_domain* domain;
  uint32_t n_domain, domain_stride;
  uint32_t flags;       /* GE_DEVICE_* */
  uint32_t max_streams; /* 0 = 1 */
  double flops_per_ns,
      bytes_per_ns; /* f32 peak and memory speed, for unpriced offers; 0 = host's */
  /* Work queued for so long without an end is taken for a lost device; 0 = no limit. */
  uint64_t timeout_ns;
} ge_device;

/* Price of a copy between two of the engine's domains, of one device or of two, or one of them and
 * the host. Not listed: between two of the engine's none is made directly, to and from the host it
 * costs the host's copy speed. */
typedef struct ge_link {
  ge_hdr h;
  uint8_t from[16], to[16];
  uint64_t latency_ns;
  double bytes_per_ns;
} ge_link;

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct ge_host_api { /* unchanged while the process lives; functions: any thread */
  ge_hdr h;
  ge_host* host;
  /* level 0 error .. 4 trace. */
  void (*log)(ge_host*, uint32_t level, ge_str text);
  uint64_t (*now_ns)(ge_host*);
  /* Runs body(ctx, i) for i in [0, n) on the process's compute threads; returns when all are done.
   * With one thread, or from inside another parallel_for, it runs in the caller. */
  void (*parallel_for)(ge_host*, uint64_t n, void (*body)(void* ctx, uint64_t i), void* ctx);
  /* A hint during compile: the plugin has its own copy of this constant's payload and will not read
   * it again. The host may then let the pages of a mapped model file go. Others may still read it,
   * this plugin too: the pages come back from the file, slowly. NULL = the host needs no hint. */
  void (*const_done)(ge_host*, const void* data, uint64_t bytes);
  uint32_t threads; /* compute threads of the process, fixed before the first engine loads */
  uint32_t isa_cap; /* GE_ISA_*: kernels above it must not be used */
  /* The machine as measured by the host, for prices by formula. */
  double flops_per_ns; /* f32 peak of one thread at isa_cap; a multiply-add counts two */
  /* A copy's bytes, read + written, of one thread: [0] inside L2, [1] inside L3, [2] in memory.
   * The host does not measure reading alone: inside L2 it is faster, elsewhere about the same. */
  double copy_bytes_per_ns[3];
  /* All `threads` against one: [0] multiply-adds, [1] copies in memory. 1 with one thread. */
  double thread_gain[2];
  double call_ns;          /* an indirect call like enqueue, with its arguments */
  double fork_ns;          /* parallel_for over `threads` empty bodies; 0 with one thread */
  uint64_t cache_bytes[2]; /* L2 of a core, L3 of the machine; 0 = has none */
  /* The calling thread's floating-point control word (MXCSR on x86, else 0) outside of the host's
   * calls: set it while making threads, and they inherit it instead of rule 8's mode. */
  uint32_t (*caller_fp)(ge_host*);
  /* Runs body(ctx, id) for id in [0, n), n <= `threads`, on the same threads; unlike those of
   * parallel_for the bodies may wait for each other. Waits while another call has the threads.
   * Never call it inside parallel_for or team: inside() tells. Bodies have the caller's rule 8
   * mode. */
  void (*team)(ge_host*, uint32_t n, void (*body)(void* ctx, uint64_t id), void* ctx);
  uint32_t (*inside)(ge_host*); /* 1 in a body of parallel_for or team, else 0 */
  /* Threads free to help the calling one now, `threads` - 1 at most: none where as many runs are in
   * flight. A launch that asks first and then stays alone leaves the others theirs.
   */
  uint32_t (*helpers)(ge_host*);
} ge_host_api;
enum { GE_ISA_NATIVE = 0, GE_ISA_SSE42 = 1, GE_ISA_AVX2 = 2, GE_ISA_AVX512 = 3 };

enum { GE_DENORMALS_FLUSH = 0, GE_DENORMALS_KEEP = 1 };
enum {
  GE_NUMERICS_FAST = 0,
  /* Products of an operator's own operands, summed in any order. No transform of operands first
   * (Winograd, FFT, Strassen): its error is bounded by the largest of a tile and not by a sum's own
   * terms, and one infinity or NaN reaches results that do not read it. Do not offer such kernels.
   * */
  GE_NUMERICS_EXACT = 1
};
enum {
  GE_PRECISION_F32 = 0,
  /* The inputs of products of float32 (MatMul, Gemm, Conv) may be rounded to bfloat16, to the
   * nearest, ties to even; products are summed in float32, and results are float32. Offers rounding
   * so set GE_OFFER_ROUNDS. Never together with GE_NUMERICS_EXACT. */
  GE_PRECISION_BF16 = 1
};
typedef struct ge_create_args {
  ge_hdr h;
  const ge_host_api* host;
  /* "key=value;key=value", from the user; may be empty. A value beginning with " or ' goes to the
   * next such character and may hold ; and , between them. */
  ge_str options;
  uint32_t denormals; /* GE_DENORMALS_*: see rule 8; devices of their own follow it as they can */
  uint32_t numerics;  /* GE_NUMERICS_* */
  uint32_t precision; /* GE_PRECISION_*: to which offers may round */
  uint32_t reserved;
} ge_create_args;

enum {
  /* compile takes GE_SEGMENT_UNASKED: it checks what is taken as query and compile would together,
   * whatever cookies, layouts and nodes it is handed. */
  GE_ENGINE_UNASKED = 1
};
typedef struct ge_engine_api {
  ge_hdr h;
  /* The three required ones. */
  ge_rc (*query)(ge_engine*, const ge_graph*, const ge_sink*, ge_err*);
  /* out: n records walked by out_stride, zeroed and headed by the host. */
  ge_rc (*compile)(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
                   ge_compiled* out, uint32_t out_stride, ge_err*);
  /* Should neither allocate nor lock: both are time of each run. If it must, it answers
   * GE_OUT_OF_MEMORY, and holds no lock in calls of the host's: those wait for other threads. */
  ge_rc (*enqueue)(ge_exec*, const ge_launch*, ge_err*);
  /* NULL: execs need no freeing. */
  void (*exec_destroy)(ge_exec*);
  /* NULL: one synchronous device "cpu" in host memory. */
  ge_rc (*devices)(ge_engine*, const ge_device** out, uint32_t* n, uint32_t* stride, ge_err*);
  /* NULL: links cost the host's copy speed. */
  ge_rc (*links)(ge_engine*, const ge_link** out, uint32_t* n, uint32_t* stride, ge_err*);
  /* A block in a domain of a device, both by index. NULL: the device works on host memory. */
  ge_rc (*mem_alloc)(ge_engine*, uint32_t device, uint32_t domain, uint64_t bytes, uint64_t align,
                     ge_mem** out, void** address, ge_err*);
  void (*mem_free)(ge_engine*, ge_mem*);
  /* NULL: only between host-visible blocks, done by the host. */
  ge_rc (*copy)(ge_engine*, const ge_copy*, ge_err*);
  /* Streams and events: all NULL for a synchronous engine, all set for GE_DEVICE_ASYNC. An event is
   * a timeline counting up from 0; waiting for a value at or below the present one passes. Streams
   * of its device signal it, and streams of any device of the engine wait for it. The host calls
   * the signal of a value before any wait for it: a wait stands for the signals called so far.
   */
  ge_rc (*stream_create)(ge_engine*, uint32_t device, ge_stream** out, ge_err*);
  void (*stream_destroy)(ge_stream*);
  ge_rc (*event_create)(ge_engine*, uint32_t device, ge_event** out, ge_err*);
  void (*event_destroy)(ge_event*);
  ge_rc (*stream_wait)(ge_stream*, ge_event*, uint64_t value, ge_err*);
  ge_rc (*stream_signal)(ge_stream*, ge_event*, uint64_t value, ge_err*);
  /* Blocks the caller; GE_PENDING after timeout_ns, which may be 0; answers a failure of work
   * before the signal, with its scope. */
  ge_rc (*event_wait)(ge_event*, uint64_t value, uint64_t timeout_ns, ge_err*);
  /* State of one exec in one frame. NULL: the exec needs none. */
  ge_rc (*frame_create)(ge_exec*, ge_frame** out, ge_err*);
  void (*frame_destroy)(ge_exec*, ge_frame*);
  /* Writes a pack from its values' payloads, in order of pack->value (maybe unaligned, in host
   * memory), to `to`, in host memory too: the host copies it to a device with its own memory. Pure:
   * it depends on pack->key, an earlier answer of this engine's compile or shape, on bytes and on
   * these buffers alone; pack->value is not given. May be called from several threads at once, and
   * when the exec that asked for the pack is gone. NULL: no exec has packs. */
  ge_rc (*fill)(ge_engine*, const ge_pack*, const ge_buf* from, const ge_buf* to, ge_err*);
  /* Compiles a segment as compile did that of `like`: the same nodes, values, layouts and
   * cookies in a graph of other dims, where constants decided by shapes may differ. No query
   * was made about that graph. out->rc is GE_UNIMPLEMENTED where the engine would not offer
   * it so; the host then asks and compiles anew, also where this is NULL. Threads as compile.
   * */
  ge_rc (*shape)(ge_exec* like, const ge_segment*, ge_compiled* out, ge_err*);
  uint32_t promises; /* GE_ENGINE_* */
  uint32_t reserved;
  /* Stamps: places for times taken by streams of a device. All four or none; NULL: the host times
   * what it can see, calls and waits. stream_stamp queues the taking of a time, when all earlier
   * work of the stream is done. stamps_read is called when that is known to have happened; times
   * are in ns of the host's now_ns, their differences exact to the device's clock. */
  ge_rc (*stamps_create)(ge_engine*, uint32_t device, uint32_t n, ge_stamps** out, ge_err*);
  void (*stamps_destroy)(ge_stamps*);
  ge_rc (*stream_stamp)(ge_stream*, ge_stamps*, uint32_t index, ge_err*);
  ge_rc (*stamps_read)(ge_stamps*, uint32_t first, uint32_t n, uint64_t* ns, ge_err*);
  /* Capture: all four or none; NULL: each call is made at each run. Between begin and end the calls
   * enqueue (of GE_COMPILED_CAPTURABLE execs), copy, stream_signal and stream_wait with these
   * streams of one device are recorded in place of being queued, with their addresses. The events
   * signalled and waited for lie inside; their values are not reached by a launch of the capture.
   * stream[0] is the origin: the other streams' work waits for a signal of it, directly or not, and
   * comes back to it by such a wait before the end. A failure of any of the calls ends in
   * capture_end, which then fails and frees all. capture_launch queues everything on a stream of
   * the device, behind its earlier work; its later work waits for all of it. One launch of a
   * capture is in flight at a time, and the host keeps the execs until it is destroyed. */
  ge_rc (*capture_begin)(ge_engine*, ge_stream* const* stream, uint32_t n, ge_err*);
  ge_rc (*capture_end)(ge_engine*, ge_capture** out, ge_err*);
  ge_rc (*capture_launch)(ge_capture*, ge_stream*, ge_err*);
  void (*capture_destroy)(ge_capture*);
} ge_engine_api;

enum { GE_KIND_ENGINE = 1, GE_KIND_OPS = 2, GE_KIND_PASSES = 4 };
enum { GE_SANITIZER_NONE = 0, GE_SANITIZER_ADDRESS = 1, GE_SANITIZER_THREAD = 2 };
/* The sanitizer of the current compilation, for ge_plugin_desc.sanitizer. */
#if defined(__has_feature)
#define GE_HAS_FEATURE_(x) __has_feature(x)
#else
#define GE_HAS_FEATURE_(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || GE_HAS_FEATURE_(address_sanitizer)
#define GE_SANITIZER_HERE GE_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__) || GE_HAS_FEATURE_(thread_sanitizer)
#define GE_SANITIZER_HERE GE_SANITIZER_THREAD
#else
#define GE_SANITIZER_HERE GE_SANITIZER_NONE
#endif
typedef struct ge_plugin_desc { /* static, constant; magic first, to detect garbage */
  uint64_t magic;               /* GE_PLUGIN_MAGIC */
  ge_hdr h;
  uint32_t abi_major, abi_minor; /* GE_ABI_* at its build */
  uint64_t header_hash;          /* GE_HEADER_HASH */
  ge_str name, version, vendor;  /* name: as in --engines, [a-z0-9_]+ */
  uint32_t kinds;                /* GE_KIND_*, one at least */
  uint32_t sanitizer;            /* GE_SANITIZER_* at its build */
  ge_rc (*engine_create)(const ge_create_args*, ge_engine** out, ge_err*);
  void (*engine_destroy)(ge_engine*); /* NULL: nothing to free */
  const ge_engine_api* engine;        /* with GE_KIND_ENGINE, else NULL */
  /* With GE_KIND_OPS: ge_plugin_op.h. With GE_KIND_PASSES: ge_plugin_pass.h. */
  const struct ge_op_def* op;
  const struct ge_pass_def* pass;
  uint32_t n_op, op_stride;
  uint32_t n_pass, pass_stride;
} ge_plugin_desc;

/* The first members of a ge_plugin_desc's initialiser. */
#define GE_PLUGIN_HEAD \
  GE_PLUGIN_MAGIC, GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN), GE_ABI_MAJOR, GE_ABI_MINOR, GE_HEADER_HASH

typedef struct ge_query_args {
  ge_hdr h;
  uint32_t host_major, host_minor;
  uint64_t host_header_hash;
  char refusal[240]; /* a plugin answering NULL writes its reason here, NUL-terminated */
} ge_query_args;

#if defined(__GNUC__)
#define GE_EXPORT __attribute__((visibility("default")))
#else
#define GE_EXPORT
#endif
/* The only export. Pure and repeatable. */
GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*);

#ifdef __cplusplus
}
#endif
#endif /* GE_PLUGIN_H_ */
