#!/usr/bin/env python3
"""The VS Code extension: the file that is made of it, and its client, run by Node with a stand-in for VS Code against the real server. Without Node the
client is not tried.

  vscode_extension.py --tfl build/tfl
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../cli/editors/vscode")

# What VS Code is for the client: providers are kept, values are plain objects.
DRIVER = r"""
const { startClient } = require(process.argv[2] + "/language-client.js");
const providers = {};
const made = (name) => class { constructor(...given) { this.made = name; this.given = given; } };
const vscode = {
  languages: new Proxy({}, { get: (_, name) => (...given) => {
    if (name === "createDiagnosticCollection") return { set: (uri, rows) => { shown = rows; if (told) told(rows); }, dispose() {} };
    providers[name.replace("register", "").replace("Provider", "")] = given.find((g) => g && typeof g === "object" && Object.keys(g).some((k) => k.startsWith("provide")));
    return { dispose() {} };
  } }),
  window: { showErrorMessage: (text) => { console.log("ERROR " + text); process.exit(1); } },
  workspace: { workspaceFolders: [{ uri: { toString: () => "file://" + process.argv[4] } }], textDocuments: [], onDidOpenTextDocument: () => ({ dispose() {} }), onDidCloseTextDocument: () => ({ dispose() {} }), onDidChangeTextDocument: (f) => { changed = f; return { dispose() {} }; } },
  Uri: { parse: (text) => text },
  EventEmitter: class { constructor() { this.event = () => {}; } fire() {} dispose() {} },
  DiagnosticSeverity: { Error: 0, Warning: 1 }, CodeActionKind: { QuickFix: "quickfix" }, InlayHintKind: { Type: 1 },
};
for (const name of ["Range", "Position", "Location", "TextEdit", "MarkdownString", "Hover", "CompletionItem", "CompletionList", "SignatureHelp", "SignatureInformation", "ParameterInformation", "DocumentSymbol",
  "SymbolInformation", "FoldingRange", "CodeAction", "InlayHint", "CodeLens", "SemanticTokens", "SemanticTokensLegend", "Diagnostic", "DiagnosticRelatedInformation", "DocumentHighlight"]) vscode[name] = made(name);
vscode.WorkspaceEdit = class { constructor() { this.edits = []; } set(uri, edits) { this.edits.push([uri, edits]); } };
let shown, told, changed;
const text = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.reduce_sum(x)\n\n\nprint(f([1.0]))\n";
const document = { languageId: "tfl", uri: { toString: () => "file://" + process.argv[4] + "/a.tfl" }, version: 1, getText: () => text };
vscode.workspace.textDocuments.push(document);
const next = () => new Promise((take) => { told = (rows) => { told = undefined; take(rows); }; });
(async () => {
  const first = next();
  const client = startClient(vscode, process.argv[3], { language: "tfl" });
  await client.ready;
  const out = {};
  out.clean = (await first).length;
  const hover = await providers.Hover.provideHover(document, { line: 4, character: 16 });
  out.hover = hover.given[0].given[0];
  out.completion = (await providers.CompletionItem.provideCompletionItems(document, { line: 4, character: 20 })).given[0].map((i) => i.given[0]);
  out.definition = (await providers.Definition.provideDefinition(document, { line: 7, character: 6 })).length;
  out.symbols = (await providers.DocumentSymbol.provideDocumentSymbols(document)).map((s) => s.given[0]);
  out.rename = (await providers.Rename.provideRenameEdits(document, { line: 7, character: 6 }, "g")).edits[0][1].length;
  out.signature = (await providers.SignatureHelp.provideSignatureHelp(document, { line: 4, character: 25 })).signatures[0].given[0];
  out.tokens = (await providers.DocumentSemanticTokens.provideDocumentSemanticTokens(document)).given[0].length;
  const second = next();
  changed({ document: { ...document, version: 2 }, contentChanges: [{ range: { start: { line: 4, character: 14 }, end: { line: 4, character: 24 } }, text: "reduce_smu" }] });
  const rows = await second;
  out.errors = rows.map((r) => r.given[1]);
  out.fixes = (await providers.CodeActions.provideCodeActions(document, { start: { line: 4, character: 0 }, end: { line: 4, character: 1 } }, { diagnostics: rows })).map((a) => a.given[0]);
  await client.stop();
  console.log(JSON.stringify(out));
  process.exit(0);
})();
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    failed = []

    def expect(what, good, told=""):
        if not good:
            failed.append(what)
            print(f"FAILED {what}: {told!r}")

    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        packed = []
        for name in ("a.vsix", "b.vsix"):
            subprocess.run([sys.executable, os.path.join(FOLDER, "make_vsix.py"), "-o", os.path.join(folder, name)], check=True, capture_output=True)
            with open(os.path.join(folder, name), "rb") as f:
                packed.append(f.read())
        expect("the same files give the same package", packed[0] == packed[1])
        with zipfile.ZipFile(os.path.join(folder, "a.vsix")) as archive:
            names = set(archive.namelist())
            manifest = xml.etree.ElementTree.fromstring(archive.read("extension.vsixmanifest"))
            xml.etree.ElementTree.fromstring(archive.read("[Content_Types].xml"))
            package = json.loads(archive.read("extension/package.json"))
            archive.extractall(os.path.join(folder, "x"))
        identity = next(e for e in manifest.iter() if e.tag.endswith("Identity"))
        expect("the manifest", identity.get("Id") == package["name"] and identity.get("Version") == package["version"], identity.attrib)
        expect("no packages of others are needed", "dependencies" not in package)
        named = [package["main"]] + [row[k] for kind, k in (("languages", "configuration"), ("grammars", "path")) for row in package["contributes"][kind]]
        expect("all files are there", {"extension/" + n.removeprefix("./") for n in named} <= names, names)
        with open(os.path.join(FOLDER, "extension.js")) as f:
            source = f.read()
        for row in package["contributes"]["commands"]:
            expect(f"command {row['command']}", f'"{row["command"]}"' in source)
        node = shutil.which("node")
        if node is None:
            print("there is no node: the client is not tried")
            return bool(failed)
        driver = os.path.join(folder, "driver.js")
        with open(driver, "w") as f:
            f.write(DRIVER)
        done = subprocess.run([node, driver, os.path.join(folder, "x", "extension"), tfl, folder], capture_output=True, text=True, timeout=60, env={**os.environ, "XDG_DATA_HOME": folder})
        try:
            out = json.loads(done.stdout)
        except ValueError:
            expect("the client", False, done.stdout + done.stderr)
            return True
        expect("hover", "reduce_sum(" in out["hover"], out)
        expect("completion", "reduce_sum" in out["completion"], out)
        expect("the rest", out["clean"] == 0 and out["definition"] == 1 and out["symbols"][0] == "f" and out["rename"] == 2 and out["signature"].startswith("reduce_sum(") and out["tokens"] % 5 == 0, out)
        expect("errors and fixes", len(out["errors"]) == 1 and "reduce_sum" in out["errors"][0] and out["fixes"] == ["Write 'reduce_sum'"], out)
    print(f"{len(failed)} wrong")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
