// A folder of pictures: CLASS/FILE, train/CLASS/FILE, or files alone. Columns picture, and label
// with the classes sorted by bytes. Opening lists names; a picture is read when it is wanted.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "passes/data/sources/readers.h"

namespace ge::data {
namespace {

constexpr std::string_view kPictureEndings[] = {".jpg",  ".jpeg", ".png", ".webp", ".bmp", ".tif",
                                                ".tiff", ".pnm",  ".ppm", ".pgm",  ".jp2"};
constexpr uint64_t kLargestPicture = uint64_t{1} << 30;  // bytes of a file
// Contents that the digest takes: all of them up to here, else of every k-th file.
constexpr uint64_t kDigestBytes = uint64_t{256} << 20;

bool IsPictureName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::any_of(std::begin(kPictureEndings), std::end(kPictureEndings),
                     [&](std::string_view e) { return lower.ends_with(e); });
}

struct Listing {
  std::vector<std::string> folders, files;  // names sorted by bytes, without hidden ones
};

Listing List(const std::string& path, const OpenOptions& options) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(path.c_str()), closedir);
  if (dir == nullptr) {
    throw Refusal{errno == ENOENT ? GE_NOT_FOUND : GE_INVALID_ARGUMENT,
                  fmt::format("cannot open folder '{}': {}", path, std::strerror(errno))};
  }
  Listing out;
  for (uint64_t i = 0; const dirent* entry = readdir(dir.get()); ++i) {
    if (i % 256 == 0) CheckStop(options);
    const std::string name = entry->d_name;
    if (name.starts_with('.')) continue;
    bool folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK)
      folder = IsFolder(path + "/" + name);
    (folder ? out.folders : out.files).push_back(name);
  }
  uint64_t compared = 0;  // a million names take a second
  const auto less = [&](const std::string& a, const std::string& b) {
    if (++compared % (1 << 16) == 0) CheckStop(options);
    return a < b;
  };
  std::sort(out.folders.begin(), out.folders.end(), less);
  std::sort(out.files.begin(), out.files.end(), less);
  return out;
}

class PictureFolder final : public Source {
 public:
  PictureFolder(const std::string& path, const OpenOptions& options) : root_(path) {
    path_ = path;
    Watch(root_, FolderState(root_));
    Listing top = ChoosePart(List(root_, options), options);
    columns_.push_back({.name = "picture", .kind = Column::Kind::kPicture});
    std::erase_if(top.files, [](const std::string& f) { return !IsPictureName(f); });
    if (top.folders.empty() && !top.files.empty()) {
      folders_ = {root_};
      for (const std::string& file : top.files) AddFile(0, file, options);
    } else {
      if (!top.files.empty()) {
        throw Refusal{GE_INVALID_ARGUMENT,
                      fmt::format("'{}' has folders and the picture '{}' beside them; wanted "
                                  "CLASS/FILE, or pictures alone",
                                  root_, Shown(top.files[0]))};
      }
      for (const std::string& name : top.folders) AddClass(name, options);
      columns_.push_back({.name = "label", .dtype = GE_I64, .classes = top.folders});
    }
    rows_ = static_cast<int64_t>(files_.size());
    if (rows_ == 0) {
      throw Refusal{
          GE_INVALID_ARGUMENT,
          fmt::format("'{}' has no pictures; wanted CLASS/FILE, train/CLASS/FILE or FILE "
                      "with names that end with .jpg, .png, .webp, .bmp, .tif, .ppm, .jp2",
                      root_)};
    }
    MakeDigest(options);
  }

  void Read(size_t column, std::span<const int64_t> rows, std::byte* out) const override {
    if (columns_[column].kind != Column::Kind::kArray) {
      throw Refusal{GE_INTERNAL, "a picture is no array"};
    }
    for (const int64_t row : rows) {
      const int64_t label = files_[static_cast<size_t>(row)].folder;
      std::memcpy(out, &label, sizeof label);
      out += sizeof label;
    }
  }
  Blob ReadBlob(size_t, int64_t row) const override {
    const File& f = files_[static_cast<size_t>(row)];
    Blob out;
    out.held = Bytes(f);
    out.bytes = out.held;
    return out;
  }
  std::string NameOfRow(int64_t row) const override {
    return fmt::format("row {}, '{}'", row, PathOf(files_[static_cast<size_t>(row)]));
  }

 private:
  struct File {
    uint32_t folder;
    uint32_t name_bytes;
    uint64_t name, bytes;  // place in names_; of the file
  };

