/** Text, or bytes; text counts as UTF-8. */
export type Text = string | Uint8Array;

/** One of the closed set of error kinds; docs/errors.md tells what each means. */
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

/** Why a call failed. Unless `kind` and `details` say otherwise, nothing was changed. */
export class PatchError extends Error {
  readonly kind: ErrorKind;
  /** The file it is about. */
  readonly path?: string;
  /** What else is known; `reason` and `rejects` above all. */
  readonly details: Record<string, unknown>;
  /** What the caller can do about it: alternatives, the best one first. */
  readonly hints: ({ hint: string } & Record<string, unknown>)[];
  /** Whether the caller can correct the request and try again. */
  readonly recoverable: boolean;
  /** The hints in words, for a person or a model. */
  readonly suggestedNextAction?: string;
}

/** How a patch is read and planned. What is left open is as the profile has it. */
export interface PatchOptions {
  /** A preset of the rules. */
  profile?: "strict" | "codex";
  /** What the text is; `auto` finds the one patch or diff in it. */
  from?: "auto" | "envelope" | "unified" | "openai";
  /** Which patch of several is meant, from 1. With `auto` only. */
  part?: number | "all";
  /** How many leading parts of the paths of a diff are left out. */
  strip?: number;
  /** Leave out the binary files of a diff whose bytes it does not have. */
  skipBinary?: boolean;
  /** Apply the patch in reverse. */
  reverse?: boolean;
  /** The directory that the paths of the patch are beneath. */
  directory?: string;
  /** Patterns for the files of the patch that are taken; `*` also matches `/`. */
  include?: string[];
  /** Patterns for those that are left out. */
  exclude?: string[];
  environment?: string;
  /** What files must be before: their SHA-256 in hexadecimal digits, or "" for a file that must not be there. */
  expectedSha256ByPath?: Record<string, string>;
  /** The files as the author of the patch saw them: hunks of a file that changed since are carried where that is certain. */
  base?: Record<string, string>;
  overwrite?: boolean;
  createParents?: boolean;
  /** Leave out hunks that are applied already. */
  skipApplied?: boolean;
  /** Let the line numbers of a diff without context decide. */
  unidiffZero?: boolean;
  allowDelete?: boolean;
  allowMove?: boolean;
  ambiguous?: "reject" | "first";
  fuzz?: "none" | "trailing" | "blanks" | "unicode";
  /** What is done about whitespace errors in inserted lines. */
  whitespace?: "error" | "fix" | "warn" | "nowarn";
  /** What is a whitespace error, as in git's `core.whitespace`. */
  whitespaceRules?: string;
  /** What is done about a JSON, TOML or YAML file that does not parse any more. */
  syntax?: "refuse" | "warn" | "off";
  /** The charsets of files, each as `GLOB=LABEL`. */
  encoding?: string[];
  /** In bytes. */
  maxFileSize?: number;
  /** How many file operations the patch may have. */
  maxOperations?: number;
  /**
   * The name of a refused patch (`details.patchId` of its error), whose sections for other files are taken. In a workspace only.
   */
  amend?: string;
  /** Whether all of the patch is one transaction (true unless set). In a workspace only. */
  atomic?: boolean;
  /** Apply the sections that fit, and keep the others to be amended. In a workspace only. */
  partial?: boolean;
  /** What an answer shows of the changes. */
  diff?: "none" | "stat" | "full";
}

