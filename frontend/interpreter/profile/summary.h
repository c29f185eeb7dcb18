// What the samples of a run say about functions, lines and the library. Time in library functions and in what is not written
// in the language is the time of the script's line that waits for it. This header must not know signals.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/interpreter/profile/sampler.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl::profile {

struct FunctionTime {
  std::string name;  // "Model.call"; of the library "tf.matmul"
  std::string file;
  uint32_t line = 0;
  bool library = false;
  uint64_t self = 0, total = 0;  // nanoseconds; of the library: total is while the script called it directly, self is 0
};

/// A step of machine code.
struct StepTime {
  const CodeStep* step;
  uint64_t self = 0;
};

struct LineTime {
  std::shared_ptr<const Source> source;
  uint32_t line = 0;
  uint64_t self = 0, total = 0;
};

/// A stack: its innermost call and the stack around it.
struct StackNode {
  uint32_t parent = 0;             // 0: nobody called
  uint32_t function = 0;           // index into functions
  uint32_t line = 0;               // of the call or the instruction
  const CodeStep* step = nullptr;  // of machine code: what runs there
  uint64_t self = 0;               // nanoseconds
};

struct Profile {
  uint64_t nanoseconds = 0, samples = 0;
  uint64_t outside = 0;                 // no line of the script was there
  std::vector<FunctionTime> functions;  // in no order
  std::vector<LineTime> lines;          // of the script, in no order
  std::vector<StackNode> stacks;        // the first is the empty one
  std::vector<StepTime> steps;          // that were found running, in no order
  std::vector<Moment> moments;
  std::vector<std::string> notes;  // what else is to be told of the run
};

Profile summarise(const Sampler& sampler);

/// The tables that a terminal shows.
std::string to_text(const Profile& profile, const std::string& name);
/// The calls as a flame graph: a part of a page.
std::string flame_graph(const Profile& profile);
/// Text in a page, without control characters.
std::string escaped(std::string_view text);
/// A flame graph, the functions, and the sources with the time of each line: one page, nothing else needed.
std::string to_html(const Profile& profile, const std::string& name);
/// Chrome's trace events: one event for each call, as long as it was found on the stack.
std::string to_trace(const Profile& profile);

/// "  12.3": per cent of the run.
double percent(const Profile& profile, uint64_t nanoseconds);
/// Indices of `functions` or `lines` with the largest first.
std::vector<uint32_t> busiest_functions(const Profile& profile, bool library);
std::vector<uint32_t> busiest_lines(const Profile& profile);
/// The steps of machine code with those that took most time first.
std::vector<StepTime> busiest_steps(const Profile& profile);
/// "98.3": thousands of millions a second; "-" where nothing was counted.
std::string rate(double count, uint64_t nanoseconds);
/// "mlp.tfl:12", where a step stands first of all.
std::string place_of(const CodeStep& step);

}  // namespace tfl::profile
