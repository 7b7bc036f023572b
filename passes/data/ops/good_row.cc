// GoodRow: rows[n] -> the rows themselves, but for those with a damaged picture in some column: the
// next row without one. With `kept` rows are places in that list, whose next row it is. The
// pictures of a row are decoded whole once, for the verdict, which the node keeps.
#include <fmt/format.h>

#include <atomic>

#include "passes/data/ops/kept_pictures.h"

namespace ge::data {
namespace {

enum Verdict : uint8_t { kUnknown, kGood, kBad };

struct KeptVerdicts {
  std::shared_ptr<const Source> source;
  std::vector<PictureColumn> pictures;
  std::unique_ptr<std::atomic<uint8_t>[]> of;
};

ge_rc OpenGoodRow(const ge_node* n, const ge_host_api*, void** kept, ge_err* err) {
  return Run(err, "GoodRow", [&] {
    auto k = std::make_unique<KeptVerdicts>();
    k->source = SharedSource(std::string(plugin::AttrString(*n, "source")),
                             std::string(plugin::AttrString(*n, "digest")), {});
    for (size_t i = 0; i < k->source->columns().size(); ++i) {
      if (k->source->columns()[i].kind == Column::Kind::kPicture) {
        k->pictures.emplace_back(k->source, i);
      }
    }
    k->of.reset(new std::atomic<uint8_t>[static_cast<size_t>(k->source->rows())]());
    *kept = k.release();
  });
}

void CloseGoodRow(void* kept) { delete static_cast<KeptVerdicts*>(kept); }

bool IsGood(const KeptVerdicts& k, int64_t row, const uint32_t* stop) {
  std::atomic<uint8_t>& verdict = k.of[static_cast<size_t>(row)];
  if (const uint8_t v = verdict.load(std::memory_order_relaxed); v != kUnknown) return v == kGood;
  bool good = true;
  try {
    for (const PictureColumn& pictures : k.pictures) pictures.Check(row, stop);
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
    const auto kept = Elements<int64_t>(InputOf(*c, 1));
    const int64_t whole = k.source->rows();
    const int64_t all = kept.empty() ? whole : std::ssize(kept);
    WantRows(kept, whole, "GoodRow");
    WantRows(rows, all, "GoodRow");
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    Parallel(c->api, rows.size(), [&](uint64_t i) {
      for (int64_t away = 0; away < all; ++away) {
        CheckStop(c->stop);
        const int64_t at = (rows[i] + away) % all;
        out[i] = kept.empty() ? at : kept[static_cast<size_t>(at)];
        if (IsGood(k, out[i], c->stop)) return;
      }
      throw Refusal{GE_DATA_LOSS, fmt::format("'{}': each of the {} rows has a damaged picture",
                                              k.source->path(), all)};
    });
  });
}

}  // namespace

ge_op_def GoodRowOp() {
  static const ge_port ports[] = {Port("row", 1u << GE_I64), OptionalPort("kept", 1u << GE_I64),
                                  Port("good", 1u << GE_I64)};
  static const ge_attr_def attrs[] = {WantedAttr("source", GE_ATTR_STRING), TextAttr("digest", "")};
  ge_op_def d = Record("GoodRow", ports, attrs);
  d.infer = [](const ge_infer* c, ge_err*) -> ge_rc { return ge_infer_like(c, 0, 0); };
  d.kernel = RunGoodRow;
  d.open = OpenGoodRow;
  d.close = CloseGoodRow;
  return d;
}

}  // namespace ge::data