export interface WorkspaceOptions {
  /** The session's name; what it has read is remembered under it. A random one unless set. */
  session?: string;
  /** Who asks for the changes, for the log. */
  agent?: string;
  /** What a change survives: power loss, a kill, or neither. */
  durability?: "full" | "process" | "none";
  /** In seconds; 10 unless set. */
  lockTimeout?: number;
  /** These hold for what the options of a patch leave open, and for the calls of tools. */
  profile?: "strict" | "codex";
  overwrite?: boolean;
  createParents?: boolean;
  /** Leave out hunks that are applied already. */
  skipApplied?: boolean;
  /** Let the line numbers of a diff without context decide. */
  unidiffZero?: boolean;
  allowDelete?: boolean;
  allowMove?: boolean;
  ambiguous?: "reject" | "first";
  fuzz?: "none" | "trailing" | "blanks" | "unicode";
  /** What is done about whitespace errors in inserted lines. */
  whitespace?: "error" | "fix" | "warn" | "nowarn";
  /** What is a whitespace error, as in git's `core.whitespace`. */
  whitespaceRules?: string;
  /** What is done about a JSON, TOML or YAML file that does not parse any more. */
  syntax?: "refuse" | "warn" | "off";
  encoding?: string[];
  /** In bytes. */
  maxFileSize?: number;
  maxOperations?: number;
  /** About how many bytes of JSON an answer of a tool may have. */
  maxOutput?: number;
  /** A command of the shell that has to succeed after files are changed; otherwise all is as before. Of a `Workspace` only. */
  verify?: string | Record<string, string>;
  /**
   * A command of the shell that formats new files before the plan is made: it reads a file and prints it, and its path
   * is in `APPLY_PATCH_FILE`. Of a `Workspace` only.
   */
  formatWith?: string | Record<string, string>;
  /** How many seconds each command may take; 600 unless set. */
  verifyTimeout?: number;
  /** How many bytes of snapshots are kept; 0 keeps none. */
  maxSnapshots?: number;
  /** How long displaced files are kept: an age, a size, or both, as "30d, 1GiB". */
  trashKeep?: string;
  /**
   * When `approve` is asked: always (`ask`), or when a file is deleted, replaced whole or guarded (`auto`). Without it every
   * call that has an `approve` asks it.
   */
  approve?: "ask" | "auto" | "never";
  /** Globs of files that no patch may touch, besides the usual ones. */
  forbidden?: string[];
  allowForbidden?: string[];
  /** Globs of files that make tools run code, besides the usual ones: they need approval. */
  guarded?: string[];
  allow?: string[];
  names?: "portable" | "native";
  hardLinks?: "refuse" | "break";
  /** Where the state directory is: in the project (the default), or with the user, out of reach of `git clean`. */
  state?: "project" | "user";
  acceptOpenState?: boolean;
}

/** One file that changes. */
export interface ChangedFile {
  path: string;
  /** Where a moved file goes. */
  toPath?: string;
  operation: "create" | "update" | "delete" | "move";
  beforeSha256?: string | null;
  afterSha256?: string | null;
  [more: string]: unknown;
}

/** What is undone. */
export interface UndoOptions {
  /** Only these files of the transaction. */
  paths?: string[];
  /** All that this session did, as one, in place of a transaction. */
  session?: string;
  /** A transaction and all that followed it, or all since a time (`2h`, `2026-11-26`), as one. */
  since?: string;
  carry?: boolean;
  diff?: "none" | "stat" | "full";
}

/** What becomes of a hunk. `section` and `hunkIndex` count from 0, lines from 1. */
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

/** What a call did: the `data` of `apply-patch --json`. */
export interface Applied {
  /** What `undo` takes; null when there was nothing to change. */
  transactionId: string | null;
  changedFiles: ChangedFile[];
  /** Of a patch. */
  hunks?: Hunk[];
  /** The very patch was applied before, and its files are as it left them: nothing was done. */
  alreadyDone?: boolean;
  [more: string]: unknown;
}

/** What a patch would do. */
export class Plan {
  private constructor();
  /** 64 hexadecimal digits that name exactly this plan. */
  readonly digest: string;
  readonly changes: ChangedFile[];
  /** What was not taken literally, in words. */
  readonly notes: string[];
  /** In one line. */
  readonly summary: string;
  /** The changes as a git diff. */
  readonly diff: string;
}

/** A plan that waits for approval. */
export interface Proposal {
  digest: string;
  changes: ChangedFile[];
  /** Null when a file was changed meanwhile. */
  diff: string | null;
  /** What a reader should know about the plan, as that a file does not parse any more. */
  notes: string[];
  /** Why it is asked, in words; there need not be a reason. */
  reasons: string[];
}

