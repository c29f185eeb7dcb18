#include "runtime/mpi/workers.h"

#include <signal.h>

#include <chrono>
#include <thread>

namespace tfl::mpi {

namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

bool Workers::start(World& world, std::string& error) {
  struct Start {
    World world;
    std::string error;
    bool done = false;
  };
  auto start = std::make_shared<Start>();
  start->world = world;
  std::thread([this, start] { run(start->world, start->error, start->done); }).detach();
  std::unique_lock lock(mutex_);
  if (!job_done_.wait_for(lock, kPatience, [&] { return start->done; })) {
    // Before they know each other nobody sees that one is gone, and some launchers do not tell.
    error =
        "the other workers did not come within " + std::to_string(kPatience.count()) + " s: one of them may have ended before";
    return false;
  }
  world = start->world;
  error = start->error;
  return error.empty();
}

/// MPI's thread is the one that joins: nothing else may call it then.
bool Workers::join(World& world, std::string& error) {
  int provided = 0, already = 0;
  MPI_Initialized(&already);
  if (!already && MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    error = "MPI_Init_thread failed";
    return false;
  }
  if (provided < MPI_THREAD_FUNNELED) {
    error = "this MPI knows no threads (MPI_THREAD_FUNNELED)";
    return false;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  for (MPI_Comm c : {comm_, MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  world.rank = rank_;
  world.size = size_;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  world.library.assign(text, static_cast<size_t>(length));
  world.library.resize(std::min(world.library.size(), world.library.find_first_of(",\n")));
  watch_ = std::make_unique<Watch>(rank_, size_, world.say);
  if (size_ > 1) {
    char places[1024] = {};
    if (rank_ == 0) {
      const std::string here = watch_->listen();
      if (here.size() < sizeof places) here.copy(places, here.size());
      watch_->begin();
    }
    MPI_Bcast(places, sizeof places, MPI_CHAR, 0, comm_);
    if (rank_ != 0) {
      watch_->connect(places);
      watch_->begin();
    }
  }
  return true;
}

void Workers::run(World& world, std::string& error, bool& started) {
  // Signals are for the script's thread.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const bool joined = join(world, error);
  std::unique_lock lock(mutex_);
  started = true;
  job_done_.notify_all();
  while (joined) {
    new_job_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (jobs_.empty()) break;
    Job* job = jobs_.front();
    lock.unlock();
    do_job(*job);
    lock.lock();
    jobs_.pop_front();
    job->done = true;
    job_done_.notify_all();
  }
  if (joined) MPI_Finalize();
  stopped_ = true;
  job_done_.notify_all();
}

void Workers::do_job(Job& job) {
  const auto begin = std::chrono::steady_clock::now();
  Exchange exchange(comm_, rank_, size_, ++serial_, job, waiting_);
  if (job.kind == Job::Kind::Sum)
    exchange.sum();
  else
    exchange.gather();
  job.busy_nanoseconds = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count());
}

void Workers::begin(Job* job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  new_job_.notify_one();
}

bool Workers::wait(Job* job, int milliseconds) {
  ++waiting_;
  std::unique_lock lock(mutex_);
  const bool done = job_done_.wait_for(lock, std::chrono::milliseconds(milliseconds), [job] { return job->done; });
  --waiting_;
  return done;
}

void Workers::end(std::string& error) {
  Job last;
  last.kind = Job::Kind::End;
  last.text = "the end of the script";
  begin(&last);
  while (!wait(&last, 1000)) {
  }
  error = last.error;
  if (!error.empty()) return;
  watch_->leave();
  std::unique_lock lock(mutex_);
  stop_ = true;
  new_job_.notify_one();
  job_done_.wait_for(lock, std::chrono::seconds(5), [this] { return stopped_; });
}

}  // namespace tfl::mpi

namespace {

tfl::mpi::Workers& workers() {
  // One MPI job a process: MPI itself allows no second one.
  static auto* all = new tfl::mpi::Workers;
  return *all;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const tfl::mpi::Table* tfl_mpi_table() {
  using namespace tfl::mpi;
  static constexpr Table table{
      [](World& world, std::string& error) { return workers().start(world, error); },
      [](Job* job) { workers().begin(job); },
      [](Job* job, int milliseconds) { return workers().wait(job, milliseconds); },
      [](const std::string& text) { workers().watch()->checkpoint(text); },
      [](const std::string& text, int code) { workers().watch()->fail(text, code); },
      [](std::string& error) { workers().end(error); },
  };
  return &table;
}
