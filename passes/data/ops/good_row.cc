// GoodRow: rows[n] -> the rows themselves, but for those whose picture is damaged: the next row
// whose picture is not. Each row is decoded whole once, for the verdict, which the node keeps.
#include <fmt/format.h>

#include <atomic>

#include "passes/data/ops/kept_pictures.h"

namespace ge::data {
namespace {

enum Verdict : uint8_t { kUnknown, kGood, kBad };

struct KeptVerdicts {
  std::unique_ptr<PictureColumn> pictures;
  std::unique_ptr<std::atomic<uint8_t>[]> of;
};

ge_rc OpenGoodRow(const ge_node* n, const ge_host_api* api, void** kept, ge_err* err) {
  return Run(err, "GoodRow", [&] {
    auto k = std::make_unique<KeptVerdicts>();
    void* pictures = nullptr;
    ge_err why{};
    if (const ge_rc rc = OpenPictures(n, api, &pictures, &why); rc != GE_OK) {
      throw Refusal{rc, std::string(why.msg, why.msg_len)};
    }
    k->pictures.reset(static_cast<PictureColumn*>(pictures));
    k->of.reset(new std::atomic<uint8_t>[static_cast<size_t>(k->pictures->source().rows())]());
    *kept = k.release();
  });
}

void CloseGoodRow(void* kept) { delete static_cast<KeptVerdicts*>(kept); }

bool IsGood(const KeptVerdicts& k, int64_t row) {
  std::atomic<uint8_t>& verdict = k.of[static_cast<size_t>(row)];
  if (const uint8_t v = verdict.load(std::memory_order_relaxed); v != kUnknown) return v == kGood;
  bool good = true;
  try {
    k.pictures->Check(row);
  } catch (const Refusal& r) {
    if (r.rc != GE_DATA_LOSS) throw;
    good = false;
  }
  verdict.store(good ? kGood : kBad, std::memory_order_relaxed);
  return good;
}

ge_rc RunGoodRow(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "GoodRow", [&] {
    const KeptVerdicts& k = *static_cast<const KeptVerdicts*>(c->kept);
    const auto rows = Elements<int64_t>(c->in[0]);
    const int64_t all = k.pictures->source().rows();
    WantRows(rows, all, "GoodRow");
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    Parallel(c->api, rows.size(), [&](uint64_t i) {
      for (int64_t away = 0; away < all; ++away) {
        if (c->stop != nullptr && __atomic_load_n(c->stop, __ATOMIC_RELAXED) != 0) {
          throw Refusal{GE_CANCELLED, "GoodRow: cancelled"};
        }
        out[i] = (rows[i] + away) % all;
        if (IsGood(k, out[i])) return;
      }
      throw Refusal{GE_DATA_LOSS, fmt::format("'{}': each of the {} pictures is damaged",
                                              k.pictures->source().path(), all)};
    });
  });
}

}  // namespace

ge_op_def GoodRowOp() {
  static const ge_port ports[] = {Port("row", 1u << GE_I64), Port("good", 1u << GE_I64)};
  static const std::vector<ge_attr_def> attrs = ColumnAttrs();
  ge_op_def d = Record("GoodRow", ports, attrs);
  d.infer = [](const ge_infer* c, ge_err*) -> ge_rc { return ge_infer_like(c, 0, 0); };
  d.kernel = RunGoodRow;
  d.open = OpenGoodRow;
  d.close = CloseGoodRow;
  return d;
}

}  // namespace ge::data
