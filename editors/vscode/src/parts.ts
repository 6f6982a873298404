// Where the parts of a change are, and what they are called.
import { type FileChange, type Part } from "./planning";

/** Lines, counted from 0; the last one is not among them. */
export interface Lines {
  from: number;
  to: number;
}

/** The lines of a part in the file before, or in what the accepted parts make of it. */
export function placeOf(item: FileChange | Part, side: "before" | "after"): Lines {
  const part = "parts" in item ? firstOf(item) : item;
  if (!part?.hunk) return { from: 0, to: Number.POSITIVE_INFINITY };
  let { start } = part.hunk;
  if (side === "after") {
    const { parts } = part.file;
    for (const { hunk, accepted } of parts.slice(0, parts.indexOf(part))) {
      if (hunk && accepted) start += hunk.newCount - hunk.count;
    }
  }
  const isNew = side === "after" && part.accepted;
  return { from: start, to: start + (isNew ? part.hunk.newCount : part.hunk.count) };
}

/** The first line that a part changes. */
export function lineOf(item: FileChange | Part, side: "before" | "after"): number {
  const hunk = "parts" in item ? firstOf(item)?.hunk : item.hunk;
  return (
    placeOf(item, side).from + (hunk?.replacements[0] ? hunk.replacements[0].start - hunk.start : 0)
  );
}

/**
 * The part at a line of one side; the next one if the line is between two, and the last one after
 * that.
 */
export function partAt(file: FileChange, side: "before" | "after", line: number): Part | undefined {
  const hunks = file.parts.filter(({ hunk }) => hunk);
  const parts = hunks.length > 0 ? hunks : file.parts;
  return parts.find((part) => line < placeOf(part, side).to) ?? parts.at(-1);
}

/** The first hunk of a file; without hunks, its first part. */
function firstOf({ parts }: FileChange): Part | undefined {
  return parts.find(({ hunk }) => hunk) ?? parts[0];
}

export function nameOf({ path, toPath }: FileChange): string {
  return toPath === null ? path : `${path} → ${toPath}`;
}

/** A part in a list: a hunk by its line, and the first line that changes. */
export function describePart(part: Part): { label: string; description: string } {
  const { file, hunk, title } = part;
  if (title) return { label: title, description: "" };
  const nth = file.parts.filter((one) => one.hunk).indexOf(part) + 1;
  const [line = 0] = hunk?.replacements.map(({ start }) => start + 1) ?? [];
  const changed = hunk?.lines.find((one) => /^[+-]\s*\S/.test(one)) ?? "";
  return { label: `Hunk ${nth}, line ${line}`, description: changed.replace(/^(.)\s*/, "$1 ") };
}
