// tfl test: hands the options to the runner, which is TFL source (stdlib/tools/_test_runner.tfl), and gives its exit code.
#include "cli/commands.h"
#include "cli/session.h"
#include "cli/tool_commands.h"
#include "frontend/core/protocol.h"

namespace tfl::cli {

int run_tests(const Arguments& a) {
  Session session(a, "");
  Interp& interp = session.interp;
  Value options = interp.dict();
  auto set = [&](const char* name, Value value) { dict_set_str(options.as<Dict>(), interp.intern(name), std::move(value)); };
  auto list = [&](const std::vector<std::string>& texts) {
    std::vector<Value> out;
    for (const std::string& t : texts) out.push_back(interp.str(t));
    return interp.list(std::move(out));
  };
  set("paths", list(a.files));
  set("words", list(a.test.words));
  set("processes", interp.str(a.test.processes));
  set("dist", interp.str(a.test.dist));
  set("part", interp.str(a.test.part));
  set("update_snapshots", Value::boolean(a.test.update_snapshots));
  set("starter", processes_module(interp));
  set("keyword", interp.str(a.test.keyword));
  set("verbose", Value::boolean(a.test.verbose));
  set("quiet", Value::boolean(a.test.quiet));
  set("show_output", Value::boolean(a.test.show_output));
  set("collect_only", Value::boolean(a.test.collect_only));
  set("max_failures", Value::integer(a.test.max_failures));
  set("last_failed", Value::boolean(a.test.last_failed));
  set("durations", Value::integer(a.test.durations));
  set("junit", interp.str(a.test.junit));
  set("mode", interp.str(a.test.mode));
  set("coverage", Value::boolean(a.test.coverage));
  set("coverage_html", interp.str(a.test.coverage_html));
  set("coverage_lcov", interp.str(a.test.coverage_lcov));
  set("strict", Value::boolean(a.strict));
  set("color", Value::boolean(interp.options.color));
  const bool covered = a.test.coverage || !a.test.coverage_html.empty() || !a.test.coverage_lcov.empty();
  auto module = interp.import_module(a.test.doctest ? "_doctests" : covered ? "_test_coverage" : "_test_runner");
  if (!module) return session.report(module.error());
  auto code = interp.call_method(*module, interp.intern("main"), {options});
  if (!code) return session.finish(session.report(code.error()));
  return session.finish(code->is_int() ? static_cast<int>(code->as_int()) : 70);
}

}  // namespace tfl::cli
