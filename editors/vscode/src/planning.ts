// Plans a patch over what the editor shows: documents with unsaved changes from the editor, all
// other files from the disk.
import { createHash } from "node:crypto";
import * as library from "../library/node/apply_patch";
import { isBeneath, names, saved } from "./files";
import { type FileDiff, type Hunk, type Replacement, applied, joined, split } from "./hunks";

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

export interface Rules {
  profile: "standard" | "strict" | "codex";
}

/** What can be accepted or rejected: a hunk, or all that happens to a file. */
export interface Part {
  file: FileChange;
  /** Null where the file is created, deleted, moved as it is, or not text. */
  hunk: Hunk | null;
  accepted: boolean;
  /** What it does, in words, where a file has more parts than its hunks. */
  title?: string;
}

/** One file before and after, and the parts of that change. */
export interface FileChange {
  path: string;
  toPath: string | null;
  operation: "create" | "update" | "delete" | "move";
  /** Null where there is no file. */
  before: Uint8Array | null;
  /** What all parts make of it. */
  after: Uint8Array | null;
  diff: FileDiff;
  parts: Part[];
}

/** What a patch does. */
export interface Plan {
  patch: string;
  rules: Rules;
  files: FileChange[];
  /** In one line. */
  summary: string;
  /** What was not taken literally, in words. */
  notes: string[];
  /**
   * Where the change is made: on the disk, as a transaction that is logged and can be undone; or in
   * the editor, because `unsaved` files are among those that change, or because that was asked for.
   */
  where: "disk" | "editor";
  unsaved: string[];
  /** Names exactly this change of exactly these files. */
  digest: string;
  /** The files that it was made for. */
  tree: ReadonlyMap<string, Uint8Array>;
}

/** The paths that a change has. */
export const pathsOf = ({ path, toPath }: FileChange): string[] =>
  toPath === null ? [path] : [path, toPath];

/**
 * Plans a patch for a directory; nothing is written. If a file that changes has unsaved changes, or
 * `inEditor` asks for it, the plan is one for the editor, with all of its files; else it is for the
 * disk.
 *
 * Throws a `PatchError` when the text is not a patch or does not apply, and an `Error` when a file
 * cannot be read or opened.
 */
export async function prepare(
  root: string,
  editor: Editor,
  patch: string,
  rules: Rules,
  inEditor = false,
): Promise<Plan> {
  const named = library
    .parse(patch, rules)
    .sections.flatMap(
      ({ path, old_name, moveTo, to }: Record<string, { text: string } | null | undefined>) =>
        [path, old_name, moveTo, to].flatMap((name) => (name ? [name.text] : [])),
    );
  const paths = [...new Set<string>(named)].filter((path) => isBeneath(path));
  const tree = await names(root, paths);
  for (const path of paths) {
    const content = editor.dirty.has(path)
      ? Buffer.from(editor.dirty.get(path)?.content ?? "")
      : await saved(root, path);
    if (content) tree.set(path, content);
  }
  const plan = planned(tree, patch, rules);
  plan.unsaved = [...new Set(plan.files.flatMap(pathsOf))].filter((path) => editor.dirty.has(path));
  if (plan.unsaved.length === 0 && !inEditor) return plan;

  // The edits are those of documents: the editor decodes a file, and may not count its lines as the
  // file has them.
  for (const { path, before, operation } of plan.files) {
    if (operation === "create" || operation === "delete" || editor.dirty.has(path)) continue;
    const { content } = await editor.open(path);
    if (content.includes("\uFFFD") && decoded(before) === undefined) {
      const why = plan.unsaved.length > 0 ? `; save ${plan.unsaved.join(", ")} and try again` : "";
      throw new Error(`${path} has bytes that the editor cannot keep${why}`);
    }
    tree.set(path, Buffer.from(content));
  }
  return { ...planned(tree, patch, rules), where: "editor", unsaved: plan.unsaved };
}

function planned(tree: Map<string, Uint8Array>, patch: string, rules: Rules): Plan {
  const {
    changes,
    files: after,
    notes,
    diff,
    digest,
  } = library.applyInMemory(Object.fromEntries(tree), patch, rules);
  const diffs = split(diff);
  const files = changes.map(({ path, toPath, operation }, nth) => {
    // They are in the order of the changes.
    const file: FileChange = {
      path,
      toPath: toPath ?? null,
      operation,
      before: operation === "create" ? null : (tree.get(path) ?? null),
      after: after[toPath ?? path] ?? null,
      diff: diffs[nth] ?? { header: [], hunks: [] },
      parts: [],
    };
    const isText = decoded(file.before) !== undefined && decoded(file.after) !== undefined;
    const hunks = isText && (operation === "update" || operation === "move") ? file.diff.hunks : [];
    file.parts = (hunks.length > 0 ? hunks : [null]).map((hunk) => ({
      file,
      hunk,
      accepted: true,
    }));
    return file;
  });
  return {
    patch,
    rules,
    files,
    summary: summary(files),
    notes,
    digest,
    where: "disk",
    unsaved: [],
    tree,
  };
}

