// The changes that were made by some transactions, as a person reviews them: what still stands can
// be kept or reverted, hunk by hunk, in the files as they are now.
import { saved } from "./files";
import { type Hunk, placed, reverted, split } from "./hunks";
import type { Span } from "./history";
import {
  type ChangedFile,
  type FileChange,
  type Part,
  agrees,
  decoded,
  result,
  sha256,
} from "./planning";
import type { Program } from "./program";
import { Failed } from "./refusal";

/** Lines of a text. */
interface Excerpt {
  /** The first line, counted from 1, and the one after the last. */
  lines: { start: number; end: number };
  text: string;
}

interface HunkData {
  id: string;
  kind: "lines" | "create" | "delete" | "move" | "mode" | "bytes";
  state: "standing" | "reverted" | "changed" | "unknown";
  decision?: "keep" | "revert" | "replace";
  notes?: string[];
  diff: string;
  conflict?: { left: Excerpt; current: Excerpt; before: Excerpt };
}

interface FileData {
  path: string;
  toPath?: string;
  operation: FileChange["operation"];
  hunks: HunkData[];
}

interface ReviewData {
  transactions: string[];
  changedFiles: ChangedFile[];
  changedBetween?: { path: string; leftOut: boolean }[];
  diff: string;
  files: FileData[];
}

/** A part with its name in the program. */
export interface ChangePart extends Part {
  file: ChangedText;
  id: string;
  kind: HunkData["kind"];
  /** The comments that a person made. */
  notes: string[];
}

/** A hunk that cannot be decided about. */
export interface Aside {
  file: ChangedText;
  id: string;
  notes: string[];
  label: string;
  /** Why not. */
  description: string;
  /** All that is known about it, as Markdown. */
  about: string;
}

/** Whether a row is one that cannot be decided. */
export const isAside = (row: object): row is Aside => "about" in row;

/** A file with its changes: `before` is without those that stand, `after` is the file now. */
export interface ChangedText extends FileChange {
  parts: ChangePart[];
  /** Its parts, and what cannot be decided, in the order of their lines. */
  rows: (ChangePart | Aside)[];
  /** Where the file is now, or was. */
  place: string;
  /** The hash before the transactions, if there was a file. */
  hashBefore: string | undefined;
}

/** The changes of some transactions. */
export interface Changes {
  span: Span;
  /** The directory that the paths are relative to. */
  project: string;
  files: ChangedText[];
  /** What cannot be seen in the hunks, in words. */
  notes: string[];
}

/**
 * Asks the program for the changes of some transactions, and reads the files as they are now.
 *
 * Throws `Failed` when the program refuses, and an `Error` when it cannot be run or a file cannot
 * be read.
 */
export async function changesOf(program: Program, span: Span): Promise<Changes> {
  const data = (await program.ask(["review", "--json", ...span.args])) as ReviewData;
  const project = await program.project();
  const files: ChangedText[] = [];
  for (const file of data.files) files.push(await textOf(project, file, data.changedFiles));
  const notes = (data.changedBetween ?? []).map(({ path, leftOut }) =>
    leftOut
      ? `${path} was also changed by others in between; that is left out`
      : `${path} was also changed by others in between; the hunks have both`,
  );
  return { span, project, files, notes };
}

/**
 * The net diff of some transactions as they were made, in git's form; with a path from the top of
 * the project, the part of that file, if it can be told apart.
 *
 * Throws `Failed` when the program refuses, and an `Error` when it cannot be run.
 */
export async function diffOf(program: Program, span: Span, path?: string): Promise<string> {
  const data = (await program.ask(["review", "--json", ...span.args])) as ReviewData;
  const files = data.diff.split(/^(?=diff --git )/m);
  // The names in a diff may be quoted, but its files are in the order of the changes.
  const nth = data.changedFiles.findIndex((file) => (file.toPath ?? file.path) === path);
  return files.length === data.changedFiles.length ? (files[nth] ?? data.diff) : data.diff;
}

