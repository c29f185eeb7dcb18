// Native libraries: traced functions with their variables as a shared or static library with a C header, for programs that know
// nothing of TFL. This header must not know LLVM, nor how a script says what is exported.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/library/data_object.h"
#include "codegen/library/failures.h"
#include "codegen/llvm/compile.h"
#include "ir/graph.h"

namespace tfl::codegen {

/// What stands behind a parameter of the graph that is no argument.
struct Capture {
  Tensor constant;     // a tensor's value
  int64_t state = -1;  // or a variable: its number in LibraryRequest::states
};
struct ExportedFunction {
  std::string name;                             // a C identifier
  std::string doc;                              // of the script's function; may be empty
  std::shared_ptr<ir::Function> graph;          // as traced: parameters are the arguments, then the captures
  std::vector<std::string> arguments;           // names
  std::vector<std::string> outputs;             // names
  std::vector<std::vector<std::string>> sizes;  // of each argument: names of its symbolic sizes, "" for known or unnamed ones
  std::vector<Capture> captures;
};
struct ExportedState {
  std::string name;  // unique
  Tensor value;
};

struct LibraryRequest {
  std::string name;    // "mlp": prefix of every symbol
  std::string source;  // the script's name, for comments
  std::vector<ExportedFunction> functions;
  std::vector<ExportedState> states;
  Cpu cpu = Cpu::x86_64_v3;
  bool better = false;           // also code for x86-64-v4, which is taken where the processor has it
  bool weights_in_file = false;  // variables begin with zeros; NAME.safetensors has their values
  bool own_linker = false;       // libtfl_lld.so, even where a C compiler is installed
  std::string folder;            // where the files go
  bool shared = true, archive = false, object = false, llvm = false, assembly = false, ptx = false;
  std::string gpu = "sm_80";  // that PTX is made for
  bool with_gpu = false;      // libraries and objects have code for it, too
};

/// Makes the files and tells their names. ValueError for what cannot be exported, with the line of the script; OSError for files
/// and tools.
Result<std::vector<std::string>> build_library(Context& context, const LibraryRequest& request);

// ---- the steps -------------------------------------------------------------------------------------------------------------

/// One value of a function's interface.
struct Interface {
  struct Value {
    std::string name;  // a C identifier, unique in the function
    DType dtype;
    plan::Sizes dims;                // numbers of the interface's own
    std::vector<std::string> sizes;  // a text for each: "784", "n"
  };
  std::vector<Value> arguments, outputs;  // sizes that nobody knows before the call are "?"
  struct OpenSize {
    std::string name;  // "n"
    uint32_t number;   // dims have ~number
    plan::Size size;   // in the first plan
  };
  std::vector<OpenSize> open;  // sizes that the caller chooses, in order of first appearance
  std::string flat_suffix;     // "f32"; empty: there are no sizes before the call, and only the form that allocates
};

/// A graph that is machine code as a whole.
struct Part {
  std::shared_ptr<ir::Function> graph;
  plan::Plan plan;
  std::vector<FailureText> failures;  // by location
  int64_t otherwise = -1;             // the part for other sizes, where sizes do not fit this one
  bool has_code = true;               // false: it only tells the sizes of a function that runs in steps
};

/// A function whose sizes follow from values, or that prints, is run step by step: parts, and operations that the library's runtime has.
struct Step {
  enum class Kind : uint8_t {
    part,
    nonzero,
    boolean_mask,
    unique,
    unique_with_counts,
    branch,
    choice,
    loop,
    print,
    range
  } kind = Kind::part;
  /// What a branch or loop runs; its parameters stand for inputs: of branches those behind the one that decides.
  struct Region {
    std::vector<uint32_t> params, results;  // values
    std::vector<Step> steps;
  };
  uint32_t part = 0;
  int64_t axis = 0;                       // of a loop: how many of its inputs are variables
  std::vector<uint32_t> inputs, results;  // values
  std::vector<Region> regions;            // then and else; one a number; condition and body
  std::vector<FailureText::Piece>
      pieces;  // print: the stream, then texts and tensors (`a`: which input); range: what a message begins and ends with
};
struct StepValue {
  DType dtype;
  int64_t rank;
  Tensor constant;  // arguments and variables come first, then constants; results of steps have none
};

/// A function ready for code: captures are constants or additional parameters and results, everything is native or a step.
struct LoweredFunction {
  const ExportedFunction* from = nullptr;
  std::vector<uint32_t> state_inputs;   // states of the parameters after the arguments
  std::vector<uint32_t> state_results;  // states that the results after the outputs are assigned to
  std::vector<Part> parts;              // without steps the first is the function; others explain failures
  std::vector<Step> steps;
  std::vector<StepValue> values;
  std::vector<uint32_t> results;        // values: outputs, then what states are assigned
  std::shared_ptr<ir::Function> shown;  // the graph, for people
  std::vector<ir::Type> types;          // of arguments
  std::vector<ir::Type> result_types;   // of outputs
  Interface face;

