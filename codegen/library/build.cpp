// tfl build: functions to files.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

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

std::string entry_name(const LibraryRequest& request, const LoweredFunction& f) { return fmt::format("tfle_{}_{}", request.name, f.from->name); }

Result<std::string> compiled(const CompileRequest& request) {
  CompileResult result;
  compile_plan(request, result);
  if (!result.error.empty()) return fail(ErrorKind::InternalError, "no machine code: {}", result.error);
  return std::move(result.bytes);
}

std::string product_name(Cpu cpu, bool floats) {
  std::string name = "tfls_product_" + std::string(cpu_name(cpu)) + (floats ? "_f32" : "");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The functions' code, the part that is no plan, and the functions' code for better processors; `output` says in which form.
Result<std::vector<std::string>> compile_all(const LibraryRequest& request, const std::vector<LoweredFunction>& functions, CompileRequest::Output output) {
  std::vector<std::string> out, others;
  bool products = false, floats = true;
  LibraryModule module;
  module.name = request.name;
  module.has_state = !request.states.empty();
  module.description = describe_library(request, functions);
  module.metadata = library_metadata(request, functions);
  for (const LoweredFunction& f : functions) {
    LineTable lines = line_table(*f.graph);
    CompileRequest compile;
    compile.plan = &f.plan;
    compile.lines = &lines;
    compile.cpu = request.cpu;
    compile.entry = entry_name(request, f);
    compile.output = output;
    out.push_back(TFL_TRY(compiled(compile)));
    std::string better;
    if (request.better) {
      compile.cpu = Cpu::x86_64_v4;
      compile.entry = better = entry_name(request, f) + "_v4";
      others.push_back(TFL_TRY(compiled(compile)));
    }
    const Interface& face = f.face;
    module.functions.push_back({f.from->name, entry_name(request, f), better, static_cast<uint32_t>(face.arguments.size()), static_cast<uint32_t>(face.outputs.size()),
                                static_cast<uint32_t>(face.open.size()), face.flat_suffix});
    for (const plan::Product& p : f.plan.products) {
      products = true;
      floats &= f.plan.values[p.result].dtype == DType::F32;
    }
  }
  if (products) {
    module.product = product_name(request.cpu, floats);
    if (request.better) module.better_product = product_name(Cpu::x86_64_v4, floats);
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

  std::vector<std::string> files;
  std::string base = request.folder + "/" + request.name;
  auto text = [&](const std::string& path, std::string_view content) -> Result<void> {
    TFL_TRY(write_text(path, content));
    files.push_back(path);
    return {};
  };
  bool library = request.shared || request.archive;
  if (library || request.object) {
    LinkRequest link{request.name, request.folder, TFL_TRY(compile_all(request, functions, CompileRequest::Output::object)), true};
    if (request.object) {
      for (size_t i = 0; i < link.objects.size(); ++i)
        TFL_TRY(text(i == functions.size() ? base + ".o" : fmt::format("{}_{}{}.o", base, functions[i % (functions.size() + 1)].from->name, i < functions.size() ? "" : "_v4"), link.objects[i]));
    }
    if (request.shared) files.push_back(TFL_TRY(link_library(link)));
    link.shared = false;
    if (request.archive) files.push_back(TFL_TRY(link_library(link)));
  }
  for (auto [wanted, output, ending] : {std::tuple(request.llvm, CompileRequest::Output::llvm, "ll"), std::tuple(request.assembly, CompileRequest::Output::assembly, "s")}) {
    if (!wanted) continue;
    std::vector<std::string> texts = TFL_TRY(compile_all(request, functions, output));
    for (size_t i = 0; i < functions.size(); ++i) TFL_TRY(text(fmt::format("{}_{}.{}", base, functions[i].from->name, ending), texts[i]));
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
