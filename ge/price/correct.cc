#include "ge/price/correct.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ge {
namespace {

// What one sample weighs against an engine that is wholly confident of its price.
constexpr double kDoubtOfSample = 0.3;

// An offer takes at least this share of its time alone where it is part of a segment.
constexpr double kLeastInside = 0.5;

// From `asked` towards `measured` by as much as `count` samples are to be believed, as a factor.
double Blend(double asked, const Sampled& measured, double confidence) {
  const double n = measured.count, weight = n / (n + kDoubtOfSample * confidence);
  return std::exp(weight * measured.Log(asked));
}

class Corrector {
 public:
  Corrector(const PriceCache& cache, const Graph& graph, const Function& f,
            const std::vector<PlanLayout>& layouts)
      : cache_(cache), graph_(graph), f_(f), layouts_(layouts) {}

  void Correct(const PriceBook& book, Offer* o) {
    const double asked_saving = o->asked_saving_ns;
    double inside_factor = 1;
    for (size_t c = 0; c < o->choices.size(); ++c) {
      OfferChoice& choice = o->choices[c];
      const double asked_marginal = choice.asked_ns - o->asked_overhead_ns;
      const Factors f = Find(book, *o, &choice);
      if (f.source.empty()) return;  // Nothing is known of this engine's prices or of any other's.
      if (c == 0) {
        o->source = f.source;
        o->factor = f.alone;
        ScaleOverhead(f.alone, o);
        inside_factor = f.inside;
      }
      choice.marginal_ns = std::max(0.0, choice.asked_ns * f.alone - o->setup_ns - o->launch_ns);
      if (c > 0 || !o->growable) continue;
      // What a kept edge saves is the difference between alone and inside a segment.
      const double inside = std::max(0.0, asked_marginal - asked_saving) * inside_factor;
      o->edge_saving_ns = std::clamp(choice.marginal_ns - inside, 0.0, choice.marginal_ns);
    }
  }

 private:
  struct Factors {
    double alone = 1, inside = 1;
    std::string source;
  };

  // What other engines are off by says nothing of a time that this one has measured here.
  static bool Tells(const Correction& c, const Offer& o) {
    return c.rows > 0 && !(c.of_others && o.engine_measured);
  }

  // Setup and launch go together; what the engine asked is restored by the sum of both.
  static void ScaleOverhead(double factor, Offer* o) {
    const double now = o->setup_ns + o->launch_ns;
    const double scale = now > 0 ? o->asked_overhead_ns * factor / now : 1;
    o->setup_ns *= scale;
    o->launch_ns *= scale;
  }

  Factors Find(const PriceBook& book, const Offer& o, OfferChoice* choice) {
    const OfferName& name = NameOf(o, *choice);
    Factors out;
    PriceRow row;
    const bool known = cache_.Find(book, name, &row);
    choice->measured_ns = known && row.alone.count > 0 ? row.alone.ns : -1;
    choice->inside_ns = known && row.inside.count > 0 ? row.inside.ns : -1;
    // What was measured on a busy machine is one of the rows that its like go by; those of a quiet
    // one say more.
    const bool alone = known && row.alone.count > 0 && !row.alone.doubtful;
    const bool inside = known && row.inside.count > 0 && !row.inside.doubtful;
    if (inside) out.inside = Blend(row.asked_inside_ns, row.inside, o.confidence);
    if (alone) {
      out.source = "measured";
      out.alone = Blend(choice->asked_ns, row.alone, o.confidence);
    } else if (inside && row.asked_inside_ns >= kNextToNothingNs) {
      out.source = "measured";
      out.alone = out.inside;
    } else {
      const Correction c = cache_.CorrectionFor(book, name, PriceCache::Kind::kAlone, o.confidence);
      if (Tells(c, o)) {
        out.source = known && !inside ? "doubtful" : "table";
        out.alone = c.factor;
      }
      if (inside && out.source.empty()) out.source = "measured";
    }
    if (!inside) out.inside = InsideLike(book, name, o, &out);
    return out;
  }

  // The factor inside a segment of an offer that was never seen inside one: that of its time alone,
  // and by how much less its like take inside. (A difference between what is known of some alone
  // and of others inside would be noise, of which only savings count.)
  double InsideLike(const PriceBook& book, const OfferName& name, const Offer& o,
                    Factors* out) const {
    using enum PriceKind;
    if (out->source.empty()) {
      const Correction inside = cache_.CorrectionFor(book, name, kInside, o.confidence);
      if (Tells(inside, o)) {
        out->source = "table";
        out->alone = inside.factor;
      }
      return out->alone;
    }
    const Correction share = cache_.CorrectionFor(book, name, kInsideShare, o.confidence);
    return out->alone * std::clamp(share.factor, kLeastInside, 1.0);
  }

  // Several engines offer the same nodes.
  const OfferName& NameOf(const Offer& o, const OfferChoice& choice) {
    std::map<std::vector<uint32_t>, OfferNames>& names = names_[o.rounds];
    auto it = names.find(o.nodes);
    if (it == names.end()) {
      it = names.try_emplace(o.nodes, graph_, f_, o.nodes, o.rounds).first;
    }
    return it->second.With(choice.layouts, layouts_);
  }

  const PriceCache& cache_;
  const Graph& graph_;
  const Function& f_;
  const std::vector<PlanLayout>& layouts_;
  std::map<std::vector<uint32_t>, OfferNames> names_[2];  // of those that round, too
};

}  // namespace

PriceBook BookOf(const Engine& engine, uint32_t device) {
  PriceBook book{engine.plugin().hash, engine.devices()[device].name};
  if (!engine.options().empty()) book.device += "?" + engine.options();
  // Other kernels: their times are no knowledge of the usual ones'.
  if (engine.words().numerics != GE_NUMERICS_FAST) book.device += "?exact";
  return book;
}

void CorrectPrices(const EngineList& engines, const PriceCache& cache, const Graph& graph,
                   const Function& function, const std::vector<PlanLayout>& layouts,
                   OfferSet* offers) {
  std::map<std::pair<uint32_t, uint32_t>, PriceBook> books;
  const auto book_of = [&](const Offer& o) -> const PriceBook& {
    auto [it, fresh] = books.try_emplace({o.engine, o.device});
    if (fresh) it->second = BookOf(*engines[o.engine], o.device);
    return it->second;
  };
  CorrectPrices(book_of, cache, graph, function, layouts, offers);
}

void CorrectPrices(const std::function<const PriceBook&(const Offer&)>& book_of,
                   const PriceCache& cache, const Graph& graph, const Function& function,
                   const std::vector<PlanLayout>& layouts, OfferSet* offers) {
  if (cache.Empty()) return;
  Corrector corrector(cache, graph, function, layouts);
  for (Offer& o : offers->offers) {
    if (!o.convert) corrector.Correct(book_of(o), &o);
  }
}

}  // namespace ge
