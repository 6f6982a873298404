// What calls answer. The types of Python are made of this file: crates/api/tests/answers.rs compares them, and answers themselves.

/** Lines of a file, from 1, both included. */
export interface LineRange {
  startLine: number;
  endLine: number;
}

/** One file that changes. */
export interface ChangedFile {
  path: string;
  operation: "create" | "update" | "delete" | "move";
  /** Where a moved file goes. */
  toPath?: string;
  beforeSha256?: string;
  afterSha256?: string;
  /** The diff, or how many lines it has, when asked for. */
  diff?: string;
  /** Where the displaced file is kept. */
  trashedTo?: string;
}

/** The outcome of a hunk. `section` and `hunkIndex` count from 0, lines from 1. */
export interface Hunk {
  path: string;
  section: number;
  hunkIndex: number;
  outcome: "applied" | "already_applied" | "rejected" | "not_applied";
  startLine?: number;
  lineCount?: number;
  /** The pass that matched. */
  pass?: "none" | "trailing" | "blanks" | "unicode";
  notes?: string[];
  /** Why it is rejected. */
  reason?: string;
}

/** Who changed a file last. */
export interface ChangedBy {
  /** It was a transaction. Otherwise it was an editor or another program. */
  byApplyPatch: boolean;
  transactionId?: string;
  agent?: string;
  session?: string;
  ownSession?: boolean;
  turnId?: string;
  tool?: string;
  /** When it was, in UTC. */
  time?: string;
}

/** A hunk, or an edit, that was carried to a file that had changed since it was read. */
export interface CarriedHunk {
  path: string;
  hunk: number;
  from: LineRange;
  to: LineRange;
  alreadyThere?: boolean;
  changedBy?: ChangedBy;
}

/** What a person changed in a proposal. */
export interface EditedByPerson {
  /** The diff from the files as proposed to the files as they are now. */
  diff: string;
}

/** What a patch did: the `data` of `apply-patch --json`. */
export interface Applied {
  /** Whether all sections were one transaction. */
  atomic: boolean;
  dryRun?: boolean;
  hunkCount: number;
  /** What `undo` takes; none when there was nothing to change. */
  transactionId?: string;
  /** The transactions of a patch that was not atomic. */
  transactionIds?: string[];
  changedFiles: ChangedFile[];
  /** What was overlooked, and what a reader should know. */
  notes?: string[];
  hunks?: Hunk[];
  carried?: CarriedHunk[];
  /** A person changed the proposal before it was applied. */
  editedByPerson?: EditedByPerson;
  /** The very patch was applied before, and its files are as it left them: nothing was done. */
  alreadyDone?: boolean;
  /** Interrupted transactions that were seen to on the way. */
  recovered?: string[];
  /** Diffs or files are left out. */
  truncated?: boolean;
}

/** A file that a proposal changes. */
export interface ProposedFile {
  operation: "create" | "update" | "delete" | "move";
  path: string;
  /** Where it moves to. */
  toPath?: string;
}

/** A change that waits for a person, or about which one has decided. */
export interface KeptProposal {
  proposalId: string;
  state: "proposed" | "approved" | "declined" | "withdrawn" | "expired";
  /** When it was made, in UTC. */
  time: string;
  session: string;
  agent?: string;
  turnId?: string;
  /** The call that made it, as the caller names it. */
  callId?: string;
  /** Why it was made. */
  why?: string;
  /** The directory of the project to which its paths are relative. */
  directory?: string;
  files: ProposedFile[];
  /** Why a person is asked. */
  reasons?: string[];
  /** The plan that was shown. */
  digest: string;
  /** When it was decided, in UTC. */
  decided?: string;
  /** Why it was declined. */
  decidedWhy?: string;
  /** The transactions of what was approved. */
  transactionIds?: string[];
}

/** The proposals of a project, the newest first. */
export interface KeptProposals {
  proposals: KeptProposal[];
  /** The ids of those that were altered, or are not signed with a key that is here. */
  notVerified: string[];
}

/** A proposal, and what it would do now, if it waits. */
export interface PlannedProposal extends KeptProposal {
  /** It is not what was shown: the files have changed since. */
  differs?: boolean;
  /** What `approve` takes to commit exactly this. */
  digestNow?: string;
  changedFiles?: ChangedFile[];
  notes?: string[];
  carried?: CarriedHunk[];
  /** Why it does not apply any more. */
  error?: ErrorFields;
  /** Older proposals that were found to have expired. */
  expired?: string[];
}

/** What a patch did as a commit. */
export interface Committed extends Applied {
  /** The id of the commit; null when there was nothing to change. */
  commit: string | null;
  tree: string;
  onto: string;
  branch?: string;
}

