"""What package managers read: the formula of Homebrew, the manifests of Scoop and winget, and the entry in the registry of MCP servers.

Each names the archives of this release with their checksums, and only those that there are.
"""

import json
from pathlib import Path

from project import IMAGE, MCP_NAME, NAME, Project, Target

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# More is refused by the registry of MCP servers.
LONGEST_DESCRIPTION = 100
WINGET = "ApplyPatch.ApplyPatch"
WINGET_VERSION = "1.9.0"


def homebrew(project: Project, archives: dict[Target, str], out: Path) -> None:
    """The formula for a tap. `archives` has the checksum of each archive."""
    blocks = []
    for system in ("macos", "linux"):
        inner = []
        for target, checksum in archives.items():
            if target.system == system:
                when = {"aarch64": "on_arm", "x86_64": "on_intel"}[target.processor]
                url = project.download(project.archive(target))
                inner.append(f'    {when} do\n      url "{url}"\n      sha256 "{checksum}"\n    end\n')
        if inner:
            blocks.append(f"  on_{system} do\n{''.join(inner)}  end\n")
    if not blocks:
        return
    licences = ", ".join(json.dumps(one) for one in project.licence.split(" OR "))
    text = f"""class ApplyPatch < Formula
  desc "{project.description.split(":")[0]}"
  homepage "{project.repository}"
  version "{project.version}"
  license any_of: [{licences}]

{chr(10).join(blocks)}
  def install
    bin.install "{NAME}"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/{NAME}.bash" => "{NAME}"
    zsh_completion.install "completions/_{NAME}"
    fish_completion.install "completions/{NAME}.fish"
  end

  test do
    (testpath/"a.txt").write("one\\n")
    (testpath/"a.patch").write("*** Begin Patch\\n*** Update File: a.txt\\n@@\\n-one\\n+two\\n*** End Patch\\n")
    system bin/"{NAME}", "a.patch"
    assert_equal "two\\n", (testpath/"a.txt").read
  end
end
"""
    (out / "apply-patch.rb").write_text(text)


def scoop(project: Project, archives: dict[Target, str], out: Path) -> None:
    """The manifest for a bucket."""
    names = {"x86_64": "64bit", "aarch64": "arm64"}
    architecture, update = {}, {}
    for target, checksum in archives.items():
        if target.system != "windows":
            continue
        name = names[target.processor]
        url = project.download(project.archive(target))
        architecture[name] = {"url": url, "hash": checksum, "extract_dir": project.folder(target)}
        update[name] = {one: text.replace(project.version, "$version") for one, text in architecture[name].items() if one != "hash"}
    if not architecture:
        return
    manifest = {
        "version": project.version,
        "description": project.description,
        "homepage": project.repository,
        "license": project.licence.replace(" OR ", "|"),
        "architecture": architecture,
        "bin": f"{NAME}.exe",
        "checkver": "github",
        "autoupdate": {"architecture": update, "hash": {"url": "$baseurl/SHA256SUMS"}},
    }
    (out / "scoop.json").write_text(json.dumps(manifest, indent=4) + "\n")


def winget(project: Project, archives: dict[Target, str], out: Path) -> None:
    """The three manifests for winget. They are YAML, of which JSON is a part."""
    names = {"x86_64": "x64", "aarch64": "arm64"}
    installers = [
        {
            "Architecture": names[target.processor],
            "InstallerUrl": project.download(project.archive(target)),
            "InstallerSha256": checksum.upper(),
            "NestedInstallerFiles": [
                {"RelativeFilePath": f"{project.folder(target)}\\{target.program}", "PortableCommandAlias": NAME}
            ],
        }
        for target, checksum in archives.items()
        if target.system == "windows"
    ]
    if not installers:
        return
    common = {"PackageIdentifier": WINGET, "PackageVersion": project.version, "ManifestVersion": WINGET_VERSION}
    manifests = {
        f"{WINGET}.yaml": {"ManifestType": "version", "DefaultLocale": "en-US"},
        f"{WINGET}.installer.yaml": {
            "ManifestType": "installer",
            "InstallerType": "zip",
            "NestedInstallerType": "portable",
            "Installers": installers,
        },
        f"{WINGET}.locale.en-US.yaml": {
            "ManifestType": "defaultLocale",
            "PackageLocale": "en-US",
            "Publisher": "apply-patch",
            "PackageName": NAME,
            "PackageUrl": project.repository,
            "License": project.licence,
            "ShortDescription": project.description,
        },
    }
    for name, manifest in manifests.items():
        (out / name).write_text(json.dumps(common | manifest, indent=2) + "\n")


def mcp_server(project: Project, out: Path) -> None:
    """The entry in the registry of MCP servers: the packages of npm and PyPI, and the image."""
    stdio = {"type": "stdio"}
    serve = [{"type": "positional", "value": "serve"}, {"type": "named", "name": "--mcp"}]
    workspace = {"description": "The directory that files are read and changed in, and nowhere else", "format": "filepath", "isRequired": True}
    mount = {
        "type": "named",
        "name": "--mount",
        "value": "type=bind,src={workspace},dst=/work",
        "variables": {"workspace": workspace},
    }
    description = "File tools for agents, and patches that apply all or nothing, never by a guess, undoable"
    if len(description) > LONGEST_DESCRIPTION:
        raise ValueError(f"the description has {len(description)} characters")
    entry = {
        "$schema": SCHEMA,
        "name": MCP_NAME,
        "title": NAME,
        "description": description,
        "version": project.version,
        "websiteUrl": f"{project.repository}/blob/main/docs/agents.md",
        "repository": {"url": project.repository, "source": "github"},
        "packages": [
            {
                "registryType": "npm",
                "identifier": "apply-patch-cli",
                "version": project.version,
                "runtimeHint": "npx",
                "transport": stdio,
                "packageArguments": serve,
            },
            {
                "registryType": "pypi",
                "identifier": NAME,
                "version": project.version,
                "runtimeHint": "uvx",
                "transport": stdio,
                "packageArguments": serve,
            },
            {
                "registryType": "oci",
                "identifier": f"{IMAGE}:{project.version}",
                "runtimeHint": "docker",
                "transport": stdio,
                "runtimeArguments": [{"type": "named", "name": "--interactive"}, {"type": "named", "name": "--rm"}, mount],
                "packageArguments": serve,
            },
        ],
    }
    (out / "server.json").write_text(json.dumps(entry, indent=2) + "\n")
