// tfl build: functions to files.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "codegen/jit/code_text.h"
#include "codegen/library/library.h"
#include "codegen/line_table.h"
#include "runtime/files/safetensors.h"
#include "runtime/support/file.h"

namespace tfl::codegen {

namespace {

Result<void> write_text(const std::string& path, std::string_view text) {
  if (int error = write_whole_file(path, text)) return fail(ErrorKind::OSError, "cannot write {}: {}", path, std::strerror(error));
  return {};
}

// "predict", "predict.1": the parts of a function.
std::string part_name(const LoweredFunction& f, size_t part) { return part == 0 ? f.from->name : fmt::format("{}.{}", f.from->name, part); }

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

bool prints(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) {
    return s.kind == Step::Kind::print ||
           std::any_of(s.regions.begin(), s.regions.end(), [](const Step::Region& r) { return prints(r.steps); });
  });
}

// The functions' code, the part that is no plan, and the functions' code for better processors; `output` says in which form.
Result<std::vector<std::string>> compile_all(const LibraryRequest& request, const std::vector<LoweredFunction>& functions, CompileRequest::Output output) {
  std::vector<std::string> out, others;
  bool products = false, floats = true, windows = false;
  LibraryModule module;
  module.name = request.name;
  module.has_state = !request.states.empty();
  module.description = describe_library(request, functions);
  module.metadata = library_metadata(request, functions);
  if (request.with_gpu) module.gpu_description = describe_gpu(request, functions);
  using Kind = LibraryModule::Function::Kind;
  uint32_t stepwise = 0, part_number = 0;
  for (const LoweredFunction& f : functions) {
    auto counts = [](size_t n) { return static_cast<uint32_t>(n); };
    LibraryModule::Function interface{Kind::plain, f.from->name, {}, {}, counts(f.face.arguments.size()), counts(f.face.outputs.size()),
                                      counts(f.face.open.size()), f.face.flat_suffix, 0};
    for (size_t i = 0; i < f.parts.size(); ++i) {
      const Part& part = f.parts[i];
      bool whole = i == 0 && !f.allocates();
      LibraryModule::Function entry = whole ? interface : LibraryModule::Function{};
      entry.kind = whole ? Kind::plain : Kind::part;
      entry.number = part_number++;
      if (!part.has_code) {
        module.functions.push_back(entry);
        continue;
      }
      LineTable lines = line_table(*part.graph);
      CompileRequest compile;
      compile.plan = &part.plan;
      compile.lines = &lines;
      compile.cpu = request.cpu;
      compile.entry = fmt::format("tfle_{}_{}", request.name, part_name(f, i));
      compile.output = output;
      out.push_back(TFL_TRY(compiled(compile)));
      entry.entry = compile.entry;
      if (request.better) {
        compile.cpu = Cpu::x86_64_v4;
        compile.entry = entry.better_entry = entry.entry + "_v4";
        others.push_back(TFL_TRY(compiled(compile)));
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
    if (prints(f.steps)) module.print = "tfls_print";
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
  CompileRequest compile;
  compile.library = &module;
  compile.cpu = request.cpu;
  compile.output = output;
  out.push_back(TFL_TRY(compiled(compile)));
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

}  // namespace

Result<std::vector<std::string>> build_library(Context& context, const LibraryRequest& request) {
  std::vector<LoweredFunction> functions;
  for (const ExportedFunction& f : request.functions) functions.push_back(TFL_TRY(lower_function(context, request, f)));
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
  if (library || request.object) {
    LinkRequest link{request.name, request.folder, TFL_TRY(compile_all(request, functions, CompileRequest::Output::object)), true, request.own_linker};
    for (size_t i = 0; request.object && i < link.objects.size(); ++i) {
      // The parts, the library itself, the parts for better processors.
      bool library_itself = i == names.size(), better = i > names.size();
      std::string name = library_itself ? "" : "_" + names[better ? i - names.size() - 1 : i];
      TFL_TRY(text(base + name + (better ? "_v4.o" : ".o"), link.objects[i]));
    }
    for (bool shared : {false, true}) {  // in the order that codegen/lld/linker.h wants
      link.shared = shared;
      if (shared ? request.shared : request.archive) files.push_back(TFL_TRY(link_library(link)));
    }
  }
  for (auto [wanted, output, ending] : {std::tuple(request.llvm, CompileRequest::Output::llvm, "ll"), std::tuple(request.assembly, CompileRequest::Output::assembly, "s")}) {
    if (!wanted) continue;
    std::vector<std::string> texts = TFL_TRY(compile_all(request, functions, output));
    for (size_t i = 0; i < names.size(); ++i) TFL_TRY(text(fmt::format("{}_{}.{}", base, names[i], ending), texts[i]));
  }
  for (const LoweredFunction& f : functions) {
    for (size_t i = 0; request.ptx && i < f.parts.size(); ++i) {
      if (f.parts[i].has_code) TFL_TRY(text(fmt::format("{}_{}.ptx", base, part_name(f, i)), ptx_text(f.parts[i].plan, request.gpu)));
    }
  }
  if (library || request.object) {
    TFL_TRY(text(base + ".h", library_header(request, functions)));
    TFL_TRY(text(base + ".json", library_metadata(request, functions)));
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