  // The folder may hold parts, `train` beside `test` or `val`: then root_ is one of these.
  Listing ChoosePart(Listing top, const OpenOptions& options) {
    const auto has = [&](const char* name) {
      return std::find(top.folders.begin(), top.folders.end(), name) != top.folders.end();
    };
    const char* test = has("test") ? "test" : has("val") ? "val" : nullptr;
    if (!has("train")) {
      if (options.part != Part::kAny) RefusePart(path_, options.part, "no folder 'train'");
      return top;
    }
    if (options.part == Part::kTest && test == nullptr) {
      RefusePart(path_, options.part, "'train', and no 'test' or 'val'");
    }
    root_ += options.part == Part::kTest ? std::string("/") + test : "/train";
    Watch(root_, FolderState(root_));
    return List(root_, options);
  }

  void AddClass(const std::string& name, const OpenOptions& options) {
    const std::string folder = root_ + "/" + name;
    Watch(folder, FolderState(folder));
    const Listing listing = List(folder, options);
    if (!listing.folders.empty()) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("'{}' has the folder '{}'; pictures lie in CLASS/FILE, no deeper",
                                folder, Shown(listing.folders[0]))};
    }
    const size_t before = files_.size();
    folders_.push_back(folder);
    for (const std::string& file : listing.files) {
      if (IsPictureName(file)) AddFile(static_cast<uint32_t>(folders_.size() - 1), file, options);
    }
    if (files_.size() == before) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("the class folder '{}' has no pictures; take it away", folder)};
    }
  }

  void AddFile(uint32_t folder, const std::string& name, const OpenOptions& options) {
    if (files_.size() % 256 == 0) CheckStop(options);
    const std::string path = folders_[folder] + "/" + name;
    const uint64_t bytes = StateOf(path).bytes;
    if (bytes == 0 || bytes > kLargestPicture) {
      throw Refusal{GE_DATA_LOSS,
                    fmt::format("'{}' has {} bytes, wanted a picture of 1 to 2^30", path, bytes)};
    }
    total_ += bytes;
    files_.push_back({folder, static_cast<uint32_t>(name.size()), names_.size(), bytes});
    names_ += name;
  }

  std::string PathOf(const File& f) const {
    return folders_[f.folder] + "/" + names_.substr(f.name, f.name_bytes);
  }

  std::vector<std::byte> Bytes(const File& f) const {
    const std::string path = PathOf(f);
    struct Closed {
      int fd;
      ~Closed() {
        if (fd >= 0) close(fd);
      }
    } const file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat s {};
    if (file.fd < 0 || fstat(file.fd, &s) != 0) {
      throw Refusal{GE_NOT_FOUND, fmt::format("cannot open '{}': {}; it was there when the folder "
                                              "was opened",
                                              path, std::strerror(errno))};
    }
    std::vector<std::byte> out(f.bytes);
    uint64_t at = 0;
    for (ssize_t n = 1; n > 0 && at < f.bytes;
         at += static_cast<uint64_t>(std::max<ssize_t>(n, 0))) {
      n = read(file.fd, out.data() + at, f.bytes - at);
    }
    if (static_cast<uint64_t>(s.st_size) == f.bytes && at == f.bytes) return out;
    throw Refusal{GE_DATA_LOSS,
                  fmt::format("'{}' has {} bytes now and had {} when the folder was opened; keep "
                              "data as it is while it is read",
                              path, s.st_size, f.bytes)};
  }

  void MakeDigest(const OpenOptions& options) {
    Digest digest(options.stop);
    const uint64_t every = (total_ + kDigestBytes - 1) / kDigestBytes;
    for (size_t i = 0; i < files_.size(); ++i) {
      const File& f = files_[i];
      digest.Text(FileName(folders_[f.folder]));
      digest.Text(std::string_view(names_).substr(f.name, f.name_bytes));
      digest.Text(std::to_string(f.bytes));
      if (i % every != 0) continue;
      CheckStop(options);
      digest.Content(Bytes(f));
    }
    digest_ = digest.Hex();
  }

  std::string root_;
  std::vector<std::string> folders_;
  std::vector<File> files_;
  std::string names_;
  uint64_t total_ = 0;  // bytes of all the files
};

}  // namespace

std::shared_ptr<Source> OpenPictures(const std::string& path, const OpenOptions& options) {
  return std::make_shared<PictureFolder>(path, options);
}

std::shared_ptr<Source> OpenFolder(const std::string& path, const OpenOptions& options) {
  OpenOptions of_file = options;
  of_file.part = Part::kAny;
  if (const std::string idx = IdxOfFolder(path, options); !idx.empty()) {
    return OpenIdx(idx, of_file);
  }
  if (const auto cifar = CifarOfFolder(path, options); !cifar.empty()) {
    return cifar.size() == 1 ? OpenCifar(cifar[0], of_file) : OpenConcat(cifar, of_file);
  }
  return OpenPictures(path, options);
}

}  // namespace ge::data
