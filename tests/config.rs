//! Configuration: flags, environment, the user's file, the workspace's file, and what `doctor` says
//! of them.

use std::fs;
use std::path::Path;

use crate::program::{Run, clean};
use testutils::temp::temp;

const UPDATE: &str = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n";
/// Fits only when blanks are overlooked.
const LOOSE: &str = "*** Begin Patch\n*** Update File: a\n@@\n-  x\n+  y\n*** End Patch\n";
const DELETE: &str = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";

struct Place(tempfile::TempDir);

impl Place {
    fn new(user: &str, workspace: &str, patch: &str) -> Self {
        let dir = temp();
        for folder in ["w/apply-patch", "config/apply-patch"] {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        fs::write(dir.path().join("w/a"), "x\n").expect("a file");
        fs::write(dir.path().join("p"), patch).expect("a file");
        for (path, text) in
            [("config/apply-patch/config.toml", user), ("w/.apply-patch.toml", workspace)]
        {
            if !text.is_empty() {
                fs::write(dir.path().join(path), text).expect("a file");
            }
        }
        Self(dir)
    }

    fn run(&self, name: &str, environment: &[(&str, &str)], args: &[&str]) -> Run {
        // The tests may run on a terminal, and nobody is to be asked there.
        let program = self.0.path().join(name);
        if !program.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_apply-patch"), &program)
                .expect("a link");
        }
        let run = clean("setsid")
            .arg("-w")
            .arg(program)
            .args(args)
            .current_dir(self.0.path().join("w"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path())
            .env("XDG_STATE_HOME", self.0.path().join("state"))
            .env("XDG_CONFIG_HOME", self.0.path().join("config"))
            .envs(environment.iter().copied())
            .output();
        run.expect("the program runs").into()
    }

    fn root(&self) -> &Path {
        self.0.path()
    }
}

#[test]
fn the_nearest_source_decides_and_the_workspace_only_tightens() {
    let fuzz = |word: &str| format!("fuzz = \"{word}\"\n");
    for (user, environment, workspace, flags, applies) in [
        ("", None, "", &[][..], false),
        (&*fuzz("blanks"), None, "", &[], true),
        (&fuzz("blanks"), Some("none"), "", &[], false),
        (&fuzz("none"), Some("blanks"), "", &[], true),
        (&fuzz("none"), Some("none"), "", &["--fuzz", "blanks"], true),
        ("", None, &fuzz("none"), &["--fuzz", "blanks"], false),
        ("", None, "profile = \"strict\"\n", &["--profile", "codex"], false),
        ("profile = \"codex\"\n", None, "", &[], true),
        ("profile = \"codex\"\n", None, &fuzz("trailing"), &[], false),
        // What bounds does not loosen.
        ("", None, &fuzz("blanks"), &[], false),
    ] {
        let place = Place::new(user, workspace, LOOSE);
        let environment: Vec<_> =
            environment.into_iter().map(|word| ("APPLY_PATCH_FUZZ", word)).collect();
        let run = place.run("apply-patch", &environment, &[&["--check", "../p"], flags].concat());
        assert_eq!(
            run.code == 0,
            applies,
            "{user:?} {environment:?} {workspace:?} {flags:?}: {run:#?}"
        );
        let overruled = !workspace.is_empty() && !flags.is_empty();
        assert_eq!(run.stderr.contains("note: `"), overruled, "{run:#?}");
    }
}

#[test]
fn patterns_add_up_and_bounds_hold_for_every_way_in() {
    for (user, workspace, patch, args, code) in [
        ("", "forbidden = [\"a\"]\n", UPDATE, &["../p"][..], 3),
        ("forbidden = [\"a\"]\n", "", UPDATE, &["../p"], 3),
        ("", "guarded = [\"a\"]\n", UPDATE, &["../p"], 3),
        ("", "guarded = [\"a\"]\n", UPDATE, &["../p", "--allow", "a"], 0),
        ("allow = [\"a\"]\n", "guarded = [\"a\"]\n", UPDATE, &["../p"], 0),
        ("", "allow-delete = false\n", DELETE, &["../p", "--allow-delete=true"], 3),
        ("allow-delete = false\n", "", DELETE, &["../p", "--allow-delete=true"], 0),
        ("", "approve = \"ask\"\n", UPDATE, &["../p"], 3),
        (
            "",
            "forbidden = [\"a\"]\n",
            UPDATE,
            &["tool", "read_file", "--args", "{\"path\":\"a\"}"],
            3,
        ),
    ] {
        let place = Place::new(user, workspace, patch);
        let run = place.run("apply-patch", &[], args);
        assert_eq!(run.code, code, "{user:?} {workspace:?} {args:?}: {run:#?}");
        let unchanged = fs::read(place.root().join("w/a")).is_ok_and(|bytes| bytes == b"x\n");
        assert_eq!(unchanged, code != 0, "{user:?} {workspace:?} {args:?}");
    }
    // Who asks for a question gets none answered without a terminal: the answer is no, in every way
    // in.
    for args in [
        &["../p"][..],
        &["ops", "../ops"],
        &[
            "tool",
            "write_file",
            "--args",
            "{\"path\":\"a\",\"content\":\"y\",\"expectedSha256\":\"SHA\"}",
        ],
    ] {
        let place = Place::new("", "approve = \"ask\"\n", UPDATE);
        let items = r#"[{"type":"apply_patch_call","call_id":"1","operation":{"type":"update_file","path":"a","diff":"@@\n-x\n+y\n"}}]"#;
        fs::write(place.root().join("ops"), items).expect("a file");
        let sha = "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac";
        let args: Vec<_> = args.iter().map(|arg| arg.replace("SHA", sha)).collect();
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let run = place.run("apply-patch", &[], &args);
        assert_eq!(run.code, 3, "{args:?}: {run:#?}");
        assert_eq!(fs::read(place.root().join("w/a")).expect("a file"), b"x\n", "{args:?}");
    }
    // The tool that models know keeps its profile, and the bounds.
    for (workspace, code) in [
        ("", 0),
        ("fuzz = \"none\"\n", 1),
        ("approve = \"ask\"\n", 1),
        ("forbidden = [\"a\"]\n", 1),
    ] {
        let place = Place::new("profile = \"strict\"\n", workspace, LOOSE);
        assert_eq!(place.run("apply_patch", &[], &[LOOSE]).code, code, "{workspace:?}");
    }
}

#[test]
fn what_is_forbidden_is_narrowed_by_the_user_alone() {
    let narrow = |globs: &str| format!("allow-forbidden = [{globs}]\n");
    let add = |path: &str| format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
    for (user, workspace, path, reason) in [
        (String::new(), "", "src/secrets/a.py", Some("forbidden")),
        (narrow("\"src/secrets/**\""), "", "src/secrets/a.py", None),
        (narrow("\"src/secrets/**\""), "", "src/secrets/.env", None),
        (narrow("\"src/secrets/*.py\""), "", "src/secrets/a.txt", Some("forbidden")),
        // The name of a directory covers what is in it; in what is allowed, only where it is plain.
        (String::new(), "forbidden = [\"src\"]\n", "src/x/a.py", Some("forbidden")),
        ("forbidden = [\"src/*\"]\n".into(), "", "src/x/a.py", Some("forbidden")),
        (String::new(), "", "x.key/a.py", Some("forbidden")),
        (String::new(), "guarded = [\"src\"]\n", "src/x/a.py", Some("guarded")),
        ("allow = [\"src\"]\n".into(), "guarded = [\"src\"]\n", "src/x/a.py", None),
        ("allow = [\"src/*\"]\n".into(), "guarded = [\"src\"]\n", "src/x/a.py", Some("guarded")),
        (narrow("\"src/secrets\""), "", "src/secrets/x/a.py", None),
        (narrow("\"src/*\""), "", "src/secrets/x/a.py", Some("forbidden")),
        // What the workspace adds stays, and so does what no list has made.
        (narrow("\"**\""), "forbidden = [\"src/**\"]\n", "src/secrets/a.py", Some("forbidden")),
        (narrow("\"**\""), "", ".git/config", Some("git_directory")),
        (narrow("\"**\""), "", ".apply-patch/x", Some("state_directory")),
        (narrow("\"**\""), "", ".envrc", Some("guarded")),
        // Templates have no secrets.
        (String::new(), "", ".env.example", None),
        (String::new(), "", "conf/.env.sample", None),
        (String::new(), "", ".env.template", None),
        (String::new(), "", ".env.local", Some("forbidden")),
        (String::new(), "forbidden = [\"**/.env.*\"]\n", ".env.example", Some("forbidden")),
    ] {
        let place = Place::new(&user, workspace, &add(path));
        let run = place.run("apply-patch", &[], &["--json", "--create-parents", "../p"]);
        let found = run.json().expect("an answer")["error"]["details"]["reason"]
            .as_str()
            .map(str::to_owned);
        assert_eq!(found.as_deref(), reason, "{user:?} {workspace:?} {path}");
        assert_eq!(run.code, if reason.is_some() { 3 } else { 0 }, "{user:?} {workspace:?} {path}");
    }
    // What is advised lifts the pattern that was met.
    for (user, workspace, path, said) in [
        ("", "", ".env", "name the file in `allow-forbidden`"),
        ("", "forbidden = [\"b\"]\n", "b", "take `b` out of `forbidden`"),
        ("forbidden = [\"b\"]\n", "", "b", "take `b` out of `forbidden`"),
    ] {
        let place = Place::new(user, workspace, &add(path));
        let run = place.run("apply-patch", &[], &["../p"]);
        assert_eq!(run.code, 3, "{run:#?}");
        assert!(run.stderr.contains(said), "{run:#?}");
        let answer = place.run("apply-patch", &[], &["--json", "../p"]).stdout;
        assert!(answer.contains(said), "{answer}");
    }
    let place = Place::new("", &narrow("\"**\""), &add(".env"));
    let run = place.run("apply-patch", &[], &["../p"]);
    assert!(run.code != 0, "{run:#?}");
    assert!(run.stderr.contains("allow-forbidden"), "{run:#?}");
}

/// Unless it is told, a person believes that a pattern holds.
#[test]
fn a_flag_with_a_pattern_that_can_match_no_path_is_refused() {
    for flag in ["--allow=./a", "--allow=/a", "--allow=d/", "--encoding=./a=windows-1252"] {
        let run = Place::new("", "", UPDATE).run("apply-patch", &[], &[flag, "../p"]);
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.stderr.contains("can match no path"), "{run:#?}");
    }
}

