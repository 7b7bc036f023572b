#include "examples/ocr/page.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <opencv2/imgproc.hpp>

namespace ocr {
namespace {

constexpr float kMapThreshold = 0.3f, kBoxThreshold = 0.5f, kGrow = 1.6f;
constexpr int kShortSide = 736, kLineHeight = 48, kMinLineWidth = 320;
constexpr float kMinSide = 3;  // of a box, in pixels of the map

// BGR 8-bit picture into planes of (x/255 - 0.5)/0.5; columns beyond the picture stay 0.
void FillPlanes(const cv::Mat& picture, int width, float* out) {
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < picture.rows; ++y) {
      float* row = out + (static_cast<size_t>(c) * picture.rows + y) * width;
      const uchar* p = picture.ptr(y);
      for (int x = 0; x < picture.cols; ++x) row[x] = (p[3 * x + c] / 255.0f - 0.5f) / 0.5f;
    }
  }
}

int RoundTo32(double x) { return std::max(32, static_cast<int>(std::lround(x / 32)) * 32); }

// Corners clockwise from the top left.
Quad Ordered(const cv::RotatedRect& rect) {
  cv::Point2f p[4];
  rect.points(p);
  std::sort(p, p + 4, [](auto a, auto b) { return a.x < b.x; });
  int a = p[0].y <= p[1].y ? 0 : 1, b = p[2].y <= p[3].y ? 2 : 3;
  return {p[a], p[b], p[b == 2 ? 3 : 2], p[1 - a]};
}

float MeanInside(const cv::Mat& map, const Quad& box) {
  cv::Rect r = cv::boundingRect(box) & cv::Rect(0, 0, map.cols, map.rows);
  if (r.empty()) return 0;
  cv::Mat mask = cv::Mat::zeros(r.size(), CV_8U);
  std::vector<cv::Point> polygon;
  for (auto q : box) {
    polygon.emplace_back(static_cast<int>(q.x) - r.x, static_cast<int>(q.y) - r.y);
  }
  cv::fillPoly(mask, std::vector<std::vector<cv::Point>>{polygon}, cv::Scalar(1));
  return static_cast<float>(cv::mean(map(r), mask)[0]);
}

void SortForReading(std::vector<Quad>* boxes) {
  std::sort(boxes->begin(), boxes->end(),
            [](const Quad& a, const Quad& b) { return a[0].y < b[0].y; });
  // Boxes of one line (tops within 10 pixels) from left to right.
  for (size_t i = 1; i < boxes->size(); ++i) {
    for (size_t j = i; j > 0; --j) {
      Quad &a = (*boxes)[j - 1], &b = (*boxes)[j];
      if (std::abs(a[0].y - b[0].y) >= 10 || b[0].x >= a[0].x) break;
      std::swap(a, b);
    }
  }
}

}  // namespace

cv::Mat ReadPng(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, path.c_str())) {
    throw std::runtime_error("cannot read '" + path + "' as PNG: " + image.message);
  }
  image.format = PNG_FORMAT_BGR;
  constexpr uint32_t kMaxSide = 1 << 14;
  if (image.width > kMaxSide || image.height > kMaxSide) {
    png_image_free(&image);
    throw std::runtime_error("'" + path + "' is larger than 16384 pixels a side; scale it down");
  }
  cv::Mat page(static_cast<int>(image.height), static_cast<int>(image.width), CV_8UC3);
  png_color white{255, 255, 255};
  if (!png_image_finish_read(&image, &white, page.data, static_cast<int>(page.step), nullptr)) {
    throw std::runtime_error("cannot read '" + path + "' as PNG: " + image.message);
  }
  return page;
}

Blob DetectorInput(const cv::Mat& page) {
  double scale = 1.0 * kShortSide / std::min(page.rows, page.cols);
  cv::Mat scaled;
  cv::resize(page, scaled, {RoundTo32(page.cols * scale), RoundTo32(page.rows * scale)});
  Blob out;
  out.dims = {1, 3, scaled.rows, scaled.cols};
  out.data.resize(3 * scaled.total());
  FillPlanes(scaled, scaled.cols, out.data.data());
  return out;
}

std::vector<Quad> FindBoxes(const Blob& blob, const cv::Mat& page) {
  int rows = static_cast<int>(blob.dims[2]), cols = static_cast<int>(blob.dims[3]);
  cv::Mat map(rows, cols, CV_32F, const_cast<float*>(blob.data.data()));
  cv::Mat ink = map > kMapThreshold;
  cv::dilate(ink, ink, cv::Mat::ones(2, 2, CV_8U));
  std::vector<std::vector<cv::Point>> parts;
  cv::findContours(ink, parts, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);
  std::vector<Quad> boxes;
  for (const auto& part : parts) {
    cv::RotatedRect rect = cv::minAreaRect(part);
    if (std::min(rect.size.width, rect.size.height) < kMinSide) continue;
    if (MeanInside(map, Ordered(rect)) < kBoxThreshold) continue;
    float grow = rect.size.area() * kGrow / (2 * (rect.size.width + rect.size.height));
    rect.size.width += 2 * grow;
    rect.size.height += 2 * grow;
    if (std::min(rect.size.width, rect.size.height) < kMinSide + 2) continue;
    Quad box = Ordered(rect);
    for (auto& p : box) {
      p.x = std::clamp(std::round(p.x / cols * page.cols), 0.0f, page.cols * 1.0f);
      p.y = std::clamp(std::round(p.y / rows * page.rows), 0.0f, page.rows * 1.0f);
    }
    boxes.push_back(std::move(box));
  }
  SortForReading(&boxes);
  return boxes;
}

cv::Mat Rectify(const cv::Mat& page, const Quad& q) {
  int width = static_cast<int>(std::max(cv::norm(q[0] - q[1]), cv::norm(q[2] - q[3])));
  int height = static_cast<int>(std::max(cv::norm(q[0] - q[3]), cv::norm(q[1] - q[2])));
  width = std::max(width, 1);
  height = std::max(height, 1);
  float w = static_cast<float>(width), h = static_cast<float>(height);
  Quad target = {{0, 0}, {w, 0}, {w, h}, {0, h}};
  cv::Mat line;
  cv::warpPerspective(page, line, cv::getPerspectiveTransform(q, target), {width, height},
                      cv::INTER_CUBIC, cv::BORDER_REPLICATE);
  if (height >= 1.5 * width) cv::rotate(line, line, cv::ROTATE_90_COUNTERCLOCKWISE);
  return line;
}

Blob RecogniserInput(const cv::Mat& line) {
  int width = static_cast<int>(std::ceil(1.0 * kLineHeight * line.cols / line.rows));
  cv::Mat scaled;
  cv::resize(line, scaled, {std::max(width, 1), kLineHeight});
  int padded = std::max(scaled.cols, kMinLineWidth);
  Blob out;
  out.dims = {1, 3, kLineHeight, padded};
  out.data.assign(static_cast<size_t>(3) * kLineHeight * padded, 0.0f);
  FillPlanes(scaled, padded, out.data.data());
  return out;
}

}  // namespace ocr
