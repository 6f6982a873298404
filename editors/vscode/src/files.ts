// Reads what the library is given in place of a disk: the files that a patch names, and the names
// beside them.
import { lstat, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Whether a path of a patch names something beneath the root. Nothing else is looked at; the
 * library says what is wrong with it.
 */
export function isBeneath(path: string, platform: string = process.platform): boolean {
  const windows = platform === "win32";
  const parts = path.split(windows ? /[\\/]/ : "/");
  return parts.every(
    (part) => part !== "" && part !== "." && part !== ".." && !(windows && part.includes(":")),
  );
}

/**
 * The bytes of a file beneath the root; undefined if there is no file. The way to it may not lead
 * over a symbolic link.
 */
export async function saved(root: string, path: string): Promise<Uint8Array | undefined> {
  let place = root;
  let file = false;
  for (const part of path.split("/")) {
    place = join(place, part);
    const stat = await lstat(place).catch(absent);
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink())
      throw new Error(`${path} is behind a symbolic link, and links are not followed`);
    file = stat.isFile();
  }
  return file ? readFile(place) : undefined;
}

/**
 * The names in the directories of these paths, as files without contents: a patch is refused where
 * a directory is missing, or a file is in the way.
 */
export async function names(root: string, paths: string[]): Promise<Map<string, Uint8Array>> {
  const directories = new Set([""]);
  for (const path of paths) {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1))
      directories.add(path.slice(0, at));
  }
  const found = new Map<string, Uint8Array>();
  for (const directory of directories) {
    const stat = await lstat(join(root, directory)).catch(absent);
    if (!stat?.isDirectory()) continue;
    for (const entry of await readdir(join(root, directory), { withFileTypes: true })) {
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      found.set(entry.isDirectory() ? `${path}/.` : path, new Uint8Array());
    }
  }
  return found;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