/** What an undo or a redo did. */
export interface Undone {
  /** The transaction that did it; null when there was nothing to change. */
  transactionId: string | null;
  undoOf: string | null;
  /** The others of several that were undone as one. */
  alsoUndoOf?: string[];
  changedFiles: ChangedFile[];
  carried?: CarriedHunk[];
  /** The turn, if all of one was undone. */
  turnId?: string;
  notes?: string[];
}

/** What a turn changed. */
export interface TurnSummary {
  /** Its name. */
  id: string;
  /** The ids of its transactions, the newest first. */
  transactions: string[];
  /** The files that are not what they were before it. */
  changedFiles: ChangedFile[];
  /** All of it as one git diff. */
  diff: string;
}

/** A file of a transaction. */
export interface LoggedFile {
  path: string;
  operation: "create" | "update" | "delete" | "move";
  toPath?: string;
  beforeSha256: string | null;
  afterSha256: string | null;
  trashedTo: string | null;
}

/** A transaction. */
export interface Transaction {
  id: string;
  shortId: string;
  /** When it began, in UTC. */
  timestamp: string;
  tool: string;
  agent: string | null;
  session: string | null;
  turnId: string | null;
  undoOf: string | null;
  undoneBy: string | null;
  alsoUndoOf?: string[];
  rolledBack: boolean;
  files: LoggedFile[];
  carried?: CarriedHunk[];
  diff?: string;
}

/** Why a journal is not trusted. */
export interface JournalProblem {
  reason: string;
  problem: string;
  /** The fingerprint of the key that it is signed with. */
  key?: string;
}

/** A transaction whose journal is not trusted. */
export interface NotVerified {
  id: string;
  problem: string;
  details: JournalProblem;
  undoneBy: string | null;
  /** The command that undoes it all the same. */
  undo?: string;
}

/** A turn of the log. */
export interface LoggedTurn {
  id: string;
  session: string;
  /** When it began, in UTC. */
  timestamp: string;
  transactions: string[];
  /** Nothing of it stands. */
  undone: boolean;
  /** With the diff: the files that are not what they were before it. */
  changedFiles?: ChangedFile[];
  diff?: string;
}

/** The newest transactions first, those of a turn together. */
export interface Log {
  transactions: Transaction[];
  turns: LoggedTurn[];
  notVerified: NotVerified[];
}

/** A change of a file by others, between the transactions of a diff. */
export interface ChangedBetween {
  path: string;
  /** Whether the diff leaves it out; otherwise it has both. */
  leftOut: boolean;
  /** The newest first. */
  by: ChangedBy[];
}

/** What several transactions changed together. */
export interface NetChanges {
  /** The ids of the transactions, the newest first, with those that are undone. */
  transactions: string[];
  sessions: string[];
  /** The time of the first transaction. */
  since?: string;
  /** The time of the last transaction. */
  until?: string;
  /** The files that differ. */
  changedFiles: ChangedFile[];
  changedBetween?: ChangedBetween[];
  /** All of it as one git diff. */
  diff: string;
}

/** A place where a hunk fits, with what tells it from the others. */
export interface Candidate {
  startLine: number;
  endLine: number;
  addContextBefore?: string[];
  addContextAfter?: string[];
  addHeader?: string;
}

/** A line of a file, and the first and the last character that differ from the hunk's. */
export interface ShownLine {
  line: number;
  text: string;
  columns?: number[];
}

/** The first line that differs. */
export interface Difference {
  patchLine: number;
  fileLine: number;
  wanted: string;
  found: string;
  column: number;
}

/** The place in the file that is most like a hunk. */
export interface Nearest {
  startLine: number;
  endLine: number;
  agreeingLines: number;
  oldLines: number;
  firstDifference: Difference | null;
  region: ShownLine[];
  mangled: string | null;
  /** The pass of `fuzz` that would match. */
  wouldMatchWith: string | null;
  scattered: boolean;
  notAtEnd: boolean;
  notAtStart: boolean;
}

/** One thing to do about an error; docs/reference/errors.md has the fields of each. */
export interface Hint {
  hint: string;
  [more: string]: unknown;
}

/** Another reason of an error. */
export interface Reject {
  kind: ErrorKind;
  message: string;
  path: string;
  reason: string;
  section?: number;
  hunkIndex?: number;
  patchLine?: number;
  suggestedNextAction: string;
  hints: Hint[];
  [more: string]: unknown;
}

