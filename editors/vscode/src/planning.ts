// Plans a patch over what the editor shows: documents with unsaved changes from the editor, all other files from the disk.
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import type * as Library from "apply-patch-cli";

/** The text of a document in the editor. */
export interface DocumentText {
  content: string;
  version: number;
}

/** The documents of an editor. Paths are relative to the root, with `/`. */
export interface Editor {
  /** Those with unsaved changes. */
  dirty: ReadonlyMap<string, DocumentText>;
  /** Opens a file as a document; fails when it is not text. */
  open(path: string): Promise<DocumentText>;
}

/** One file before and after; null where there is no file. */
export interface Preview {
  path: string;
  toPath: string | null;
  before: string | null;
  after: string | null;
}

interface Planned {
  /** In one line. */
  summary: string;
  /** What was not taken literally, in words. */
  notes: string[];
  previews: Preview[];
  /** Names exactly this change of exactly these files. */
  digest: string;
}

/**
 * What is to be done: nothing, because it was done before; a transaction on the disk, which is logged and can be undone; or edits
 * in the editor, because `unsaved` files are among those that change.
 */
export type Plan =
  | { where: "nowhere"; summary: string }
  | (Planned & { where: "disk"; plan: Library.Plan })
  | (Planned & { where: "editor"; edits: Library.FileEdit[]; unsaved: string[] });

export interface Rules {
  profile: "strict" | "codex";
}

/** Opens a directory for this extension, as the log names it. */
export function open(library: typeof Library, root: string): Library.Workspace {
  return new library.Workspace(root, { agent: "vscode" });
}

/**
 * Plans a patch for a directory; nothing is written. If no file that changes has unsaved changes, the plan is one for the disk;
 * else it is for the editor, with all of its files.
 *
 * Throws a `PatchError` when the text is not a patch or does not apply, and an `Error` when a file cannot be read or opened.
 */
export async function prepare(
  library: typeof Library,
  root: string,
  editor: Editor,
  patch: string,
  rules: Rules,
): Promise<Plan> {
  if (editor.dirty.size > 0) {
    const planned = await inEditor(library, root, editor, patch, rules);
    if (planned) return planned;
  }
  const plan = await open(library, root).plan(patch, rules);
  if (plan.changes.length === 0) return { where: "nowhere", summary: plan.summary };
  // The engine's plan keeps the texts to itself; the same plan over callbacks has them.
  const over = await planOver(library, (path) => saved(root, path), patch, rules);
  if (identity(over.facts.changes) !== identity(plan.changes)) {
    throw new Error("the files changed while the patch was planned; try again");
  }
  const { summary, notes, digest } = plan;
  return { where: "disk", summary, notes, digest, previews: previews(over), plan };
}

/** Commits a plan for the disk, or fails with `stale_file`. */
export function commit(library: typeof Library, root: string, plan: Library.Plan): Promise<Library.Applied> {
  return open(library, root).apply(plan);
}

/** The plan for the editor; nothing if the patch has no use for its unsaved texts. */
async function inEditor(
  library: typeof Library,
  root: string,
  editor: Editor,
  patch: string,
  rules: Rules,
): Promise<Plan | undefined> {
  const used = new Set<string>();
  const look = async (path: string) => {
    const buffer = editor.dirty.get(path);
    if (buffer) used.add(path);
    return buffer ?? saved(root, path);
  };
  let first: Over;
  try {
    first = await planOver(library, look, patch, rules);
  } catch (error) {
    // If only saved files were looked at, the engine says it as it says it about the disk; it also knows what was applied before.
    if (used.size === 0) return undefined;
    throw error;
  }
  const paths = first.facts.edits.flatMap(({ path, toPath }) => (toPath === null ? [path] : [path, toPath]));
  const unsaved = [...new Set(paths)].filter((path) => editor.dirty.has(path));
  if (unsaved.length === 0) return undefined;
  // Positions are those of documents: the editor decodes a file, and may not count its lines as the file has them.
  const opened = new Map(editor.dirty);
  for (const { path, operation } of first.facts.edits) {
    if ((operation !== "update" && operation !== "move") || opened.has(path)) continue;
    const document = await editor.open(path);
    if (document.content.includes("\uFFFD") && !isUtf8(await saved(root, path))) {
      throw new Error(`${path} has bytes that the editor cannot keep; save ${unsaved.join(", ")} and try again`);
    }
    opened.set(path, document);
  }
  const over = await planOver(library, async (path) => opened.get(path) ?? saved(root, path), patch, rules);
  const { summary, notes, digest, edits } = over.facts;
  return { where: "editor", summary, notes, digest, previews: previews(over), edits, unsaved };
}

interface Over {
  facts: Awaited<ReturnType<typeof Library.planOver>>;
  /** What each path had. */
  before: Map<string, string>;
}

async function planOver(
  library: typeof Library,
  read: (path: string) => Promise<DocumentText | Uint8Array | undefined>,
  patch: string,
  rules: Rules,
): Promise<Over> {
  const before = new Map<string, string>();
  const facts = await library.planOver(
    {
      async read(path) {
        const file = await read(path);
        if (file) before.set(path, file instanceof Uint8Array ? shown(file) : file.content);
        return file;
      },
    },
    patch,
    rules,
  );
  return { facts, before };
}

function previews({ facts, before }: Over): Preview[] {
  return facts.edits.map(({ path, toPath, text }) => ({ path, toPath, before: before.get(path) ?? null, after: text }));
}

/** Bytes as the preview shows them. */
function shown(bytes: Uint8Array): string {
  return bytes.subarray(0, 8192).includes(0) ? `(binary, ${bytes.length} bytes)\n` : new TextDecoder().decode(bytes);
}

function isUtf8(bytes: Uint8Array | undefined): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** What two plans for the same files have in common when they do the same. */
function identity(changes: Library.ChangedFile[]): string {
  return JSON.stringify(
    changes.map(({ path, toPath, operation, beforeSha256, afterSha256 }) => [path, toPath, operation, beforeSha256, afterSha256]),
  );
}

/** The bytes of a file beneath the root; nothing if there is no file. The way to it may not lead over a symbolic link. */
async function saved(root: string, path: string): Promise<Uint8Array | undefined> {
  let place = root;
  let file = false;
  for (const part of path.split("/")) {
    place = join(place, part);
    const stat = await lstat(place).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      throw error;
    });
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) throw new Error(`${path} is behind a symbolic link, and links are not followed`);
    file = stat.isFile();
  }
  return file ? readFile(place) : undefined;
}