export interface Callbacks {
  /** Decides about exactly the plan that is committed; `"session"` also approves what does no more to the same files later. */
  approve?: (proposal: Proposal) => boolean | "session" | Promise<boolean | "session">;
  /** Receives what happens: the objects of `apply-patch --events jsonl`. */
  observe?: (event: { type: string } & Record<string, unknown>) => void;
  /** Gives the call up as long as nothing is published. */
  signal?: AbortSignal;
}

/** The answer of a file tool. */
export type ToolAnswer =
  | { ok: true; output: string; data: Record<string, unknown> }
  | { ok: false; error: Record<string, unknown> & { kind: ErrorKind; message: string } };

/** A directory, with a session: what it reads is remembered, so that no file is overwritten unseen. */
export class Workspace {
  /** @throws {PatchError} when the directory cannot be used. */
  constructor(root: string, options?: WorkspaceOptions);
  readonly root: string;
  readonly session: string;
  /** Plans a patch; nothing is written. */
  plan(patch: Text, options?: PatchOptions): Promise<Plan>;
  planSync(patch: Text, options?: PatchOptions): Plan;
  /** Applies a patch, all or nothing. */
  apply(patch: Text, options?: PatchOptions & Callbacks): Promise<Applied>;
  /** Applies exactly this plan, or fails with `stale_file`. */
  apply(plan: Plan, callbacks?: Callbacks): Promise<Applied>;
  applySync(patch: Text, options?: PatchOptions): Applied;
  applySync(plan: Plan): Applied;
  /** Undoes a transaction; the last one that is not undone, unless named. */
  undo(id?: string, options?: UndoOptions & Callbacks): Promise<Applied>;
  undoSync(id?: string, options?: UndoOptions): Applied;
  /** Reverses an undo. */
  redo(id?: string, callbacks?: Callbacks): Promise<Applied>;
  redoSync(id?: string): Applied;
  /** The newest transactions first. */
  log(options?: { maxCount?: number; diff?: boolean }): Promise<{ transactions: Record<string, unknown>[]; notVerified: unknown[] }>;
  /** Calls a file tool: its answer, also when it failed. `toolSpecs` has the names and arguments. */
  call(tool: string, args?: Record<string, unknown>, callbacks?: Callbacks): Promise<ToolAnswer>;
  callSync(tool: string, args?: Record<string, unknown>): ToolAnswer;
}

/** The files of a commit in a git repository, without a checkout. */
export class GitTree {
  constructor(repository: string, revision: string, options?: WorkspaceOptions);
  /** The id of the commit. */
  readonly commit: string;
  /** The id of its tree. */
  readonly tree: string;
  /** The bytes of a file; null when there is none. */
  read(path: string): Buffer | null;
  list(): string[];
  plan(patch: Text, options?: PatchOptions): Promise<Plan>;
  /** The id of the tree that a plan of this object makes; nothing is written. */
  treeOf(plan: Plan): string;
  /** Makes a commit of a patch, and moves a branch to it. */
  apply(
    patch: Text,
    options?: PatchOptions &
      Callbacks & {
        /** The branch to move; unless set, the one that the revision names, if it names one. */
        branch?: string;
        message?: string;
        author?: string;
        /** When the branch has moved on: carry the hunks to its newest commit, where it is certain where they belong. */
        carry?: boolean;
        allowCheckedOut?: boolean;
      },
  ): Promise<Applied & { commit: string | null; tree: string; onto: string; branch?: string }>;
}

/** What there is to say of a change. */
export interface Facts {
  /** 64 hexadecimal digits that name exactly this change. */
  digest: string;
  changes: ChangedFile[];
  /** What was not taken literally, in words. */
  notes: string[];
  /** In one line. */
  summary: string;
  /** The changes as a git diff. */
  diff: string;
}

/**
 * Applies a patch to files in memory, which stay as they are: what is at each path that changes, null where a file is gone.
 * Text for text; bytes as soon as one file is given as bytes.
 */
export function applyInMemory(
  files: Record<string, string>,
  patch: Text,
  options?: PatchOptions,
): Facts & { files: Record<string, string | null> };
export function applyInMemory(
  files: Record<string, Text>,
  patch: Text,
  options?: PatchOptions,
): Facts & { files: Record<string, Buffer | null> };

