// The VS Code extension: starts `tfl lsp` for files of TFL, runs, tests and debugs them, and shows the graphs of their functions.
"use strict";
const { execFile } = require("child_process");
const path = require("path");
const vscode = require("vscode");
const { startClient } = require("./language-client");

let client;

function program() {
  return vscode.workspace.getConfiguration("tfl").get("path");
}

function quoted(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}

function fileOf(given) {
  const editor = vscode.window.activeTextEditor;
  if (typeof given === "string") return given;
  return editor ? editor.document.fileName : undefined;
}

async function inTerminal(words, given, inner) {
  const file = fileOf(given);
  if (!file) return;
  await vscode.workspace.saveAll(false);
  const terminal = vscode.window.terminals.find((t) => t.name === "tfl") || vscode.window.createTerminal("tfl");
  terminal.show();
  terminal.sendText([program(), ...words, quoted(inner ? file + "::" + inner : file)].join(" "));
}

/** The picture of a traced function: below the cursor, or the one that the user names. */
async function showGraph() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  await editor.document.save();
  const before = editor.document.getText(new vscode.Range(0, 0, editor.selection.active.line + 1, 0));
  const names = [...before.matchAll(/^\s*def\s+(\w+)/gm)].map((m) => m[1]);
  const name = await vscode.window.showInputBox({ prompt: "The traced function", value: names.pop() || "" });
  if (!name) return;
  const words = ["trace", editor.document.fileName + "::" + name, "-o", "-"];
  execFile(program(), words, { cwd: path.dirname(editor.document.fileName), maxBuffer: 1 << 26 }, (problem, picture, said) => {
    if (problem) {
      vscode.window.showErrorMessage(said || problem.message);
      return;
    }
    const panel = vscode.window.createWebviewPanel("tfl.graph", name, vscode.ViewColumn.Beside, {});
    panel.webview.html = "<!DOCTYPE html><html><body style='background: #fff'>" + picture + "</body></html>";
  });
}

function start() {
  client = startClient(vscode, program(), { language: "tfl" });
  client.ready.catch(() => {});
}

function activate(context) {
  start();
  const commands = {
    "tfl.run": (file) => inTerminal(["run"], file),
    "tfl.test": (file, name) => inTerminal(["test"], file, name),
    "tfl.graph": showGraph,
    "tfl.restart": async () => {
      await client.stop();
      start();
    },
    "tfl.debug": (file) =>
      vscode.debug.startDebugging(undefined, { type: "tfl", request: "launch", name: "TFL", program: fileOf(file), cwd: path.dirname(fileOf(file)) }),
  };
  for (const name of Object.keys(commands)) context.subscriptions.push(vscode.commands.registerCommand(name, commands[name]));
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("tfl", {
      // The script runs in the folder that the adapter is started in.
      createDebugAdapterDescriptor: (session) => new vscode.DebugAdapterExecutable(program(), ["debug", "--dap"], { cwd: session.configuration.cwd }),
    })
  );
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
