/** Text, or bytes; text counts as UTF-8. */
export type Text = string | Uint8Array;

import type {
  Applied, Candidate, ChangedBy, ChangedFile, Committed, ErrorDetails, ErrorKind, Event, FailedCall, Hint, KeptProposal, KeptProposals, Log, NetChanges, ParsedPatch, PlannedProposal, StreamEvent, TurnSummary, Undone,
} from "./answers";
import type { EditPatchData, Tools } from "./tools";

export * from "./answers";
export * from "./tools";

/** Why a call failed. Unless `kind` and `details` say otherwise, nothing was changed. */
export class PatchError extends Error {
  readonly kind: ErrorKind;
  /** The file it is about. */
  readonly path?: string;
  /** What else is known; `reason` and `rejects` above all. */
  readonly details: ErrorDetails;
  /** A finer word than the kind, if there is one. */
  readonly reason?: string;
  /** What the caller can do about it: alternatives, the best one first. */
  readonly hints: Hint[];
  /** Whether the caller can correct the request and try again. */
  readonly recoverable: boolean;
  /** The hints in words, for a person or a model. */
  readonly suggestedNextAction?: string;
}

/** The text is not a patch: `details` has `line`, `column`, `expected` and `seen`. */
export class ParseError extends PatchError {
  readonly kind: "patch_parse_error";
}
/** The patch does not fit the files. */
export class DoesNotApply extends PatchError {}
/** A hunk has no place, or the sections do not go together: `details` has `hunkIndex`, `patchLine` and `nearest`. */
export class ApplyError extends DoesNotApply {
  readonly kind: "patch_apply_error";
}
/** A hunk or an edit fits in several places. */
export class MultipleMatches extends DoesNotApply {
  readonly kind: "multiple_matches";
  /** The places, each with the lines that tell it from the others. */
  readonly places: Candidate[];
}
/** There is no such file, transaction or entry of the trash. */
export class NotFound extends DoesNotApply {
  readonly kind: "not_found";
  /** A path that is there, and much like it. */
  readonly didYouMean?: string;
}
/** Something is at the path already. */
export class AlreadyExists extends DoesNotApply {
  readonly kind: "already_exists";
}
/** A file that is to be edited is not text. */
export class BinaryFile extends DoesNotApply {
  readonly kind: "binary_file";
}
/** The text that an edit replaces is not in the file. */
export class OldTextNotFound extends DoesNotApply {
  readonly kind: "old_text_not_found";
}
/** Two hunks or edits change the same lines. */
export class OverlappingEdits extends DoesNotApply {
  readonly kind: "overlapping_edits";
}
/** A file is not what was expected. The SHA-256 are empty for no file. */
export class StaleFile extends PatchError {
  readonly kind: "stale_file";
  readonly expected?: string;
  readonly actual?: string;
  /** Who changed the file last, where that can be found out. */
  readonly changedBy?: ChangedBy;
}
/** The path leads out of the workspace, or the change is against the rules or not approved. */
export class Refused extends PatchError {}
/** The path leads out of the workspace. */
export class OutsideWorkspace extends Refused {
  readonly kind: "outside_workspace";
}
/** The rules, or the operating system, forbid it. */
export class PermissionDenied extends Refused {
  readonly kind: "permission_denied";
}
/** `approve` said no. */
export class Declined extends PermissionDenied {
  readonly reason: "declined";
}
/** A file or a patch is larger than the limit. */
export class FileTooLarge extends PatchError {
  readonly kind: "file_too_large";
}
/** The request makes no sense, `verify` did not accept the change (`details` has `command`, `exitCode`, `output`), or a system call failed. */
export class CommandFailed extends PatchError {
  readonly kind: "command_failed";
}
/** Another process has kept the lock of the workspace for too long. */
export class Timeout extends PatchError {
  readonly kind: "timeout";
}
/** The call was given up before the commit point. One that a `signal` gives up rejects with the reason of the signal. */
export class Cancelled extends PatchError {
  readonly kind: "cancelled";
}
/** None of the others. */
export class Unknown extends PatchError {
  readonly kind: "unknown";
}

