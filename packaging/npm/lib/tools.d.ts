// Made of the schemas of the tools by crates/api/tests/answers.rs.
import type { ChangedFile, CarriedHunk, Applied, ProposedFile } from "./answers";

/** The arguments of `read_file`. */
export interface ReadFileArguments {
  /** Give a binary file as base64. */
  allowBinary?: boolean;
  /** nextCursor of the last answer. */
  cursor?: string;
  /** Last line, included. */
  endLine?: number;
  /** Put its number and a tab before each line. */
  lineNumbers?: boolean;
  /** Most bytes of content (262144). */
  maxBytes?: number;
  /** Most bytes of the answer. */
  maxResultBytes?: number;
  /** File, from the workspace root. */
  path: string;
  /** First line, from 1. */
  startLine?: number;
  /** Put 12#kz| before each line, its number and tag, for edit_file. */
  tags?: boolean;
}

/** What `read_file` answers. */
export interface ReadFileData {
  /** Whether it is binary. */
  binary: boolean;
  /** The lines, ending in line feeds, without a byte-order mark. */
  content?: string;
  /** The bytes of a binary file. */
  contentBase64?: string;
  /** utf-8, or the charset that the content was decoded from, or unknown (content has U+FFFD for what is not UTF-8), or binary. */
  encoding: string;
  /** Last line given; less than startLine when there is none. */
  endLine: number;
  /** Whether it starts with a byte-order mark. */
  hasBom: boolean;
  /** Lines of the whole file. */
  lineCount: number;
  /** lf, crlf, mixed or none. */
  newlineStyle: "lf" | "crlf" | "mixed" | "none";
  /** Where to go on. */
  nextCursor?: string;
  /** The file; where a link leads. */
  path: string;
  /** SHA-256 of the whole file as it is on disk. */
  sha256: string;
  /** Bytes of the whole file. */
  sizeBytes: number;
  /** First line given. */
  startLine: number;
  /** The content was cut. */
  truncated: boolean;
}

/** The arguments of `list_directory`. */
export interface ListDirectoryArguments {
  /** nextCursor of the last answer. */
  cursor?: string;
  /** List hidden and ignored names too. */
  includeHidden?: boolean;
  /** How deep, recursively; at most 32. */
  maxDepth?: number;
  /** Most bytes of the answer. */
  maxResultBytes?: number;
  /** Directory; the workspace root by default. */
  path?: string;
  /** List what is beneath too. */
  recursive?: boolean;
}

export interface Entry {
  /** 1 for the directory's own entries. */
  depth: number;
  /** When its bytes changed last: RFC 3339, UTC. */
  mtime: string;
  /** Its name. */
  name: string;
  /** Its path beneath the workspace root. */
  relativePath: string;
  /** Bytes. */
  size: number;
  /** file, directory, symlink or other. */
  type: "file" | "directory" | "symlink" | "other";
}

/** What `list_directory` answers. */
export interface ListDirectoryData {
  /** By depth, then directories, files and links, then by name. */
  entries: Entry[];
  /** Where to go on. */
  nextCursor?: string;
  /** There is more. */
  truncated: boolean;
}

/** The arguments of `search_files`. */
export interface SearchFilesArguments {
  /** Lines around each match (0), at most 20. */
  contextLines?: number;
  /** nextCursor of the last answer. */
  cursor?: string;
  /** Leave out paths like these. */
  excludeGlobs?: string[];
  /** Look only at paths like these. */
  includeGlobs?: string[];
  /** Most bytes of the answer. */
  maxResultBytes?: number;
  /** Most results (100), at most 5000. */
  maxResults?: number;
  /** text (default), or regex, as Rust has it: in lines; path: in paths. */
  mode?: "path" | "text" | "regex";
  /** What to look for. */
  query: string;
  /** Directory to look in; the workspace root by default. */
  root?: string;
  /** Put tags before lines, as in read_file. */
  tags?: boolean;
}

export interface Match {
  /** The character in the line where the first match begins, from 1. */
  column?: number;
  /** The line, from 1. */
  line?: number;
  /** The path beneath the workspace root. */
  path: string;
  /** The line with its context, or the path. */
  preview: string;
}

/** What `search_files` answers. */
export interface SearchFilesData {
  /** In order of paths, then lines. */
  matches: Match[];
  /** Where to go on. */
  nextCursor?: string;
  /** There are more. */
  truncated: boolean;
}

