// Library: the functions and predefined handles of Open MPI that the engine calls, found in
// libmpi.so at run time. mpi.h gives types alone: its handles are addresses in the library, which
// no plugin may need to be loaded. Immutable once open.
#pragma once

#define OMPI_SKIP_MPICXX 1  // C alone
#include <mpi.h>

#include <cstdint>
#include <string>

namespace ge_engines::mpi {

struct Library {
  // False, with the reason.
  bool Open(std::string* why);

  decltype(&MPI_Initialized) initialized = nullptr;
  decltype(&MPI_Init_thread) init_thread = nullptr;
  decltype(&MPI_Query_thread) query_thread = nullptr;
  decltype(&MPI_Finalize) finalize = nullptr;
  decltype(&MPI_Comm_rank) comm_rank = nullptr;
  decltype(&MPI_Comm_size) comm_size = nullptr;
  decltype(&MPI_Comm_dup) comm_dup = nullptr;
  decltype(&MPI_Comm_split) comm_split = nullptr;
  decltype(&MPI_Comm_set_errhandler) comm_set_errhandler = nullptr;
  decltype(&MPI_Iallreduce) iallreduce = nullptr;
  decltype(&MPI_Iallgatherv) iallgatherv = nullptr;
  decltype(&MPI_Reduce_local) reduce_local = nullptr;
  decltype(&MPI_Ialltoallv) ialltoallv = nullptr;
  decltype(&MPI_Isend) isend = nullptr;
  decltype(&MPI_Irecv) irecv = nullptr;
  decltype(&MPI_Test) test = nullptr;
  decltype(&MPI_Cancel) cancel = nullptr;
  decltype(&MPI_Error_string) error_string = nullptr;

  MPI_Comm world = nullptr;
  MPI_Errhandler errors_return = nullptr;
  MPI_Op sum = nullptr, max = nullptr, min = nullptr;
  MPI_Request request_null = nullptr;
  MPI_Datatype byte = nullptr;
  // The library's type of a dtype of ge_plugin.h; null where we reduce none of it.
  MPI_Datatype Reduced(int32_t dtype) const;
  // "MPI_Test failed: " and what the library says.
  std::string Said(const char* what, int code) const;

 private:
  MPI_Datatype f32_ = nullptr, f64_ = nullptr, i32_ = nullptr, i64_ = nullptr, u64_ = nullptr;
};

}  // namespace ge_engines::mpi