  bool stepwise() const { return !steps.empty(); }
  /// Nobody knows the sizes of its results before it runs: no first part tells them.
  bool allocates() const { return stepwise() && (parts.empty() || parts[0].has_code); }
};
Result<LoweredFunction> lower_function(Context& context, const LibraryRequest& request, const ExportedFunction& f);
/// Puts operations that have machine code in the places of some that have none (expand.cpp).
Result<void> expand_operations(Context& context, ir::Function& f);
/// Plans of sizes alone, where all sizes of `graph` follow from those of its parameters; what it prints is left out.
std::optional<Part> sizes_of(Context& context, const ir::Function& graph);
/// The same where the results' types tell their sizes, whatever the graph computes.
std::optional<Part> typed_sizes(Context& context, const ir::Function& graph);
/// `graph` as steps: outlined, with what is left over as operations of the runtime. ValueError for what that has not.
Result<void> lower_to_steps(Context& context, ir::Function& graph, LoweredFunction& out);
/// Plans `graph` and puts it among the parts, with what explains its failures and with parts for sizes that broadcast.
bool add_part(Context& context, std::shared_ptr<ir::Function> graph, std::vector<Part>& parts);
/// "model.tfl:12: ", or nothing where the line is not known.
std::string place_of(const ir::Function& f, const ir::Node& n);
Interface interface_of(const LoweredFunction& f);  // of one that has its parts
/// ValueError where two of the functions would share a symbol, or take one that the library has for itself.
Result<void> distinct_symbols(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);

/// The bytes that runtime/standalone/reader.c reads.
DataObject describe_library(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
/// The same for runtime/standalone/gpu_read.c: what becomes of the functions on GPUs, with their PTX. Empty: nothing does.
std::string describe_gpu(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
/// The parts of a function that are called from outside, by number: for one kind of sizes each.
std::vector<uint32_t> whole_parts(const LoweredFunction& f);
/// Metadata as JSON; the C and C++ headers, the Python module, and what build systems read.
std::string library_metadata(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_header(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_header_cpp(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_python(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_pkg_config(const LibraryRequest& request);
std::string library_cmake(const LibraryRequest& request);

/// Whether any function has results of sizes that follow from values.
bool allocates(const std::vector<LoweredFunction>& functions);

/// `tfl_f32` of "tfl_function": letters, digits and underscores, not a keyword of C, C++ or Python.
std::string c_identifier(std::string_view text);
/// "float", "int32_t"; half types are uint16_t, bool is uint8_t.
std::string_view c_type(DType dtype);

/// Objects and the standalone runtime to a shared or static library in `folder`.
struct LinkRequest {
  std::string name, folder;
  std::vector<std::string> objects;  // contents of ELF objects
  DataObject data;                   // what the library's runtime reads
  Cpu cpu = Cpu::x86_64_v3;
  bool shared = true;
  bool own_linker = false;  // even where a C compiler is installed
};
Result<std::string> link_library(const LinkRequest& request);

}  // namespace tfl::codegen
