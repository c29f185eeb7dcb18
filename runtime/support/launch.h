// The job of several processes that a launcher of MPI (mpirun, mpiexec, srun) started this process in, as its environment tells. Nothing of
// MPI is loaded for it. This header must not know what workers do together.
#pragma once

#include <cstdint>
#include <string>

namespace tfl {

struct Launch {
  bool started = false;  // by a launcher
  int rank = 0, size = 1;
  std::string library;   // "libtfl_mpi.so" or "libtfl_mpich.so"
  uint64_t entropy = 0;  // the same in all processes of the job, and in no other; 0 where none is known
  uint64_t seeds = 0;    // how many generators were begun with it
  int told_on = 2;       // a descriptor for what must be seen, whatever became of this process's standard error
};

/// Of this process; asked for once.
Launch& launch();

}  // namespace tfl
