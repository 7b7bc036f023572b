#include "plugins/comm/mpi/library.h"

#include <dlfcn.h>

#include "ge/ge_plugin.h"

namespace ge_engines::mpi {
namespace {

constexpr char kName[] = "libmpi.so.40";  // Open MPI 2 to 5

class Finder {
 public:
  Finder(void* handle, std::string* why) : handle_(handle), why_(why) {}
  template <typename T>
  void Find(const char* symbol, T* to) {
    *to = reinterpret_cast<T>(dlsym(handle_, symbol));
    if (*to != nullptr) return;
    *why_ = std::string(kName) + " has no " + symbol + ": it is not Open MPI's";
    all_ = false;
  }
  bool all() const { return all_; }

 private:
  void* handle_;
  std::string* why_;
  bool all_ = true;
};

}  // namespace

bool Library::Open(std::string* why) {
  // Its own plugins look for its names among those of the process.
  void* handle = dlopen(kName, RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* said = dlerror();
    *why = "no Open MPI: " + std::string(said == nullptr ? kName : said) +
           "; install the package openmpi-bin";
    return false;
  }
  Finder f(handle, why);
  f.Find("MPI_Initialized", &initialized);
  f.Find("MPI_Init_thread", &init_thread);
  f.Find("MPI_Query_thread", &query_thread);
  f.Find("MPI_Finalize", &finalize);
  f.Find("MPI_Comm_rank", &comm_rank);
  f.Find("MPI_Comm_size", &comm_size);
  f.Find("MPI_Comm_dup", &comm_dup);
  f.Find("MPI_Comm_split", &comm_split);
  f.Find("MPI_Comm_set_errhandler", &comm_set_errhandler);
  f.Find("MPI_Iallreduce", &iallreduce);
  f.Find("MPI_Iallgatherv", &iallgatherv);
  f.Find("MPI_Reduce_local", &reduce_local);
  f.Find("MPI_Ialltoallv", &ialltoallv);
  f.Find("MPI_Isend", &isend);
  f.Find("MPI_Irecv", &irecv);
  f.Find("MPI_Test", &test);
  f.Find("MPI_Cancel", &cancel);
  f.Find("MPI_Error_string", &error_string);
  f.Find("ompi_mpi_comm_world", &world);
  f.Find("ompi_mpi_errors_return", &errors_return);
  f.Find("ompi_request_null", &request_null);
  f.Find("ompi_mpi_op_sum", &sum);
  f.Find("ompi_mpi_op_max", &max);
  f.Find("ompi_mpi_op_min", &min);
  f.Find("ompi_mpi_byte", &byte);
  f.Find("ompi_mpi_float", &f32_);
  f.Find("ompi_mpi_double", &f64_);
  f.Find("ompi_mpi_int32_t", &i32_);
  f.Find("ompi_mpi_int64_t", &i64_);
  f.Find("ompi_mpi_uint64_t", &u64_);
  return f.all();
}

MPI_Datatype Library::Reduced(int32_t dtype) const {
  switch (dtype) {
    case GE_F32:
      return f32_;
    case GE_F64:
      return f64_;
    case GE_I32:
      return i32_;
    case GE_I64:
      return i64_;
    case GE_U64:  // what ranks compare
      return u64_;
    default:
      return nullptr;
  }
}

std::string Library::Said(const char* what, int code) const {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int n = 0;
  (void)error_string(code, text, &n);
  return std::string(what) + " failed: " + text;
}

}  // namespace ge_engines::mpi
