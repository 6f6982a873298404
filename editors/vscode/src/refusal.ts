// Says why a patch was refused, and where.
import type * as Library from "apply-patch-cli";

/** A line of a file that a refusal is about. */
export interface Place {
  path: string;
  /** Counted from 1. */
  line: number;
}

/** A refusal as a person reads it. */
export interface Refusal {
  /** One line for each thing that is wrong. */
  message: string;
  /** The same with what to do about it: for the one who wrote the patch. */
  full: string;
  places: Place[];
}

interface Reject {
  message?: string;
  path?: string;
  suggestedNextAction?: string;
  candidates?: { startLine: number }[];
  nearest?: { startLine: number; firstDifference?: { fileLine: number } | null } | null;
}

/** Describes what a call threw. */
export function describe(library: typeof Library | undefined, error: unknown): Refusal {
  if (!library || !(error instanceof library.PatchError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { message, full: message, places: [] };
  }
  const { details, message, path, suggestedNextAction } = error;
  const first: Reject = { ...details, message, path, suggestedNextAction };
  const all = [first, ...((details["rejects"] as Reject[] | undefined) ?? [])];
  return {
    message: all.map((reject) => reject.message ?? "").join("; "),
    full: all
      .map((reject) => [reject.message, reject.suggestedNextAction && `next: ${reject.suggestedNextAction}`])
      .flat()
      .filter(Boolean)
      .join("\n"),
    places: all.flatMap(places),
  };
}

function places({ path, candidates, nearest }: Reject): Place[] {
  if (path === undefined) return [];
  if (nearest) return [{ path, line: nearest.firstDifference?.fileLine ?? nearest.startLine }];
  return (candidates ?? []).map(({ startLine }) => ({ path, line: startLine }));
}
