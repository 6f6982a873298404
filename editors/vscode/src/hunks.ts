// Takes a git diff apart, so that a person can accept some of its hunks and reject others.

/** Lines of the file before, and the text that comes in their place. */
export interface Replacement {
  /** The first line, counted from 0. */
  start: number;
  count: number;
  text: string;
}

/** A hunk of a diff. */
export interface Hunk {
  /** The line of the file before that it begins at, counted from 0. */
  start: number;
  /** How many lines of the file before it shows. */
  count: number;
  /** The line of the file after that it begins at, counted from 0. */
  newStart: number;
  /** How many lines of the file after it shows. */
  newCount: number;
  /** Its lines, as the diff has them, without the `@@` line. */
  lines: string[];
  replacements: Replacement[];
}

/** The part of a git diff that is about one file. */
export interface FileDiff {
  /** The lines before the first hunk. */
  header: string[];
  hunks: Hunk[];
}

/** Splits a git diff into its files. What belongs to no hunk is part of a header. */
export function split(diff: string): FileDiff[] {
  const files: FileDiff[] = [];
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (let at = 0; at < lines.length;) {
    const line = lines[at++] as string;
    if (line.startsWith("diff --git ")) files.push({ header: [], hunks: [] });
    const file = files.at(-1);
    if (!file) throw new Error(`not a git diff: ${line}`);
    const range = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (!range) {
      file.header.push(line);
      continue;
    }
    const count = Number(range[2] ?? 1);
    const newCount = Number(range[4] ?? 1);
    // Where a hunk shows no line, its number is that of the line before it.
    const start = count === 0 ? Number(range[1]) : Number(range[1]) - 1;
    const newStart = newCount === 0 ? Number(range[3]) : Number(range[3]) - 1;
    const from = at;
    // The counts say where it ends: its lines may look like headers.
    for (let left = count + newCount; left > 0; at++)
      left -= lines[at]?.startsWith(" ") ? 2 : lines[at]?.startsWith("\\") ? 0 : 1;
    if (lines[at]?.startsWith("\\")) at++;
    const own = lines.slice(from, at);
    const hunk = { start, count, newStart, newCount, lines: own };
    file.hunks.push({ ...hunk, replacements: replacements(start, own) });
  }
  return files;
}

/** A hunk that begins at another line of the file before. */
export function placed(hunk: Hunk, start: number): Hunk {
  return { ...hunk, start, replacements: replacements(start, hunk.lines) };
}

function replacements(start: number, lines: string[]): Replacement[] {
  const found: Replacement[] = [];
  let before = start;
  let open: Replacement | undefined;
  lines.forEach((line, nth) => {
    if (line.startsWith("\\")) return;
    if (line.startsWith(" ")) {
      before++;
      open = undefined;
      return;
    }
    if (!open) found.push((open = { start: before, count: 0, text: "" }));
    if (line.startsWith("-")) {
      before++;
      open.count++;
    } else {
      open.text += line.slice(1) + (lines[nth + 1]?.startsWith("\\") ? "" : "\n");
    }
  });
  return found;
}

/** The text that hunks make of the file before. */
export function applied(before: string, hunks: Hunk[]): string {
  const lines = before.split(/(?<=\n)/);
  for (const { start, count, text } of hunks.flatMap((hunk) => hunk.replacements).reverse())
    lines.splice(start, count, text);
  return lines.join("");
}

/**
 * The text that hunks were applied to; `undefined` if the text after does not have their lines. The
 * hunks are in the order of their lines.
 */
export function reverted(after: string, hunks: Hunk[]): string | undefined {
  const lines = after.split(/(?<=\n)/);
  if (after === "") lines.pop();
  for (const hunk of [...hunks].reverse()) {
    const present = lines.slice(hunk.newStart, hunk.newStart + hunk.newCount);
    if (present.join("") !== side(hunk, "+").join("")) return undefined;
    lines.splice(hunk.newStart, hunk.newCount, ...side(hunk, "-"));
  }
  return lines.join("");
}

/** The lines that a hunk shows of the file after (`+`) or before (`-`). */
function side({ lines }: Hunk, sign: "+" | "-"): string[] {
  return lines.flatMap((line, nth) => {
    if (!line.startsWith(" ") && !line.startsWith(sign)) return [];
    return [line.slice(1) + (lines[nth + 1]?.startsWith("\\") ? "" : "\n")];
  });
}

/** A diff with some of the hunks of each file. */
export function joined(files: FileDiff[]): string {
  return files
    .map(({ header, hunks }) => {
      let shift = 0;
      // Hashes of blobs are those of all hunks.
      const lines =
        hunks.length > 0 ? header.filter((line) => !line.startsWith("index ")) : [...header];
      for (const { start, count, newCount, lines: own } of hunks) {
        const line = (at: number, shown: number) => `${shown === 0 ? at : at + 1},${shown}`;
        lines.push(`@@ -${line(start, count)} +${line(start + shift, newCount)} @@`, ...own);
        shift += newCount - count;
      }
      return lines.map((line) => `${line}\n`).join("");
    })
    .join("");
}