/** Every error of a call, for a `switch` over `kind`. */
export type AnyPatchError =
  | ParseError | ApplyError | MultipleMatches | NotFound | AlreadyExists | BinaryFile | OldTextNotFound | OverlappingEdits
  | StaleFile | OutsideWorkspace | PermissionDenied | FileTooLarge | CommandFailed | Timeout | Cancelled | Unknown;

/** The rules of planning; made of the table of settings by crates/api/tests/types.rs. */
export interface PatchSettings {
  /** The preset of the rules of planning. */
  profile?: "strict" | "standard" | "codex";
  /** What may differ when a hunk is located. */
  fuzz?: "none" | "trailing" | "blanks" | "unicode";
  /** What to do with a hunk that fits in several places. */
  ambiguous?: "reject" | "first";
  /** Whether hunks and sections that are applied already are left out. */
  skipApplied?: boolean;
  /** Whether the line numbers of a diff without context decide. */
  unidiffZero?: boolean;
  /** Whether missing directories are made. */
  createParents?: boolean;
  /** Whether added and moved files may replace others. */
  overwrite?: boolean;
  /** Whether files may be deleted. */
  allowDelete?: boolean;
  /** Whether files may be moved. */
  allowMove?: boolean;
  /** Whether lines may be written that stand for lines that are left out, as `# ... existing code ...`. */
  allowPlaceholders?: boolean;
  /** What is done about whitespace errors in inserted lines. */
  whitespace?: "error" | "fix" | "warn" | "nowarn";
  /** What is a whitespace error, as in git's `core.whitespace`. */
  whitespaceRules?: string;
  /** What is done about a JSON, TOML or YAML file that does not parse any more. */
  syntax?: "refuse" | "warn" | "off";
  /** The charsets of files, each as `GLOB=LABEL`. */
  encoding?: string[];
  /** The largest file that is read or written. In bytes. */
  maxFileSize?: number;
  /** How many file operations a patch may have. */
  maxOperations?: number;
}

/** The settings of a workspace; made of the same table. */
export interface WorkspaceSettings extends PatchSettings {
  /** What a commit survives: power loss, a kill, or neither. */
  durability?: "full" | "process" | "none";
  /** When a person is asked: always (`ask`), or where a file is deleted, replaced whole or guarded (`auto`). */
  approve?: "ask" | "auto" | "never";
  /** More paths that are never touched. */
  forbidden?: string[];
  /** Paths that are not forbidden after all. */
  allowForbidden?: string[];
  /** More paths that make other programs run code. */
  guarded?: string[];
  /** Guarded paths that may be changed. */
  allow?: string[];
  /** Which names new files may have. */
  names?: "portable" | "native";
  /** What to do with a file that has several hard links. */
  hardLinks?: "refuse" | "break";
  /** How long to wait for another process. In seconds. */
  lockTimeout?: number;
  /** Whether the state directory may be one that others may enter. */
  acceptOpenState?: boolean;
  /** How much room snapshots may take; none are kept at 0. In bytes. */
  maxSnapshots?: number;
  /** Where the state directory is: in the project, or with the user, out of reach of `git clean`. */
  state?: "project" | "user";
  /** Commands that have to accept changed files; otherwise all is put back. */
  verify?: string | Record<string, string>;
  /** Commands that format new files before a plan is shown: each reads a file and prints it, and `APPLY_PATCH_FILE` has its path. */
  formatWith?: string | Record<string, string>;
  /** How long each command may take. In seconds. */
  verifyTimeout?: number;
  /** How long displaced files are kept: an age, a size, a number of transactions, or several of them, as `30d, 1GiB`. Each has its unit. */
  trashKeep?: string;
  /** How long a proposal waits for a decision, and how long the decision is kept then: an age, a size, a number of proposals, or several of them, as `30d, 64MiB`. Each has its unit. */
  proposalKeep?: string;
}

