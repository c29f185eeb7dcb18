// A pass: a function that changes a graph in place and keeps its meaning to the last bit. What the pass manager and its callers
// see. This header must not know any pass by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tfl::optimizer {

struct PassCall {
  Context& context;
  ir::Function& function;
  bool changed = false;  // set by the pass
};

struct PassInfo {
  std::string_view name;
  std::string_view summary;
  void (*run)(PassCall&);
};
std::span<const PassInfo> all_passes();
const PassInfo* find_pass(std::string_view name);

/// "cse,dce,fold"; ValueError naming what is no pass.
Result<std::vector<const PassInfo*>> parse_pipeline(std::string_view text);

struct PassReport {
  const PassInfo* pass;
  bool changed;
  double seconds;
  size_t nodes_before, nodes_after;
};

struct PipelineOptions {
  bool verify = false;                                                   // InternalError naming the pass that broke the graph
  std::vector<PassReport>* reports = nullptr;                            // one entry a pass that ran
  void (*after)(const PassInfo&, const ir::Function&, void*) = nullptr;  // called after each pass
  void* after_data = nullptr;
};
Result<void> run_pipeline(Context& context, ir::Function& f, std::span<const PassInfo* const> passes,
                          const PipelineOptions& options = {});

/// The passes of a level as text. 0: none; 1: after every trace, a few microseconds a node; 2: before native code.
std::string_view default_pipeline(int level);
Result<void> optimize(Context& context, ir::Function& f, int level);

#define TFL_PASS(name, summary) void run_##name(PassCall& call);
#include "optimizer/passes.def"
#undef TFL_PASS

}  // namespace tfl::optimizer
