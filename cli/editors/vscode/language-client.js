// A client of the language server protocol: a process, its messages, and what VS Code asks it. It needs nothing but VS Code and Node.
"use strict";
const { spawn } = require("child_process");

/** One server: requests and notifications over its standard input and output. */
class Connection {
  constructor(command, args, onMessage, onEnd) {
    this.next = 1;
    this.waiting = new Map();
    this.buffer = Buffer.alloc(0);
    this.onMessage = onMessage;
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.process.on("error", (problem) => this.end(problem, onEnd));
    this.process.on("exit", (code) => this.end(new Error("the server ended with exit code " + code), onEnd));
    this.process.stdin.on("error", () => {});
    this.process.stdout.on("data", (data) => this.take(data));
  }

  end(problem, onEnd) {
    if (!this.process) return;
    this.process = undefined;
    for (const [, refuse] of this.waiting.values()) refuse(problem);
    this.waiting.clear();
    onEnd(problem);
  }

  send(message) {
    if (!this.process) return;
    const text = Buffer.from(JSON.stringify(Object.assign({ jsonrpc: "2.0" }, message)), "utf8");
    this.process.stdin.write("Content-Length: " + text.length + "\r\n\r\n");
    this.process.stdin.write(text);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  request(method, params, cancelled) {
    if (!this.process) return Promise.reject(new Error("the server does not run"));
    const id = this.next++;
    return new Promise((take, refuse) => {
      this.waiting.set(id, [take, refuse]);
      this.send({ id, method, params });
      if (cancelled) cancelled.onCancellationRequested(() => this.waiting.delete(id) && take(null));
    });
  }

  take(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const head = this.buffer.indexOf("\r\n\r\n");
      if (head < 0) return;
      const found = /content-length: *(\d+)/i.exec(this.buffer.toString("latin1", 0, head));
      const length = found ? Number(found[1]) : 0;
      if (this.buffer.length < head + 4 + length) return;
      const text = this.buffer.toString("utf8", head + 4, head + 4 + length);
      this.buffer = this.buffer.subarray(head + 4 + length);
      const message = JSON.parse(text);
      if (message.method !== undefined) {
        this.onMessage(message);
      } else if (this.waiting.has(message.id)) {
        const [take, refuse] = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (message.error) refuse(new Error(message.error.message));
        else take(message.result);
      }
    }
  }
}

