// The geometry of reading a page: PNG in, text boxes from a probability map, rectified crops. Built
// on OpenCV's imgproc; the networks' inputs follow the PP-OCR family.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "examples/ocr/network.h"

namespace ocr {

using Quad = std::vector<cv::Point2f>;  // four corners, clockwise from the top left

// 8-bit BGR, whatever the file holds. Throws std::runtime_error naming the file.
cv::Mat ReadPng(const std::string& path);
// 1x3xHxW, shorter side 736, both sides multiples of 32, (x/255 - 0.5)/0.5.
Blob DetectorInput(const cv::Mat& page);
// Boxes on the page from the detector's map (1x1xHxW), in reading order.
std::vector<Quad> FindBoxes(const Blob& map, const cv::Mat& page);
// The box as an upright picture.
cv::Mat Rectify(const cv::Mat& page, const Quad& box);
// 1x3x48xW: height 48, width by aspect ratio, padded with zeros to at least 320.
Blob RecogniserInput(const cv::Mat& line);

}  // namespace ocr
