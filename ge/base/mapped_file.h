// MappedFile: a regular file mapped read-only, or read where it is small. Not a reader: pages come
// in when they are touched. Shared by the holders of the pointer; const use from any thread. Others
// may change the file meanwhile; Check tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ge/base/aligned.h"
#include "ge/base/descriptor.h"
#include "ge/base/file_mapping.h"
#include "ge/base/status.h"

namespace ge {

class MappedFile {
 public:
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // IO_ERROR naming the path when it is missing, unreadable or no regular file; LIMIT_EXCEEDED
  // beyond `max_bytes`. An empty file maps to an empty span. Both wait some milliseconds for a file
  // written just now.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path,
                                                        uint64_t max_bytes);
  // Opens `relative` beneath `dir`: no absolute path, no "..". A symbolic link on the way may lead
  // to a regular file beneath `dir` or one of `roots`, folders.
  static Result<std::shared_ptr<const MappedFile>> OpenBeneath(const std::string& dir,
                                                               const std::string& relative,
                                                               std::span<const std::string> roots,
                                                               uint64_t max_bytes);

  std::span<const std::byte> bytes() const {
    return mapping_ ? std::span<const std::byte>(mapping_->data(), mapping_->bytes())
                    : std::span<const std::byte>(copy_.get(), copied_);
  }
  // IO_ERROR where bytes read from it may differ from the opened file's; see
  // FileMapping.
  Status Check() const { return mapping_ ? mapping_->Check() : Status(); }
  // Touches will be few and far apart: no read-ahead until DropPages.
  void ExpectSparseReads() const;
  // Lets the resident pages go; expects reads of whole weights from now on.
  void DropPages() const;

 private:
  MappedFile() = default;
  static Result<std::shared_ptr<const MappedFile>> Map(Descriptor fd, const std::string& path,
                                                       uint64_t max_bytes);
  Status Read(int fd, const std::string& path, const FileIdentity& identity);
  std::unique_ptr<FileMapping> mapping_;  // null for a small file
  AlignedBytes copy_;                     // of a small one
  size_t copied_ = 0;
};

}  // namespace ge