/** How a patch is read and planned. What is left open is as the profile has it. */
export interface PatchOptions extends PatchSettings {
  /** What the text is; `auto` finds the one patch or diff in it. */
  from?: "auto" | "envelope" | "unified" | "openai" | "blocks" | "edits" | "files";
  /** Which patch of several is meant, from 1. With `auto` only. */
  part?: number | "all";
  /** How many leading parts of the paths of a diff are left out. */
  strip?: number;
  /** Leave out the binary files of a diff whose bytes it does not have. */
  skipBinary?: boolean;
  /** Take the hunks of a diff as they stand, whatever their numbers promise. */
  recount?: boolean;
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

/**
 * The settings hold for what the options of a patch leave open, and for the calls of tools. Unless `approve` is set,
 * every call that has an `approve` asks it.
 */
export interface WorkspaceOptions extends WorkspaceSettings {
  /** The session's name; what it has read is remembered under it. A random one unless set. */
  session?: string;
  /** Who asks for the changes, for the log. */
  agent?: string;
  /** About how many bytes of JSON an answer of a tool may have. */
  maxOutput?: number;
  /** Whether the tool `undo_turn` can be called. */
  undoTurn?: boolean;
}

/** What is undone. */
export interface UndoOptions {
  /** Only these files of the transaction. */
  paths?: string[];
  /** All that this session did, as one, in place of a transaction. */
  session?: string;
  /** A transaction and all that followed it, or all since a time (`2h`, `2026-11-26`), as one. */
  since?: string;
  /** All of this turn, as one: its name, or `SESSION/NAME`. */
  turn?: string;
  carry?: boolean;
  diff?: "none" | "stat" | "full";
}

/** What is redone. */
export interface RedoOptions {
  carry?: boolean;
  diff?: "none" | "stat" | "full";
}

/** Transactions to show as one: exactly one of the names. */
export interface NetOptions {
  /** A session: its name, or the beginning of it. */
  session?: string;
  /** A transaction and all later ones, or all since a time (`2h`, `2026-11-26`). */
  since?: string;
  /** A turn: its name, or `SESSION/NAME`. */
  turn?: string;
  /** The first and the last transaction: `ID..ID`. */
  range?: string;
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
  /** The changes as a git diff. When a file was changed meanwhile, nobody is asked, and the call fails with `stale_file`. */
  diff: string;
  /** What a reader should know about the plan, as that a file does not parse any more. */
  notes: string[];
  /** Why it is asked, in words; there need not be a reason. */
  reasons: string[];
}

/**
 * Yes, no, or yes also to what does no more to the same files later: until the turn ends, or the session. A patch is applied in place of
 * the one that was proposed: as a person has edited it.
 */
export type Decision = boolean | "turn" | "session" | { patch: Text };

export interface Callbacks {
  /** Decides about exactly the plan that is committed. */
  approve?: (proposal: Proposal) => Decision | Promise<Decision>;
  /** Receives what happens: the objects of `apply-patch --events jsonl`. */
  observe?: (event: Event) => void;
  /** Gives the call up until the commit point: it rejects with the reason of the signal, and nothing is changed. */
  signal?: AbortSignal;
}

/** The file tools that an SDK gets. */
export interface ChosenTools {
  /** The names of those that are wanted; all, unless given. */
  only?: Iterable<string>;
  /** Whether their descriptions are short; true, unless given. */
  brief?: boolean;
}

/** The answer of a file tool that did it. */
export interface Succeeded<Data = Record<string, unknown>> {
  ok: true;
  output: string;
  data: Data;
  /** What was taken in another form than it was sent in. */
  normalised?: string[];
  /** What is wrong with the new files. */
  warnings?: string[];
}

/** The answer of a file tool. */
export type ToolAnswer<Data = Record<string, unknown>> = Data extends EditPatchData ? Data : Succeeded<Data> | FailedCall;

/** The name of a file tool, or a text that is one. */
export type ToolName = keyof Tools | (string & {});

/** The arguments of a tool: exactly its own, where its name is known. */
export type ToolArguments<Name extends string> = Name extends keyof Tools ? [args: Tools[Name][0]] : [args?: Record<string, unknown>];

/** What a tool answers. */
export type AnswerOf<Name extends string> = ToolAnswer<Name extends keyof Tools ? Tools[Name][1] : Record<string, unknown>>;

/** The changes of a workspace between the beginning and the end of a piece of work. */
export interface Turn {
  /** Its name. */
  readonly id: string;
  /** What it has changed so far; after its end, what it changed. */
  soFar(): Promise<TurnSummary>;
  /** Undoes all of it, as one. */
  undo(options?: Pick<UndoOptions, "carry" | "diff"> & Callbacks): Promise<Undone>;
}

/** A directory, with a session: what it reads is remembered, so that no file is overwritten unseen. */
/** What a person has to see of a proposal. */
export interface ShownProposal {
  proposalId: string;
  state: KeptProposal["state"];
  files: KeptProposal["files"];
  /** As it would be now. */
  diff: string;
  /** What `approve` takes to commit exactly this. */
  digest: string;
  /** It is not what was shown when it was proposed. */
  differs: boolean;
  why?: string;
  reasons?: string[];
  /** Why it does not apply any more. */
  error?: string;
}

export class Workspace {
  /** @throws {PatchError} when the directory cannot be used. */
  constructor(root: string, options?: WorkspaceOptions);
  readonly root: string;
  readonly session: string;
  /** Plans a patch; nothing is written. */
  plan(patch: Text, options?: PatchOptions & { signal?: AbortSignal }): Promise<Plan>;
  planSync(patch: Text, options?: PatchOptions): Plan;
  /** Applies a patch, all or nothing. */
  apply(patch: Text, options?: PatchOptions & Callbacks): Promise<Applied>;
  /** Applies exactly this plan, or fails with `stale_file`. */
  apply(plan: Plan, callbacks?: Callbacks): Promise<Applied>;
  applySync(patch: Text, options?: PatchOptions): Applied;
  applySync(plan: Plan): Applied;
  /** Undoes a transaction; the last one that is not undone, unless named. */
  undo(id?: string, options?: UndoOptions & Callbacks): Promise<Undone>;
  undoSync(id?: string, options?: UndoOptions): Undone;
  /** Reverses an undo. */
  redo(id?: string, options?: RedoOptions & Callbacks): Promise<Undone>;
  redoSync(id?: string, options?: RedoOptions): Undone;
  /**
   * Makes all changes of this session during `work` one turn: one diff, one entry of the log, one undo. When `work` throws, the turn
   * ends, and what it changed stays, unless it is undone; `approve` is asked about that.
   */
  turn<Value>(
    work: (turn: Turn) => Value | Promise<Value>,
    options?: { name?: string; undoOnError?: boolean; approve?: Callbacks["approve"] },
  ): Promise<TurnSummary & { value: Value }>;
  /** Begins a turn, and returns its name. One of a session is open at a time. */
  beginTurn(name?: string): string;
  /** What the open turn has changed so far; null if none is open. */
  turnSoFar(): Promise<TurnSummary | null>;
  /** Ends the turn, and tells what it changed. */
  endTurn(): Promise<TurnSummary>;
  /** The newest transactions first, of one session (its name, or the beginning of it) or of all. */
  log(options?: { maxCount?: number; diff?: boolean; session?: string }): Promise<Log>;
  /** What several transactions changed, as one diff, without what others changed between them. */
  netChanges(options: NetOptions): Promise<NetChanges>;
  /** Keeps a patch for a person to decide about later; nothing is changed. */
  propose(patch: Text, options?: PatchOptions & { why?: string }): Promise<PlannedProposal>;
  /** The proposals of the project, the newest first. */
  proposals(): Promise<KeptProposals>;
  /** A proposal, and what it would do now; any beginning of its id names it. */
  proposal(id: string): Promise<PlannedProposal>;
  /**
   * Commits what was shown when it was proposed, or the plan with this digest. Rejects with `stale_file` when the files have changed
   * and so has the result: `details` has its `digest` and `changedFiles`.
   */
  approve(id: string, options?: { digest?: string } & Pick<Callbacks, "observe" | "signal">): Promise<Applied>;
  /** Declines a proposal: a person decides. */
  decline(id: string, why?: string): Promise<KeptProposal>;
  /** Calls a file tool: its answer, also when it failed. `toolSpecs` has the names and arguments. */
  call<Name extends ToolName>(tool: Name, ...rest: [...ToolArguments<Name>, callbacks?: Callbacks]): Promise<AnswerOf<Name>>;
  /**
   * Calls a file tool, and keeps a change as a proposal in place of making it: the answer's error has `proposalId` and `state` in its
   * `details`. The same `callId` is answered with the same proposal, whatever became of it.
   */
  callLater<Name extends ToolName>(
    tool: Name, args: ToolArguments<Name>[0], callId: string, options?: Pick<Callbacks, "observe" | "signal">,
  ): Promise<AnswerOf<Name>>;
  callSync<Name extends ToolName>(tool: Name, ...args: ToolArguments<Name>): AnswerOf<Name>;
}

/** The files of a commit in a git repository, without a checkout. */
export class GitTree {
  constructor(repository: string, revision: string, options?: WorkspaceOptions);
  /** Another commit of the same repository, which shares what was read of it. */
  at(revision: string): GitTree;
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
  ): Promise<Committed>;
}

