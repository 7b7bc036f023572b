#include "tools/ge/train/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "tools/ge/command.h"
#include "tools/ge/png.h"

namespace ge::tool {
namespace {

constexpr int kWidth = 860, kHeight = 500, kLeft = 70, kRight = 70, kTop = 30, kBottom = 40;
enum Ink : char { kPaper, kGrid, kText, kPale, kLoss, kTest, kAccuracy };
constexpr uint8_t kInks[][3] = {{255, 255, 255}, {225, 225, 225}, {60, 60, 60}, {190, 210, 235},
                                {31, 91, 163},   {208, 120, 20},  {40, 140, 70}};

// Five rows of three dots, from the upper left one on; letters are capitals.
std::string_view Glyph(char c) {
  static constexpr std::pair<char, std::string_view> kGlyphs[] = {
      {'0', "####.##.##.####"}, {'1', ".#.##..#..#.###"}, {'2', "###..#####..###"},
      {'3', "###..####..####"}, {'4', "#.##.####..#..#"}, {'5', "####..###..####"},
      {'6', "####..####.####"}, {'7', "###..#.#..#..#."}, {'8', "####.#####.####"},
      {'9', "####.####..####"}, {'.', ".............#."}, {'-', "......###......"},
      {'+', "....#.###.#...."}, {'e', "####..##.#..###"}, {'l', "#..#..#..#..###"},
      {'o', "####.##.##.####"}, {'s', "####..###..####"}, {'t', "###.#..#..#..#."},
      {'a', ".#.#.#####.##.#"}, {'c', "####..#..#..###"}, {'p', "####.#####..#.."}};
  for (const auto& [known, dots] : kGlyphs) {
    if (known == c) return dots;
  }
  return "";
}

class Canvas {
 public:
  Canvas() : dots_(size_t{kWidth} * kHeight, kPaper) {}
  void Dot(int x, int y, Ink ink) {
    if (x < 0 || y < 0 || x >= kWidth || y >= kHeight) return;
    dots_[static_cast<size_t>(y) * kWidth + static_cast<size_t>(x)] = ink;
  }
  void Line(double x0, double y0, double x1, double y1, Ink ink, int thick) {
    const double n = std::ceil(std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0}));
    for (double i = 0; i <= n; ++i) {
      const int x = static_cast<int>(std::lround(x0 + (x1 - x0) * i / n)),
                y = static_cast<int>(std::lround(y0 + (y1 - y0) * i / n));
      for (int k = 0; k < thick * thick; ++k) Dot(x + k % thick, y + k / thick, ink);
    }
  }
  void Text(int x, int y, std::string_view text, Ink ink) {
    for (const char c : text) {
      const std::string_view dots = Glyph(c);
      for (size_t i = 0; i < std::min<size_t>(dots.size(), 15); ++i) {
        const int at = static_cast<int>(i);
        for (int k = 0; k < 4 && dots[i] == '#'; ++k) {
          Dot(x + at % 3 * 2 + k % 2, y + at / 3 * 2 + k / 2, ink);
        }
      }
      x += 8;
    }
  }
  std::string Png() const;

 private:
  std::string dots_;
};

std::string Canvas::Png() const {
  return PngOf(kWidth, kHeight, {reinterpret_cast<const uint8_t*>(dots_.data()), dots_.size()},
               {&kInks[0][0], sizeof kInks});
}

struct Scale {
  double least, most, from, to;
  double At(double v) const { return from + (v - least) / (most - least) * (to - from); }
};

using Points = std::vector<std::pair<double, double>>;

void Curve(Canvas* canvas, const Points& points, const Scale& x, const Scale& y, Ink ink,
           int thick) {
  for (size_t i = 0; i < points.size(); ++i) {
    const auto& [px, py] = points[i];
    if (!std::isfinite(py)) continue;
    const auto& [qx, qy] = points[i > 0 && std::isfinite(points[i - 1].second) ? i - 1 : i];
    canvas->Line(x.At(qx), y.At(qy), x.At(px), y.At(py), ink, thick);
  }
}

void Axes(Canvas* canvas, const Scale& x, const Scale& loss, bool accuracy) {
  for (int i = 0; i <= 4; ++i) {
    const double part = i / 4.0, y = loss.from + (loss.to - loss.from) * part,
                 at = x.from + (x.to - x.from) * part;
    canvas->Line(x.from, y, x.to, y, kGrid, 1);
    canvas->Line(at, loss.from, at, loss.to, kGrid, 1);
    canvas->Text(6, static_cast<int>(y) - 4,
                 fmt::format("{:.3g}", loss.least + (loss.most - loss.least) * part), kText);
    canvas->Text(static_cast<int>(at) - 12, kHeight - kBottom + 10,
                 fmt::format("{:.0f}", x.least + (x.most - x.least) * part), kText);
    if (accuracy) {
      canvas->Text(kWidth - kRight + 8, static_cast<int>(y) - 4, fmt::format("{:.2f}", part),
                   kAccuracy);
    }
  }
  canvas->Text(kLeft, 8, "loss", kLoss);
  canvas->Text(kLeft + 60, 8, "test loss", kTest);
  if (accuracy) canvas->Text(kWidth - kRight - 110, 8, "test acc", kAccuracy);
  canvas->Text(kWidth / 2 - 20, kHeight - 14, "steps", kText);
}

}  // namespace

Status WriteChart(const std::string& path, const Curves& c) {
  double least = HUGE_VAL, most = -HUGE_VAL;
  Points each, means;
  const size_t window = std::max<size_t>(1, c.loss.size() / 50);
  double sum = 0;
  const auto began = static_cast<double>(c.began), steps = static_cast<double>(c.loss.size());
  for (size_t i = 0; i < c.loss.size(); ++i) {
    const double step = began + static_cast<double>(i) + 1;
    sum += c.loss[i] - (i >= window ? c.loss[i - window] : 0);
    each.emplace_back(step, c.loss[i]);
    means.emplace_back(step, sum / static_cast<double>(std::min(i + 1, window)));
  }
  for (const Points* points : std::initializer_list<const Points*>{&each, &c.test_loss}) {
    for (const auto& [step, v] : *points) {
      if (std::isfinite(v)) {
        least = std::min(least, v);
        most = std::max(most, v);
      }
    }
  }
  if (!(least <= most)) {
    least = 0;  // nothing that can be drawn
    most = 1;
  }
  if (least == most) most = least + 1;
  const Scale x{began, began + std::max(1.0, steps), kLeft, kWidth - kRight};
  const Scale loss{least, most, kHeight - kBottom, kTop}, part{0, 1, kHeight - kBottom, kTop};
  Canvas canvas;
  Axes(&canvas, x, loss, !c.test_accuracy.empty());
  Curve(&canvas, each, x, loss, kPale, 1);
  Curve(&canvas, means, x, loss, kLoss, 2);
  Curve(&canvas, c.test_loss, x, loss, kTest, 2);
  Curve(&canvas, c.test_accuracy, x, part, kAccuracy, 2);
  return WriteFile(path, canvas.Png());
}

}  // namespace ge::tool
