#include "cli/served_output.h"

#include <unistd.h>

#include <memory>

#include "cli/kernel_messages.h"
#include "cli/output_pipes.h"
#include "frontend/core/native_module.h"
#include "frontend/core/protocol.h"
#include "runtime/files/whole_file.h"

namespace tfl::cli {

namespace {

// Natives have no state of their own: this belongs to the one command that runs.
struct Served {
  KernelSockets sockets;
  std::mutex mutex;  // of what follows
  std::string parent = "{}";
  int output = -1;  // the socket that output goes to
  std::unique_ptr<OutputPipes> pipes;
};
constinit Served* served = nullptr;

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> out;
  if (!list.is(Kind::List)) return out;
  for (const Value& v : list.as<List>()->items) {
    if (v.is(Kind::Bytes)) out.push_back(v.as<Bytes>()->data);
  }
  return out;
}

/// open(key, session, username): None, or what is wrong.
Result<Value> kernel_open(Interp& interp, Value* args) {
  std::string problem = served->sockets.open(text_of(args[0]));
  served->sockets.session = text_of(args[1]);
  served->sockets.username = text_of(args[2]);
  return problem.empty() ? Value::none() : interp.str(std::move(problem));
}

Result<Value> kernel_bind(Interp&, Value* args) {
  return Value::integer(served->sockets.bind(text_of(args[0]), text_of(args[1])));
}

Result<Value> kernel_beat(Interp&, Value* args) { return Value::boolean(served->sockets.beat(text_of(args[0]))); }

/// poll(sockets, milliseconds): the socket that has a message; None: none has.
Result<Value> kernel_poll(Interp& interp, Value* args) {
  std::vector<int> sockets;
  for (const Value& v : args[0].as<List>()->items) sockets.push_back(static_cast<int>(TFL_TRY(to_index(interp, v))));
  int got = served->sockets.poll(sockets, static_cast<long>(TFL_TRY(to_index(interp, args[1]))));
  if (got == -2) TFL_TRY(interp.check_interrupt());
  return got >= 0 ? Value::integer(got) : Value::none();
}

/// receive(socket): ([identity], [header, parent, metadata, content]); None: there is no whole and signed message.
Result<Value> kernel_receive(Interp& interp, Value* args) {
  KernelMessage m;
  if (!served->sockets.receive(static_cast<int>(TFL_TRY(to_index(interp, args[0]))), m)) return Value::none();
  std::vector<Value> identities, parts;
  for (std::string& s : m.identities) identities.push_back(interp.bytes(std::move(s)));
  for (std::string& s : m.parts) parts.push_back(interp.bytes(std::move(s)));
  return interp.tuple({interp.list(std::move(identities)), interp.list(std::move(parts))});
}

/// send(socket, identities, type, parent, metadata, content)
Result<Value> kernel_send(Interp& interp, Value* args) {
  interp.streams.flush();
  if (served->pipes) served->pipes->drain();
  served->sockets.send(static_cast<int>(TFL_TRY(to_index(interp, args[0]))), texts_of(args[1]), text_of(args[2]),
                       text_of(args[3]), text_of(args[4]), text_of(args[5]));
  return Value::none();
}

/// take_output(socket): from now on what is written goes there.
Result<Value> kernel_take_output(Interp& interp, Value* args) {
  interp.streams.flush();
  served->output = static_cast<int>(TFL_TRY(to_index(interp, args[0])));
  served->pipes = std::make_unique<OutputPipes>([](std::string_view text, bool error) {
    std::string parent;
    {
      std::lock_guard lock(served->mutex);
      parent = served->parent;
    }
    std::string name = error ? "stderr" : "stdout";
    served->sockets.send(served->output, {"stream." + name}, "stream", parent, "{}",
                         "{\"name\":\"" + name + "\",\"text\":" + json_text(text) + "}");
  });
  return Value::boolean(served->pipes->ok());
}

/// parent(header): what the output that comes now belongs to; what came before it is sent first.
Result<Value> kernel_parent(Interp& interp, Value* args) {
  interp.streams.flush();
  if (served->pipes) served->pipes->drain();
  std::lock_guard lock(served->mutex);
  served->parent = text_of(args[0]);
  return Value::none();
}

Result<Value> drain(Interp& interp, Value*) {
  interp.streams.flush();
  if (served->pipes) served->pipes->drain();
  return Value::none();
}

/// program(): where this program is.
Result<Value> kernel_program(Interp& interp, Value*) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return interp.str(n > 0 ? std::string(path, static_cast<size_t>(n)) : "tfl");
}

constexpr NativeDef kKernel[] = {
    function("program", "", kernel_program),
    function("open", "key: str, session: str, username: str, /", kernel_open),
    function("bind", "kind: str, address: str, /", kernel_bind),
    function("beat", "address: str, /", kernel_beat),
    function("poll", "sockets: list, milliseconds, /", kernel_poll),
    function("receive", "socket, /", kernel_receive),
    function("send", "socket, identities: list, type: str, parent: str, metadata: str, content: str, /", kernel_send),
    function("take_output", "socket, /", kernel_take_output),
    function("parent", "header: str, /", kernel_parent),
    function("drain", "", drain),
};

void write_message(int file, const std::string& text) {
  std::lock_guard lock(served->mutex);
  (void)write_all(file, "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
}

/// take_output(): what the script writes becomes events of the debug adapter protocol.
Result<Value> debugger_take_output(Interp& interp, Value*) {
  interp.streams.flush();
  served->pipes = std::make_unique<OutputPipes>([](std::string_view text, bool error) {
    // The numbers of events are free; requests and answers have their own.
    write_message(served->output, std::string(R"({"seq":0,"type":"event","event":"output","body":{"category":")") +
                                      (error ? "stderr" : "stdout") + "\",\"output\":" + json_text(text) + "}}");
  });
  served->output = served->pipes->real_output();
  return Value::boolean(served->pipes->ok());
}

Result<Value> debugger_send(Interp&, Value* args) {
  write_message(served->output >= 0 ? served->output : STDOUT_FILENO, text_of(args[0]));
  return Value::none();
}

constexpr NativeDef kDebugger[] = {
    function("take_output", "", debugger_take_output),
    function("send", "text: str, /", debugger_send),
    function("drain", "", drain),
};

Value served_module(Interp& interp, const char* name, std::span<const NativeDef> natives) {
  if (!served) served = new Served();
  Value module = interp.module(name);
  define_all(interp, *module.as<Module>(), natives);
  return module;
}

}  // namespace

Value kernel_module(Interp& interp) { return served_module(interp, "_kernel_sockets", kKernel); }
Value debugger_module(Interp& interp) { return served_module(interp, "_debugger_messages", kDebugger); }

void give_back_output() {
  delete served;
  served = nullptr;
}

}  // namespace tfl::cli
