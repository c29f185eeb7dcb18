#include "runtime/support/launch.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tfl {

namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

bool number(const char* name, int& to) {
  const char* text = variable(name);
  if (!text) return false;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, to);
  return read.ec == std::errc() && read.ptr == end && to >= 0;
}

uint64_t hash_of(std::string_view text) {
  uint64_t h = 0xCBF29CE484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h | 1;
}

Launch find() {
  Launch l;
  bool open = number("OMPI_COMM_WORLD_RANK", l.rank) && number("OMPI_COMM_WORLD_SIZE", l.size);
  bool hydra = !open && number("PMI_RANK", l.rank) && number("PMI_SIZE", l.size);
  const bool slurm = !open && !hydra && variable("SLURM_STEP_ID") && number("SLURM_PROCID", l.rank) &&
                     number("SLURM_STEP_NUM_TASKS", l.size) && l.size > 1;
  l.started = (open || hydra || slurm) && l.size >= 1 && l.rank < l.size;
  if (!l.started) return {};
  if (const char* named = variable("TFL_MPI")) hydra = std::string_view(named) == "mpich";
  l.library = hydra ? "libtfl_mpich.so" : "libtfl_mpi.so";
  std::string job;
  for (const char* name : {"TFL_JOB", "PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    if (const char* value = variable(name)) job += std::string(value) + ";";
  }
  // MPICH's own launcher says nothing that only one job has, but all processes of a machine have the same parent.
  if (job.empty()) job = std::to_string(getppid());
  l.entropy = hash_of(job);
  return l;
}

}  // namespace

Launch& launch() {
  static Launch found = find();
  return found;
}

}  // namespace tfl
