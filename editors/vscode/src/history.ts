// What was changed in a project, by whom and when, from the program's log: sessions, and in each of
// them its turns and the transactions of no turn.
import type { Entry, Log } from "./program";

/** Some transactions, as the program's commands name them. */
export interface Span {
  /** The arguments of `review` and `undo`. */
  args: string[];
  /** The same in words, as in "Undo …?". */
  title: string;
}

/** A file that some transactions changed. */
export interface HistoryFile {
  kind: "file";
  /** Relative to the folder; it may lie outside of the folder, in the same project. */
  path: string;
  /** Where the file was moved. */
  toPath?: string;
  operation: string;
  change: Change;
}

/** A turn, or a transaction of no turn. */
export interface Change {
  kind: "change";
  /** The turn; undefined for a transaction of none. */
  turn?: string;
  time: Date;
  /** The agent, or else the tool. */
  by: string;
  files: HistoryFile[];
  undone: "no" | "partly" | "yes";
  span: Span;
}

/** All that a session changed. */
export interface Session {
  kind: "session";
  name: string;
  /** The newest first. */
  changes: Change[];
  span: Span;
}

/** The sessions of a log, the newest first. An undo is not a change of its own. */
export function sessionsOf(log: Log): Session[] {
  const sessions = new Map<string, Map<string, Entry[]>>();
  for (const entry of log.transactions) {
    if (entry.undoOf || entry.rolledBack) continue;
    const changes = at(sessions, entry.session ?? "", () => new Map<string, Entry[]>());
    at(changes, entry.turnId ? `turn ${entry.turnId}` : entry.id, () => []).push(entry);
  }
  return [...sessions].map(([name, changes]) => ({
    kind: "session",
    name,
    changes: [...changes.values()].map((entries) => changeOf(name, entries)),
    span: { args: [`--session=${name}`], title: `all changes of session ${name}` },
  }));
}

function at<V>(map: Map<string, V>, key: string, otherwise: () => V): V {
  const value = map.get(key) ?? otherwise();
  map.set(key, value);
  return value;
}

/** The change that the transactions of a turn make, newest first, or a transaction of no turn. */
function changeOf(session: string, entries: Entry[]): Change {
  const newest = entries[0] as Entry;
  const { turnId } = newest;
  const span = turnId
    ? {
        args: [`--turn=${session && `${session}/`}${turnId}`],
        title: `turn ${turnId} of session ${session}`,
      }
    : { args: [newest.id], title: `transaction ${newest.shortId}` };
  const standing = entries.filter(({ undoneBy }) => !undoneBy).length;
  const change: Change = {
    kind: "change",
    turn: turnId ?? undefined,
    time: new Date(newest.timestamp),
    by: newest.agent ?? newest.tool,
    files: [],
    undone: standing === 0 ? "yes" : standing < entries.length ? "partly" : "no",
    span,
  };
  change.files = filesOf(change, entries);
  return change;
}

/** The files that some transactions, newest first, changed: each once, with what became of it. */
function filesOf(change: Change, entries: Entry[]): HistoryFile[] {
  const files = new Map<string, HistoryFile>();
  for (const step of [...entries].reverse().flatMap((entry) => entry.files)) {
    const earlier = files.get(step.path);
    files.delete(step.path);
    const place = step.toPath ?? step.path;
    if (earlier?.operation === "create") {
      if (step.operation !== "delete") files.set(place, { ...earlier, path: place });
      continue;
    }
    const file: HistoryFile = {
      kind: "file",
      path: earlier?.path ?? step.path,
      operation: step.operation,
      change,
    };
    if (step.operation !== "delete" && place !== file.path) {
      file.toPath = place;
      file.operation = "move";
    } else if (earlier?.operation === "delete") {
      file.operation = "update";
    }
    files.set(place, file);
  }
  return [...files.values()];
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** When something was done, in local time: without the day if that was today. */
export function timeOf(time: Date, now: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (time.toDateString() === now.toDateString()) return clock;
  const day = `${MONTHS[time.getMonth()]} ${time.getDate()}`;
  const year = time.getFullYear() === now.getFullYear() ? "" : ` ${time.getFullYear()}`;
  return `${day}${year}, ${clock}`;
}

/** `1 file`, or `3 files`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The name of a file in a list, without its directory. */
const nameIn = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** How a session, a change or a file is called in the list. */
export function described(
  node: Session | Change | HistoryFile,
  now: Date,
): { label: string; description: string; tooltip: string } {
  if (node.kind === "file") {
    const { path, toPath, operation } = node;
    const place = toPath ?? path;
    const directory = place.slice(0, Math.max(0, place.lastIndexOf("/")));
    const tooltip = `${toPath ? `${path} → ${toPath}` : path}, ${operation}`;
    const words = [operation, directory].filter(Boolean).join(", ");
    return { label: nameIn(place), description: words, tooltip };
  }
  if (node.kind === "session") {
    const label = node.name === "cli" ? "Command line" : node.name || "No session";
    const agents = [...new Set(node.changes.map(({ by }) => by))].join(", ");
    const isUndone = node.changes.every(({ undone }) => undone === "yes");
    const description = counted(node.changes.length, "change") + (isUndone ? ", undone" : "");
    return { label, description, tooltip: `${node.span.title}\nby ${agents}` };
  }
  const undone = { no: "", partly: "partly undone", yes: "undone" }[node.undone];
  const names = node.files.map(({ path, toPath }) => toPath ?? path);
  const [only = ""] = names;
  const what = names.length === 1 ? nameIn(only) : counted(names.length, "file");
  return {
    label: `${timeOf(node.time, now)}  ${what}`,
    description: [node.by, undone].filter(Boolean).join(", "),
    tooltip: [`${node.span.title}, by ${node.by}`, undone, ...names].filter(Boolean).join("\n"),
  };
}