#[test]
fn a_patch_does_not_write_configuration_unasked() {
    for path in [".apply-patch.toml", "d/.apply-patch.toml", "apply-patch/config.toml"] {
        let patch =
            format!("*** Begin Patch\n*** Add File: {path}\n+fuzz = \"unicode\"\n*** End Patch\n");
        let place = Place::new("", "", &patch);
        let run = place.run("apply-patch", &[], &["--create-parents", "../p"]);
        assert_eq!(run.code, 3, "{path}: {run:#?}");
        assert!(run.stderr.contains("--allow"), "it names the flag: {run:#?}");
    }
}

#[test]
fn what_is_wrong_in_a_file_is_said() {
    for (user, workspace, wanted) in [
        ("forbiden = []\n", "", "line 1, column 1: unknown key; did you mean `forbidden`?"),
        ("#\n  colour = \"never\"\n", "", "line 2, column 3: unknown key; did you mean `color`?"),
        ("x-y-z = 1\n", "", "line 1, column 1: unknown key; the keys are profile, "),
        (
            "profile = \"lax\"\n",
            "",
            "line 1, column 11: `profile` must be one of strict, standard, codex\n",
        ),
        (
            "allow-delete = \"no\"\n",
            "",
            "line 1, column 16: `allow-delete` must be true or false\n",
        ),
        ("forbidden = [1]\n", "", "line 1, column 13: `forbidden` must be a list of globs\n"),
        (
            "forbidden = [\"a\", \"b[\"]\n",
            "",
            "line 1, column 13: `forbidden`: glob 2: it is malformed\n",
        ),
        (
            "lock-timeout = -1\n",
            "",
            "line 1, column 16: `lock-timeout` must be a number of seconds, or a time such as \
             \"2min\"\n",
        ),
        (
            "max-snapshots = \"5\"\n",
            "",
            "line 1, column 17: `max-snapshots` must be a number of MiB\n",
        ),
        ("profile = \n", "", "line 1, column 11: this is not TOML\n"),
        (
            "",
            "profile = \"codex\"\n",
            "this `profile` loosens, and a file in the workspace can only tighten; put it into ",
        ),
        ("", "allow = [\"*\"]\n", "this `allow` loosens"),
        ("", "pager = \"sh\"\n", "this `pager` loosens"),
        ("", "overwrite = true\n", "this `overwrite` loosens"),
    ] {
        let place = Place::new(user, workspace, UPDATE);
        let run = place.run("apply-patch", &[], &["../p"]);
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.stderr.contains(wanted), "{user:?} {workspace:?}: {run:#?}");
        let file = if user.is_empty() { ".apply-patch.toml: " } else { "config.toml: " };
        assert!(run.stderr.contains(file), "{run:#?}");
        // What is wrong with it keeps nobody from looking.
        let doctor = place.run("apply-patch", &[], &["doctor"]);
        assert_eq!(doctor.code, 5, "{doctor:#?}");
        assert!(doctor.stdout.contains(wanted), "{doctor:#?}");
    }
    let place = Place::new("", "", UPDATE);
    let run = place.run("apply-patch", &[("APPLY_PATCH_FUZZ", "much")], &["../p"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("$APPLY_PATCH_FUZZ: `fuzz` must be one of none, "), "{run:#?}");
}

