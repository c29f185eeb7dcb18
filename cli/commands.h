// The commands of the program, one function each; they give the exit code.
#pragma once

#include "cli/arguments.h"

namespace tfl::cli {

int run_script(const Arguments& arguments);
int check_files(const Arguments& arguments);
int format_files(const Arguments& arguments);
int run_language_server(const Arguments& arguments);
int dump_file(const Arguments& arguments);
int dump_graph(const Arguments& arguments);
int explain_script(const Arguments& arguments);
int profile_script(const Arguments& arguments);
int show_info(const Arguments& arguments);
int manage_cache(const Arguments& arguments);
int print_completion(const Arguments& arguments);
int run_repl(const Arguments& arguments);
/// A command that is TFL source (tool_commands.h): `main(words, processes)` of its module.
int run_tool(const Arguments& arguments);
int run_tests(const Arguments& arguments);
int inspect_model(const Arguments& arguments);
/// tfl convert A B, tfl diff A B: models in files.
int convert_model(const Arguments& arguments);
/// tfl export FILE::FUNCTION or a model: as an ONNX file.
int export_model(const Arguments& arguments);
/// tfl run DIR or MODEL.onnx: a function of a saved model, or a foreign one.
int run_model(const Arguments& arguments);
int build_files(const Arguments& arguments);
int build_executable(const Arguments& arguments);
/// The program that `build_executable` made: all arguments are the script's.
int run_bundle(int argc, char** argv);

}  // namespace tfl::cli
