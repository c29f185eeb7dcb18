// Starts `tfl lsp` for files of TFL, and runs them and their tests in a terminal.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function program() {
  return vscode.workspace.getConfiguration("tfl").get("path");
}

function inTerminal(words) {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const terminal = vscode.window.terminals.find((t) => t.name === "tfl") || vscode.window.createTerminal("tfl");
  terminal.show();
  const quoted = "'" + editor.document.fileName.replace(/'/g, "'\\''") + "'";
  editor.document.save().then(() => terminal.sendText([program(), ...words, quoted].join(" ")));
}

function activate(context) {
  const server = { command: program(), args: ["lsp", "--stdio"] };
  client = new LanguageClient("tfl", "TFL", server, { documentSelector: [{ language: "tfl" }] });
  client.start();
  context.subscriptions.push(vscode.commands.registerCommand("tfl.run", () => inTerminal(["run"])));
  context.subscriptions.push(vscode.commands.registerCommand("tfl.test", () => inTerminal(["test"])));
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