#[test]
fn a_broken_file_of_the_workspace_keeps_nobody_from_undoing() {
    use std::os::unix::fs::symlink;
    let path = |place: &Place| place.root().join("w/.apply-patch.toml");
    let nested = format!("forbidden = [\"{}CANARY{}\"]\n", "{".repeat(260), "}".repeat(260));
    let deep = format!("forbidden = {}\n", "[".repeat(30_000));
    let long = "#".repeat((64 << 10) + 1);
    // How the file is broken, and what is said of it.
    type Break<'b> = (&'b dyn Fn(&Place), &'b str);
    let write = |bytes: &[u8]| {
        let bytes = bytes.to_vec();
        move |place: &Place| fs::write(path(place), &bytes).expect("a file")
    };
    let (nested, deep, long) =
        (write(nested.as_bytes()), write(deep.as_bytes()), write(long.as_bytes()));
    let (toml, key, glob) =
        (write(b"#\nCANARY\n"), write(b"CANARY = 1\n"), write(b"\nforbidden = [\"CANARY[\"]\n"));
    let dead = ["/CANARY", "./CANARY", "CANARY/", "../CANARY", "a//CANARY", ""].map(|glob| {
        let text = format!("forbidden = [\"{glob}\"]\n");
        move |place: &Place| fs::write(path(place), &text).expect("a file")
    });
    let (latin, loose) = (write(b"# \xe9 CANARY\n"), write(b"allow = [\"CANARY\"]\n"));
    let ways: [Break<'_>; 12] = [
        (&nested, "line 1, column 13: `forbidden`: glob 1: it opens 260 braces"),
        (&deep, "line 1, column "),
        (&toml, "line 2, column "),
        (&key, "line 1, column 1: unknown key"),
        (&glob, "line 2, column 13: `forbidden`: glob 1: it is malformed"),
        (&latin, "it is not UTF-8"),
        (&loose, "this `allow` loosens"),
        (&long, "configuration: "),
        (&|place| fs::create_dir(path(place)).expect("a directory"), "configuration: "),
        (&|place| symlink("../p", path(place)).expect("a link"), "configuration: "),
        (
            &|place| {
                let made = clean("mkfifo").arg(path(place)).status().expect("mkfifo");
                assert!(made.success(), "a pipe");
            },
            "configuration: ",
        ),
        (
            &|place| fs::hard_link(place.root().join("p"), path(place)).expect("a second name"),
            "configuration: ",
        ),
    ];
    let dead =
        dead.iter().map(|way| (way as &dyn Fn(&Place), "`forbidden`: glob 1: it can match no"));
    let ways = ways.into_iter().chain(dead);
    for (nth, (broken, wanted)) in ways.into_iter().enumerate() {
        let place = Place::new("", "", UPDATE);
        assert_eq!(place.run("apply-patch", &[], &["../p"]).code, 0);
        let more = "*** Begin Patch\n*** Add File: b\n+b\n*** End Patch\n";
        fs::write(place.root().join("more"), more).expect("a file");
        assert_eq!(place.run("apply-patch", &[], &["../more"]).code, 0);
        broken(&place);
        let said = |run: &Run| {
            assert!(run.stderr.contains(".apply-patch.toml"), "{nth}: {run:#?}");
            assert!(run.stderr.contains(wanted), "{nth}: {run:#?}");
            assert!(!format!("{run:?}").contains("CANARY"), "{nth}: no value is quoted: {run:#?}");
        };
        // What changes files, or shows them to a model, waits until it is corrected.
        let undo = r#"{"transactionId":"last"}"#;
        for args in [
            &["-n", "../more"][..],
            &["../more"],
            &["git", "--onto", "HEAD", "../more"],
            &["trash", "restore", "last/0"],
            &["tool", "undo", "--args", undo],
            &["tool", "create_file", "--args", r#"{"path":"c","content":""}"#],
            &["tool", "read_file", "--args", r#"{"path":"a"}"#],
            &["serve", "--mcp"],
        ] {
            let run = place.run("apply-patch", &[], args);
            assert_eq!(run.code, 2, "{nth}: {args:?}: {run:#?}");
            said(&run);
        }
        let run = place.run("apply_patch", &[], &[DELETE]);
        assert_eq!(run.code, 1, "{nth}: {run:#?}");
        said(&run);
        // What a person did can be seen, and undone.
        for args in [
            &["log"][..],
            &["show", "last"],
            &["status"],
            &["trash", "list", "--all"],
            &["recover"],
            &["undo", "-n"],
            &["undo"],
            &["redo"],
            &["undo", "last"],
            &["undo", "--json"],
        ] {
            let run = place.run("apply-patch", &[], args);
            assert_eq!(run.code, 0, "{nth}: {args:?}: {run:#?}");
            said(&run);
        }
        assert_eq!(fs::read(place.root().join("w/a")).expect("a file"), b"x\n", "{nth}");
        assert!(!place.root().join("w/b").exists(), "{nth}");
        let doctor = place.run("apply-patch", &[], &["doctor"]);
        assert!(doctor.code == 5, "{nth}: {doctor:#?}");
        assert!(doctor.stdout.contains(wanted), "{nth}: {doctor:#?}");
    }
}

#[test]
fn a_mistake_of_the_user_keeps_nobody_from_undoing_either() {
    let variable = ("APPLY_PATCH_FUZZ", "much");
    for (user, workspace, environment, wanted) in [
        (
            "forbiden = []\n",
            "",
            &[][..],
            &["config.toml: line 1, column 1: unknown key; did you"][..],
        ),
        ("fuzz = \n", "", &[], &["config.toml: line 1, column 8: this is not TOML"]),
        ("fuzz = \"much\"\n", "", &[], &["config.toml: line 1, column 8: `fuzz` must be one of"]),
        ("", "", &[variable], &["$APPLY_PATCH_FUZZ: `fuzz` must be one of"]),
        (
            "forbiden = []\n",
            "\nx = 1\n",
            &[],
            &["config.toml: line 1, column 1: ", ".apply-patch.toml: line 2, column 1: "],
        ),
    ] {
        let place = Place::new("", "", UPDATE);
        assert_eq!(place.run("apply-patch", &[], &["../p"]).code, 0);
        for (path, text) in
            [("config/apply-patch/config.toml", user), ("w/.apply-patch.toml", workspace)]
        {
            if !text.is_empty() {
                fs::write(place.root().join(path), text).expect("a file");
            }
        }
        let back = "*** Begin Patch\n*** Update File: a\n@@\n-y\n+z\n*** End Patch\n";
        fs::write(place.root().join("p"), back).expect("a file");
        for (name, args, code) in [
            ("apply-patch", &["../p"][..], 2),
            ("apply-patch", &["-n", "../p"], 2),
            ("apply-patch", &["tool", "undo", "--args", r#"{"transactionId":"last"}"#], 2),
            ("apply-patch", &["trash", "restore", "last/0"], 2),
            ("apply-patch", &["serve", "--mcp"], 2),
            ("apply_patch", &[DELETE], 1),
        ] {
            let run = place.run(name, environment, args);
            assert_eq!(run.code, code, "{args:?}: {run:#?}");
            assert!(run.stderr.contains(wanted[0]), "{args:?}: {run:#?}");
        }
        assert_eq!(fs::read(place.root().join("w/a")).expect("a file"), b"y\n");
        for args in [
            &["log"][..],
            &["show", "last"],
            &["status"],
            &["recover"],
            &["trash", "list"],
            &["undo"],
            &["redo"],
            &["undo", "--json"],
            &["uninstall", "-n"],
            &["uninstall", "--force"],
        ] {
            let run = place.run("apply-patch", environment, args);
            assert_eq!(run.code, 0, "{args:?}: {run:#?}");
            for wanted in wanted {
                assert!(run.stderr.contains("warning: "), "{args:?}: {run:#?}");
                assert!(run.stderr.contains(wanted), "{args:?}: {run:#?}");
                assert!(!run.stdout.contains(wanted), "{args:?}: {run:#?}");
            }
        }
        assert_eq!(fs::read(place.root().join("w/a")).expect("a file"), b"x\n");
        let doctor = place.run("apply-patch", environment, &["doctor"]);
        assert_eq!(doctor.code, 5, "{doctor:#?}");
        for wanted in wanted {
            assert!(doctor.stdout.contains(wanted), "{doctor:#?}");
        }
    }
}

#[test]
fn the_tool_that_models_know_reads_no_configuration_over_a_link() {
    let place = Place::new("", "", UPDATE);
    std::os::unix::fs::symlink("/proc/self/environ", place.root().join("w/.apply-patch.toml"))
        .expect("a link");
    let run = place.run("apply_patch", &[("API_KEY", "secret-1f0c")], &[UPDATE]);
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.stderr.contains("leaves the root through the symbolic link"), "{run:#?}");
    assert!(!format!("{run:?}").contains("secret-1f0c"), "{run:#?}");
    assert_eq!(fs::read(place.root().join("w/a")).expect("a file"), b"x\n");
}

#[test]
fn doctor_says_where_values_come_from() {
    let place =
        Place::new("profile = \"codex\"\nallow = [\".envrc\"]\n", "profile = \"strict\"\n", UPDATE);
    let environment = [("APPLY_PATCH_LOCK_TIMEOUT", "3")];
    let run = place.run("apply-patch", &environment, &["doctor", "--json"]);
    assert_eq!(run.code, 0, "{run:#?}");
    let answer = run.json().expect("JSON");
    let settings = &answer["data"]["settings"];
    let user = place.root().join("config/apply-patch/config.toml").display().to_string();
    for (key, value, source, bound) in [
        ("profile", "codex", &*user, Some("strict")),
        ("allow", ".envrc", &user, None),
        ("lock-timeout", "3", "$APPLY_PATCH_LOCK_TIMEOUT", None),
    ] {
        assert_eq!(settings[key]["value"], value, "{settings:#}");
        assert_eq!(settings[key]["source"], source, "{settings:#}");
        assert_eq!(settings[key]["workspaceBound"].as_str(), bound, "{settings:#}");
    }
    assert_eq!(settings["fuzz"]["source"], "default");
    assert_eq!(answer["data"]["file_system"]["stableInodes"], true, "{answer:#}");
    let mut names: Vec<_> = fs::read_dir(place.root().join("w"))
        .expect("a folder")
        .map(|it| it.expect("one").file_name())
        .collect();
    names.sort_unstable();
    assert_eq!(names, [".apply-patch.toml", "a", "apply-patch"], "nothing is left behind");

    // Nor by one that was killed, once the next one ran: it kept to the state directory.
    fs::create_dir_all(place.root().join("w/.apply-patch/doctor")).expect("a folder");
    for folder in ["w/.apply-patch", "w/.apply-patch/doctor"] {
        testutils::tree::set_mode(&place.root().join(folder), 0o700);
    }
    fs::write(place.root().join("w/.apply-patch/doctor/one"), "").expect("a file");
    let run = place.run("apply-patch", &[], &["doctor"]);
    assert!(run.code == 0, "{run:#?}");
    assert!(!place.root().join("w/.apply-patch/doctor").exists(), "{run:#?}");

    assert_eq!(place.run("apply-patch", &[], &["../p"]).code, 0);
    let run = place.run("apply-patch", &[], &["doctor"]);
    for wanted in [
        "(the current directory)",
        "1 transaction, 1 file, 2 bytes",
        "as they were written",
        "held to strict",
    ] {
        assert!(run.stdout.contains(wanted), "{wanted}: {run:#?}");
    }
    // What is misspelt does nothing.
    let unknown =
        [("APPLY_PATCH_PROFLE", "x"), ("APPLY_PATCH_XYZZY", "x"), ("APPLY_PATCH_TURN", "x")];
    let run = place.run("apply-patch", &unknown, &["doctor"]);
    assert_eq!(run.code, 5, "{run:#?}");
    for wanted in [
        "`APPLY_PATCH_PROFLE` is not a variable of this program; did you mean \
         `APPLY_PATCH_PROFILE`?",
        "`APPLY_PATCH_XYZZY` is not a variable",
        "there are 2 problems",
    ] {
        assert!(run.stdout.contains(wanted), "{wanted}: {run:#?}");
    }
    // Someone changed the log.
    let log = place.root().join("w/.apply-patch/audit/cli.jsonl");
    let text = fs::read_to_string(&log).expect("the log");
    fs::write(&log, text.replacen("\"ok\":true", "\"ok\":false", 1)).expect("written");
    let run = place.run("apply-patch", &[], &["doctor", "--json"]);
    assert_eq!(run.code, 5, "{run:#?}");
    assert!(
        run.json().expect("JSON")["error"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("audit log")),
        "{run:#?}"
    );
}

/// A session of tools, each call a run of its own: snapshots are kept as long as no source says
/// otherwise.
#[test]
fn snapshots_are_bounded_by_every_source() {
    for (user, environment, workspace, kept) in [
        ("", None, "", true),
        ("max-snapshots = 0\n", None, "", false),
        ("max-snapshots = 0\n", Some("1"), "", true),
        ("", Some("0"), "", false),
        ("", Some("5"), "max-snapshots = 0\n", false),
    ] {
        let place = Place::new(user, workspace, "");
        let environment: Vec<_> =
            environment.map(|value| ("APPLY_PATCH_MAX_SNAPSHOTS", value)).into_iter().collect();
        let tool = |name: &str, args: &str| {
            place.run("apply-patch", &environment, &["tool", name, "--args", args])
        };
        let read = tool("read_file", r#"{"path":"a"}"#);
        assert_eq!(read.code, 0, "{}", read.stderr);
        let folder = place.root().join("w/.apply-patch/snapshots");
        assert_eq!(folder.exists(), kept, "{user} {environment:?} {workspace}");
        let hash = read.stdout.split("\"sha256\":\"").nth(1).expect("a hash")[..64].to_owned();
        fs::write(place.root().join("w/a"), "new\nx\n").expect("a file");
        let text = "*** Begin Patch\\n*** Update File: a\\n@@\\n x\\n+y\\n*** End Patch\\n";
        let args = format!(r#"{{"patch":"{text}","expectedSha256ByPath":{{"a":"{hash}"}}}}"#);
        let edited = tool("apply_patch", &args);
        assert_eq!(edited.code, if kept { 0 } else { 4 }, "{}", edited.stdout);
    }
}

#[test]
fn limits_are_the_users_and_the_workspace_lowers_them() {
    let two = "*** Begin Patch\n*** Add File: b\n+b\n*** Add File: c\n+c\n*** End Patch\n";
    let large =
        format!("*** Begin Patch\n*** Add File: b\n+{}\n*** End Patch\n", "b".repeat(3 << 20));
    let (operations, size) = ("APPLY_PATCH_MAX_OPERATIONS", "APPLY_PATCH_MAX_FILE_SIZE");
    // The user's file, the environment, the workspace's file, the patch, the exit code and what is
    // said.
    type Variables<'v> = &'v [(&'v str, &'v str)];
    let cases: &[(&str, Variables<'_>, &str, &str, i32, &str)] = &[
        ("", &[], "", two, 0, ""),
        ("max-operations = 1", &[], "", two, 1, "more than 1 file operation"),
        ("max-operations = 1", &[(operations, "2")], "", two, 0, ""),
        ("", &[(operations, "3")], "max-operations = 1", two, 1, "more than 1 file operation"),
        ("max-operations = 1", &[], "max-operations = 3", two, 1, "more than 1 file operation"),
        ("", &[(operations, "0")], "", two, 2, "must be a number, 1 or more"),
        ("", &[], "", &large, 0, ""),
        ("max-file-size = 2", &[], "", &large, 5, "the limit of 2097152"),
        ("max-file-size = 2", &[(size, "4")], "", &large, 0, ""),
        ("", &[], "max-file-size = 2", &large, 5, "the limit of 2097152"),
    ];
    for (user, environment, workspace, patch, code, said) in cases {
        for way in [&["../p"][..], &["check", "../p"], &["parse", "../p"]] {
            if way[0] == "parse" && said.contains("limit of") {
                continue;
            }
            let place = Place::new(user, workspace, patch);
            let run = place.run("apply-patch", environment, way);
            assert_eq!(run.code, *code, "{user:?} {environment:?} {workspace:?} {way:?}: {run:#?}");
            assert!(
                run.stderr.contains(said),
                "{user:?} {environment:?} {workspace:?} {way:?}: {run:#?}"
            );
        }
        // One argument is not that long.
        if patch.len() > 1000 {
            continue;
        }
        let place = Place::new(user, workspace, "");
        let arguments = serde_json::json!({ "patch": patch }).to_string();
        let run =
            place.run("apply-patch", environment, &["tool", "apply_patch", "--args", &arguments]);
        assert_eq!(run.code, *code, "{user:?} {environment:?} {workspace:?}: {run:#?}");
        let told = format!("{}{}", run.stdout, run.stderr);
        assert!(told.contains(said), "{user:?} {environment:?} {workspace:?}: {run:#?}");
    }
}

/// The rules of planning hold for the calls of models as for a person's patch, whoever sets them;
/// what a call asks for beyond the bounds of the workspace is refused, not overlooked.
#[test]
fn the_rules_hold_for_tools() {
    let hash = {
        let place = Place::new("", "", "");
        let read =
            place.run("apply-patch", &[], &["tool", "read_file", "--args", r#"{"path":"a"}"#]);
        read.stdout.split("\"sha256\":\"").nth(1).expect("a hash")[..64].to_owned()
    };
    let delete = format!(r#"{{"path":"a","expectedSha256":"{hash}"}}"#);
    let moves = format!(r#"{{"fromPath":"a","toPath":"b","expectedSha256":"{hash}"}}"#);
    let deletes = r#"{"patch":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}"#;
    let may_delete =
        r#"{"patch":"*** Begin Patch\n*** Delete File: a\n*** End Patch","allow_delete":true}"#;
    let codex =
        r#"{"profile":"codex","patch":"*** Begin Patch\n*** Add File: d/e\n+x\n*** End Patch"}"#;
    let adds = r#"{"patch":"*** Begin Patch\n*** Add File: d/e\n+x\n*** End Patch"}"#;
    let makes_in_patch = r#"{"createParentDirectories":true,"patch":"*** Begin Patch\n*** Add File: d/e\n+x\n*** End Patch"}"#;
    let makes = r#"{"path":"d/e","content":"x","createParentDirectories":true}"#;
    let creates = r#"{"path":"a","content":"x"}"#;
    let loose = r#"{"patch":"*** Begin Patch\n*** Update File: a\n@@\n-  x\n+  y\n*** End Patch"}"#;
    let said_so = ".apply-patch.toml in the workspace says so";
    // The user's file, the workspace's file, the tool, its arguments, and the failure.
    for (user, workspace, tool, args, refused) in [
        ("", "", "delete_file", &*delete, None),
        ("", "allow-delete = false", "delete_file", &delete, Some("delete")),
        ("allow-delete = false", "", "delete_file", &delete, Some("delete")),
        ("", "allow-delete = false", "apply_patch", deletes, Some("delete")),
        ("", "", "edit.patch", may_delete, None),
        ("", "allow-delete = false", "edit.patch", may_delete, Some(said_so)),
        ("", "", "move_file", &moves, None),
        ("", "allow-move = false", "move_file", &moves, Some("move")),
        ("", "", "apply_patch", codex, None),
        ("", "", "apply_patch", makes_in_patch, None),
        ("", "create-parents = false", "apply_patch", makes_in_patch, Some(said_so)),
        ("", "profile = \"strict\"", "apply_patch", codex, Some(said_so)),
        ("", "create-parents = false", "apply_patch", codex, Some("missing_parent")),
        ("create-parents = true", "", "apply_patch", adds, None),
        ("", "", "create_file", makes, None),
        ("", "create-parents = false", "create_file", makes, Some(said_so)),
        ("overwrite = true", "", "create_file", creates, Some("already_exists")),
        ("profile = \"codex\"", "", "create_file", creates, Some("already_exists")),
        ("", "", "apply_patch", loose, Some("patch_apply_error")),
        ("fuzz = \"blanks\"", "", "apply_patch", loose, None),
        ("fuzz = \"blanks\"", "fuzz = \"none\"", "apply_patch", loose, Some("patch_apply_error")),
    ] {
        let place = Place::new(user, workspace, "");
        let run = place.run("apply-patch", &[], &["tool", tool, "--args", args]);
        let case = format!("{user:?} {workspace:?} {tool} {args}: {run:#?}");
        match refused {
            None => assert_eq!(run.code, 0, "{case}"),
            Some(said) => {
                assert_ne!(run.code, 0, "{case}");
                assert!(run.stdout.contains(said), "{case}");
            }
        }
    }
}

#[test]
fn whitespace_is_fixed_or_refused_by_configuration_too() {
    let blanks = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y \n*** End Patch\n";
    let rules = "APPLY_PATCH_WHITESPACE_RULES";
    // The user's file, the rules in the environment, the workspace's file, the flags, and the file
    // afterwards.
    for (user, given, workspace, flags, after) in [
        ("", "", "", &[][..], "y \n"),
        ("whitespace = \"fix\"", "", "", &[], "y\n"),
        ("whitespace = \"fix\"", "-blank-at-eol", "", &[], "y \n"),
        ("whitespace = \"fix\"", "", "", &["--whitespace=warn"], "y \n"),
        ("whitespace = \"fix\"", "", "whitespace = \"error\"", &[], "x\n"),
        ("", "", "whitespace = \"error\"", &["--whitespace=nowarn"], "x\n"),
        ("", "", "", &["--whitespace=error-all"], "x\n"),
        ("", "", "", &["--whitespace=strip"], "y\n"),
        ("", "", "", &["--whitespace=fix", "--whitespace-rules", "-blank-at-eol"], "y \n"),
    ] {
        let place = Place::new(user, workspace, blanks);
        let environment = [(rules, given)];
        let environment = if given.is_empty() { &[][..] } else { &environment };
        place.run("apply-patch", environment, &[&["../p"], flags].concat());
        let found = fs::read_to_string(place.root().join("w/a")).expect("a file");
        assert_eq!(found, after, "{user} {given} {workspace} {flags:?}");
    }
    for (rules, said) in [
        ("blanks", "the rules are"),
        ("tabwidth=99", "tabwidth must be from 1 to 63"),
        ("tab,indent", "exclude each other"),
        // A rule that is taken away begins as a flag does.
        ("-blank-at-eol,tab,indent", "exclude each other"),
    ] {
        let place = Place::new("", "", blanks);
        let run = place.run("apply-patch", &[], &["--whitespace-rules", rules, "../p"]);
        assert_eq!(run.code, 2, "{rules}");
        assert!(run.stderr.contains(said), "{rules}: {}", run.stderr);
    }
}

#[test]
fn what_does_not_parse_any_more_is_told_or_refused_by_configuration_too() {
    let patch = "*** Begin Patch\n*** Update File: a.json\n@@\n-{}\n+{\n*** End Patch\n";
    let told = "a.json: it does not parse any more as JSON: line 2, column 1: ";
    // The user's file, the environment, the workspace's file, the flags, what is said, and whether
    // it is applied.
    for (user, given, workspace, flags, said, applied) in [
        ("", "", "", &[][..], told, true),
        ("syntax = \"refuse\"", "", "", &[], "would not parse", false),
        ("syntax = \"off\"", "", "", &[], "", true),
        ("syntax = \"off\"", "refuse", "", &[], "would not parse", false),
        ("syntax = \"refuse\"", "", "", &["--syntax=warn"], told, true),
        ("", "", "syntax = \"refuse\"", &["--syntax=off"], "would not parse", false),
        ("", "", "syntax = \"warn\"", &["--syntax=off"], told, true),
        ("", "", "syntax = \"off\"", &[], "loosens", false),
    ] {
        let place = Place::new(user, workspace, patch);
        fs::write(place.root().join("w/a.json"), "{}\n").expect("a file");
        let environment = [("APPLY_PATCH_SYNTAX", given)];
        let environment = if given.is_empty() { &[][..] } else { &environment };
        // A preview says what the commit says.
        let dry = place.run("apply-patch", environment, &[&["-n", "../p"], flags].concat());
        let run = place.run("apply-patch", environment, &[&["../p"], flags].concat());
        let case = format!("{user} {given} {workspace} {flags:?}: {run:?}");
        assert_eq!(run.code == 0, applied, "{case}");
        assert_eq!(dry.code, run.code, "{case}");
        assert!(run.stderr.contains(said), "{case}");
        assert!(dry.stderr.contains(said), "{case}: {dry:?}");
        assert!(!said.is_empty() || !run.stderr.contains("parse"), "{case}");
        let found = fs::read_to_string(place.root().join("w/a.json")).expect("a file");
        assert_eq!(found, if applied { "{\n" } else { "{}\n" }, "{case}");
    }
}

/// A hint names no flag and no argument that the workspace overrules.
#[test]
fn hints_keep_within_the_bounds() {
    let deletes = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    let loose = "*** Begin Patch\n*** Update File: a\n@@\n-  x\n+  y\n*** End Patch\n";
    let blanks = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y \n*** End Patch\n";
    let broken = "*** Begin Patch\n*** Update File: c.json\n@@\n-{}\n+{\n*** End Patch\n";
    let stands = "*** Begin Patch\n*** Add File: s.py\n+# ... existing code ...\n*** End Patch\n";
    let into = "*** Begin Patch\n*** Add File: d/e\n+x\n*** End Patch\n";
    let done = "*** Begin Patch\n*** Update File: a\n@@\n # T\n-old\n+new\n keep\n*** End Patch\n";
    let in_file = "in .apply-patch.toml";
    // The workspace's file, the patch, the tool, what is said, and what is not.
    for (workspace, patch, tool, said, unsaid) in [
        ("", deletes, "edit.patch", "set allow_delete to true", in_file),
        ("allow-delete = false", deletes, "edit.patch", in_file, "allow_delete"),
        ("allow-delete = false", deletes, "apply_patch", in_file, "--allow-delete"),
        ("allow-delete = false", deletes, "", in_file, "--allow-delete"),
        ("", loose, "apply_patch", "set profile to", in_file),
        ("fuzz = \"none\"", loose, "", "copy", "--fuzz"),
        ("profile = \"strict\"", into, "apply_patch", "", "set profile to"),
        ("profile = \"strict\"", into, "", "--create-parents", in_file),
        ("", done, "", "--skip-applied", in_file),
        ("", done, "apply_patch", "set skipApplied to true", in_file),
        ("skip-applied = false", done, "", "leave the hunk out", "--skip-applied"),
        ("create-parents = false", into, "", "", "--create-parents"),
        ("whitespace = \"error\"", blanks, "", "insert lines without", "--whitespace"),
        ("syntax = \"refuse\"", broken, "", "still parses", "--syntax"),
        ("", stands, "", "--allow-placeholders", in_file),
        ("allow-placeholders = false", stands, "", "write the lines", "--allow-placeholders"),
        ("", stands, "apply_patch", "write the lines", "placeholders to"),
        ("syntax = \"refuse\"", broken, "apply_patch", "still parses", "syntax to"),
        ("whitespace = \"error\"", blanks, "apply_patch", "insert lines without", "whitespace to"),
    ] {
        let place = Place::new("", workspace, patch);
        fs::write(place.0.path().join("w/c.json"), "{}\n").expect("a file");
        if patch == done {
            fs::write(place.0.path().join("w/a"), "# T\nnew\nkeep\n").expect("a file");
        }
        let runs = if tool.is_empty() {
            vec![
                place.run("apply-patch", &[], &["../p"]),
                place.run("apply-patch", &[], &["--json", "../p"]),
            ]
        } else {
            let args = serde_json::json!({ "patch": patch }).to_string();
            vec![place.run("apply-patch", &[], &["tool", tool, "--args", &args])]
        };
        for run in runs {
            let case = format!("{workspace} {patch} {tool}: {run:#?}");
            let all = format!("{}{}", run.stdout, run.stderr);
            let next = all.split_once("suggestedNextAction").map_or(&*all, |(_, next)| next);
            assert_ne!(run.code, 0, "{case}");
            assert!(next.contains(said), "{case}");
            assert!(!next.contains(unsaid), "{case}");
        }
    }
}