/** What else is known of an error; docs/reference/errors.md tells which reason has what. */
export interface ErrorDetails {
  path?: string;
  /** A finer word than the kind. */
  reason?: string;
  section?: number;
  hunkIndex?: number;
  /** The line of the patch, from 1. */
  patchLine?: number;
  /** Where a hunk or an edit fits. */
  candidates?: Candidate[];
  nearest?: Nearest;
  didYouMean?: string;
  /** The SHA-256 of a file that is not what was expected; empty for no file. */
  expectedSha256?: string;
  actualSha256?: string;
  /** Who changed the file last, where that can be found out. */
  changedBy?: ChangedBy;
  /** Where a text is not a patch: its line and the character in it, from 1. */
  line?: number;
  column?: number;
  expected?: string[];
  seen?: string | null;
  /** The other reasons. */
  rejects?: Reject[];
  moreRejects?: number;
  hunks?: Hunk[];
  /** The name by which a refused patch can be amended. */
  patchId?: string;
  /** What was applied, where it was not all of the patch. */
  applied?: Applied;
  /** The command of `verify` that did not accept the change, and the end of what it printed. */
  command?: string;
  exitCode?: number;
  output?: string;
  [more: string]: unknown;
}

/** Why a call failed. */
export interface ErrorFields {
  kind: ErrorKind;
  message: string;
  path?: string;
  details?: ErrorDetails;
  /** Whether the caller can correct the request and try again. */
  recoverable: boolean;
  /** What to do, in words. */
  suggestedNextAction?: string;
  /** The same as data: alternatives, the best one first. */
  hints?: Hint[];
}

/** The answer of a file tool that failed. */
export interface FailedCall {
  ok: false;
  error: ErrorFields;
  normalised?: string[];
}

/** A change of an event. */
export interface EventChange {
  operation: "create" | "update" | "delete" | "move";
  path: string;
  toPath?: string;
  beforeSha256?: string;
  afterSha256?: string;
  inserted: number;
  deleted: number;
}

/** A change is about to be made. */
export interface BeginEvent {
  type: "begin";
  callId: string;
  tool: string;
  autoApproved: boolean;
  changes: EventChange[];
}

/** What will be changed is something else than the event before said. */
export interface UpdateEvent {
  type: "update";
  callId: string;
  autoApproved: boolean;
  changes: EventChange[];
}

/** A file is in its place. */
export interface ProgressEvent {
  type: "progress";
  callId: string;
  path: string;
  done: number;
  total: number;
}

/** The call is over. */
export interface EndEvent {
  type: "end";
  callId: string;
  ok: boolean;
  declined?: boolean;
  error?: string;
  transactionIds: string[];
  changes: EventChange[];
  /** The answer. */
  result: Record<string, unknown>;
}

/** All that the call changed, as a git diff. */
export interface TurnDiffEvent {
  type: "turn_diff";
  callId: string;
  unifiedDiff: string;
}

/** What `observe` gets: the objects of `apply-patch --events jsonl`. */
export type Event = BeginEvent | UpdateEvent | ProgressEvent | EndEvent | TurnDiffEvent;

/** A section of a patch that is still arriving has begun. */
export interface Begun {
  type: "begun";
  section: number;
  operation: "add" | "delete" | "update" | "move";
  path: string;
  toPath?: string;
  line: number;
}

/** Its file moves. */
export interface MoveTo {
  type: "move_to";
  section: number;
  toPath: string;
}

/** How many lines it has so far. */
export interface Lines {
  type: "lines";
  section: number;
  inserted: number;
  deleted: number;
}

/** It is complete. */
export interface Finished {
  type: "finished";
  section: number;
  inserted: number;
  deleted: number;
}

/** The patch is complete. */
export interface Ended {
  type: "ended";
  line: number;
}

/** The text is not a patch. */
export interface NotAPatch {
  type: "failed";
  error: ErrorFields;
}

/** What is known of a patch that is still arriving. */
export type StreamEvent = Begun | MoveTo | Lines | Finished | Ended | NotAPatch;

/** A part of the text of a patch: where it begins and ends, in bytes. */
export interface Spanned {
  text: string;
  span: number[];
}



/** A section of a patch. */
export interface Section {
  path: Spanned;
  line: number;
  span: number[];
  operation: string;
  [more: string]: unknown;
}

/** The tree of a patch. */
export interface ParsedPatch {
  sections: Section[];
  warnings: string[];
  [more: string]: unknown;
}

/** One of the closed set of error kinds; docs/reference/errors.md tells what each means. */
export type ErrorKind =
  | "not_found"
  | "already_exists"
  | "permission_denied"
  | "outside_workspace"
  | "binary_file"
  | "file_too_large"
  | "stale_file"
  | "old_text_not_found"
  | "multiple_matches"
  | "overlapping_edits"
  | "patch_parse_error"
  | "patch_apply_error"
  | "command_failed"
  | "timeout"
  | "cancelled"
  | "unknown";
