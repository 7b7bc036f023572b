// PriceRow: what this machine has shown of one offer, and what a row says of its engine's prices.
// It knows no file. Stateless.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ge {

// A ratio to a smaller price means nothing: a view that turned out to be a copy, a Transpose that
// an engine takes for free inside a segment and whose share of it is some microseconds. By the
// first a Split of 1.5 ms had once made others a million times dearer.
inline constexpr double kNextToNothingNs = 50;

// kInsideShare, only for queries: the error of the price inside, relative to the error alone,
// from rows with both.
enum class PriceKind { kAlone, kInside, kInsideShare };
inline constexpr PriceKind kPriceKinds[] = {PriceKind::kAlone, PriceKind::kInside,
                                            PriceKind::kInsideShare};

// A geometric mean with its number of samples, bounded so new ones always count.
struct Sampled {
  double ns = 0;
  uint32_t count = 0;     // 0 = unknown
  bool doubtful = false;  // taken on a busy machine: a sound sample replaces them
  // False when nothing changed: there are sound samples, and these are not.
  bool Add(const Sampled& more);
  // log(measured / asked); of doubtful samples a quarter of it.
  double Log(double asked_ns) const;
};

struct PriceRow {
  std::string family;
  double size = 0;             // log2 of bytes
  double asked_ns = 0;         // by the engine, for the offer alone
  Sampled alone;               // a segment of its own
  double asked_inside_ns = 0;  // marginal less its saving inside a segment
  Sampled inside;              // its share of a larger segment
  uint32_t day = 0;            // since 1970, of the last sample

  // Joins samples that were taken elsewhere.
  void Merge(const PriceRow& more);
  // log(measured / asked), where the row knows it.
  std::optional<double> LogError(PriceKind kind) const;
  bool IsDoubtful(PriceKind kind) const;
  // Whether each number is one that a measurement may have.
  bool IsSane() const;
};

// Finite, not negative, less than two weeks.
bool IsSaneTime(double ns);

}  // namespace ge
