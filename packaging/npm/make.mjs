// Writes the npm packages, ready for `npm pack`.
//
// usage: node make.mjs OUT TARGET=PROGRAM[,LIBRARY]…
//
// OUT/apply-patch-cli is the launcher and the library. For each TARGET (as rustc names it) PROGRAM is put into the package of its
// platform, and LIBRARY, the native half of the library (crates/node). Either may be empty.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// What npm calls the machines that the program is built for. The programs are static: any libc will do.
const PLATFORMS = {
  "x86_64-unknown-linux-musl": { os: "linux", cpu: "x64" },
  "aarch64-unknown-linux-musl": { os: "linux", cpu: "arm64" },
};
// A build for the machine at hand, for tests where musl is not to be had; it is not in the launcher's list twice.
const ALIASES = {
  "x86_64-unknown-linux-gnu": "x86_64-unknown-linux-musl",
  "aarch64-unknown-linux-gnu": "aarch64-unknown-linux-musl",
};
const LAUNCHER = "apply-patch-cli";

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
};
const packageOf = ({ os, cpu }) => `${LAUNCHER}-${os}-${cpu}`;

const write = (name, fields, files) => {
  const folder = join(out, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, ...common, ...fields }, null, 2)}\n`);
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, licence), join(folder, licence));
  files(folder);
};

write(
  LAUNCHER,
  {
    description: crate.description,
    keywords: crate.keywords,
    bin: { "apply-patch": "bin/apply-patch.js" },
    exports: {
      ...Object.fromEntries(
        [".", "./openai-agents", "./ai"].map((entry) => {
          const name = entry === "." ? "./lib/index" : `./lib/${entry.slice(2)}`;
          return [entry, { types: `${name}.d.ts`, default: `${name}.js` }];
        }),
      ),
      "./package.json": "./package.json",
    },
    main: "lib/index.js",
    types: "lib/index.d.ts",
    files: ["bin", "lib"],
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(Object.values(PLATFORMS).map((one) => [packageOf(one), crate.version])),
  },
  (folder) => {
    for (const part of ["bin", "lib"]) cpSync(join(here, part), join(folder, part), { recursive: true });
    copyFileSync(join(root, "README.md"), join(folder, "README.md"));
  },
);

for (const argument of programs) {
  const at = argument.indexOf("=");
  const [target, [program, library]] = [argument.slice(0, at), argument.slice(at + 1).split(",")];
  const platform = PLATFORMS[ALIASES[target] ?? target];
  if (!platform) throw new Error(`no platform is known for ${target}; there are ${Object.keys(PLATFORMS).join(", ")}`);
  const { os, cpu } = platform;
  const libc = target.endsWith("-gnu") ? { libc: ["glibc"] } : {};
  const description = `The program of ${LAUNCHER} for ${os} on ${cpu}`;
  write(packageOf(platform), { description, os: [os], cpu: [cpu], ...libc, files: ["apply-patch", "apply-patch.node"] }, (folder) => {
    if (program) {
      const place = join(folder, "apply-patch");
      copyFileSync(program, place);
      chmodSync(place, 0o755);
    }
    if (library) copyFileSync(library, join(folder, "apply-patch.node"));
    writeFileSync(join(folder, "README.md"), `# ${packageOf(platform)}\n\n${description}. Install \`${LAUNCHER}\`.\n`);
  });
}
