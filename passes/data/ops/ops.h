// The operators of domain ge.data, one a file, as records for the host, and what their rules share.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_op.h"
#include "passes/kit/refusal.h"

namespace ge::data {

ge_op_def OrderOp();
ge_op_def DrawOp();
ge_op_def RowsOp();
ge_op_def WindowsOp();
ge_op_def PicturesOp();
ge_op_def PictureSizeOp();
ge_op_def GoodRowOp();
ge_op_def RandomBoxOp();
ge_op_def CropViewOp();
ge_op_def BlobSizeOp();
ge_op_def BlobOp();

inline constexpr char kDomain[] = "ge.data";

// Runs body(); a Refusal becomes its code and text.
template <class Body>
ge_rc Run(ge_err* err, const char* what, Body&& body) {
  return plugin::Guard(err, what, [&]() -> ge_rc {
    try {
      body();
      return GE_OK;
    } catch (const passes::Refusal& r) {
      return plugin::Fail(err, r.rc, UINT32_MAX, "%s", r.text.c_str());
    }
  });
}

// Records of ports and attributes; names are literals.
ge_port Port(const char* name, uint64_t dtypes);
ge_port OptionalPort(const char* name, uint64_t dtypes);
ge_attr_def WantedAttr(const char* name, uint32_t kind);
ge_attr_def IntAttr(const char* name, int64_t otherwise);
ge_attr_def FloatAttr(const char* name, double otherwise);
ge_attr_def TextAttr(const char* name, const char* otherwise);

// The record of an operator with one output, the last of the ports; its functions are still to be
// set. Ports and attributes live as long as the plugin.
ge_op_def Record(const char* name, std::span<const ge_port> ports,
                 std::span<const ge_attr_def> attrs);

inline ge_buf* Output(const ge_kernel_call& c) { return &c.out[0]; }
// An input; where it is omitted one without memory.
inline ge_buf InputOf(const ge_kernel_call& c, uint32_t i) {
  return i < c.n_in && c.in[i].ptr != nullptr ? c.in[i] : ge_buf{};
}
// Elements of an input of numbers.
template <class T>
std::span<const T> Elements(const ge_buf& b) {
  return {static_cast<const T*>(b.ptr), b.bytes / sizeof(T)};
}

// Refuses rows beyond [0, rows).
void WantRows(std::span<const int64_t> rows, int64_t count, std::string_view op);

// Runs body(i) for i in [0, n) on the host's threads; the first Refusal is thrown when all are
// done.
void Parallel(const ge_host_api* api, uint64_t n, const std::function<void(uint64_t)>& body);

}  // namespace ge::data