/** What there is to say of a change. */
export interface Facts {
  /** 64 hexadecimal digits that name exactly this change. */
  readonly digest: string;
  readonly changes: ChangedFile[];
  /** What was not taken literally, in words. */
  readonly notes: string[];
  /** In one line. */
  readonly summary: string;
  /** The changes as a git diff. */
  readonly diff: string;
}

/**
 * Applies a patch to files in memory, which stay as they are: what is at each path that changes, null where a file is gone.
 * All else that the answer has is made when one of it is first read, which takes twice as long as the change. They are enumerable
 * getters until then and values after it: `JSON.stringify`, `structuredClone` and a spread read them. Until then the answer keeps the files
 * and the patch in memory.
 * Text for text; bytes as soon as one file is given as bytes, and for what is not UTF-8.
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

/**
 * Applies each patch to its own files in memory, on all processors or as many `workers`: in order, what `applyInMemory` returns for
 * each item, or the error that it throws.
 */
export function applyMany(
  items: Iterable<{ files: Record<string, string>; patch: Text }>,
  options?: PatchOptions & { workers?: number; signal?: AbortSignal },
): Promise<((Facts & { files: Record<string, string | null> }) | AnyPatchError)[]>;
export function applyMany(
  items: Iterable<{ files: Record<string, Text>; patch: Text }>,
  options?: PatchOptions & { workers?: number; signal?: AbortSignal },
): Promise<((Facts & { files: Record<string, string | Buffer | null> }) | AnyPatchError)[]>;

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
export function parse(patch: Text, options?: PatchOptions): ParsedPatch;

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

