// Proposals: changes that wait until a person decides, as the program keeps them.
import { join } from "node:path";
import { saved } from "./files";
import { applied, split } from "./hunks";
import { type ChangedFile, type Plan, accepted, agrees, decoded, expected, sha256, shown } from "./planning";
import type { Program } from "./program";
import { Failed } from "./refusal";

/** A proposal in the list. One that is not verified has no more than its id and state. */
export interface Proposal {
  proposalId: string;
  /** `proposed`, `not_verified`, or how it was decided. */
  state: string;
  /** In the form of RFC 3339. */
  time?: string;
  session?: string;
  agent?: string;
  why?: string;
  files?: { operation: string; path: string; toPath?: string }[];
  /** Why a person is asked. */
  reasons?: string[];
}

/** A file before and after, as text. */
export interface Pair {
  path: string;
  toPath: string | undefined;
  before: string;
  after: string;
}

/** What a proposal would do now. */
export interface Now {
  /** Names exactly this change of exactly these files. */
  digest: string;
  /** Whether it is not the one that was proposed: the files have changed since. */
  differs: boolean;
  /** The directory that the paths are relative to. */
  directory: string;
  files: Pair[];
  /** All of it as a git diff; undefined where some of it is not text, or too long. */
  patch: string | undefined;
  /** What was not taken literally, in words. */
  notes: string[];
}

interface Shown extends Proposal {
  directory?: string;
  digestNow?: string;
  differs?: boolean;
  changedFiles?: (ChangedFile & { diff?: string })[];
  notes?: string[];
}

/**
 * The proposals that are not decided, in the program's order, and then those that are not verified.
 * None if the program knows no proposals.
 *
 * Throws `Failed` when the program refuses, and an `Error` when it cannot be run.
 */
export async function proposalsOf(program: Program): Promise<Proposal[]> {
  try {
    const answer = await program.ask(["proposals", "--json"]);
    const { proposals, notVerified } = answer as { proposals: Proposal[]; notVerified: string[] };
    const altered = notVerified.map((proposalId) => ({ proposalId, state: "not_verified" }));
    return [...proposals.filter(({ state }) => state === "proposed"), ...altered];
  } catch (error) {
    if (error instanceof Failed && /^unknown command/.test(error.message)) return [];
    throw error;
  }
}

/**
 * Plans a proposal for the files as they are now; undefined if it is decided by now.
 *
 * Throws `Failed` when it does not apply any more, and an `Error` when a file cannot be read.
 */
export async function now(program: Program, id: string): Promise<Now | undefined> {
  const data = (await program.ask(["show", "--json", id])) as Shown;
  if (!data.digestNow) return undefined;
  const directory = join(await program.project(), data.directory ?? "");
  const files: Pair[] = [];
  let patch: string | undefined = "";
  for (const file of data.changedFiles ?? []) {
    const { isExact, ...pair } = await pairOf(directory, file);
    files.push(pair);
    patch = isExact && patch !== undefined ? patch + (file.diff ?? "") : undefined;
  }
  const { digestNow: digest, differs = false, notes = [] } = data;
  return { digest, differs, directory, files, patch, notes };
}

/** A file before and after, and whether its diff says all of that. */
async function pairOf(
  directory: string,
  file: ChangedFile & { diff?: string },
): Promise<Pair & { isExact: boolean }> {
  const { path, toPath, operation, diff = "" } = file;
  const bytes = operation === "create" ? null : ((await saved(directory, path)) ?? null);
  const before = shown(bytes);
  if (operation === "delete") {
    const isExact = decoded(bytes) !== undefined;
    return { path, toPath, before, after: "", isExact };
  }
  const after = applied(decoded(bytes) ?? "", split(diff)[0]?.hunks ?? []);
  const isExact = sha256(Buffer.from(after)) === file.afterSha256;
  // A diff does not show bytes that are not text.
  const text = isExact ? after : diff || "(not text, and not shown)\n";
  return { path, toPath, before, after: text, isExact };
}

/** The result is not the one that was shown, and nothing was changed. */
export class Differs extends Error {}

/**
 * Approves exactly the change with this digest, and returns the id of its transaction; undefined if
 * the files had all of it already.
 *
 * Throws `Differs` when that is not what it would do now, `Failed` when the program refuses for
 * another reason, and an `Error` when it cannot be run.
 */
export async function approve(
  program: Program,
  id: string,
  digest: string,
): Promise<string | undefined> {
  try {
    const args = ["approve", "--json", `--digest=${digest}`, id];
    return ((await program.ask(args)) as { transactionId?: string }).transactionId;
  } catch (error) {
    const { details } = error as { details?: { reason?: string } };
    throw details?.reason === "plan_differs" ? new Differs() : error;
  }
}

/**
 * Approves the accepted parts of a proposal, and returns the id of their transaction; the others stay
 * proposed. The program first says what it would do; nothing is changed unless that is what is shown.
 *
 * Throws `Differs` when a file has changed since, `Failed` when the program refuses for another
 * reason, and an `Error` when it cannot be run.
 */
export async function approveParts(program: Program, id: string, plan: Plan): Promise<string> {
  const part = accepted(plan);
  const call = async (...more: string[]) => {
    try {
      return await program.ask(["approve", "--json", "--only=-", ...more, id], part);
    } catch (error) {
      const { details } = error as { details?: { reason?: string } };
      throw details?.reason === "plan_differs" ? new Differs() : error;
    }
  };
  const { digestNow, changedFiles } = (await call("--dry-run")) as Shown;
  if (!agrees(changedFiles ?? [], expected(plan))) throw new Differs();
  return ((await call(`--digest=${digestNow}`)) as { transactionId: string }).transactionId;
}

/** Declines a proposal; whoever made it reads why. */
export async function decline(program: Program, id: string, why: string): Promise<void> {
  await program.ask(["decline", "--json", ...(why ? [`--why=${why}`] : []), id]);
}
