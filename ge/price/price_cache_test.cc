// The price cache: round trip, merge, damaged and foreign files, and what it makes of prices.
#include "ge/price/price_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "ge/host/cache_folder.h"
#include "ge/host/temporary_cache_folder_testing.h"

namespace ge {
namespace {

using Kind = PriceCache::Kind;

MachineRecord Machine(const std::string& cpu = "test cpu", uint32_t isa = 2, uint32_t threads = 1) {
  MachineRecord m;
  m.cpu = cpu;
  m.isa = isa;
  m.threads = threads;
  return m;
}

// `size`: log2 of bytes.
OfferName Name(const std::string& shape, double size = 12, const std::string& op = "Conv") {
  return {op, op + "(f32,c:f32)", shape, size};
}

const PriceBook kBook{"abcd", "cpu"};

// A cache folder for one test; the environment is put back afterwards.
class PriceCacheTest : public ::testing::Test {
 protected:
  std::filesystem::path File() const {
    for (const auto& e : std::filesystem::directory_iterator(folder_)) {
      if (e.path().extension() == ".rows") return e.path();
    }
    return "";
  }
  const TemporaryCacheFolder cache_;
  const std::filesystem::path& folder_ = cache_.path();
};

TEST_F(PriceCacheTest, RowsComeBackFromDisk) {
  PriceCache first(Machine());
  first.Add(kBook, Name("1x3x8x8"), Kind::kAlone, 100, {250, 3});
  first.Add(kBook, Name("1x3x8x8"), Kind::kInside, 80, {40, 2});
  first.Save();
  PriceCache second(Machine());
  second.Load();
  PriceRow row;
  ASSERT_TRUE(second.Find(kBook, Name("1x3x8x8"), &row));
  EXPECT_EQ(row.family, "Conv");
  EXPECT_EQ(row.size, 12);
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
  one.Load();
  two.Load();
  one.Add(kBook, Name("1"), Kind::kAlone, 100, {100, 1});
  one.Add(kBook, Name("both"), Kind::kAlone, 100, {100, 1});
  two.Add(kBook, Name("2"), Kind::kAlone, 100, {300, 1});
  two.Add(kBook, Name("both"), Kind::kAlone, 100, {400, 1});
  one.Save();
  two.Save();
  two.Save();  // a second save has nothing to add
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
  good.Add(kBook, Name("1"), Kind::kAlone, 100, {200, 1});
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
  std::ofstream(file) << text.substr(0, text.size() / 2);  // no file of prices at all
  PriceCache cache(Machine());
  cache.Load();
  EXPECT_TRUE(cache.Empty());
  cache.Add(kBook, Name("2"), Kind::kAlone, 100, {200, 1});
  cache.Save();
  PriceCache again(Machine());
  again.Load();
  PriceRow row;
  EXPECT_TRUE(again.Find(kBook, Name("2"), &row));
}

TEST_F(PriceCacheTest, ForeignMachinesAreRefused) {
  PriceCache here(Machine());
  here.Add(kBook, Name("1"), Kind::kAlone, 100, {200, 1});
  const std::string text = here.ToText();
  EXPECT_TRUE(PriceCache(Machine()).FromText(text).ok());
  for (const MachineRecord& other :
       {Machine("another cpu"), Machine("test cpu", 3), Machine("test cpu", 2, 2)}) {
    PriceCache there(other);
    EXPECT_EQ(there.FromText(text).code(), Code::kFailedPrecondition);
    EXPECT_TRUE(there.Empty());
  }
  std::string later = text;
  later.replace(later.find("\"format\": 2"), 11, "\"format\": 9");
  EXPECT_EQ(PriceCache(Machine()).FromText(later).code(), Code::kFailedPrecondition);
}

// Turned into a number of days, 1e300 is undefined.
TEST_F(PriceCacheTest, ANumberOutsideItsKindIsDamage) {
  const auto read = [](const std::string& day) {
    return PriceCache(Machine()).FromText(
        R"({"format": 2, "cpu": "test cpu", "isa": 2, "threads": 1, "engines": [{"plugin": "abcd",
            "device": "cpu", "rows": {"k": ["Conv", 12, )" +
        day + ", 100, 90, 3, 50, 40, 2, 1]}}]}");
  };
  EXPECT_TRUE(read("20000").ok());
  for (const char* day : {"1e300", "2000429496729698.5", "-1", "2.5", "\"1\""}) {
    EXPECT_EQ(read(day).code(), Code::kDataCorrupt) << day;
  }
}

TEST_F(PriceCacheTest, NothingIsKeptWhereNothingMayBeWritten) {
  setenv("GE_CACHE_DIR", "off", 1);
  PriceCache cache(Machine());
  cache.Add(kBook, Name("1"), Kind::kAlone, 100, {200, 1});
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
  cache.Add(kBook, Name("1"), Kind::kAlone, 100, {200, 1});
  cache.Save();
  const std::filesystem::path file = File();
  const int held = open(file.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  cache.Add(kBook, Name("2"), Kind::kAlone, 100, {200, 1});
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
    cache.Add(kBook, Name(std::to_string(measured)), Kind::kAlone, 100,
              {static_cast<double>(measured), 1});
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
  OfferName other = Name("x");
  other.signature = "Conv[group=2](f32,c:f32)";
  EXPECT_NEAR(factor(other, 0), 2.0, 1e-9);  // the same family and size
  other.size = 27;
  EXPECT_NEAR(factor(other, 0), std::pow(2.0, 3.0 / 4), 1e-9);
  // A pattern that nobody measured is as far off as what begins alike.
  EXPECT_NEAR(factor(Name("x", 27, "Conv+Elu"), 0), std::pow(2.0, 3.0 / 5), 1e-9);
  EXPECT_NEAR(factor(Name("x", 27, "Add"), 0), std::pow(2.0, 3.0 / 6), 1e-9);
  // Another engine is taken to be as optimistic, within a factor of two.
  for (int i = 0; i < 60; ++i) {
    cache.Add(kBook, Name("far" + std::to_string(i)), Kind::kAlone, 100, {10000, 1});
  }
  const double stranger = cache.CorrectionFor({"other", "cpu"}, Name("x"), Kind::kAlone, 0).factor;
  EXPECT_GT(stranger, 1.8);
  EXPECT_LE(stranger, 2.0 + 1e-9);
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kInside, 0).rows, 0u);
}

// An engine that asked a third of its time at one size asked 2.6 times its time at another, was the
// fastest there, and was never tried: a row says the less about a size the farther that is away.
TEST_F(PriceCacheTest, AFactorIsThatOfItsSize) {
  PriceCache cache(Machine());
  cache.Add(kBook, Name("small", 12), Kind::kAlone, 100, {300, 7});
  const auto factor = [&](double size) {
    return cache.CorrectionFor(kBook, Name("x", size), Kind::kAlone, 0).factor;
  };
  const double raise = std::exp(0.33 * std::sqrt(4 * 0.3 * 0.3 / 5));
  EXPECT_NEAR(factor(12), 3 * raise, 1e-9);
  double last = factor(12);
  for (double size = 13; size < 40; ++size) {  // smoothly, and never beyond what the engine asks
    EXPECT_LT(factor(size), last) << size;
    EXPECT_GT(factor(size), 0.75 * last) << size;
    EXPECT_GT(factor(size), 1.0) << size;
    last = factor(size);
  }
  EXPECT_LT(factor(18), 1.5);
  EXPECT_NEAR(factor(6), factor(18), 1e-9);
  // With rows on both sides it goes from the one to the other.
  cache.Add(kBook, Name("large", 24), Kind::kAlone, 260, {100, 7});
  EXPECT_GT(factor(13), 2);
  EXPECT_LT(factor(23), 0.6);
  EXPECT_LT(factor(20), factor(16));
}

TEST_F(PriceCacheTest, ManyRowsFarAwayAreBelievedMoreThanOne) {
  PriceCache few(Machine()), many(Machine());
  few.Add(kBook, Name("0", 12), Kind::kAlone, 100, {300, 7});
  for (int i = 0; i < 20; ++i) {
    many.Add(kBook, Name(std::to_string(i), 12), Kind::kAlone, 100, {300, 7});
  }
  const double of_few = few.CorrectionFor(kBook, Name("x", 20), Kind::kAlone, 0).factor;
  const double of_many = many.CorrectionFor(kBook, Name("x", 20), Kind::kAlone, 0).factor;
  EXPECT_LT(of_few, 1.5);
  EXPECT_GT(of_many, 2);
  // What the engine's other work says at that size comes before what this says of another.
  few.Add(kBook, Name("1", 20, "Add"), Kind::kAlone, 100, {500, 7});
  EXPECT_GT(few.CorrectionFor(kBook, Name("x", 20), Kind::kAlone, 0).factor, of_few);
}

TEST_F(PriceCacheTest, DoubtfulRowsCountLittleAndGiveWayToSoundOnes) {
  PriceCache cache(Machine());
  cache.Add(kBook, Name("1"), Kind::kAlone, 100, {3300, 7, true});
  const double raise = std::exp(0.33 * std::sqrt(4 * 0.3 * 0.3 / 5));
  EXPECT_NEAR(cache.CorrectionFor(kBook, Name("x"), Kind::kAlone, 0).factor,
              raise * std::pow(33.0, 0.25), 1e-9);
  cache.Save();
  PriceCache quiet(Machine());
  quiet.Load();
  PriceRow row;
  ASSERT_TRUE(quiet.Find(kBook, Name("1"), &row));
  EXPECT_TRUE(row.alone.doubtful);
  quiet.Add(kBook, Name("1"), Kind::kAlone, 100, {110, 3});
  quiet.Save();
  // The first session's end, later, changes nothing any more.
  cache.Add(kBook, Name("1"), Kind::kAlone, 100, {3300, 7, true});
  cache.Save();
  PriceCache last(Machine());
  last.Load();
  ASSERT_TRUE(last.Find(kBook, Name("1"), &row));
  EXPECT_NEAR(row.alone.ns, 110, 1e-6);
  EXPECT_EQ(row.alone.count, 3u);
  EXPECT_FALSE(row.alone.doubtful);
}

// Who compares offers under one load may trust the comparison; the next session may not.
TEST_F(PriceCacheTest, TrustedNowIsDoubtfulOnDisk) {
  PriceCache cache(Machine());
  cache.Add(kBook, Name("1"), Kind::kAlone, 100, {3300, 7, true}, true);
  PriceRow row;
  ASSERT_TRUE(cache.Find(kBook, Name("1"), &row));
  EXPECT_FALSE(row.alone.doubtful);
  cache.Save();
  PriceCache next(Machine());
  next.Load();
  ASSERT_TRUE(next.Find(kBook, Name("1"), &row));
  EXPECT_TRUE(row.alone.doubtful);
}

TEST_F(PriceCacheTest, PriorsStandWhereThisMachineHasNoRows) {
  PriceCache cache(Machine());
  EXPECT_TRUE(cache.Empty());
  const OfferName conv{"Conv", "Conv(f32)", "1x3", 20}, larger{"Conv", "Conv(f32)", "8x3", 26};
  std::vector<PriorRow> rows;
  for (double size : {20.0, 20.2, 26.0, 26.1}) {
    rows.push_back({"Conv(f32)", "Conv", size, std::log(size < 23 ? 4.0 : 2.0)});
  }
  cache.SetPriors(kBook, rows);
  EXPECT_FALSE(cache.Empty());
  EXPECT_NEAR(cache.CorrectionFor(kBook, conv, Kind::kAlone, 0).factor, 4, 0.5);
  EXPECT_NEAR(cache.CorrectionFor(kBook, larger, Kind::kAlone, 0).factor, 2, 0.3);
  // Rows of this machine take the place of those of a like size, and of no others; these go by its
  // scale.
  for (int i = 0; i < 4; ++i) {
    cache.Add(kBook, {"Conv", "Conv(f32)", std::to_string(i), 20}, Kind::kAlone, 100, {100, 9});
  }
  EXPECT_NEAR(cache.CorrectionFor(kBook, conv, Kind::kAlone, 0).factor, 1, 0.2);
  EXPECT_NEAR(cache.CorrectionFor(kBook, larger, Kind::kAlone, 0).factor, 0.9, 0.2);
  // The file is about this machine alone; so is what may ship.
  EXPECT_EQ(cache.ToText().find("26"), std::string::npos) << cache.ToText();
  EXPECT_EQ(cache.AsPriors(kBook).size(), 4u);
}

// Else all that never ran would seem cheap on a slower machine.
TEST_F(PriceCacheTest, PriorsFollowThePaceOfThisMachine) {
  const PriceBook other{"efgh", "cpu"};
  const auto name = [](int i) {
    const std::string op = "Op" + std::to_string(i);
    return OfferName{op, op + "(f32)", "8x8", 16};
  };
  PriceCache cache(Machine());
  std::vector<PriorRow> rows;
  for (int i = 0; i < 40; ++i) rows.push_back({name(i).signature, name(i).family, 16, 0});
  cache.SetPriors(kBook, rows);
  cache.SetPriors(other, rows);
  const auto factor = [&](const PriceBook& book, int i) {
    return cache.CorrectionFor(book, name(i), Kind::kAlone, 0).factor;
  };
  const double before = factor(kBook, 39);
  for (int i = 0; i < 30; ++i) cache.Add(kBook, name(i), Kind::kAlone, 100, {200, 9});
  EXPECT_NEAR(factor(kBook, 39) / before, 1.99, 0.01) << "all but a share for what is not known";
  EXPECT_NEAR(factor(other, 39) / before, 1.92, 0.01) << "of another engine only the machine tells";
  // Within a kind of work its own rows say more: of ten, a quarter of the engine's scale is left.
  for (int i = 0; i < 10; ++i) {
    OfferName like = name(39);
    like.signature += std::to_string(i);
    like.size = 30;
    cache.Add(kBook, like, Kind::kAlone, 100, {100, 9});
  }
  EXPECT_LT(factor(kBook, 39) / before, 1.3);
  EXPECT_GT(factor(kBook, 38) / before, 1.5);
  // A busy machine's rows say nothing, and no machine is more than four times slower.
  PriceCache busy(Machine()), broken(Machine());
  for (PriceCache* c : {&busy, &broken}) c->SetPriors(kBook, rows);
  for (int i = 0; i < 30; ++i) {
    busy.Add(kBook, name(i), Kind::kAlone, 100, {900, 9, true});
    broken.Add(kBook, name(i), Kind::kAlone, 100, {90'000, 9});
  }
  EXPECT_DOUBLE_EQ(busy.CorrectionFor(kBook, name(39), Kind::kAlone, 0).factor, before);
  EXPECT_LE(broken.CorrectionFor(kBook, name(39), Kind::kAlone, 0).factor / before, 4.001);
}

TEST_F(PriceCacheTest, PriorsOfTheNearestProcessorAreTaken) {
  MachineRecord one = FixedMachine(GE_ISA_NATIVE, 1), two = FixedMachine(GE_ISA_NATIVE, 2);
  const PriorBook a{"native", "cpu", {{"Add(f32)", "Add", 12, 0.5}}};
  const PriorBook b{"native", "cpu", {{"Add(f32)", "Add", 12, -0.25}}};
  const std::string text = *WithPriors(*WithPriors("", one, {a}), two, {b});
  for (uint32_t threads : {1u, 2u, 16u}) {
    const auto books = *PriorsFromText(text, FixedMachine(GE_ISA_NATIVE, threads));
    ASSERT_EQ(books.size(), 1u);
    ASSERT_EQ(books[0].rows.size(), 1u);
    EXPECT_EQ(books[0].rows[0].log_error, threads == 1 ? 0.5 : -0.25) << threads;
  }
  EXPECT_EQ(*WithPriors(text, two, {b}), text) << "in the place of what was there";
  for (size_t cut = 0; cut + 2 < text.size(); cut += 7) {
    EXPECT_FALSE(PriorsFromText(text.substr(0, cut), one).ok()) << cut;
  }
}

TEST_F(PriceCacheTest, APriorIsALine) {
  const PriorBook book{
      "native", "cpu", {{"Add(f32)", "Add", 12, 0.5}, {"Add(f32)", "Add", 14.123, -0.25}}};
  const std::string text = *WithPriors("", FixedMachine(GE_ISA_NATIVE, 1), {book});
  EXPECT_NE(text.find("\n\"Add(f32)\": [\"Add\",12.0,0.5,14.12,-0.25]\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("{\n\"format\": 1,\n\"sets\": [\n{\n"), 0u) << text;
}

TEST_F(PriceCacheTest, PriorsOfANewerProcessorUnderACapAreAFileOfTheirOwn) {
  MachineRecord m = FixedMachine(GE_ISA_AVX2, 1);
  m.isa = GE_ISA_AVX2;
  EXPECT_EQ(PriorsFileName(m, GE_ISA_AVX2), "priors/avx2-one.json");
  m.threads = 4;
  EXPECT_EQ(PriorsFileName(m, GE_ISA_AVX512), "priors/avx2-of-avx512-several.json");
}

// A file of the format before this one is read: a bucket of three digits stood for the size.
TEST_F(PriceCacheTest, TheFormatBeforeIsRead) {
  const std::string text =
      R"({"cpu":"test cpu","isa":2,"threads":1,"format":1,"engines":[{"plugin":"abcd","device":"cpu",)"
      R"("rows":{"Conv(f32,c:f32)|1x3":["Conv",4,20400,100.0,250.0,3,80.0,40.0,2]}}]})";
  PriceCache cache(Machine());
  ASSERT_TRUE(cache.FromText(text).ok());
  PriceRow row;
  ASSERT_TRUE(cache.Find(kBook, Name("1x3"), &row));
  EXPECT_EQ(row.size, 13.5);
  EXPECT_NEAR(row.alone.ns, 250, 1e-6);
  EXPECT_EQ(row.inside.count, 2u);
  EXPECT_FALSE(row.alone.doubtful || row.inside.doubtful);
  EXPECT_NE(cache.ToText().find("\"format\": 2"), std::string::npos);
  std::string wrong = text;
  wrong.replace(wrong.find("\"Conv\",4"), 8, "\"Conv\",99");
  EXPECT_EQ(PriceCache(Machine()).FromText(wrong).code(), Code::kDataCorrupt);
}

// Of rows that know both; others would compare what has nothing to do with each other.
TEST_F(PriceCacheTest, AShareInsideComesFromPairs) {
  PriceCache cache(Machine());
  cache.Add(kBook, Name("alone"), Kind::kAlone, 100, {100, 1});
  cache.Add(kBook, Name("inside"), Kind::kInside, 80, {8000, 1});
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kInsideShare, 0).rows, 0u);
  cache.Add(kBook, Name("both"), Kind::kAlone, 100, {200, 1});
  cache.Add(kBook, Name("both"), Kind::kInside, 80, {120, 1});
  const Correction share = cache.CorrectionFor(kBook, Name("x"), Kind::kInsideShare, 0);
  EXPECT_EQ(share.rows, 1u);
  EXPECT_NEAR(share.factor, (120.0 / 80) / (200.0 / 100), 1e-9);
}

TEST_F(PriceCacheTest, MeansFollowAMachineThatChanges) {
  Sampled s;
  s.Add({100, 10'000});
  EXPECT_NEAR(s.ns, 100, 1e-6);
  for (int i = 0; i < 10; ++i) s.Add({200, 32});
  EXPECT_NEAR(s.ns, 200, 1);
  s.Add({50, 0});
  EXPECT_NEAR(s.ns, 200, 1);
}

TEST_F(PriceCacheTest, WhatAskedForNextToNothingSaysNothingOfItsLike) {
  PriceCache cache(Machine());
  cache.Add(kBook, Name("view"), Kind::kAlone, 1, {1.5e6, 5});
  cache.Add(kBook, Name("view"), Kind::kInside, 0, {1.5e6, 5});
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kAlone, 0).rows, 0u);
  EXPECT_EQ(cache.CorrectionFor(kBook, Name("x"), Kind::kInside, 0).rows, 0u);
  PriceRow row;
  ASSERT_TRUE(cache.Find(kBook, Name("view"), &row));  // its own price it is
  EXPECT_NEAR(row.alone.ns, 1.5e6, 1);
}

}  // namespace
}  // namespace ge
