// Finds the transaction that an undo would undo.
import type * as Library from "apply-patch-cli";

/** A transaction that stands. */
export interface Last {
  id: string;
  paths: string[];
  /** Who did it and what to: one line. */
  title: string;
}

interface Entry {
  id: string;
  agent?: string | null;
  tool: string;
  files: Library.ChangedFile[];
  undoOf: string | null;
  undoneBy: string | null;
  rolledBack: boolean;
}

/** The newest transaction that is not undone; undefined if there is none. */
export async function last(workspace: Library.Workspace): Promise<Last | undefined> {
  const { transactions } = await workspace.log();
  const entry = (transactions as unknown as Entry[]).find((one) => !one.undoOf && !one.undoneBy && !one.rolledBack);
  if (!entry) return undefined;
  const paths = entry.files.flatMap(({ path, toPath }) => (toPath ? [path, toPath] : [path]));
  const [first = "no file"] = paths;
  const more = entry.files.length > 1 ? ` and ${entry.files.length - 1} more` : "";
  return { id: entry.id, paths, title: `${first}${more}, changed by ${entry.agent ?? entry.tool}` };
}