/**
 * A grammar for some files as they are: every patch of it applies to them, unless it has a hunk that
 * is applied already.
 */
export interface FittedGrammar {
  /** For llguidance. */
  lark(): string;
  /** For XGrammar. */
  ebnf(): string;
  /** For llama.cpp. */
  gbnf(): string;
  /** The arguments that a patch under the grammar is sent with. */
  readonly stub: { profile: "strict" | "standard" | "codex"; expectedSha256ByPath: Record<string, string> };
  /** The files that the grammar leaves out of updates, a sentence each. */
  readonly notes: string[];
}

/** Makes a grammar for files, by path. */
export function fit(
  files: Record<string, Text>,
  options?: {
    /** The lines that hunks may show, from 1: those that the model saw. */
    lines?: Record<string, [number, number][]>;
    /** Paths that exist: they can be deleted, and a new file is none of them. */
    paths?: string[];
    operations?: ("update" | "add" | "delete" | "move")[];
    /** The profile that the patch will be applied by. */
    profile?: "strict" | "standard" | "codex";
    /** The notation whose engine has to take the grammar: "lark" unless told. */
    format?: "lark" | "ebnf" | "gbnf";
  },
): FittedGrammar;

/**
 * The tokens of a model: for each id the bytes that it adds to the output, and the ids that end an output. A token with null or without bytes
 * is never allowed. Make one for a model.
 */
