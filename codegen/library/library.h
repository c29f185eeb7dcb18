// Native libraries: traced functions with their variables as a shared or static library with a C header, for programs that know nothing of
// TFL. This header must not know LLVM, nor how a script says what is exported.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/llvm/compile.h"
#include "ir/graph.h"

namespace tfl::codegen {

/// What stands behind a parameter of the graph that is no argument.
struct Capture {
  Tensor constant;      // a tensor's value
  int64_t state = -1;   // or a variable: its number in LibraryRequest::states
};
struct ExportedFunction {
  std::string name;                        // a C identifier
  std::string doc;                         // of the script's function; may be empty
  std::shared_ptr<ir::Function> graph;     // as traced: parameters are the arguments, then the captures
  std::vector<std::string> arguments;      // names
  std::vector<std::string> outputs;        // names
  std::vector<std::vector<std::string>> sizes;  // of each argument: names of its symbolic sizes, "" for known or unnamed ones
  std::vector<Capture> captures;
};
struct ExportedState {
  std::string name;   // unique
  Tensor value;
};

struct LibraryRequest {
  std::string name;    // "mlp": prefix of every symbol
  std::string source;  // the script's name, for comments
  std::vector<ExportedFunction> functions;
  std::vector<ExportedState> states;
  Cpu cpu = Cpu::x86_64_v3;
  bool better = false;          // also code for x86-64-v4, which is taken where the processor has it
  bool weights_in_file = false; // variables begin with zeros; NAME.safetensors has their values
  std::string folder;  // where the files go
  bool shared = true, archive = false, object = false, llvm = false, assembly = false;
};

/// Makes the files and tells their names. ValueError for what cannot be exported, with the line of the script; OSError for files and tools.
Result<std::vector<std::string>> build_library(Context& context, const LibraryRequest& request);

// ---- the steps -------------------------------------------------------------------------------------------------------------

/// One value of a function's interface.
struct Interface {
  struct Value {
    std::string name;  // a C identifier, unique in the function
    DType dtype;
    plan::Sizes dims;
    std::vector<std::string> sizes;  // a text for each: "784", "n"
  };
  std::vector<Value> arguments, outputs;
  struct OpenSize {
    std::string name;  // "n"
    uint32_t symbol;
  };
  std::vector<OpenSize> open;  // sizes that the caller chooses, in order of first appearance
  std::string flat_suffix;     // "f32"
};

/// A function ready for code: captures are constants or additional parameters and results, everything is native.
struct LoweredFunction {
  const ExportedFunction* from = nullptr;
  std::shared_ptr<ir::Function> graph;
  std::vector<uint32_t> state_inputs;    // states of the parameters after the arguments
  std::vector<uint32_t> state_results;   // states that the results after the outputs are assigned to
  plan::Plan plan;
  Interface face;
};
Result<LoweredFunction> lower_function(Context& context, const LibraryRequest& request, const ExportedFunction& f);
Interface interface_of(const LoweredFunction& f);  // of one that has its plan

/// The bytes that runtime/standalone/reader.c reads.
std::string describe_library(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
/// Metadata as JSON; the C and C++ headers, the Python module, and what build systems read.
std::string library_metadata(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_header(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_header_cpp(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_python(const LibraryRequest& request, const std::vector<LoweredFunction>& functions);
std::string library_pkg_config(const LibraryRequest& request);
std::string library_cmake(const LibraryRequest& request);

/// `tfl_f32` of "tfl_function": letters, digits and underscores, not a keyword of C, C++ or Python.
std::string c_identifier(std::string_view text);
/// "float", "int32_t"; half types are uint16_t, bool is uint8_t.
std::string_view c_type(DType dtype);

/// Objects and the standalone runtime to a shared or static library in `folder`.
struct LinkRequest {
  std::string name, folder;
  std::vector<std::string> objects;  // contents of ELF objects
  bool shared = true;
};
Result<std::string> link_library(const LinkRequest& request);

}  // namespace tfl::codegen
