//! Flags that people know from git, patch and other tools, and what they mean here.

/// Flags, and what is said of them.
pub(super) type Foreign = (&'static [&'static str], &'static str);

/// The flags of `git apply`, `git am` and `patch`.
pub(super) const FLAGS: &[Foreign] = &[
    (
        &["-3", "--3way", "--merge"],
        "`--base-rev REV` carries the hunks from the files of that commit to those of today",
    ),
    (
        &["--ours", "--theirs", "--union"],
        "no side of a conflict is preferred: use `--base-rev REV`",
    ),
    (&["--reject", "--rej"], "`--partial` applies the files that fit, and keeps the others"),
    (
        &["-r", "--reject-file"],
        "no file of rejects is written: `--partial` applies the files that fit, and keeps the others",
    ),
    (&["--cached", "--index"], "`apply-patch git --onto REV` applies a patch to a commit"),
    (&["--intent-to-add"], "not needed: git's index is left alone"),
    (&["--revert"], "`-R` applies a patch in reverse, `apply-patch undo` undoes the last change"),
    (&["-f", "--force"], "nothing forces a patch on a file that it does not fit"),
    (
        &["-N", "--forward"],
        "`--skip-applied` leaves out what is applied already (in git: not needed, its index is left \
         alone)",
    ),
    (
        &["-F"],
        "no line of a hunk is overlooked; `--fuzz blanks` overlooks blanks, `--profile codex` also \
         typographic punctuation",
    ),
    (
        &["-l", "-w", "--ignore-whitespace", "--ignore-space-change"],
        "`--fuzz blanks` overlooks blanks at both ends of lines",
    ),
    (&["-d"], "`-C DIR` is the directory to work in"),
    (&["--input"], "name the file of the patch alone: `apply-patch FILE`"),
    (&["-o", "--output"], "files are changed in place; `-n` prints the diff, and writes nothing"),
    (
        &[
            "-b",
            "-B",
            "-Y",
            "--backup",
            "--backup-if-mismatch",
            "--basename-prefix",
            "--no-backup-if-mismatch",
            "--prefix",
            "--suffix",
            "--version-control",
        ],
        "not needed: `apply-patch undo` brings back the files as they were",
    ),
    (&["-E", "--remove-empty-files"], "not needed: a diff that deletes a file says so"),
    (
        &["-u", "--unified", "--binary", "--allow-binary-replacement", "--apply"],
        "not needed: the form of the patch is found in its text",
    ),
    (
        &["-c", "--context", "-e", "--ed", "--normal"],
        "context, normal and ed diffs are not read: make it with diff -u",
    ),
    (&["-s", "--silent"], "`-q` prints errors only"),
    (&["-t", "--batch"], "`--approve never` asks nothing; what does not fit is refused"),
    (&["--keep-cr"], "not needed: carriage returns of a patch and of files are kept"),
    (&["--atomic"], "not needed: all of a patch is applied, or nothing"),
    (&["-T", "-Z", "--set-time", "--set-utc"], "times of a diff are not given to files"),
    (&["-D", "--ifdef"], "nothing is merged into a file: `-n` prints the diff"),
    (&["-g", "--get", "--posix", "--quoting-style"], "not needed: leave it out"),
    (&["--unsafe-paths"], "nothing outside the root is changed: `-C DIR` is the root"),
    (&["--inaccurate-eof"], "the end of a file is taken as the diff has it: leave it out"),
    (&["--allow-overlap"], "hunks that change the same lines are written as one"),
    (&["--no-add"], "`--include GLOB` takes only the files that match"),
    (&["--signoff"], "no commit is made; `apply-patch git --onto REV` makes one"),
];

/// The flags of a patch to a commit.
pub(super) const BY_GIT: &[Foreign] = &[(
    &["-3", "--3way", "--merge"],
    "`--carry` carries the hunks from the files of the commit to those of the branch as it is now",
)];

/// The answer to a number of lines for `--fuzz`, as patch(1) wants one.
pub(super) const FUZZ: &str = "`--fuzz` names what may differ in a line, and no line is overlooked: one of none, trailing, \
     blanks, unicode";