export class Vocabulary {
  /** @throws {RangeError} for an id of `end` that is beyond the tokens. */
  constructor(tokens: Iterable<Text | null | undefined>, end: Iterable<number>);
  /** The number of ids. */
  readonly size: number;
  /** The length of a mask, in words of 32 bits. */
  readonly maskLength: number;
}

/** Files as they are now, prepared for the patches that may be written for them. */
export class BoundFiles {
  /** @throws {RangeError} for a file that no patch can show, and if no patch is possible. */
  constructor(
    files: Record<string, Text>,
    options?: {
      /** Further paths of the workspace, with which new files must not collide. */
      paths?: Iterable<string>;
      /** The kinds of sections: `update`, unless given. */
      operations?: Iterable<"update" | "add" | "delete" | "move">;
    },
  );
}

/** Follows one output token by token, and tells which tokens may follow. An output that ends applies to the files. */
export class Matcher {
  /** @throws {RangeError} if so few added lines cannot make a patch. */
  constructor(
    vocabulary: Vocabulary,
    files: BoundFiles,
    options?: {
      /** How many lines the whole output may add. */
      maxAddedLines?: number;
    },
  );
  /**
   * Writes the mask of the tokens that may follow into an array, or makes one. The bit of token `id` is bit `id & 31` of word `id >> 5`. What
   * the array has beyond the mask is cleared. With `maxTokensLeft`, only tokens after which the patch can be finished in time are in it; the
   * token itself counts, and the one that ends the output. @throws {RangeError} if there are too few.
   */
  allowed(mask?: undefined, options?: { maxTokensLeft?: number }): Uint32Array;
  allowed<Mask extends ArrayBufferView>(mask: Mask, options?: { maxTokensLeft?: number }): Mask;
  /**
   * Gives the tokens that may not follow the logit minus infinity, in place; those beyond the vocabulary too. Returns the share of the
   * probability that they had if the next byte is in the text of an old line: where it is above 0.9, the model means another text.
   */
  maskLogits(logits: Float32Array, options?: { maxTokensLeft?: number }): number | undefined;
  /** Takes the next token. @throws {RangeError} if it may not follow; the matcher stays as it was. */
  accept(token: number): void;
  /** The next bytes that have no alternative, for an engine to add without the model. */
  forced(): Buffer;
  /** Takes back the last tokens, or all if there are fewer. Returns their number. */
  rollback(tokens: number): number;
  /** A matcher with the same output so far. */
  copy(): Matcher;
  /** Whether the output is a whole patch. */
  readonly isFinished: boolean;
  /** Whether the next byte is in the text of an old line. */
  readonly isInOldLine: boolean;
  /** Whether the output has ended with one of the `end` ids. */
  readonly hasEnded: boolean;
  /** The output so far. */
  readonly text: Buffer;
}

/** A patch that is still arriving. */
export class PatchStream {
  constructor(options?: PatchOptions);
  /** What the next part says: `begun`, `move_to`, `lines`, `finished`, `ended`, `failed`. */
  push(chunk: Text): StreamEvent[];
  end(): StreamEvent[];
}
