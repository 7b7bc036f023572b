// The readers of sources, one a kind of file. Each takes a path whose ending it knows, or a folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/data/sources/source.h"

namespace ge::data {

using Reader = std::shared_ptr<Source> (*)(const std::string& path, const OpenOptions&);

std::shared_ptr<Source> OpenNpy(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenNpz(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenIdx(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenCifar(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenTar(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenCsv(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenTsv(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenJsonl(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenLines(const std::string& path, const OpenOptions& options);
// A folder of MNIST's or CIFAR's files, or of pictures.
std::shared_ptr<Source> OpenFolder(const std::string& path, const OpenOptions& options);
std::shared_ptr<Source> OpenPictures(const std::string& path, const OpenOptions& options);

// Folders of MNIST's and CIFAR's files: the files of the part; none where the folder holds no such.
std::string IdxOfFolder(const std::string& path, const OpenOptions& options);
std::vector<std::string> CifarOfFolder(const std::string& path, const OpenOptions& options);

// One table of all the files, which have the same columns.
std::shared_ptr<Source> OpenConcat(const std::vector<std::string>& paths,
                                   const OpenOptions& options);

// NOT_FOUND: `path` has no such part.
[[noreturn]] void RefusePart(const std::string& path, Part part, std::string_view has);

}  // namespace ge::data
