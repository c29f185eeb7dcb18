#include "frontend/tensors/tensor/transaction.h"

namespace tfl {

void keep_for_undo(Interp& interp, VariableObject* v) {
  UndoLog& log = interp.tensors->undo;
  if (log.step == 0 || v->kept_by == log.step) return;
  v->kept_by = log.step;
  log.entries.push_back({Value::share(v), v->value});
}

void Undivided::begin() {
  UndoLog& log = interp_.tensors->undo;
  outer_ = std::exchange(log.step, ++log.steps);
  kept_ = log.entries.size();
  RandomStreams& random = interp_.tensors->random;
  random.step = log.step;
  draws_ = random.mark();
  ++interp_.undivided;
}

void Undivided::end() {
  UndoLog& log = interp_.tensors->undo;
  --interp_.undivided;
  log.step = interp_.tensors->random.step = outer_;
  if (outer_ != 0) return;
  if (!log.entries.empty()) log.entries.clear();
  interp_.tensors->random.forget_kept();
}

void Undivided::failed(const Error& error) {
  if (!changes_) return;
  const ErrorKind kind = error.kind;
  bool cut = interp_.stopped || interp_.context.interrupt.load(std::memory_order_relaxed) != 0 ||
             kind == ErrorKind::KeyboardInterrupt || kind == ErrorKind::ResourceExhaustedError ||
             kind == ErrorKind::MemoryError || kind == ErrorKind::RecursionError;
  if (!cut) return;
  std::vector<UndoLog::Entry>& entries = interp_.tensors->undo.entries;
  for (; entries.size() > kept_; entries.pop_back()) {
    auto* v = entries.back().variable.as<VariableObject>();
    v->value = std::move(entries.back().before);
    v->kept_by = 0;
  }
  interp_.tensors->random.undo(draws_);
}

}  // namespace tfl
