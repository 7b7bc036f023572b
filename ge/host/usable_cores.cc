#include "ge/host/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

namespace ge {
namespace {

double Number(const std::string& path) {
  std::ifstream file(path);
  double n = 0;
  return file >> n ? n : 0;
}

// Of one group, in cores; 0 = none.
double QuotaOfV2(const std::string& group) {
  std::ifstream file(group + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || !(period > 0)) return 0;
  return std::max(0.0, std::strtod(quota.c_str(), nullptr)) / period;
}
double QuotaOfV1(const std::string& group) {
  const double quota = Number(group + "/cpu.cfs_quota_us");
  const double period = Number(group + "/cpu.cfs_period_us");
  return quota > 0 && period > 0 ? quota / period : 0;
}

// The least of a group and those above it, up to the root of its hierarchy.
template <typename QuotaOf>
double LeastQuota(const std::string& hierarchy, std::string path, QuotaOf quota_of) {
  double least = 0;
  for (;;) {
    const double quota = quota_of(hierarchy + path);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    if (path.empty()) return least;
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

}  // namespace

uint32_t QuotaCores(const std::string& root, std::string_view memberships) {
  double least = 0;
  const auto add = [&least](double quota) {
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
  };
  std::istringstream lines{std::string(memberships)};
  for (std::string line; std::getline(lines, line);) {  // number:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    if (controllers.empty()) {
      add(LeastQuota(root, path, QuotaOfV2));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      add(LeastQuota(root + "/" + controllers, path, QuotaOfV1));
      if (controllers != "cpu") add(LeastQuota(root + "/cpu", path, QuotaOfV1));
    }
  }
  if (memberships.empty()) add(QuotaOfV2(root));
  return least > 0 ? std::max(1u, static_cast<uint32_t>(std::min(65536.0, std::round(least)))) : 0;
}

uint32_t UsableCores() {
  cpu_set_t set;
  uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) {  // fails beyond 1,024 processors
    cores = static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  }
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream memberships;
  memberships << file.rdbuf();
  const uint32_t quota = QuotaCores("/sys/fs/cgroup", memberships.str());
  return quota != 0 ? std::min(cores, quota) : cores;
}

}  // namespace ge