/** The arguments of `glob`. */
export interface GlobArguments {
  /** nextCursor of the last answer. */
  cursor?: string;
  /** Patterns of paths to leave out. */
  excludeGlobs?: string[];
  /** Most bytes of the answer. */
  maxResultBytes?: number;
  /** Most results; 1000 by default, at most 5000. */
  maxResults?: number;
  /** Pattern of paths beneath root; `*` stays in a directory, `**` does not. */
  pattern: string;
  /** Directory to look in; the workspace root by default. */
  root?: string;
}

export interface FoundPath {
  /** The path beneath the workspace root. */
  path: string;
  /** file, directory, symlink or other. */
  type: "file" | "directory" | "symlink" | "other";
}

/** What `glob` answers. */
export interface GlobData {
  /** In order of paths. */
  matches: FoundPath[];
  /** Where to go on. */
  nextCursor?: string;
  /** There are more. */
  truncated: boolean;
}

/** The arguments of `create_file`. */
export interface CreateFileArguments {
  /** All of its text. */
  content: string;
  /** Make missing directories. */
  createParentDirectories?: boolean;
  /** Diff to show; none by default. */
  diff?: "none" | "stat" | "full";
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
  /** New file, relative to the workspace root. */
  path: string;
}

/** What `create_file` answers. */
export interface CreateFileData {
  /** Whether it was made. */
  created: boolean;
  /** The unified diff, or how many lines it has, when asked for. */
  diff?: string;
  /** The file. */
  path: string;
  /** Its hash. */
  sha256: string;
  /** The transaction, for undo. */
  transactionId: string;
}

/** The arguments of `write_file`. */
export interface WriteFileArguments {
  /** All of its new text. */
  content: string;
  /** Diff to show; none by default. */
  diff?: "none" | "stat" | "full";
  /** sha256 from read_file, empty if the file must not exist; by default the one that this session saw last. */
  expectedSha256?: string;
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
  /** File, from the workspace root. */
  path: string;
}

/** What `write_file` answers. */
export interface WriteFileData {
  /** Its hash now. */
  afterSha256: string;
  /** Its hash before. */
  beforeSha256?: string;
  /** The unified diff, or how many lines it has, when asked for. */
  diff?: string;
  /** The file. */
  path: string;
  /** The transaction, for undo; none when nothing changed. */
  transactionId?: string;
}

export interface Edit {
  /** Or the line to insert below; 0: the top. */
  after?: string;
  /** Replace all, if there are so many. */
  expectedOccurrences?: number;
  /** Or the first line to replace, 12#kz. */
  from?: string;
  /** What takes its place. */
  newText: string;
  /** Text in the file, exactly; enough of it to be there once. */
  oldText?: string;
  /** Replace it wherever it is. */
  replaceAll?: boolean;
  /** The last line to replace. */
  to?: string;
}

/** The arguments of `edit_file`. */
export interface EditFileArguments {
  /** false: refuse a file changed since. */
  carry?: boolean;
  /** Diff to show; none by default. */
  diff?: "none" | "stat" | "full";
  /** Replacements; all are matched against the file before the call. */
  edits: Edit[];
  /** sha256 from read_file; by default what this session saw last. */
  expectedSha256?: string;
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
  /** File, from the workspace root. */
  path: string;
}

/** What `edit_file` answers. */
export interface EditFileData {
  /** Its hash now. */
  afterSha256: string;
  /** How many edits were made. */
  appliedEdits: number;
  /** Its hash before. */
  beforeSha256: string;
  /** The edits that were carried to the file, which had changed since it was read, and where they went. */
  carried?: CarriedHunk[];
  /** The unified diff, or how many lines it has, when asked for. */
  diff?: string;
  /** The file. */
  path: string;
  /** How many places were replaced. */
  replacements: number;
  /** The transaction, for undo; none when others had made the same edits. */
  transactionId?: string;
}

/** The arguments of `delete_file`. */
export interface DeleteFileArguments {
  /** Diff to show; none by default. */
  diff?: "none" | "stat" | "full";
  /** sha256 from read_file. */
  expectedSha256?: string;
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
  /** File, link or directory, relative to the workspace root. */
  path: string;
  /** Keep nothing in the trash: it cannot be restored. */
  permanent?: boolean;
  /** Delete a directory with all in it. */
  recursive?: boolean;
}

