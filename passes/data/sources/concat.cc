// Several sources of the same columns as one table, one behind the other. Classes are those of all,
// sorted.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "passes/data/sources/readers.h"

namespace ge::data {
namespace {

class ConcatSource final : public Source {
 public:
  ConcatSource(const std::vector<std::string>& paths, const OpenOptions& options) {
    Digest digest(options.stop);
    for (const std::string& path : paths) {
      CheckStop(options);
      parts_.push_back(OpenSource(path, options));
      const Source& part = *parts_.back();
      Compare(part);
      first_.push_back(rows_);
      if (__builtin_add_overflow(rows_, part.rows(), &rows_)) throw std::bad_alloc();
      digest.Text(part.digest());
      for (const Watched& w : part.watched()) Watch(w.path, w.state);
    }
    columns_ = parts_[0]->columns();
    for (size_t i = 0; i < columns_.size(); ++i) Unite(i);
    digest_ = digest.Hex();
  }

  void Read(size_t column, std::span<const int64_t> rows, std::byte* out) const override {
    const uint64_t bytes = columns_[column].row_bytes();
    std::vector<int64_t> local;
    for (size_t i = 0; i < rows.size();) {
      const size_t part = PartOf(rows[i]);
      local.clear();
      while (i < rows.size() && Has(part, rows[i])) local.push_back(rows[i++] - first_[part]);
      parts_[part]->Read(column, local, out);
      if (!renamed_[column].empty()) Rename(renamed_[column][part], local.size(), out);
      out += local.size() * bytes;
    }
  }
  Blob ReadBlob(size_t column, int64_t row) const override {
    const size_t part = PartOf(row);
    return parts_[part]->ReadBlob(column, row - first_[part]);
  }
  std::string NameOfRow(int64_t row) const override {
    const size_t part = PartOf(row);
    return parts_[part]->NameOfRow(row - first_[part]);
  }

 private:
  size_t PartOf(int64_t row) const {
    return static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), row) -
                               first_.begin() - 1);
  }
  bool Has(size_t part, int64_t row) const {
    return row >= first_[part] && row < first_[part] + parts_[part]->rows();
  }

  void Compare(const Source& part) const {
    const Source& whole = *parts_[0];
    const auto refuse = [&](const std::string& found, const std::string& wanted) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("'{}' has {}, '{}' has {}; files of one table have the same "
                                "columns, of the same kind and shape",
                                part.path(), found, whole.path(), wanted)};
    };
    const auto count = [](const Source& s) {
      return fmt::format("{} columns", s.columns().size());
    };
    if (part.columns().size() != whole.columns().size()) refuse(count(part), count(whole));
    for (size_t i = 0; i < part.columns().size(); ++i) {
      const Column &a = part.columns()[i], &b = whole.columns()[i];
      const bool same = a.name == b.name && a.kind == b.kind && a.dtype == b.dtype &&
                        a.dims == b.dims && a.classes.empty() == b.classes.empty();
      if (!same) refuse(KindOfColumn(a), KindOfColumn(b));
    }
  }

  // Where parts have other classes, their numbers become those of all the classes.
  void Unite(size_t column) {
    auto& renamed = renamed_.emplace_back();
    const auto same = [&](const auto& part) {
      return part->columns()[column].classes == columns_[column].classes;
    };
    if (std::all_of(parts_.begin(), parts_.end(), same)) return;
    std::set<std::string> all;
    for (const auto& part : parts_) {
      const auto& classes = part->columns()[column].classes;
      all.insert(classes.begin(), classes.end());
    }
    columns_[column].classes.assign(all.begin(), all.end());
    for (const auto& part : parts_) {
      auto& to = renamed.emplace_back();
      for (const std::string& name : part->columns()[column].classes) {
        to.push_back(std::distance(all.begin(), all.find(name)));
      }
    }
  }
  static void Rename(const std::vector<int64_t>& to, size_t count, std::byte* at) {
    for (size_t i = 0; i < count; ++i, at += sizeof(int64_t)) {
      int64_t n = 0;
      std::memcpy(&n, at, sizeof n);
      n = to[static_cast<size_t>(n)];
      std::memcpy(at, &n, sizeof n);
    }
  }

  std::vector<std::shared_ptr<const Source>> parts_;
  std::vector<int64_t> first_;  // row of each part
  // By column, part and number; none where the numbers stay.
  std::vector<std::vector<std::vector<int64_t>>> renamed_;
};

}  // namespace

std::shared_ptr<Source> OpenConcat(const std::vector<std::string>& paths,
                                   const OpenOptions& options) {
  return std::make_shared<ConcatSource>(paths, options);
}

}  // namespace ge::data
