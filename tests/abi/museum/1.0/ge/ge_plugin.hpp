// ge_plugin.hpp: thin, optional C++17 sugar over ge_plugin.h, for plugins written in C++.
// Views, attribute look-up, error filling and an exception guard; header only. It is no second ABI:
// nothing here crosses the boundary, and a plugin may use any part of it or none.
// Views point into the host's memory and live as long as it does (one call, as a rule). No state:
// any thread may call anything.
#ifndef GE_PLUGIN_HPP_
#define GE_PLUGIN_HPP_

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "ge/ge_plugin.h"

namespace ge::plugin {

inline std::string_view View(ge_str s) {
  return s.p == nullptr ? std::string_view() : std::string_view(s.p, static_cast<size_t>(s.n));
}
inline ge_str Str(std::string_view s) { return ge_str{s.data(), s.size()}; }

// A read-only run of T: dims, attribute lists, indices.
template <class T>
struct Span {
  const T* p = nullptr;
  size_t n = 0;
  const T* begin() const { return p; }
  const T* end() const { return p + n; }
  size_t size() const { return n; }
  bool empty() const { return n == 0; }
  const T& operator[](size_t i) const { return p[i]; }
};

inline Span<int64_t> Dims(const ge_type& t) {
  return {t.dims, t.rank > 0 ? static_cast<size_t>(t.rank) : 0};
}
inline Span<int64_t> Dims(const ge_buf& b) {
  return {b.dims, b.rank > 0 ? static_cast<size_t>(b.rank) : 0};
}
inline Span<uint32_t> Inputs(const ge_node& n) { return {n.in, n.n_in}; }
inline Span<uint32_t> Outputs(const ge_node& n) { return {n.out, n.n_out}; }

// Bits of one element; 0 for strings and unknown dtypes.
inline uint32_t ElementBits(int32_t dtype) {
  switch (dtype) {
    case GE_U2:
    case GE_I2:
      return 2;
    case GE_U4:
    case GE_I4:
    case GE_F4E2M1:
      return 4;
    case GE_F6E2M3:
    case GE_F6E3M2:
      return 6;
    case GE_U8:
    case GE_I8:
    case GE_BOOL:
    case GE_F8E4M3FN:
    case GE_F8E4M3FNUZ:
    case GE_F8E5M2:
    case GE_F8E5M2FNUZ:
    case GE_F8E8M0:
      return 8;
    case GE_U16:
    case GE_I16:
    case GE_F16:
    case GE_BF16:
      return 16;
    case GE_F32:
    case GE_I32:
    case GE_U32:
      return 32;
    case GE_I64:
    case GE_U64:
    case GE_F64:
    case GE_C64:
      return 64;
    case GE_C128:
      return 128;
    default:
      return 0;
  }
}

inline const char* DTypeName(int32_t dtype) {
  static constexpr const char* kNames[] = {
      "undefined",      "float32",    "uint8",          "int8",       "uint16",    "int16",
      "int32",          "int64",      "string",         "bool",       "float16",   "float64",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
      "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};
  return dtype >= 0 && dtype <= GE_F6E3M2 ? kNames[dtype] : "unknown";
}

// False when the rank or a dim is unknown, or the product does not fit.
inline bool ElementCount(const ge_type& t, int64_t* count) {
  int64_t n = 1;
  bool zero = false, overflow = false;
  if (t.rank < 0 || (t.rank > 0 && t.dims == nullptr)) return false;
  for (int64_t d : Dims(t)) {
    if (d < 0) return false;
    if (d == 0) {
      zero = true;
    } else if (n > INT64_MAX / d) {
      overflow = true;
    } else {
      n *= d;
    }
  }
  *count = zero ? 0 : n;
  return zero || !overflow;
}

// Bytes of a dense tensor; false as above, or for a dtype without a size.
inline bool TensorBytes(const ge_type& t, uint64_t* bytes) {
  int64_t count = 0;
  const uint32_t bits = ElementBits(t.dtype);
  if (bits == 0 || !ElementCount(t, &count) || count > (INT64_MAX - 7) / bits) return false;
  *bytes = (static_cast<uint64_t>(count) * bits + 7) / 8;
  return true;
}

// ---- nodes and attributes ----------------------------------------------------------------------

inline bool IsOp(const ge_node& n, std::string_view op) {
  const std::string_view domain = View(n.domain);
  return (domain.empty() || domain == "ai.onnx") && View(n.op) == op;
}
// nullptr for an omitted optional input or output.
inline const ge_value* Input(const ge_graph& g, const ge_node& n, uint32_t i) {
  return i < n.n_in && n.in[i] != 0 ? GE_VALUE(&g, n.in[i]) : nullptr;
}
inline const ge_value* Output(const ge_graph& g, const ge_node& n, uint32_t i) {
  return i < n.n_out && n.out[i] != 0 ? GE_VALUE(&g, n.out[i]) : nullptr;
}

// nullptr when the node lacks an attribute of this name and kind.
inline const ge_attr* FindAttr(const ge_node& n, std::string_view name, uint32_t kind) {
  for (uint32_t i = 0; i < n.n_attr; ++i) {
    if (n.attr[i].kind == kind && View(n.attr[i].name) == name) return &n.attr[i];
  }
  return nullptr;
}
// Without a third argument: for attributes with a default, always present on nodes of
// operators known to the host (see ge_node in ge_plugin.h), and for required ones. 0, or
// empty, where there is none. With one: for attributes without a default, and operators
// unknown to the host.
inline int64_t AttrInt(const ge_node& n, std::string_view name, int64_t absent = 0) {
  const ge_attr* a = FindAttr(n, name, GE_ATTR_INT);
  return a != nullptr ? a->i : absent;
}
inline double AttrFloat(const ge_node& n, std::string_view name, double absent = 0) {
  const ge_attr* a = FindAttr(n, name, GE_ATTR_FLOAT);
  return a != nullptr ? a->f : absent;
}
inline std::string_view AttrString(const ge_node& n, std::string_view name,
                                   std::string_view absent = {}) {
  const ge_attr* a = FindAttr(n, name, GE_ATTR_STRING);
  return a != nullptr ? View(a->s) : absent;
}
inline Span<int64_t> AttrInts(const ge_node& n, std::string_view name) {
  const ge_attr* a = FindAttr(n, name, GE_ATTR_INTS);
  return a != nullptr ? Span<int64_t>{a->ints, a->n} : Span<int64_t>{};
}
inline Span<double> AttrFloats(const ge_node& n, std::string_view name) {
  const ge_attr* a = FindAttr(n, name, GE_ATTR_FLOATS);
  return a != nullptr ? Span<double>{a->floats, a->n} : Span<double>{};
}

struct OptionText {
  std::string_view key, value;  // without quotes
};
// The next option of ge_create_args.options, in the form described there; *rest goes on behind it.
// False when none is left. An option without '=' has an empty value.
inline bool NextOption(std::string_view* rest, OptionText* out) {
  while (!rest->empty() && rest->front() == ';') rest->remove_prefix(1);
  if (rest->empty()) return false;
  const size_t eq = rest->find_first_of("=;");
  out->key = rest->substr(0, eq);
  out->value = {};
  *rest = eq == std::string_view::npos ? std::string_view() : rest->substr(eq);
  if (rest->empty() || rest->front() == ';') return true;
  rest->remove_prefix(1);
  const bool quoted = !rest->empty() && (rest->front() == '"' || rest->front() == '\'');
  const char until = quoted ? rest->front() : ';';
  if (quoted) rest->remove_prefix(1);
  const size_t end = rest->find(until);
  out->value = rest->substr(0, end);
  *rest = end == std::string_view::npos ? std::string_view() : rest->substr(end + 1);
  return true;
}
// The value of `key` in ge_create_args.options; `absent` when it is not there.
inline std::string_view Option(ge_str options, std::string_view key, std::string_view absent) {
  std::string_view rest = View(options);
  for (OptionText o; NextOption(&rest, &o);) {
    if (o.key == key) return o.value;
  }
  return absent;
}

// ---- errors ------------------------------------------------------------------------------------

// Fills the caller's error (may be nullptr) and returns rc. Allocates nothing; long text is cut.
inline ge_rc FailV(ge_err* err, ge_rc rc, uint32_t node, const char* format, va_list args) {
  if (err == nullptr) return rc;
  char text[sizeof(err->msg) + 1];
  const int n = std::vsnprintf(text, sizeof(text), format, args);
  err->code = rc;
  err->scope = GE_SCOPE_CALL;
  err->node = node;
  err->msg_len = n < 0                                         ? 0
                 : static_cast<uint32_t>(n) < sizeof(err->msg) ? static_cast<uint32_t>(n)
                                                               : sizeof(err->msg);
  for (uint32_t i = 0; i < err->msg_len; ++i) err->msg[i] = text[i];
  return rc;
}
__attribute__((format(printf, 4, 5))) inline ge_rc Fail(ge_err* err, ge_rc rc, uint32_t node,
                                                        const char* format, ...) {
  va_list args;
  va_start(args, format);
  FailV(err, rc, node, format, args);
  va_end(args);
  return rc;
}

// GE_UNIMPLEMENTED, naming the tag, where a struct carries a must-understand extension outside
// `known` (rule 3): the first line of every call with a struct.
inline ge_rc Understand(const ge_hdr& h, ge_err* err, const char* where,
                        Span<uint16_t> known = {}) {
  const ge_hdr* x = ge_not_understood(&h, known.p, static_cast<uint32_t>(known.n));
  return x == nullptr ? static_cast<ge_rc>(GE_OK)
                      : Fail(err, GE_UNIMPLEMENTED, UINT32_MAX,
                             "%s: extension 0x%x of a struct must be understood, and this plugin "
                             "does not know it",
                             where, x->tag);
}

// The same for a graph with all its nodes and values: the first step of query.
inline ge_rc UnderstandGraph(const ge_graph& g, ge_err* err, const char* where) {
  ge_rc rc = Understand(g.h, err, where);
  for (uint32_t i = 0; rc == GE_OK && i < g.n_node; ++i) {
    rc = Understand(GE_NODE(&g, i)->h, err, where);
  }
  for (uint32_t v = 0; rc == GE_OK && v < g.n_value; ++v) {
    rc = Understand(GE_VALUE(&g, v)->h, err, where);
  }
  return rc;
}

// Runs body() -> ge_rc; an exception becomes a return code. Wrap every entry point with it.
template <class Body>
ge_rc Guard(ge_err* err, const char* where, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(err, GE_OUT_OF_MEMORY, UINT32_MAX, "%s: out of memory", where);
  } catch (const std::exception& e) {
    return Fail(err, GE_INTERNAL, UINT32_MAX, "%s: unexpected exception: %s", where, e.what());
  } catch (...) {
    return Fail(err, GE_INTERNAL, UINT32_MAX, "%s: unexpected exception", where);
  }
}

}  // namespace ge::plugin
#endif  // GE_PLUGIN_HPP_
