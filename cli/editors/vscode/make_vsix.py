#!/usr/bin/env python3
"""Makes the VS Code extension as a file that can be installed, without network: a zip of this folder with the lists that VS Code wants.

  make_vsix.py [-o tfl.vsix]
"""
import argparse
import json
import os
import zipfile
from xml.sax.saxutils import escape, quoteattr

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ["package.json", "extension.js", "language-client.js", "language-configuration.json", "tfl.tmLanguage.json"]
CONTENT_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""


def manifest(package):
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id={quoteattr(package["name"])} Version={quoteattr(package["version"])} Publisher={quoteattr(package["publisher"])}/>
<DisplayName>{escape(package["displayName"])}</DisplayName>
<Description xml:space="preserve">{escape(package["description"])}</Description>
<Categories>{escape(",".join(package["categories"]))}</Categories>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(package["engines"]["vscode"])}/>
<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
</Properties>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", default="tfl.vsix")
    options = p.parse_args()
    with open(os.path.join(HERE, "package.json")) as f:
        package = json.load(f)
    with zipfile.ZipFile(options.output, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name, text):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)

        add("extension.vsixmanifest", manifest(package))
        add("[Content_Types].xml", CONTENT_TYPES)
        for name in FILES:
            with open(os.path.join(HERE, name)) as f:
                add("extension/" + name, f.read())
    print(options.output)


if __name__ == "__main__":
    main()
