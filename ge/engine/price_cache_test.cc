// The price cache: round trip, merge, damaged and foreign files, and what it makes of prices.
#include "ge/engine/price_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "ge/engine/cache_folder.h"
#include "ge/engine/temporary_cache_folder.h"

namespace ge {
namespace {

using Kind = PriceCache::Kind;

MachineRecord Machine(const std::string& cpu = "test cpu", uint32_t isa = 2, uint32_t threads = 1) {
  MachineRecord m;
  m.cpu = cpu, m.isa = isa, m.threads = threads;
  return m;
}

OfferName Name(const std::string& shape, uint32_t bucket = 4, const std::string& op = "Conv") {
  return {op, op + "(f32,c:f32)", shape, bucket};
}

const PriceBook kBook{"abcd", "cpu"};

// A cache folder for one test; the environment is put back afterwards.
class PriceCacheTest : public ::testing::Test {
 protected:
  std::filesystem::path File() const {
    for (const auto& e : std::filesystem::directory_iterator(folder_)) {
      if (e.path().extension() == ".json") return e.path();
    }
    return "";
  }
  const TemporaryCacheFolder cache_;
  const std::filesystem::path& folder_ = cache_.path();
};

TEST_F(PriceCacheTest, RowsComeBackFromDisk) {
  PriceCache first(Machine());
  first.Add(kBook, Name("1x3x8x8"), Kind::kAlone, 100, 250, 3);
  first.Add(kBook, Name("1x3x8x8"), Kind::kInside, 80, 40, 2);
  first.Save();
  PriceCache second(Machine());
  second.Load();
  PriceRow row;
  ASSERT_TRUE(second.Find(kBook, Name("1x3x8x8"), &row));
  EXPECT_EQ(row.family, "Conv");
  EXPECT_EQ(row.bucket, 4u);
  EXPECT_DOUBLE_EQ(row.asked_ns, 100);
  EXPECT_NEAR(row.alone.ns, 250, 1e-6);
  EXPECT_EQ(row.alone.count, 3u);
  EXPECT_DOUBLE_EQ(row.asked_inside_ns, 80);
  EXPECT_NEAR(row.inside.ns, 40, 1e-6);
  EXPECT_FALSE(second.Find(kBook, Name("1x3x9x9"), &row));
  EXPECT_FALSE(second.Find({"abce", "cpu"}, Name("1x3x8x8"), &row));
  EXPECT_FALSE(second.Find({"abcd", "cpu?price=10"}, Name("1x3x8x8"), &row));
}

TEST_F(PriceCacheTest, TwoWritersLoseNothingOfEachOthers) {
  PriceCache one(Machine()), two(Machine());
  one.Load(), two.Load();
  one.Add(kBook, Name("1"), Kind::kAlone, 100, 100, 1);
  one.Add(kBook, Name("both"), Kind::kAlone, 100, 100, 1);
  two.Add(kBook, Name("2"), Kind::kAlone, 100, 300, 1);
  two.Add(kBook, Name("both"), Kind::kAlone, 100, 400, 1);
  one.Save(), two.Save(), two.Save();  // a second save has nothing to add
  PriceCache all(Machine());
  all.Load();
  PriceRow row;
  EXPECT_TRUE(all.Find(kBook, Name("1"), &row));
  EXPECT_TRUE(all.Find(kBook, Name("2"), &row));
  ASSERT_TRUE(all.Find(kBook, Name("both"), &row));
  EXPECT_EQ(row.alone.count, 2u);
  EXPECT_NEAR(row.alone.ns, 200, 1e-6);  // geometric mean
}

TEST_F(PriceCacheTest, DamagedFilesAreIgnoredAndWrittenAnew) {
  PriceCache good(Machine());
  good.Add(kBook, Name("1"), Kind::kAlone, 100, 200, 1);
  good.Save();
  const std::string text = good.ToText();
  const std::filesystem::path file = File();
  ASSERT_FALSE(file.empty());
  for (size_t cut = 0; cut < text.size() - 2; cut += 7) {
    PriceCache cache(Machine());
    EXPECT_FALSE(cache.FromText(text.substr(0, cut)).ok()) << cut;
    EXPECT_TRUE(cache.Empty());
  }
  for (const char* bad : {"", "null", "[]", "{}", "{\"format\":\"x\"}", "\xff\xfe"}) {
    EXPECT_FALSE(PriceCache(Machine()).FromText(bad).ok()) << bad;
  }
  std::string negative = text;
  negative.replace(negative.find("100.0"), 5, "-10.0");
  EXPECT_EQ(PriceCache(Machine()).FromText(negative).code(), Code::kDataCorrupt);
  std::ofstream(file) << text.substr(0, text.size() / 2);
  PriceCache cache(Machine());
  cache.Load();
  EXPECT_TRUE(cache.Empty());
  cache.Add(kBook, Name("2"), Kind::kAlone, 100, 200, 1);
  cache.Save();
  PriceCache again(Machine());
  again.Load();
  PriceRow row;
  EXPECT_TRUE(again.Find(kBook, Name("2"), &row));
}

TEST_F(PriceCacheTest, ForeignMachinesAreRefused) {
  PriceCache here(Machine());
  here.Add(kBook, Name("1"), Kind::kAlone, 100, 200, 1);
  const std::string text = here.ToText();
  EXPECT_TRUE(PriceCache(Machine()).FromText(text).ok());
  for (const MachineRecord& other :
       {Machine("another cpu"), Machine("test cpu", 3), Machine("test cpu", 2, 2)}) {
    PriceCache there(other);
    EXPECT_EQ(there.FromText(text).code(), Code::kFailedPrecondition);
    EXPECT_TRUE(there.Empty());
  }
  std::string later = text;
  later.replace(later.find("\"format\": 1"), 11, "\"format\": 9");
  EXPECT_EQ(PriceCache(Machine()).FromText(later).code(), Code::kFailedPrecondition);
}

TEST_F(PriceCacheTest, NothingIsKeptWhereNothingMayBeWritten) {
  setenv("GE_CACHE_DIR", "off", 1);
  PriceCache cache(Machine());
  cache.Add(kBook, Name("1"), Kind::kAlone, 100, 200, 1);
  cache.Save();
  EXPECT_EQ(CacheFolder(), "");
  EXPECT_FALSE(ReadCacheFile("prices.json").has_value());
  setenv("GE_CACHE_DIR", "/proc/nowhere", 1);
  cache.Save();
  cache.Load();
  PriceRow row;
  EXPECT_TRUE(cache.Find(kBook, Name("1"), &row));
}

// Where the lock is held for good, a session ends all the same; what it knows it keeps.
TEST_F(PriceCacheTest, ALockThatIsHeldIsNotWaitedForForever) {
  PriceCache cache(Machine());
  cache.Add(kBook, Name("1"), Kind::kAlone, 100, 200, 1);
  cache.Save();
  const std::filesystem::path file = File();
  const int held = open((file.string() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  EXPECT_FALSE(UpdateCacheFile(file.filename(), [](const std::string&) { return "lost"; }));
  cache.Add(kBook, Name("2"), Kind::kAlone, 100, 200, 1);
  cache.Save();
  PriceRow row;
  PriceCache during(Machine());
  during.Load();
  EXPECT_TRUE(during.Find(kBook, Name("1"), &row));
  EXPECT_FALSE(during.Find(kBook, Name("2"), &row));
  close(held);
  cache.Save();
  PriceCache after(Machine());
  after.Load();
  EXPECT_TRUE(after.Find(kBook, Name("2"), &row));
}

TEST_F(PriceCacheTest, CorrectionGoesFromNarrowToWide) {
  PriceCache cache(Machine());
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kAlone, 0).rows, 0u);
  for (double measured : {180, 200, 9000}) {  // the median does not care for the last
    cache.Add(kBook, Name(std::to_string(measured)), Kind::kAlone, 100, measured, 1);
  }
  // Raised by a third of the spread: that of these rows, and the usual one as if of four rows.
  const double seen = 1.4826 * std::log(2 / 1.8);
  const double raise = std::exp(0.33 * std::sqrt((3 * seen * seen + 4 * 0.3 * 0.3) / 7));
  const auto factor = [&](const OfferName& name, double confidence) {
    return cache.CorrectionFor(kBook, name, Kind::kAlone, confidence).factor / raise;
  };
  EXPECT_NEAR(factor(Name("x"), 0), 2.0, 1e-9);
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kAlone, 0).rows, 3u);
  // A confident engine moves less, a wider scope too, but in the same direction.
  EXPECT_NEAR(factor(Name("x"), 1), std::pow(2.0, 3.0 / 3.3), 1e-9);
  EXPECT_NEAR(factor(Name("x", 9), 0), 2.0, 1e-9);  // the same signature, another size
  OfferName other = Name("x");
  other.signature = "Conv[group=2](f32,c:f32)";
  EXPECT_NEAR(factor(other, 0), 2.0, 1e-9);  // the same family and size
  other.bucket = 9;
  EXPECT_NEAR(factor(other, 0), std::pow(2.0, 3.0 / 4), 1e-9);
  // A pattern that nobody measured is as far off as what begins alike.
  EXPECT_NEAR(factor(Name("x", 9, "Conv+Elu"), 0), std::pow(2.0, 3.0 / 5), 1e-9);
  EXPECT_NEAR(factor(Name("x", 9, "Add"), 0), std::pow(2.0, 3.0 / 6), 1e-9);
  // Another engine is taken to be as optimistic, within a factor of two.
  for (int i = 0; i < 60; ++i) {
    cache.Add(kBook, Name("far" + std::to_string(i)), Kind::kAlone, 100, 10000, 1);
  }
  const double stranger = cache.CorrectionFor({"other", "cpu"}, Name("x"), Kind::kAlone, 0).factor;
  EXPECT_GT(stranger, 1.8);
  EXPECT_LE(stranger, 2.0 + 1e-9);
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kInside, 0).rows, 0u);
}

