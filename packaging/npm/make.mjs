// Writes the npm packages, ready for `npm pack`.
//
// usage: node make.mjs OUT TARGET=PROGRAM[,LIBRARY]…
//
// OUT/apply-patch-cli is the launcher and the library. For each TARGET (as rustc names it) PROGRAM is put into the package of its
// platform, and LIBRARY, the native half of the library (crates/node). Either may be empty.
//
// The launcher can be installed on the platforms of the TARGETs that are given, and npm refuses it on any other. So a release
// gives all of them in one call.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// What npm calls the machines that the program is built for. The programs for musl are static: any libc will do.
const PLATFORMS = {
  "x86_64-unknown-linux-musl": { os: "linux", cpu: "x64" },
  "aarch64-unknown-linux-musl": { os: "linux", cpu: "arm64" },
  // Builds for the machine at hand, for tests where musl is not to be had.
  "x86_64-unknown-linux-gnu": { os: "linux", cpu: "x64", libc: "glibc" },
  "aarch64-unknown-linux-gnu": { os: "linux", cpu: "arm64", libc: "glibc" },
  "x86_64-apple-darwin": { os: "darwin", cpu: "x64" },
  "aarch64-apple-darwin": { os: "darwin", cpu: "arm64" },
  "x86_64-pc-windows-gnu": { os: "win32", cpu: "x64" },
  "aarch64-pc-windows-gnullvm": { os: "win32", cpu: "arm64" },
};
// The name in the registry of MCP servers, which looks for it in the package (packaging/release/server.py).
const MCP_NAME = "io.github.apply-patch/apply-patch";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const [out, ...programs] = process.argv.slice(2);
if (!out || programs.length === 0) throw new Error("usage: node make.mjs OUT TARGET=PROGRAM[,LIBRARY]…");

const metadata = JSON.parse(
  execFileSync("cargo", ["metadata", "--format-version", "1", "--no-deps", "--locked"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  }),
);
const crate = metadata.packages.find((one) => one.name === "apply-patch");
const common = {
  version: crate.version,
  license: crate.license.includes(" OR ") ? `(${crate.license})` : crate.license,
  repository: { type: "git", url: `git+${crate.repository}.git` },
  homepage: `${crate.repository}#readme`,
  bugs: `${crate.repository}/issues`,
  keywords: crate.keywords,
};
const launcher = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
// A package of the registry is built already, and nothing runs when it is installed.
for (const field of ["version", "private", "scripts"]) delete launcher[field];
const LAUNCHER = launcher.name;
const packageOf = ({ os, cpu }) => `${LAUNCHER}-${os}-${cpu}`;

const given = programs.map((argument) => {
  const at = argument.indexOf("=");
  const [target, [program, library]] = [argument.slice(0, at), argument.slice(at + 1).split(",")];
  const platform = PLATFORMS[target];
  if (!platform) throw new Error(`no platform is known for ${target}; there are ${Object.keys(PLATFORMS).join(", ")}`);
  return { ...platform, name: packageOf(platform), program, library };
});
const twice = given.find((one, nth) => given.findIndex((other) => other.name === one.name) !== nth);
if (twice) throw new Error(`${twice.name} is given twice`);

// npm has no list of pairs: it installs on each of the systems with each of the processors.
const every = (field) => [...new Set(given.map((one) => one[field]))];
const [systems, processors] = [every("os"), every("cpu")];
for (const os of systems) {
  for (const cpu of processors) {
    if (!given.some((one) => one.os === os && one.cpu === cpu)) {
      throw new Error(`npm would install ${LAUNCHER} for ${os} on ${cpu}, and no program for that is given`);
    }
  }
}
// npm takes a package with this field for one that no other system than Linux can have.
const needsGlibc = given.every((one) => one.libc === "glibc");

// npm takes a licence along by itself only if it is called LICENSE.
const LICENCES = ["LICENSE-MIT", "LICENSE-APACHE"];

const write = (name, fields, files) => {
  const folder = join(out, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, ...common, ...fields, files: [...fields.files, ...LICENCES] }, null, 2)}\n`);
  for (const licence of LICENCES) copyFileSync(join(root, licence), join(folder, licence));
  files(folder);
};

write(
  LAUNCHER,
  {
    description: crate.description,
    mcpName: MCP_NAME,
    os: systems,
    cpu: processors,
    ...(needsGlibc ? { libc: ["glibc"] } : {}),
    ...launcher,
    optionalDependencies: Object.fromEntries(given.map((one) => [one.name, crate.version])),
  },
  (folder) => {
    for (const part of ["bin", "lib"]) cpSync(join(here, part), join(folder, part), { recursive: true });
    copyFileSync(join(root, "README.md"), join(folder, "README.md"));
  },
);

for (const { os, cpu, libc, name, program, library } of given) {
  const description = `The program of ${LAUNCHER} for ${os} on ${cpu}`;
  const file = os === "win32" ? "apply-patch.exe" : "apply-patch";
  const fields = { description, os: [os], cpu: [cpu], ...(libc ? { libc: [libc] } : {}), files: [file, "apply-patch.node"] };
  write(name, fields, (folder) => {
    if (program) {
      const place = join(folder, file);
      copyFileSync(program, place);
      chmodSync(place, 0o755);
    }
    if (library) copyFileSync(library, join(folder, "apply-patch.node"));
    writeFileSync(join(folder, "README.md"), `# ${name}\n\n${description}. Install \`${LAUNCHER}\`.\n`);
  });
}
