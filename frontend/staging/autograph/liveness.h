// Which names a statement's surroundings still need: live variables of one function whose jumps have been lowered.
// A nested function needs what it captures for as long as something that may hold it is needed.
// This header must not know what liveness decides.
#pragma once

#include <map>
#include <unordered_map>

#include "frontend/staging/autograph/jumps.h"
#include "frontend/syntax/ast/names.h"

namespace tfl::autograph {

/// Of an If, While or For.
struct Flow {
  NameSet in;   // If: needed by one of its branches; loops: needed at the start of an iteration or behind the loop
  NameSet out;  // needed behind the statement
};

class Liveness {
 public:
  Liveness(const FunctionDef* def, const LoopNotes& notes);

  const Flow& of(const Stmt* s) const { return flows_.at(s); }
  /// What calling the functions that `names` reads may bind as well.
  NameSet writes_through(const Names& names) const;

 private:
  void collect(Block block);
  void spread();
  NameSet block(Block b, NameSet out);
  NameSet statement(const Stmt* s, NameSet out);
  NameSet loop(const Stmt* s, NameSet out);
  NameSet try_(const Try* s, NameSet out);
  void read(const NameSet& names, NameSet& live) const;

  const LoopNotes& notes_;
  std::unordered_map<const Stmt*, Flow> flows_;
  struct Held {
    NameSet reads, writes, sources;
  };
  std::map<std::string_view, Held> held_;  // by the name that may hold a nested function
  NameSet everywhere_;                     // live at every point: declared global or nonlocal; what handlers around need
};

}  // namespace tfl::autograph