// Of rows that know both; others would compare what has nothing to do with each other.
TEST_F(PriceCacheTest, AShareInsideComesFromPairs) {
  PriceCache cache(Machine());
  cache.Add(kBook, Name("alone"), Kind::kAlone, 100, 100, 1);
  cache.Add(kBook, Name("inside"), Kind::kInside, 80, 8000, 1);
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kInsideShare, 0).rows, 0u);
  cache.Add(kBook, Name("both"), Kind::kAlone, 100, 200, 1);
  cache.Add(kBook, Name("both"), Kind::kInside, 80, 120, 1);
  const Correction share = cache.CorrectionFor(kBook, Name("x"), Kind::kInsideShare, 0);
  EXPECT_EQ(share.rows, 1u);
  EXPECT_NEAR(share.factor, (120.0 / 80) / (200.0 / 100), 1e-9);
}

TEST_F(PriceCacheTest, MeansFollowAMachineThatChanges) {
  Sampled s;
  s.Add(100, 10'000);
  EXPECT_NEAR(s.ns, 100, 1e-6);
  for (int i = 0; i < 10; ++i) s.Add(200, 32);
  EXPECT_NEAR(s.ns, 200, 1);
  s.Add(50, 0);
  EXPECT_NEAR(s.ns, 200, 1);
}

}  // namespace
}  // namespace ge
