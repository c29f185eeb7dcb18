// tfl_natives [SEED [--each]]: calls every native function of every module that is made in C++, private ones and built-ins included, the types that
// lie there and the methods of what they make, with wrong kinds and numbers of arguments. Each call gives a value or an error of the language; a crash ends
// this program. --each: every native in a process of its own, and a list of those that crash.
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "frontend/core/exception.h"
#include "frontend/core/interp.h"
#include "frontend/core/native_module.h"
#include "frontend/core/protocol.h"
#include "frontend/interpreter/compile/compile.h"

namespace tfl::test {

namespace {

// What a caller might hand over by mistake, one of each kind that natives tell apart.
constexpr const char* kPool = R"(
import tensorflow as tf
import numpy as np
import collections, itertools, re, json, random, statistics, struct, hashlib, copy, io, heapq, functools, traceback, tempfile
class Plain: pass
class Odd:
    def __len__(self): return -1
    def __getitem__(self, k): raise ValueError('odd')
    def __iter__(self): return 7
    def __index__(self): return 3
def numbers():
    yield 1
def same(x): return x
@tf.function
def traced(x): return x + 1
dtypes = [tf.float32, tf.int32, tf.string]
tensors = [tf.constant(3), tf.constant([1.0, 2.0]), tf.constant([[1, 2], [3, 4]]), tf.constant(['a', 'b']), tf.constant(True), tf.zeros([0, 2])]
concrete, pattern = traced.get_concrete_function(tf.constant(1)), re.compile('a')
def pool():
    return [None, True, 0, 1, -1, 7, 2**31, 2**62, -2**62 * 2, 9223372036854775807, 1.5, float('nan'), '', 'x', 'float32', 'é\n', b'', b'ab\xff', (), (1, 2), ('a', None),
            [], [1, 2], ['a', 'b'], [[1], 2], {}, {'a': 1}, {1: 2}, set(), {1, 2}, range(3), slice(1, None), Plain(), Odd(), Plain, int, len, same, numbers(),
            ValueError('x'), iter([1]), tf, np.arange(4), np.float32(2), np.array(['a']), tf.Variable([1.0, 2.0]), tf.TensorShape([None, 2]),
            tf.TensorSpec([None], tf.float32), tf.GradientTape(), traced, concrete, io.StringIO(), pattern
            ] + dtypes + tensors
)";

// Natives that are called with nothing, since what they are for would end or delay the run.
bool left_out(const std::string& name) { return name == "time.sleep" || name.starts_with("_signal."); }

struct Native {
  std::string name;
  Value callee;
  bool with_self = false;
  Value self;
};

Context* current = nullptr;
int patience = 0;

// A call that goes on for long is interrupted as by Ctrl-C; one that does not hear that is an error.
void on_alarm(int) {
  if (++patience > 100) {
    constexpr char kText[] = "\ntfl_natives: a call does not end\n";
    (void)!::write(2, kText, sizeof kText - 1);
    _exit(1);
  }
  current->interrupt.fetch_or(kInterruptKeyboard);
}

class Caller {
 public:
  Caller(Interp& interp, Value make_pool, uint32_t seed) : interp_(interp), make_pool_(std::move(make_pool)), random_(seed) {}

  /// With values of its own: what one native has grown or tied in a knot is not for the next.
  void call_all(const Native& n) {
    interp_.options.max_depth = 1000;
    interp_.sink = nullptr;
    auto pool = interp_.call(make_pool_, {});
    for (int i = 0; i < 20 && !pool; ++i) {  // the alarm may have come meanwhile
      interp_.context.interrupt.store(0);
      pool = interp_.call(make_pool_, {});
    }
    if (!pool) {
      std::fprintf(stderr, "before %s: %s\n", n.name.c_str(),
                   exception_headline(interp_, interp_.exception_of(pool.error())).c_str());
      ++failed;
      return;
    }
    pool_ = pool->as<List>()->items;
    std::vector<Value> args;
    call(n, args);
    if (left_out(n.name)) return;
    for (const Value& v : pool_) call(n, args = {v});
    for (int i = 0; i < 60; ++i) call(n, args = {any(), any()});
    for (int count = 3; count < 12; ++count) {
      for (int i = 0; i < 24; ++i) {
        args.clear();
        for (int k = 0; k < count; ++k) args.push_back(any());
        call(n, args);
      }
    }
  }

  /// What a type made, for calls of its methods.
  std::vector<Value> made;
  uint64_t calls = 0, failed = 0;

 private:
  const Value& any() { return pool_[random_() % pool_.size()]; }

  void call(const Native& n, std::vector<Value> args) {
    ++calls;
    patience = 0;
    interp_.options.max_depth = 1000;
    interp_.context.interrupt.store(0);
    interp_.context.interrupt_request.store(0);
    if (n.with_self) args.insert(args.begin(), n.self);
    args.resize(args.size() + 1);  // what is called may look for the one behind the last
    CallArgs call_args{args.data(), static_cast<uint32_t>(args.size() - 1)};
    auto done = interp_.call(n.callee, call_args);
    interp_.context.interrupt.store(0);
    if (!done) {
      (void)interp_.exception_of(done.error());
    } else if (n.callee.is(Kind::Type) && made.size() < 8) {
      made.push_back(done.take());
    }
    interp_.sink = nullptr;
  }

