// Builds the program and the native half of the library for this machine, with cargo, and puts them where a registry's packages of the
// platform would be. npm runs it for `npm install` of this folder; no package that is published has it.
//
// The environment: CARGO_PROFILE is the profile that cargo builds with; `release`, if it is not set.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const profile = process.env.CARGO_PROFILE || "release";

// The file that cargo made of a package; it says which.
const build = (crate, kind) => {
  const said = execFileSync("cargo", ["build", "--locked", "--profile", profile, "-p", crate, "--message-format=json-render-diagnostics"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const made = said.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return made.find((one) => one.reason === "compiler-artifact" && one.target.kind.includes(kind) && one.target.name.replaceAll("_", "-") === crate);
};

const name = `apply-patch-cli-${process.platform}-${process.arch}`;
const folder = join(here, "node_modules", name);
const program = build("apply-patch", "bin").executable;
const [library] = build("apply-patch-node", "cdylib").filenames.filter((file) => /\.(so|dylib|dll)$/.test(file));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
copyFileSync(program, join(folder, process.platform === "win32" ? "apply-patch.exe" : "apply-patch"));
copyFileSync(library, join(folder, "apply-patch.node"));
writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, version: "0.0.0", private: true }, null, 2)}\n`);