/** A file of a host program, such as an unsaved buffer of an editor. */
export interface HostFile {
  content: Text;
  /** Its permission bits; 0o644 unless set. */
  mode?: number;
  /** The host's number for this state of it. */
  version?: number;
}

/** What to do with one file of a host program. */
export interface FileEdit {
  path: string;
  toPath: string | null;
  operation: "create" | "update" | "delete" | "move";
  /** The number that the file had when it was read. */
  version: number | null;
  /** The whole text afterwards; null when it is deleted. */
  text: string | null;
  /** The same as the smallest replacements, as the Language Server Protocol has them. */
  edits: {
    range: { start: { line: number; character: number }; end: { line: number; character: number } };
    newText: string;
  }[];
}

/** Plans a patch for the files of a host program, which changes them itself. */
export function planOver(
  tree: { read(path: string): Text | HostFile | null | undefined | Promise<Text | HostFile | null | undefined> },
  patch: Text,
  options?: PatchOptions,
): Promise<Facts & { edits: FileEdit[] }>;

/** Applies a diff without headers, as the operations of the Responses API have them. */
export function applyDiff(input: string, diff: string, mode?: "default" | "create"): string;
export function applyDiff(input: Uint8Array, diff: string, mode?: "default" | "create"): Buffer;

/** The tree of a patch. */
export function parse(patch: Text, options?: PatchOptions): Record<string, unknown>;

/** A patch in another form. A diff needs the files that the patch is for. */
export function convert(
  patch: Text,
  to: "envelope" | "unified" | "git" | "openai" | (string & {}),
  options?: PatchOptions & { files?: Record<string, Text> },
): { text: string; warnings: string[] };

/** The file tools in the form of a provider's request. */
export function toolSpecs(
  provider: string,
  options?: {
    /** The patch tool alone. */
    patchOnly?: boolean;
    brief?: boolean;
    dialect?: "whole" | "codex" | "tight";
    grammar?: string;
    client?: "raw" | "python";
    maxCharacters?: number;
    /** Lets the model write text before the patch: the grammar binds the patch alone. */
    freeText?: boolean;
    /** Who may call the patch tool of OpenAI's Responses API. */
    allowedCallers?: ("direct" | "programmatic")[];
  },
): any;

/** What a model has to know of patches. */
export function prompt(options?: { dialect?: "whole" | "codex" | "tight"; channel?: "tool" | "argument" | "message" }): string;

/** The grammar for constrained decoding. */
export function grammar(format?: "lark" | "gbnf" | "ebnf" | "regex" | (string & {}), options?: { dialect?: "whole" | "codex" | "tight" }): string;

/** A grammar for some files as they are: every patch of it applies to them. */
export interface FittedGrammar {
  /** For llguidance. */
  lark(): string;
  /** For XGrammar. */
  ebnf(): string;
  /** For llama.cpp. */
  gbnf(): string;
  /** The arguments that a patch under the grammar is sent with. */
  readonly stub: { profile: "strict" | "codex"; expectedSha256ByPath: Record<string, string> };
  /** The files that the grammar leaves out of updates, a sentence each. */
  readonly notes: string[];
}

/** Makes a grammar for files, by path. */
export function fit(
  files: Record<string, Text>,
  options?: {
    /** The lines that hunks may show, from 1: those that the model saw. */
    lines?: Record<string, [number, number][]>;
    /** Further paths that exist: they can be deleted, and a new file is none of them. */
    paths?: string[];
    operations?: ("update" | "add" | "delete" | "move")[];
    /** The profile that the patch will be applied by. */
    profile?: "strict" | "codex";
  },
): FittedGrammar;

/** A patch that is still arriving. */
export class PatchStream {
  constructor(options?: PatchOptions);
  /** What the next part says: `begun`, `move_to`, `lines`, `finished`, `ended`, `failed`. */
  push(chunk: Text): ({ type: string } & Record<string, unknown>)[];
  end(): ({ type: string } & Record<string, unknown>)[];
}