/** What `delete_file` answers. */
export interface DeleteFileData {
  /** The hash that the file had; none for a directory. */
  beforeSha256?: string;
  /** Whether it is gone. */
  deleted: boolean;
  /** How many files went. */
  deletedFiles: number;
  /** The unified diff, or how many lines it has, when asked for. */
  diff?: string;
  /** What is gone. */
  path: string;
  /** The transaction, for undo; none when it is gone for good. */
  transactionId?: string;
  /** Where restore_file finds it; none when it is gone for good, or had no files. */
  trashedTo?: string;
}

/** The arguments of `restore_file`. */
export interface RestoreFileArguments {
  /** Where to, if not to its old path. */
  targetPath?: string;
  /** Instead of trashedPath: TRANSACTION/NUMBER. */
  trashId?: string;
  /** trashedTo of delete_file, apply_patch or move_file. */
  trashedPath?: string;
}

/** What `restore_file` answers. */
export interface RestoreFileData {
  /** Where; the first one of several. */
  path: string;
  /** Whether it is back. */
  restored: boolean;
  /** How many files are back. */
  restoredFiles: number;
  /** Its hash. */
  sha256: string;
  /** The transaction, for undo. */
  transactionId: string;
}

/** The arguments of `move_file`. */
export interface MoveFileArguments {
  /** sha256 of the file, from read_file; by default what this session saw last. */
  expectedSha256?: string;
  /** File, from the workspace root. */
  fromPath: string;
  /** Replace a file at toPath; the trash keeps it. */
  overwrite?: boolean;
  /** Its new path, in an existing directory. */
  toPath: string;
}

/** What `move_file` answers. */
export interface MoveFileData {
  /** Its path before. */
  fromPath: string;
  /** Whether it has its new path. */
  moved: boolean;
  /** Where the file is kept that it replaced. */
  overwroteTrashedTo?: string;
  /** Its hash. */
  sha256: string;
  /** Its path now. */
  toPath: string;
  /** The transaction, for undo. */
  transactionId: string;
}

export interface ExpectedFile {
  /** The file. */
  path: string;
  /** sha256 from read_file; empty: no such file. */
  sha256: string;
}

/** The arguments of `apply_patch`. */
export interface ApplyPatchArguments {
  /** patchId of a refused patch, for files not in this one. */
  amend?: string;
  /** All sections or none; true by default. */
  atomic?: boolean;
  /** false: refuse a file changed since. */
  carry?: boolean;
  /** Make missing directories. */
  createParentDirectories?: boolean;
  /** Diff to show; none by default, full for a dryRun. */
  diff?: "none" | "stat" | "full";
  /** Only tell what would change. */
  dryRun?: boolean;
  /** Files as you read them; refused if changed since. */
  expectedSha256ByPath?: ExpectedFile[];
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
  /** Apply the sections that fit; keep the others (patchId). */
  partial?: boolean;
  /** Patch, from `*** Begin Patch` to `*** End Patch`. */
  patch: string;
  /** standard (default): exact. strict: the envelope alone. codex: headers are anchors, blanks may differ, files may be replaced. */
  profile?: "strict" | "standard" | "codex";
  /** Omit what is applied already. */
  skipApplied?: boolean;
}

/** The arguments of `edit.patch`. */
export interface EditPatchArguments {
  /** Let the patch delete files; false by default. */
  allow_delete?: boolean;
  /** Let the patch move files; true by default. */
  allow_move?: boolean;
  /** false: refuse a file changed since. */
  carry?: boolean;
  /** Only tell what would change. */
  dry_run?: boolean;
  /** Patch, from `*** Begin Patch` to `*** End Patch`. */
  patch: string;
  /** Directory that paths are relative to; the workspace root by default. */
  workspace_root?: string;
}

/** What `edit.patch` answers. */
export interface EditPatchData {
  /** The hunks that were carried to files that had changed since they were read, and where they went. */
  carried?: CarriedHunk[];
  /** Why not, in one line. */
  error?: string;
  /** What was overlooked, and what a reader should know. */
  notes?: string[];
  /** Whether it was applied, or would be. */
  ok: boolean;
  /** How many files were added, modified, deleted and renamed: `A 1, M 2, D 0, R 0`. */
  summary?: string;
}

