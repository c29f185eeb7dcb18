// Steps that are whole or have not happened: the call of a traced function, an optimizer's step. An interrupt waits for the end of such a
// step (Interp::undivided); where it cannot wait, or where memory runs out, what the step has written is undone.
#pragma once

#include <utility>
#include <vector>

#include "frontend/core/tensor_api.h"

namespace tfl {

/// What a variable holds is about to change: kept while a step is in progress.
void keep_for_undo(Interp& interp, VariableObject* v);

class Undivided {
 public:
  /// `changes`: false where nothing is written, and nothing needs to be done.
  explicit Undivided(Interp& interp, bool changes = true) : interp_(interp), changes_(changes) {
    if (changes_) begin();
  }
  ~Undivided() {
    if (changes_) end();
  }
  Undivided(const Undivided&) = delete;
  Undivided& operator=(const Undivided&) = delete;
  /// The step has failed. Undoes it where it was cut: an error that the operations of the step raise leaves what was written before,
  /// as in TensorFlow.
  void failed(const Error& error);

 private:
  void begin();
  void end();

  Interp& interp_;
  const bool changes_;
  uint64_t outer_ = 0;
  size_t kept_ = 0;   // steps further out have kept so many
  size_t draws_ = 0;  // and so many draws
};

}  // namespace tfl
