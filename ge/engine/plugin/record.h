// Reads the records of plugins: no byte past the record's stated size, no field beyond it,
// no extension marked as must-understand (rules 1 to 3 of ge_plugin.h). Sizes are compared
// with a struct's size when first published; later versions of the header do not change
// it.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/ge_plugin_op.h"
#include "ge/ge_plugin_pass.h"

namespace ge {

// Bytes of T when first published, by number: sizeof would follow the struct as it grows.
template <typename T>
inline constexpr uint32_t kFirstSize = 0;
template <>
inline constexpr uint32_t kFirstSize<ge_plugin_desc> = 120;
template <>
inline constexpr uint32_t kFirstSize<ge_engine_api> = 40;  // its three required functions
template <>
inline constexpr uint32_t kFirstSize<ge_device> = 88;
template <>
inline constexpr uint32_t kFirstSize<ge_domain> = 72;
template <>
inline constexpr uint32_t kFirstSize<ge_link> = 64;
template <>
inline constexpr uint32_t kFirstSize<ge_layout> = 80;
template <>
inline constexpr uint32_t kFirstSize<ge_cost> = 64;
template <>
inline constexpr uint32_t kFirstSize<ge_offer> = 96;
template <>
inline constexpr uint32_t kFirstSize<ge_decline> = 40;
template <>
inline constexpr uint32_t kFirstSize<ge_pack> = 64;
template <>
inline constexpr uint32_t kFirstSize<ge_op_def> = 160;
template <>
inline constexpr uint32_t kFirstSize<ge_new_node> = 96;
template <>
inline constexpr uint32_t kFirstSize<ge_pass_def> = 104;
template <>
inline constexpr uint32_t kFirstSize<ge_links> = 72;
template <>
inline constexpr uint32_t kFirstSize<ge_function> = 104;
template <>
inline constexpr uint32_t kFirstSize<ge_state> = 104;
template <>
inline constexpr uint32_t kFirstSize<ge_rule> = 80;

// A plugin's text, cut after `most` bytes.
inline std::string TextOf(ge_str text, uint64_t most = UINT64_MAX) {
  return text.p ? std::string(text.p, std::min(text.n, most)) : std::string();
}

// PLUGIN_ERROR naming the tag of a must-understand extension of `what`; this host knows
// none.
Status WantUnderstood(const ge_hdr& header, std::string_view what);

// PLUGIN_ERROR where the record states fewer bytes than it had when first published.
Status WantFirstSize(const ge_hdr& header, uint32_t first, std::string_view what);

// A copy of *given; fields beyond its size are zero. PLUGIN_ERROR as above.
template <typename T>
Result<T> ReadRecord(const T* given, std::string_view what) {
  static_assert(kFirstSize<T> != 0 && kFirstSize<T> <= sizeof(T));
  GE_RETURN_IF_ERROR(WantFirstSize(given->h, kFirstSize<T>, what));
  GE_RETURN_IF_ERROR(WantUnderstood(given->h, what));
  T out{};
  std::memcpy(static_cast<void*>(&out), given, std::min<size_t>(given->h.size, sizeof(T)));
  return out;
}

}  // namespace ge