/** The arguments of `undo`. */
export interface UndoArguments {
  /** Diff to show; none by default. */
  diff?: "none" | "stat" | "full";
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
  /** Only these files of it. */
  paths?: string[];
  /** transactionId of the answer to undo. */
  transactionId?: string;
}

/** What `undo` answers. */
export interface UndoData {
  /** The files that changed. */
  changedFiles: ChangedFile[];
  /** The transaction that did it; undo it to have the changes again. None if there was nothing to change. */
  transactionId?: string;
  /** Diffs or files are left out. */
  truncated?: boolean;
  /** What was undone. */
  undoOf: string;
}

/** The arguments of `undo_turn`. */
export interface UndoTurnArguments {
  /** Diff to show; none by default. */
  diff?: "none" | "stat" | "full";
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
}

/** What `undo_turn` answers. */
export interface UndoTurnData {
  /** The files that changed. */
  changedFiles: ChangedFile[];
  /** The transaction that did it; undo it to have the changes again. None if there was nothing to change. */
  transactionId?: string;
  /** Diffs or files are left out. */
  truncated?: boolean;
  /** What was undone. */
  undoOf: string;
}

/** The arguments of `propose`. */
export interface ProposeArguments {
  /** Files as you read them; refused if changed since. */
  expectedSha256ByPath?: ExpectedFile[];
  /** Most bytes of the answer (8192). */
  maxResultBytes?: number;
  /** Patch, from `*** Begin Patch` to `*** End Patch`. */
  patch: string;
  /** Why it is wanted, for who decides. */
  reason?: string;
}

/** What `propose` answers. */
export interface ProposeData {
  /** The files that it would change, in order. */
  changedFiles: ChangedFile[];
  /** What was overlooked, and what a reader should know. */
  notes?: string[];
  /** Its id, for `proposal`. */
  proposalId: string;
  /** Why a person is asked, beside that it was proposed. */
  reasons?: string[];
  /** proposed: nothing is changed yet. */
  state: string;
  /** Diffs or files are left out. */
  truncated?: boolean;
}

/** The arguments of `proposal`. */
export interface ProposalArguments {
  /** proposalId. */
  id: string;
  /** Why it is given up. */
  reason?: string;
  /** Give it up: it is not wanted any more. */
  withdraw?: boolean;
}

/** What `proposal` answers. */
export interface ProposalData {
  /** The agent of that session. */
  agent?: string;
  /** The call that made it, as the caller names it. */
  callId?: string;
  /** When it was decided. */
  decided?: string;
  /** Why it was declined. */
  decidedWhy?: string;
  /** The plan that was shown. */
  digest: string;
  /** The directory of the project to which its paths are relative. */
  directory?: string;
  /** The files that it changes. */
  files: ProposedFile[];
  /** Its id. */
  proposalId: string;
  /** Why a person is asked. */
  reasons?: string[];
  /** The session that made it. */
  session: string;
  /** proposed, approved, declined, withdrawn or expired. */
  state: string;
  /** When it was made. */
  time: string;
  /** The transactions of what was approved, for undo. */
  transactionIds?: string[];
  /** The turn in which it was made. */
  turnId?: string;
  /** Why it was made. */
  why?: string;
}

/** The arguments and the answer of each tool. */
export interface Tools {
  "read_file": [ReadFileArguments, ReadFileData];
  "list_directory": [ListDirectoryArguments, ListDirectoryData];
  "search_files": [SearchFilesArguments, SearchFilesData];
  "glob": [GlobArguments, GlobData];
  "create_file": [CreateFileArguments, CreateFileData];
  "write_file": [WriteFileArguments, WriteFileData];
  "edit_file": [EditFileArguments, EditFileData];
  "delete_file": [DeleteFileArguments, DeleteFileData];
  "restore_file": [RestoreFileArguments, RestoreFileData];
  "move_file": [MoveFileArguments, MoveFileData];
  "apply_patch": [ApplyPatchArguments, Applied];
  "edit.patch": [EditPatchArguments, EditPatchData];
  "undo": [UndoArguments, UndoData];
  "undo_turn": [UndoTurnArguments, UndoTurnData];
  "propose": [ProposeArguments, ProposeData];
  "proposal": [ProposalArguments, ProposalData];
}
