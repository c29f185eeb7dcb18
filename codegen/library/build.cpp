// tfl build: functions to files.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "codegen/jit/code_text.h"
#include "codegen/jit/line_table.h"
#include "codegen/library/library.h"
#include "runtime/files/file.h"
#include "runtime/formats/safetensors.h"

namespace tfl::codegen {

namespace {

Result<void> write_text(const std::string& path, std::string_view text) {
  if (int error = write_whole_file(path, text))
    return fail(ErrorKind::OSError, "cannot write {}: {}", path, std::strerror(error));
  return {};
}

// "predict", "predict.1": the parts of a function.
std::string part_name(const LoweredFunction& f, size_t part) {
  return part == 0 ? f.from->name : fmt::format("{}.{}", f.from->name, part);
}

std::vector<std::string> part_names(const std::vector<LoweredFunction>& functions) {
  std::vector<std::string> names;
  for (const LoweredFunction& f : functions) {
    for (size_t i = 0; i < f.parts.size(); ++i) {
      if (f.parts[i].has_code) names.push_back(part_name(f, i));
    }
  }
  return names;
}

Result<std::string> compiled(const CompileRequest& request) {
  CompileResult result;
  compile_plan(request, result);
  if (!result.error.empty()) return fail(ErrorKind::InternalError, "no machine code: {}", result.error);
  return std::move(result.bytes);
}

std::string product_name(Cpu cpu, bool floats, bool windows) {
  std::string name = "tfls_product_" + std::string(cpu_name(cpu)) + (windows ? "_windows" : floats ? "_f32" : "");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool has_step(const std::vector<Step>& steps, Step::Kind kind) {
  return std::any_of(steps.begin(), steps.end(), [kind](const Step& s) {
    return s.kind == kind ||
           std::any_of(s.regions.begin(), s.regions.end(), [kind](const Step::Region& r) { return has_step(r.steps, kind); });
  });
}

std::string entry_name(const LibraryRequest& request, const LoweredFunction& f, size_t part) {
  return fmt::format("tfle_{}_{}", request.name, part_name(f, part));
}

constexpr const char* kBetter = "_v4";  // ends the names of what is for better processors

// The code of the functions' parts, in the order of part_names.
Result<std::vector<std::string>> compile_parts(const LibraryRequest& request, const std::vector<LoweredFunction>& functions,
                                               CompileRequest::Output output, bool better = false) {
  std::vector<std::string> out;
  for (const LoweredFunction& f : functions) {
    for (size_t i = 0; i < f.parts.size(); ++i) {
      const Part& part = f.parts[i];
      if (!part.has_code) continue;
      LineTable lines = line_table(*part.graph);
      CompileRequest compile;
      compile.plan = &part.plan;
      compile.lines = &lines;
      compile.cpu = better ? Cpu::x86_64_v4 : request.cpu;
      compile.entry = entry_name(request, f, i) + (better ? kBetter : "");
      compile.output = output;
      out.push_back(TFL_TRY(compiled(compile)));
    }
  }
  return out;
}

// What is no plan: descriptions, the functions that callers see, and which of the runtime's parts they need.
LibraryModule library_module(const LibraryRequest& request, const std::vector<LoweredFunction>& functions, std::string metadata,
                             const DataObject& description) {
  bool products = false, floats = true, windows = false;
  LibraryModule module;
  module.name = request.name;
  module.has_state = !request.states.empty();
  module.description = description.symbol;
  module.description_bytes = description.size();
  module.metadata = std::move(metadata);
  if (request.with_gpu) module.gpu_description = describe_gpu(request, functions);
  using Kind = LibraryModule::Function::Kind;
  uint32_t stepwise = 0, part_number = 0;
  for (const LoweredFunction& f : functions) {
    auto counts = [](size_t n) { return static_cast<uint32_t>(n); };
    LibraryModule::Function interface{Kind::plain,
                                      f.from->name,
                                      {},
                                      {},
                                      counts(f.face.arguments.size()),
                                      counts(f.face.outputs.size()),
                                      counts(f.face.open.size()),
                                      f.face.flat_suffix,
                                      0};
    for (size_t i = 0; i < f.parts.size(); ++i) {
      const Part& part = f.parts[i];
      bool whole = i == 0 && !f.allocates();
      LibraryModule::Function entry = whole ? interface : LibraryModule::Function{};
      entry.kind = whole ? Kind::plain : Kind::part;
      entry.number = part_number++;
      if (part.has_code) {
        entry.entry = entry_name(request, f, i);
        if (request.better) entry.better_entry = entry.entry + kBetter;
      }
      module.functions.push_back(entry);
      for (const plan::RoutineStep& r : part.plan.routines) {
        const auto routine = static_cast<size_t>(r.routine);
        module.routines.resize(kRoutines);
        module.routines[routine] = fmt::format("tfls_{}", kRoutineNames[routine]);
      }
      for (const plan::Product& p : part.plan.products) {
        products = true;
        floats &= part.plan.values[p.result].dtype == DType::F32;
        windows |= p.window != plan::kNone;
      }
    }
    if (!f.stepwise()) continue;
    if (has_step(f.steps, Step::Kind::print)) module.print = "tfls_print";
    if (has_step(f.steps, Step::Kind::range)) module.range = "tfls_range";
    uint32_t number = stepwise++;
    if (!f.allocates()) {
      module.run_steps = "tfls_call_steps_into";
      continue;
    }
    interface.kind = Kind::stepwise;
    interface.number = number;
    module.functions.push_back(interface);
  }
  if (products) {
    module.product = product_name(request.cpu, floats, windows);
    if (request.better) module.better_product = product_name(Cpu::x86_64_v4, floats, windows);
  }
  return module;
}

// The parts, the library itself, the parts for better processors.
Result<std::vector<std::string>> compile_objects(const LibraryRequest& request, const std::vector<LoweredFunction>& functions,
                                                 const std::string& metadata, const DataObject& description) {
  std::vector<std::string> out = TFL_TRY(compile_parts(request, functions, CompileRequest::Output::object));
  LibraryModule module = library_module(request, functions, metadata, description);
  CompileRequest compile;
  compile.library = &module;
  compile.cpu = request.cpu;
  compile.output = CompileRequest::Output::object;
  out.push_back(TFL_TRY(compiled(compile)));
  if (request.better) {
    for (std::string& code : TFL_TRY(compile_parts(request, functions, CompileRequest::Output::object, true)))
      out.push_back(std::move(code));
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> build_library(Context& context, const LibraryRequest& request) {
  std::vector<LoweredFunction> functions;
  for (const ExportedFunction& f : request.functions) functions.push_back(TFL_TRY(lower_function(context, request, f)));
  TFL_TRY(distinct_symbols(request, functions));
  std::error_code error;
  std::filesystem::create_directories(request.folder, error);
  if (error) return fail(ErrorKind::OSError, "cannot make the folder {}: {}", request.folder, error.message());

  std::vector<std::string> files, names = part_names(functions);
  std::string base = request.folder + "/" + request.name;
  auto text = [&](const std::string& path, std::string_view content) -> Result<void> {
    TFL_TRY(write_text(path, content));
    files.push_back(path);
    return {};
  };
  bool library = request.shared || request.archive;
  std::string metadata = library || request.object ? library_metadata(request, functions) : std::string();
  if (library || request.object) {
    DataObject description = describe_library(request, functions);
    LinkRequest link{
        request.name, request.folder,    TFL_TRY(compile_objects(request, functions, metadata, description)), {}, request.cpu,
        true,         request.own_linker};
    link.data = std::move(description);
    if (request.object) TFL_TRY(text(base + "_data.o", object_bytes(link.data, request.cpu)));
    for (size_t i = 0; request.object && i < link.objects.size(); ++i) {
      bool library_itself = i == names.size(), better = i > names.size();
      std::string name = library_itself ? "" : "_" + names[better ? i - names.size() - 1 : i];
      TFL_TRY(text(base + name + (better ? kBetter : "") + ".o", link.objects[i]));
    }
    for (bool shared : {false, true}) {  // in the order that codegen/lld/linker.h wants
      link.shared = shared;
      if (shared ? request.shared : request.archive) files.push_back(TFL_TRY(link_library(link)));
    }
  }
  for (auto [wanted, output, ending] : {std::tuple(request.llvm, CompileRequest::Output::llvm, "ll"),
                                        std::tuple(request.assembly, CompileRequest::Output::assembly, "s")}) {
    if (!wanted) continue;
    std::vector<std::string> texts = TFL_TRY(compile_parts(request, functions, output));
    for (size_t i = 0; i < names.size(); ++i) TFL_TRY(text(fmt::format("{}_{}.{}", base, names[i], ending), texts[i]));
  }
  for (const LoweredFunction& f : functions) {
    for (size_t i = 0; request.ptx && i < f.parts.size(); ++i) {
      if (f.parts[i].has_code)
        TFL_TRY(text(fmt::format("{}_{}.ptx", base, part_name(f, i)), ptx_text(f.parts[i].plan, request.gpu)));
    }
  }
  if (library || request.object) {
    TFL_TRY(text(base + ".h", library_header(request, functions)));
    TFL_TRY(text(base + ".json", metadata));
  }
  if (library) {
    TFL_TRY(text(base + ".hpp", library_header_cpp(request, functions)));
    TFL_TRY(text(base + ".pc", library_pkg_config(request)));
    TFL_TRY(text(base + "-config.cmake", library_cmake(request)));
  }
  if (request.weights_in_file) {
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const ExportedState& s : request.states) tensors.emplace_back(s.name, s.value);
    TFL_TRY(text(base + ".safetensors", TFL_TRY(write_safetensors(context, tensors, {}))));
  }
  if (request.shared) TFL_TRY(text(base + ".py", library_python(request, functions)));
  return files;
}

}  // namespace tfl::codegen