/** Starts the server and gives VS Code what it says; `vscode` is VS Code's module. Gives an object with `stop`. */
function startClient(vscode, command, selector) {
  const diagnostics = vscode.languages.createDiagnosticCollection("tfl");
  const hintsChanged = new vscode.EventEmitter();
  const parts = [diagnostics, hintsChanged];
  let stopped = false;

  const position = (p) => ({ line: p.line, character: p.character });
  const range = (r) => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
  const rangeOut = (r) => ({ start: position(r.start), end: position(r.end) });
  const location = (l) => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range));
  const at = (document, p) => ({ textDocument: { uri: document.uri.toString() }, position: position(p) });
  const edits = (list) => (list || []).map((e) => new vscode.TextEdit(range(e.range), e.newText));
  const markdown = (text) => new vscode.MarkdownString(text);
  const ask = (method, params, token) => connection.request("textDocument/" + method, params, token);
  const workspaceEdit = (change) => {
    if (!change) return undefined;
    const edit = new vscode.WorkspaceEdit();
    for (const uri of Object.keys(change.changes)) edit.set(vscode.Uri.parse(uri), edits(change.changes[uri]));
    return edit;
  };

  function onMessage(message) {
    if (message.method === "textDocument/publishDiagnostics") {
      const rows = message.params.diagnostics.map((d) => {
        const row = new vscode.Diagnostic(range(d.range), d.message, d.severity === 1 ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning);
        row.code = d.code;
        row.source = d.source;
        row.original = d;
        if (d.relatedInformation)
          row.relatedInformation = d.relatedInformation.map((i) => new vscode.DiagnosticRelatedInformation(location(i.location), i.message));
        return row;
      });
      diagnostics.set(vscode.Uri.parse(message.params.uri), rows);
    } else if (message.method === "workspace/inlayHint/refresh") {
      hintsChanged.fire();
      connection.send({ id: message.id, result: null });
    } else if (message.id !== undefined) {
      connection.send({ id: message.id, error: { code: -32601, message: "not known" } });
    }
  }

  const connection = new Connection(command, ["lsp", "--stdio"], onMessage, (problem) => {
    if (!stopped) vscode.window.showErrorMessage("tfl lsp: " + problem.message + ". The setting tfl.path says where tfl is.");
  });

  const folder = vscode.workspace.workspaceFolders && vscode.workspace.workspaceFolders[0];
  const ready = connection.request("initialize", {
    processId: process.pid,
    rootUri: folder ? folder.uri.toString() : null,
    capabilities: { workspace: { inlayHint: { refreshSupport: true } } },
  });

  const isOurs = (document) => document.languageId === "tfl";
  const open = (document) => {
    if (isOurs(document))
      connection.notify("textDocument/didOpen", {
        textDocument: { uri: document.uri.toString(), languageId: "tfl", version: document.version, text: document.getText() },
      });
  };

  function register(result) {
    const legend = result.capabilities.semanticTokensProvider.legend;
    const languages = vscode.languages;
    const completion = {
      provideCompletionItems: async (document, p, token) => {
        const found = await ask("completion", at(document, p), token);
        if (!found) return undefined;
        const items = found.items.map((i) => {
          const item = new vscode.CompletionItem(i.label, (i.kind || 1) - 1);
          item.sortText = i.sortText;
          item.detail = i.detail;
          return item;
        });
        return new vscode.CompletionList(items, found.isIncomplete);
      },
    };
    const hover = {
      provideHover: async (document, p, token) => {
        const found = await ask("hover", at(document, p), token);
        return found ? new vscode.Hover(markdown(found.contents.value), range(found.range)) : undefined;
      },
    };
    const signature = {
      provideSignatureHelp: async (document, p, token) => {
        const found = await ask("signatureHelp", at(document, p), token);
        if (!found) return undefined;
        const help = new vscode.SignatureHelp();
        help.signatures = found.signatures.map((s) => {
          const made = new vscode.SignatureInformation(s.label, s.documentation && markdown(s.documentation.value));
          made.parameters = (s.parameters || []).map((q) => new vscode.ParameterInformation(q.label));
          return made;
        });
        help.activeSignature = found.activeSignature;
        help.activeParameter = found.activeParameter;
        return help;
      },
    };
    const symbol = (s) => {
      const made = new vscode.DocumentSymbol(s.name, "", s.kind - 1, range(s.range), range(s.selectionRange));
      made.children = (s.children || []).map(symbol);
      return made;
    };
    const locations = (method, more) => async (document, p, ...rest) => {
      const found = await ask(method, Object.assign(at(document, p), more));
      return (found || []).map(location);
    };
    parts.push(
      languages.registerCompletionItemProvider(selector, completion, ".", "/", '"', "'"),
      languages.registerHoverProvider(selector, hover),
      languages.registerSignatureHelpProvider(selector, signature, "(", ","),
      languages.registerDefinitionProvider(selector, { provideDefinition: locations("definition") }),
      languages.registerReferenceProvider(selector, { provideReferences: locations("references", { context: { includeDeclaration: true } }) }),
      languages.registerDocumentHighlightProvider(selector, {
        provideDocumentHighlights: async (document, p) =>
          ((await ask("documentHighlight", at(document, p))) || []).map((h) => new vscode.DocumentHighlight(range(h.range), h.kind - 1)),
      }),
      languages.registerRenameProvider(selector, {
        prepareRename: async (document, p) => range(await ask("prepareRename", at(document, p))),
        provideRenameEdits: async (document, p, newName) => workspaceEdit(await ask("rename", Object.assign(at(document, p), { newName }))),
      }),
      languages.registerDocumentSymbolProvider(selector, {
        provideDocumentSymbols: async (document) => (await ask("documentSymbol", at(document, { line: 0, character: 0 }))).map(symbol),
      }),
      languages.registerWorkspaceSymbolProvider({
        provideWorkspaceSymbols: async (query) =>
          (await connection.request("workspace/symbol", { query })).map((s) => new vscode.SymbolInformation(s.name, s.kind - 1, "", location(s.location))),
      }),
      languages.registerFoldingRangeProvider(selector, {
        provideFoldingRanges: async (document) =>
          (await ask("foldingRange", at(document, { line: 0, character: 0 }))).map((f) => new vscode.FoldingRange(f.startLine, f.endLine)),
      }),
      languages.registerCodeActionsProvider(selector, {
        provideCodeActions: async (document, where, context) => {
          const mine = context.diagnostics.filter((d) => d.original).map((d) => d.original);
          const found = await ask("codeAction", { textDocument: { uri: document.uri.toString() }, range: rangeOut(where), context: { diagnostics: mine } });
          return (found || []).map((a) => {
            const action = new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix);
            action.edit = workspaceEdit(a.edit);
            action.isPreferred = a.isPreferred;
            return action;
          });
        },
      }),
      languages.registerDocumentFormattingEditProvider(selector, {
        provideDocumentFormattingEdits: async (document, options) =>
          edits(await ask("formatting", { textDocument: { uri: document.uri.toString() }, options })),
      }),
      languages.registerDocumentRangeFormattingEditProvider(selector, {
        provideDocumentRangeFormattingEdits: async (document, where, options) =>
          edits(await ask("rangeFormatting", { textDocument: { uri: document.uri.toString() }, range: rangeOut(where), options })),
      }),
      languages.registerInlayHintsProvider(selector, {
        onDidChangeInlayHints: hintsChanged.event,
        provideInlayHints: async (document, where) => {
          const found = await ask("inlayHint", { textDocument: { uri: document.uri.toString() }, range: rangeOut(where) });
          return (found || []).map((h) => new vscode.InlayHint(new vscode.Position(h.position.line, h.position.character), h.label, vscode.InlayHintKind.Type));
        },
      }),
      languages.registerCodeLensProvider(selector, {
        provideCodeLenses: async (document) =>
          ((await ask("codeLens", { textDocument: { uri: document.uri.toString() } })) || []).map((l) => new vscode.CodeLens(range(l.range), l.command)),
      }),
      languages.registerDocumentSemanticTokensProvider(
        selector,
        {
          provideDocumentSemanticTokens: async (document) =>
            new vscode.SemanticTokens(new Uint32Array((await ask("semanticTokens/full", { textDocument: { uri: document.uri.toString() } })).data)),
        },
        new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers)
      )
    );
  }

  ready.then((result) => {
    connection.notify("initialized", {});
    register(result);
    vscode.workspace.textDocuments.forEach(open);
    parts.push(
      vscode.workspace.onDidOpenTextDocument(open),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (isOurs(document)) connection.notify("textDocument/didClose", { textDocument: { uri: document.uri.toString() } });
      }),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (!isOurs(event.document)) return;
        connection.notify("textDocument/didChange", {
          textDocument: { uri: event.document.uri.toString(), version: event.document.version },
          contentChanges: event.contentChanges.map((c) => ({ range: rangeOut(c.range), text: c.text })),
        });
      })
    );
  }, () => {});

  return {
    ready,
    stop: async () => {
      stopped = true;
      parts.forEach((p) => p.dispose());
      if (!connection.process) return;
      await connection.request("shutdown", null).catch(() => {});
      connection.notify("exit", null);
    },
  };
}

module.exports = { startClient, Connection };