async function textOf(
  project: string,
  data: FileData,
  changed: ChangedFile[],
): Promise<ChangedText> {
  const moved = data.toPath === undefined ? undefined : await contentOf(project, data.toPath);
  const now = moved === undefined ? await contentOf(project, data.path) : moved;
  const net = changed.find(({ path, toPath }) => path === data.path && toPath === data.toPath);
  const file: ChangedText = {
    path: data.path,
    toPath: data.toPath ?? null,
    operation: data.operation,
    before: now ?? null,
    after: now ?? null,
    diff: { header: [], hunks: [] },
    parts: [],
    rows: [],
    place: moved === undefined ? data.path : (data.toPath ?? data.path),
    hashBefore: net?.beforeSha256,
  };
  const standing = data.hunks.filter(({ state }) => state === "standing");
  const hunks = linesOf(file, standing);
  for (const hunk of data.hunks) {
    const lines = hunks?.get(hunk.id) ?? null;
    const isShown = now !== null && (hunk.kind !== "lines" || lines !== null);
    const isPart = hunk.state === "standing" && isShown;
    const row = isPart ? partOf(file, hunk, lines, data.hunks.length) : asideOf(file, hunk);
    file.rows.push(row);
  }
  file.parts = file.rows.filter((row): row is ChangePart => !isAside(row));
  const kinds = new Set(file.parts.map(({ kind }) => kind));
  if (kinds.has("create")) file.before = null;
  if (kinds.has("delete")) file.before = deleted(standing[0]?.diff ?? "", file.hashBefore);
  if (kinds.has("bytes")) file.before = NOT_SHOWN;
  return file;
}

/** Stands for bytes that only the program has. */
const NOT_SHOWN = Buffer.from("(not text, and not shown; the program has it)\n");

/** The bytes of a file; undefined if there is none, and null if it is a link or behind one. */
async function contentOf(project: string, path: string): Promise<Uint8Array | null | undefined> {
  try {
    return await saved(project, path);
  } catch {
    return null;
  }
}

/** A deleted file, from the diff that deletes it. */
function deleted(diff: string, hash: string | undefined): Uint8Array {
  const [hunk] = split(`diff --git a/file b/file\n${diff}`)[0]?.hunks ?? [];
  const bytes = Buffer.from((hunk && reverted("", [hunk])) ?? "");
  return sha256(bytes) === hash ? bytes : NOT_SHOWN;
}

/**
 * The hunks of lines by their ids, with their places; the file's `before` becomes the text without
 * them. Undefined if the file is not UTF-8, or does not have the lines that the program saw.
 */
function linesOf(file: ChangedText, standing: HunkData[]): Map<string, Hunk> | undefined {
  const data = standing.filter(({ kind }) => kind === "lines");
  const text = decoded(file.after);
  const diff = `diff --git a/file b/file\n${data.map((hunk) => hunk.diff).join("")}`;
  const hunks = split(diff)[0]?.hunks ?? [];
  const before = text === undefined ? undefined : reverted(text, hunks);
  if (before === undefined || hunks.length !== data.length) return undefined;
  if (file.after) file.before = Buffer.from(before);
  let shift = 0;
  const found = new Map<string, Hunk>();
  hunks.forEach((hunk, nth) => {
    found.set(data[nth]?.id ?? "", placed(hunk, hunk.newStart - shift));
    shift += hunk.newCount - hunk.count;
  });
  return found;
}

const TITLES = {
  lines: "lines",
  create: "created",
  delete: "deleted",
  move: "moved",
  mode: "permission to execute",
  bytes: "contents",
};

function partOf(file: ChangedText, data: HunkData, hunk: Hunk | null, of: number): ChangePart {
  const { id, kind, decision, notes = [] } = data;
  const part: ChangePart = { file, id, kind, hunk, notes, accepted: decision !== "revert" };
  if (of > 1 && kind !== "lines") part.title = TITLES[kind];
  return part;
}

function asideOf(file: ChangedText, hunk: HunkData): Aside {
  const { id, kind, state, diff, conflict, notes = [] } = hunk;
  const line = conflict?.current.lines.start ?? firstLine(diff);
  const label = kind === "lines" && line !== undefined ? `Line ${line}` : TITLES[kind];
  const description = {
    standing: "not shown here: decide at a terminal",
    reverted: "reverted",
    changed: "changed since",
    unknown: "not known any more",
  }[state];
  const texts = conflict
    ? [
        `Before:\n\n${fenced(conflict.before.text)}`,
        `As it was left:\n\n${fenced(conflict.left.text)}`,
        `Now:\n\n${fenced(conflict.current.text)}`,
      ]
    : [fenced(diff, "diff")];
  const about = [`${file.place}, ${label}: ${description}`, ...texts].join("\n\n");
  return { file, id, notes, label, description, about };
}

