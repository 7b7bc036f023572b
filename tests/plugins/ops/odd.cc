// Operators that are legal in form and odd in one way each, of the domain acme: rules and kernels
// that throw, an output that there is not, parts of parts, parts that come back to themselves, and
// one that may run whole or in parts. tests/e2e/cli/words.py says what the host makes of them.
#include <cstring>
#include <stdexcept>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_op.h"

namespace {

constexpr ge_str Str(const char* s, uint64_t n) { return {s, n}; }
template <uint64_t kSize>
constexpr ge_str Str(const char (&s)[kSize]) {
  return Str(s, kSize - 1);
}

ge_rc Like(const ge_infer* c, ge_err*) { return ge_infer_like(c, 0, 0); }
ge_rc ThrowingInfer(const ge_infer*, ge_err*) { throw std::runtime_error("oops"); }
ge_rc ThrowNumber(const ge_infer*, ge_err*) { throw 7; }
// The code that the host gave is handed on, as ge_infer_like does.
ge_rc FarOutput(const ge_infer* c, ge_err*) {
  const ge_rc rc = ge_infer_like(c, 0, 0);
  return rc != GE_OK ? rc : ge_infer_like(c, 5, 0);
}
ge_rc TwoOutputs(const ge_infer* c, ge_err*) {
  const ge_rc rc = ge_infer_like(c, 0, 0);
  return rc != GE_OK ? rc : ge_infer_like(c, 1, 0);
}
ge_rc NoDtype(const ge_infer* c, ge_err*) { return c->output(c->host, 0, 99, -1, nullptr); }

ge_rc Copy(const ge_kernel_call* c, ge_err*) {
  std::memcpy(c->out[0].ptr, c->in[0].ptr, c->in[0].bytes);
  if (c->n_out > 1 && c->out[1].ptr) std::memcpy(c->out[1].ptr, c->in[0].ptr, c->in[0].bytes);
  return GE_OK;
}
ge_rc ThrowingKernel(const ge_kernel_call*, ge_err*) { throw std::runtime_error("kernel oops"); }

uint32_t Own(const ge_builder* b, ge_str op, uint32_t x) {
  ge_new_node n{};
  n.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  n.domain = Str("acme");
  n.op = op;
  n.in = &x;
  n.n_in = 1;
  uint32_t out = 0;
  b->node(b->host, &n, &out);
  return out;
}
uint32_t In(const ge_builder* b) { return b->graph->node->in[0]; }
// 3 x + x, in two nodes.
ge_rc Quadruple(const ge_builder* b, uint32_t* out, ge_err*) {
  const uint32_t x = In(b), three = ge_build(b, "Mul", x, ge_build_scalar(b, x, 3), 0);
  out[0] = ge_build(b, "Add", three, x, 0);
  return GE_OK;
}
ge_rc ByOuter(const ge_builder* b, uint32_t* out, ge_err*) {
  out[0] = ge_build(b, "Neg", Own(b, Str("Middle"), In(b)), 0, 0);
  return GE_OK;
}
ge_rc ByMiddle(const ge_builder* b, uint32_t* out, ge_err*) {
  out[0] = ge_build(b, "Abs", Own(b, Str("Inner"), In(b)), 0, 0);
  return GE_OK;
}
ge_rc ByItself(const ge_builder* b, uint32_t* out, ge_err*) {
  out[0] = Own(b, Str("Itself"), ge_build(b, "Abs", In(b), 0, 0));
  return GE_OK;
}
ge_rc ByPong(const ge_builder* b, uint32_t* out, ge_err*) {
  out[0] = Own(b, Str("Pong"), In(b));
  return GE_OK;
}
ge_rc ByPing(const ge_builder* b, uint32_t* out, ge_err*) {
  out[0] = Own(b, Str("Ping"), In(b));
  return GE_OK;
}
ge_rc ThrowingParts(const ge_builder*, uint32_t*, ge_err*) {
  throw std::runtime_error("parts oops");
}

constexpr ge_port kX[] = {{Str("x"), 1u << GE_F32, Str("T"), 0, 0, {}}};
constexpr ge_port kTwo[] = {{Str("y"), 1u << GE_F32, Str("T"), 0, 0, {}},
                            {Str("z"), 1u << GE_F32, Str("T"), GE_PORT_OPTIONAL, 0, {}}};

using Infer = ge_rc (*)(const ge_infer*, ge_err*);
using Parts = ge_rc (*)(const ge_builder*, uint32_t*, ge_err*);
using Kernel = ge_rc (*)(const ge_kernel_call*, ge_err*);

ge_op_def Op(ge_str name, Infer infer, Parts parts, Kernel kernel, bool two = false) {
  ge_op_def d{};
  d.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF);
  d.domain = Str("acme");
  d.name = name;
  d.version = 1;
  d.input = kX;
  d.n_input = 1;
  d.output = two ? kTwo : kX;
  d.n_output = two ? 2 : 1;
  d.infer = infer;
  d.decompose = parts;
  d.kernel = kernel;
  return d;
}

}  // namespace

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  static const ge_op_def ops[] = {
      Op(Str("ThrowingInfer"), ThrowingInfer, nullptr, Copy),
      Op(Str("ThrowNumber"), ThrowNumber, nullptr, Copy),
      Op(Str("ThrowingParts"), Like, ThrowingParts, nullptr),
      Op(Str("ThrowingKernel"), Like, nullptr, ThrowingKernel),
      Op(Str("FarOutput"), FarOutput, nullptr, Copy),
      Op(Str("NoDtype"), NoDtype, nullptr, Copy),
      Op(Str("TwoOutputs"), TwoOutputs, nullptr, Copy, true),
      Op(Str("Quadruple"), Like, Quadruple, Copy),  // its kernel is another's, so that one can tell
      Op(Str("Outer"), Like, ByOuter, nullptr),
      Op(Str("Middle"), Like, ByMiddle, nullptr),
      Op(Str("Inner"), Like, Quadruple, nullptr),
      Op(Str("Itself"), Like, ByItself, nullptr),
      Op(Str("Ping"), Like, ByPong, nullptr),
      Op(Str("Pong"), Like, ByPing, nullptr),
  };
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {GE_PLUGIN_HEAD};
    d.name = Str("odd");
    d.version = Str("1.0");
    d.vendor = Str("acme");
    d.kinds = GE_KIND_OPS;
    d.sanitizer = GE_SANITIZER_HERE;
    d.op = ops;
    d.n_op = sizeof ops / sizeof *ops;
    d.op_stride = sizeof *ops;
    return d;
  }();
  return &desc;
}
