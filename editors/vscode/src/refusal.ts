// Says why a patch was refused, and where. The library and the program fail with the same fields.

/** A line of a file that a refusal is about. */
export interface Place {
  path: string;
  /** Counted from 1. */
  line: number;
}

/** A refusal as a person reads it. */
export interface Refusal {
  /** What is wrong, all of it. */
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

/** The fields of a failed call. */
export interface Failure extends Reject {
  kind: string;
  details?: Reject & { rejects?: Reject[] };
}

/** What the program answered when it refused a call. */
export class Failed extends Error {
  readonly kind: string;

  constructor(fields: Failure) {
    super(fields.message);
    Object.assign(this, fields);
    this.kind = fields.kind;
  }
}

/** Describes what a call threw. */
export function describe(error: unknown): Refusal {
  if (!(error instanceof Error) || !("kind" in error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { message, full: message, places: [] };
  }
  const { details, message, path, suggestedNextAction } = error as Error & Failure;
  const all = [{ ...details, message, path, suggestedNextAction }, ...(details?.rejects ?? [])];
  return {
    message: all.map((reject) => reject.message ?? "").join("; "),
    full: all
      .flatMap((reject) => [
        reject.message,
        reject.suggestedNextAction && `next: ${reject.suggestedNextAction}`,
      ])
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