/** The first line that a hunk changes in the file after, counted from 1. */
function firstLine(diff: string): number | undefined {
  const [hunk] = split(`diff --git a/file b/file\n${diff}`)[0]?.hunks ?? [];
  const [first] = hunk?.replacements ?? [];
  return hunk && first && hunk.newStart + first.start - hunk.start + 1;
}

/** A text as a block of Markdown. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Keeps what was decided about the same hunks in an earlier review. */
export function decideAs(earlier: Changes, changes: Changes): void {
  const decided = new Map(partsOf(earlier).map(({ id, accepted }) => [id, accepted]));
  for (const part of partsOf(changes)) part.accepted = decided.get(part.id) ?? part.accepted;
}

const partsOf = ({ files }: Changes): ChangePart[] => files.flatMap(({ parts }) => parts);

/** The hunks to be reverted. */
export const rejected = (changes: Changes): ChangePart[] =>
  partsOf(changes).filter(({ accepted }) => !accepted);

/** What the program has to do to the files to revert what is rejected: exactly what is shown. */
export function expectedReverts({ files }: Changes): ChangedFile[] {
  return files.flatMap((file): ChangedFile[] => {
    const kinds = new Set(file.parts.filter(({ accepted }) => !accepted).map(({ kind }) => kind));
    const { path, place, hashBefore } = file;
    const beforeSha256 = sha256(file.after);
    if (kinds.size === 0) return [];
    if (kinds.has("create")) return [{ path: place, operation: "delete", beforeSha256 }];
    if (kinds.has("delete")) return [{ path, operation: "create", afterSha256: hashBefore }];
    const keepsBytes = file.parts.some(({ kind, accepted }) => kind === "bytes" && accepted);
    const text = keepsBytes ? beforeSha256 : sha256(result(file));
    const afterSha256 = kinds.has("bytes") ? hashBefore : text;
    return kinds.has("move")
      ? [{ path: place, toPath: path, operation: "move", beforeSha256, afterSha256 }]
      : [{ path: place, operation: "update", beforeSha256, afterSha256 }];
  });
}

/** Whether two reviews show the same. */
export function isSame(one: Changes, other: Changes): boolean {
  const shows = ({ files }: Changes) =>
    JSON.stringify(
      files.map(({ place, after, rows }) => [
        place,
        sha256(after),
        rows.map((row) => (isAside(row) ? row.about : row.id)),
      ]),
    );
  return shows(one) === shows(other);
}

/**
 * Keeps a comment on a hunk, for the agent.
 *
 * Throws `Failed` when the program refuses, and an `Error` when it cannot be run.
 */
export async function comment(
  program: Program,
  { span }: Changes,
  hunk: ChangePart | Aside,
  words: string,
): Promise<void> {
  await program.ask(["review", "--json", ...span.args, `--note=${hunk.id}=${words}`]);
  hunk.notes.push(words);
}

/** The comments on the hunks of some transactions as a text; empty if there are none. */
export async function commentsOn(program: Program, span: Span): Promise<string> {
  return program.text(["review", "--notes", "--color=never", ...span.args]);
}

/** The files are not as they were shown any more. */
export class ChangedMeanwhile extends Error {}

/**
 * Reverts what is rejected, as one transaction, and returns its id. The program first says what it
 * would do; nothing is changed unless that is what is shown.
 *
 * Throws `ChangedMeanwhile` when a file is not as it was shown, `Failed` when the program refuses
 * for another reason, and an `Error` when it cannot be run.
 */
export async function revert(program: Program, changes: Changes): Promise<string> {
  const hunks = rejected(changes).map(({ id }) => id);
  const args = [
    "review",
    "--json",
    "--diff=none",
    ...changes.span.args,
    "--revert",
    hunks.join(","),
  ];
  const wanted = expectedReverts(changes);
  const call = async (more: string[]) => {
    try {
      return (await program.ask([...args, ...more])) as Done;
    } catch (error) {
      const isStale = error instanceof Failed && ["stale_file", "not_found"].includes(error.kind);
      throw isStale ? new ChangedMeanwhile(error.message) : error;
    }
  };
  const planned = await call(["--dry-run"]);
  if (!agrees(planned.changedFiles, wanted)) throw new ChangedMeanwhile();
  return (await call([])).transactionId;
}

interface Done {
  changedFiles: ChangedFile[];
  transactionId: string;
}