  Interp& interp_;
  Value make_pool_;
  std::vector<Value> pool_;
  std::mt19937 random_;
};

/// Every native that can be reached from a module's names.
std::vector<Native> natives_of(Interp& interp, const std::string& module, const Value& names) {
  std::vector<Native> found;
  for (const Dict::Entry& e : names.as<Dict>()->entries) {
    if (!e.key.is(Kind::Str)) continue;
    std::string name = module + "." + text_of(e.key);
    if (e.value.is(Kind::NativeFunction) || e.value.is(Kind::Type)) found.push_back({name, e.value, false, {}});
  }
  (void)interp;
  return found;
}

void add_methods(std::vector<Native>& found, const std::string& of, const Value& type, const Value& self) {
  for (const Dict::Entry& e : type.as<Type>()->dict.as<Dict>()->entries) {
    if (!e.key.is(Kind::Str) || !e.value.is(Kind::NativeFunction)) continue;
    found.push_back({of + "." + text_of(e.key), e.value, true, self});
  }
}

int run(uint32_t seed, bool each, const char* only) {
  Context context{ContextOptions{size_t{1} << 28, 1}};
  current = &context;
  InterpOptions options;
  options.use_cache = false;
  Interp interp(context, std::move(options));
  auto run_text = [&](const Value& module, const std::string& text) {
    CompileResult compiled = compile_module(interp, std::make_shared<const Source>("pool.tfl", text));
    auto done = interp.run_module(compiled.code, module);
    if (!done) std::fprintf(stderr, "%s\n", exception_headline(interp, interp.exception_of(done.error())).c_str());
    return static_cast<bool>(done);
  };
  Value main = interp.module("__main__");
  if (!run_text(main, kPool)) return 2;
  Value make_pool = dict_get_str(main.as<Module>()->dict.as<Dict>(), interp.intern("pool"));
  auto made_pool = interp.call(make_pool, {});
  if (!made_pool) return 2;
  std::vector<Value> pool = made_pool->as<List>()->items;

  std::vector<Native> natives;
#define TFL_NATIVE_MODULE(name, init)      \
  if (auto m = interp.import_module(name)) \
    for (Native & n : natives_of(interp, name, m->as<Module>()->dict)) natives.push_back(std::move(n));
#include "frontend/core/modules.def"
#undef TFL_NATIVE_MODULE
  for (Native& n : natives_of(interp, "builtins", interp.builtins.as<Module>()->dict)) natives.push_back(std::move(n));

  // Types make objects of which the methods are called, too; those of the pool's own kinds as well.
  std::vector<Native> methods;
  for (const Value& v : pool) add_methods(methods, std::string(interp.type_name(v)), Value::share(interp.type_of(v)), v);
  Caller caller(interp, make_pool, seed);
  signal(SIGALRM, on_alarm);
  signal(SIGPIPE, SIG_IGN);
  itimerval tick{{0, 100000}, {0, 100000}};
  if (!each) setitimer(ITIMER_REAL, &tick, nullptr);
  int bad = 0;
  auto go = [&](const Native& n) {
    if (only && n.name.find(only) == std::string::npos) return;
    if (std::getenv("TFL_NATIVES_TELL")) std::fprintf(stderr, "%s\n", n.name.c_str());
    if (!each) return caller.call_all(n);
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      setitimer(ITIMER_REAL, &tick, nullptr);
      caller.call_all(n);
      _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    if (status != 0) {
      ++bad;
      std::fprintf(stderr, "%s: %s %d\n", n.name.c_str(), WIFSIGNALED(status) ? "signal" : "exit",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
  };
  for (const Native& n : natives) {
    caller.made.clear();
    go(n);
    if (!n.callee.is(Kind::Type)) continue;
    std::vector<Value> made = std::move(caller.made);
    made.resize(std::min<size_t>(made.size(), 2));
    for (const Value& v : made) add_methods(methods, n.name, Value::share(interp.type_of(v)), v);
  }
  for (size_t i = 0; i < methods.size(); ++i) go(methods[i]);
  std::fprintf(stderr, "%zu natives and %zu methods, %llu calls\n", natives.size(), methods.size(),
               static_cast<unsigned long long>(caller.calls));
  std::fflush(nullptr);
  if (natives.size() < 400 || caller.failed) _exit(2);
  _exit(bad ? 1 : 0);  // what was called with nonsense need not come to an end in order
}

}  // namespace

}  // namespace tfl::test

int main(int argc, char** argv) {
  uint32_t seed = 1;
  bool each = false;
  const char* only = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--each") == 0)
      each = true;
    else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      only = argv[++i];
    else
      seed = static_cast<uint32_t>(std::atoi(argv[i]));
  }
  return tfl::test::run(seed, each, only);
}
