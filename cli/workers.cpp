#include "cli/workers.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/session.h"
#include "runtime/support/launch.h"

namespace tfl::cli {

namespace {

/// The words that this process was started with.
std::vector<std::string> own_words() {
  std::vector<std::string> words;
  std::string text;
  if (std::FILE* f = std::fopen("/proc/self/cmdline", "rb")) {
    char buffer[4096];
    size_t n = 0;
    while ((n = std::fread(buffer, 1, sizeof buffer, f)) > 0) text.append(buffer, n);
    std::fclose(f);
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// The first of these programs that lies in a folder of PATH.
std::string first_program(std::initializer_list<const char*> names) {
  const char* path = std::getenv("PATH");
  for (const char* name : names) {
    std::string_view rest = path ? path : "/usr/bin";
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      std::string file = std::string(rest.substr(0, end)) + "/" + name;
      if (access(file.c_str(), X_OK) == 0) return file;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
}

/// This process becomes MPI's launcher.
int start(const Arguments& a) {
  const char* wanted = std::getenv("TFL_MPI");
  const std::string open = first_program({"mpirun.openmpi", "orterun"}),
                    other = first_program({"mpiexec.mpich", "mpiexec.hydra"});
  const bool mpich = (wanted && std::string_view(wanted) == "mpich") || open.empty();
  const std::string launcher = mpich ? other : open;
  if (launcher.empty()) {
    say_error("--workers needs MPI's launcher: install Debian's openmpi-bin (or mpich)");
    return kExitUsage;
  }
  std::vector<std::string> words = {launcher, "-n", std::to_string(a.workers)};
  if (!mpich) {
    // Workers share the processors as the system thinks best; the launcher's own words about their ends are left to them.
    for (const char* word : {"--oversubscribe", "--bind-to", "none", "-q"}) words.emplace_back(word);
    if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
    if (a.rank_output == "all") words.emplace_back("--tag-output");
  } else {
    words.emplace_back("-disable-auto-cleanup");  // the workers see to their ends themselves
    if (a.rank_output == "all") words.emplace_back("-prepend-rank");
  }
  std::vector<std::string> mine = own_words();
  if (mine.empty()) return kExitUsage;
  char link[4096];
  if (const ssize_t n = readlink("/proc/self/exe", link, sizeof link - 1); n > 0) mine[0].assign(link, static_cast<size_t>(n));
  words.insert(words.end(), mine.begin(), mine.end());
  setenv("TFL_THREADS", std::to_string(std::max(1, processors() / a.workers)).c_str(), 0);
  uint64_t job = 0;
  if (getrandom(&job, sizeof job, 0) == static_cast<ssize_t>(sizeof job)) setenv("TFL_JOB", std::to_string(job).c_str(), 1);
  std::vector<char*> raw;
  for (std::string& w : words) raw.push_back(w.data());
  raw.push_back(nullptr);
  execv(launcher.c_str(), raw.data());
  say_error(launcher + ": " + std::strerror(errno));
  return kExitUsage;
}

/// What a worker that is not the first prints goes to a file, or nowhere. What must be seen goes where it went before.
int redirect(const std::string& where, Launch& l) {
  if (where == "all" || l.rank == 0) return -1;
  std::string file = "/dev/null";
  if (where != "first") {
    mkdir(where.c_str(), 0777);
    file = where + "/rank-" + std::to_string(l.rank) + ".txt";
  }
  const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (to < 0) {
    say_error(file + ": " + std::strerror(errno));
    return kExitUsage;
  }
  l.told_on = fcntl(2, F_DUPFD_CLOEXEC, 3);
  if (l.told_on < 0) l.told_on = 2;
  dup2(to, 1);
  dup2(to, 2);
  close(to);
  return -1;
}

}  // namespace

int arrange_workers(const Arguments& a) {
  for (const auto& [option, number, most] :
       {std::tuple("--workers", a.workers, 4096), std::tuple("--replicas", a.replicas, 1 << 20)}) {
    if (number != -1 && (number < 1 || number > most)) {
      say_error(std::string(option) + ": " + std::to_string(number) + " is not between 1 and " + std::to_string(most));
      return kExitUsage;
    }
  }
  if (a.replicas > 0) setenv("TFL_REPLICAS", std::to_string(a.replicas).c_str(), 1);
  Launch& l = launch();
  if (l.started) return redirect(a.rank_output, l);
  if (a.workers > 0) return start(a);
  return -1;
}

}  // namespace tfl::cli
