// The program `apply-patch`: where it is, and what it is asked. It makes the changes, since it
// alone writes all of them or none.
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import * as paths from "node:path";
import { type ChangedFile, type Plan, accepted, agrees, expected, seen } from "./planning";
import { Failed, type Failure } from "./refusal";

/** What decides where the program is. */
export interface Machine {
  platform: string;
  arch: string;
  /** The variable PATH. */
  path: string;
  home: string;
  exists(path: string): boolean;
}

/** This machine; `exists` tells whether there is a file that can be run. */
export const here = (exists: Machine["exists"]): Machine => ({
  platform: process.platform,
  arch: process.arch,
  path: process.env["PATH"] ?? "",
  home: homedir(),
  exists,
});

/**
 * Finds the program in PATH, and where cargo, pip and the installer put it; undefined if it is not
 * there. A directory beneath one of `folders` is left out: what a project brings is not run.
 */
export function find(machine: Machine, folders: string[]): string | undefined {
  const windows = machine.platform === "win32";
  const { delimiter, isAbsolute, join, relative } = windows ? paths.win32 : paths.posix;
  const files = ["apply-patch"];
  if (windows) {
    // npm puts a script there, and the program beside it.
    const inNpm = join("node_modules", `apply-patch-cli-win32-${machine.arch}`, "apply-patch.exe");
    files.splice(0, 1, "apply-patch.exe", join("node_modules", "apply-patch-cli", inNpm), inNpm);
  }
  const isOwn = (directory: string) => {
    if (!isAbsolute(directory)) return false;
    return folders.every((folder) => {
      const from = relative(folder, directory);
      return from.startsWith("..") || isAbsolute(from);
    });
  };
  return [
    ...machine.path.split(delimiter),
    join(machine.home, ".local", "bin"),
    join(machine.home, ".cargo", "bin"),
  ]
    .filter(isOwn)
    .flatMap((directory) => files.map((file) => join(directory, file)))
    .find(machine.exists);
}

/** Where a project keeps its history. */
export interface Status {
  /** The directory that the program was asked in. */
  root: string;
  /** The directory of the history, also where there is none yet. */
  state: string;
}

/** A transaction that stands. */
export interface Last {
  id: string;
  paths: string[];
  /** What it changed, and who did it: one line. */
  title: string;
}

/** A transaction, as the log has it. Its paths are relative to the directory of the program. */
export interface Entry {
  id: string;
  shortId: string;
  /** In the form of RFC 3339. */
  timestamp: string;
  agent?: string | null;
  tool: string;
  session: string | null;
  turnId: string | null;
  files: ChangedFile[];
  undoOf: string | null;
  undoneBy: string | null;
  rolledBack: boolean;
}

/** What the program's `log` answers, newest first. */
export interface Log {
  transactions: Entry[];
  turns: { id: string; session: string | null; undone: boolean }[];
  notVerified: unknown[];
}

/**
 * The program, in a directory. Every call throws `Failed` with what it answers when it refuses, and
 * an `Error` when it cannot be run.
 */
export class Program {
  constructor(
    readonly file: string,
    readonly root: string,
  ) {}

  /**
   * Makes the accepted parts of a plan one transaction, and returns its id. It is refused if the
   * program would not do exactly what the plan shows, or a file has changed since.
   */
  async commit(plan: Plan): Promise<string> {
    const wanted = expected(plan);
    const call = {
      patch: accepted(plan),
      ...plan.rules,
      carry: false,
      expectedSha256ByPath: seen(plan),
      maxResultBytes: 1 << 26,
    };
    const tool = (args: object) =>
      this.ask(
        ["tool", "apply_patch", "--agent", "vscode", "--args", "-"],
        JSON.stringify(args),
      ) as Promise<{
        changedFiles: ChangedFile[];
        transactionId: string;
      }>;
    const { changedFiles } = await tool({ ...call, dryRun: true, diff: "none" });
    if (!agrees(changedFiles, wanted)) {
      throw new Error(
        `${this.file} would not do what is shown here, and nothing was changed. Its version or its settings differ from those of the extension.`,
      );
    }
    return (await tool(call)).transactionId;
  }

  /** The newest transaction that is not undone; undefined if there is none. */
  async last(): Promise<Last | undefined> {
    const { transactions } = await this.log();
    const entry = transactions.find((one) => !one.undoOf && !one.undoneBy && !one.rolledBack);
    if (!entry) return undefined;
    const changed = entry.files.flatMap(({ path, toPath }) => (toPath ? [path, toPath] : [path]));
    const more = entry.files.length > 1 ? ` and ${entry.files.length - 1} more` : "";
    return {
      id: entry.id,
      paths: changed,
      title: `${changed[0] ?? "no file"}${more}, changed by ${entry.agent ?? entry.tool}`,
    };
  }

  /** Undoes a transaction. */
  async undo(id: string): Promise<void> {
    await this.ask(["undo", "--json", id]);
  }

  /** The transactions, newest first; no more than `count`, if it is given. */
  async log(count?: number): Promise<Log> {
    return (await this.ask(["log", "--json", ...(count ? ["-n", `${count}`] : [])])) as Log;
  }

  /** Where the project of the directory keeps its history. */
  async status(): Promise<Status> {
    return (await this.ask(["status", "--json"])) as Status;
  }

  /**
   * The top of the project, to which the paths of a review are relative: the directory with the
   * history, or, where the history is kept elsewhere, the highest one that has the same.
   */
  async project(): Promise<string> {
    const { state } = await this.status();
    if (paths.basename(state) === ".apply-patch") return paths.dirname(state);
    let top = this.root;
    for (let above = paths.dirname(top); above !== top; above = paths.dirname(above)) {
      const other = await new Program(this.file, above).status().catch(() => undefined);
      if (other?.state !== state) break;
      top = above;
    }
    return top;
  }

  /**
   * Runs the program, and returns the data of its answer, which is a JSON object also when it
   * fails.
   */
  async ask(args: string[], input = ""): Promise<unknown> {
    const { stdout, stderr } = await this.#run(args, input);
    let answer: { ok: boolean; data: unknown; error: Failure };
    try {
      answer = JSON.parse(stdout);
    } catch {
      throw new Error(`${this.file} did not answer: ${(stderr || stdout).trim().slice(0, 300)}`);
    }
    if (!answer.ok) throw new Failed(answer.error);
    return answer.data;
  }

  /** Runs the program, and returns what it prints for people. */
  async text(args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#run(args);
    if (code !== 0) throw new Error(stderr.trim().slice(0, 300));
    return stdout;
  }

  #run(args: string[], input = ""): Promise<Output> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.file, args, { cwd: this.root, windowsHide: true });
      const said = { stdout: "", stderr: "" };
      for (const stream of ["stdout", "stderr"] as const) {
        child[stream].setEncoding("utf8").on("data", (text: string) => (said[stream] += text));
      }
      child.on("error", (cause) =>
        reject(new Error(`${this.file} cannot be run: ${cause.message}`)),
      );
      // It may end before it has read all.
      child.stdin.on("error", () => {}).end(input);
      child.on("close", (code) => resolve({ code, ...said }));
    });
  }
}

interface Output {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}