/** How many files are created, updated, moved and deleted. */
export function summary(files: FileChange[]): string {
  const words = { create: "created", update: "updated", move: "moved", delete: "deleted" };
  return Object.entries(words)
    .map(
      ([operation, word]) =>
        [files.filter((file) => file.operation === operation).length, word] as const,
    )
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

export const isAccepted = ({ parts }: FileChange): boolean =>
  parts.some(({ accepted }) => accepted);

/**
 * Accepts in a plan what is accepted in another one, and returns it. Throws an `Error` when they do
 * not have the same parts.
 */
export function chosenAs(one: Plan, plan: Plan): Plan {
  const from = one.files.flatMap(({ parts }) => parts);
  const to = plan.files.flatMap(({ parts }) => parts);
  if (from.length !== to.length)
    throw new Error("the editor does not show these files as they are on the disk");
  to.forEach((part, nth) => (part.accepted = from[nth]?.accepted ?? false));
  return plan;
}

const acceptedHunks = ({ parts }: FileChange): Hunk[] =>
  parts.flatMap(({ accepted, hunk }) => (accepted && hunk ? [hunk] : []));

/** What the accepted parts make of a file; null where there is no file then. */
export function result(file: FileChange): Uint8Array | null {
  if (!isAccepted(file)) return file.before;
  if (file.parts.every(({ accepted }) => accepted)) return file.after;
  return Buffer.from(applied(decoded(file.before) ?? "", acceptedHunks(file)));
}

/** The accepted hunks as edits of a document. */
export function edits(file: FileChange): Replacement[] {
  return isAccepted(file) ? acceptedHunks(file).flatMap(({ replacements }) => replacements) : [];
}

/**
 * The patch of what is accepted: the text itself if that is all of it.
 *
 * Throws an `Error` when a file of which all is accepted is not UTF-8, so that a diff cannot show
 * it.
 */
export function accepted(plan: Plan): string {
  const taken = plan.files.filter(isAccepted);
  if (plan.files.every(({ parts }) => parts.every((part) => part.accepted))) return plan.patch;
  const other = taken.find(
    ({ diff, before, after }) =>
      diff.header.length === 0 || decoded(before) === undefined || decoded(after) === undefined,
  );
  if (other)
    throw new Error(`${other.path} is not UTF-8: accept all of the patch, or reject this file`);
  return joined(
    taken.map((file) => ({
      ...file.diff,
      hunks: file.parts[0]?.hunk ? acceptedHunks(file) : file.diff.hunks,
    })),
  );
}

/** A change of a file as the program tells it. */
export interface ChangedFile {
  path: string;
  toPath?: string;
  operation: string;
  beforeSha256?: string;
  afterSha256?: string;
}

/** What the program has to do to the files: exactly what was shown. */
export function expected(plan: Plan): ChangedFile[] {
  return plan.files.filter(isAccepted).map((file) => ({
    path: file.path,
    toPath: file.toPath ?? undefined,
    operation: file.operation,
    beforeSha256: sha256(file.before),
    afterSha256: sha256(result(file)),
  }));
}

/**
 * The hashes of the files that the accepted parts are about, as they were when they were shown;
 * empty where there is no file.
 */
export function seen(plan: Plan): { path: string; sha256: string }[] {
  const paths = new Set(plan.files.filter(isAccepted).flatMap(pathsOf));
  return [...paths].map((path) => ({ path, sha256: sha256(plan.tree.get(path) ?? null) ?? "" }));
}

/** Whether the program would do what is expected of it. */
export function agrees(told: ChangedFile[], wanted: ChangedFile[]): boolean {
  const names = (files: ChangedFile[]) =>
    files
      .map(({ path, toPath, operation, beforeSha256, afterSha256 }) =>
        JSON.stringify([
          path,
          toPath ?? null,
          operation,
          beforeSha256 ?? null,
          afterSha256 ?? null,
        ]),
      )
      .sort()
      .join("\n");
  return names(told) === names(wanted);
}

export function sha256(bytes: Uint8Array | null): string | undefined {
  return bytes ? createHash("sha256").update(bytes).digest("hex") : undefined;
}

/** The text of a file; no text if there is no file, and undefined if it is not text. */
export function decoded(bytes: Uint8Array | null): string | undefined {
  if (bytes === null) return "";
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A file as the preview shows it. */
export function shown(bytes: Uint8Array | null): string {
  if (bytes?.subarray(0, 8192).includes(0)) return `(binary, ${bytes.length} bytes)\n`;
  return new TextDecoder().decode(bytes ?? new Uint8Array());
}
