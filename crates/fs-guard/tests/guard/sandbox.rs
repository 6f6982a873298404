//! A thread that is confined tries to get out. (Only the thread is: the others go on.)

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::policy;
use fs_guard::Root;
use tempfile::TempDir;

/// Runs `attempt` confined to `workspace` and `state`; `None` on a kernel that cannot do that.
fn confined<T: Send>(
    workspace: &Path,
    state: &Path,
    attempt: impl FnOnce() -> T + Send,
) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let root = Root::open(workspace, policy()).unwrap();
            match root.confine(&[state], &[]) {
                Ok(confined) => {
                    assert!(confined.version >= 1);
                    assert!(confined.to_string().contains("Landlock"));
                    assert_eq!(confined.complete, confined.version >= 6, "{confined}");
                    assert!(fs_guard::can_confine());
                    Some(attempt())
                }
                Err(error)
                    if error.io().is_some_and(|error| error.kind() == ErrorKind::Unsupported) =>
                {
                    assert!(!fs_guard::can_confine());
                    testutils::skip!("{error}");
                    None
                }
                Err(error) => panic!("{error}"),
            }
        });
        thread.join().unwrap()
    })
}

struct Places {
    workspace: TempDir,
    state: TempDir,
    outside: TempDir,
}

impl Places {
    fn new() -> Self {
        let places = Self {
            workspace: TempDir::new().unwrap(),
            state: TempDir::new().unwrap(),
            outside: TempDir::new().unwrap(),
        };
        for dir in [&places.workspace, &places.state, &places.outside] {
            fs::write(dir.path().join("file"), "before").unwrap();
        }
        symlink(places.outside.path(), places.workspace.path().join("way out")).unwrap();
        places
    }
}

#[test]
fn inside_everything_works_that_a_commit_needs() {
    let places = Places::new();
    for dir in [&places.workspace, &places.state] {
        let dir = dir.path();
        let tried = confined(places.workspace.path(), places.state.path(), || {
            fs::read(dir.join("file"))?;
            fs::read_dir(dir)?.count();
            fs::create_dir_all(dir.join("a/b"))?;
            fs::write(dir.join("a/b/new"), "new")?;
            fs::rename(dir.join("a/b/new"), dir.join("moved"))?;
            fs::hard_link(dir.join("moved"), dir.join("a/link"))?;
            symlink("moved", dir.join("symlink"))?;
            fs::write(dir.join("file"), "shorter")?;
            fs::remove_file(dir.join("a/link"))?;
            fs::remove_dir(dir.join("a/b"))?;
            fs::read("/proc/meminfo")
        });
        if let Some(result) = tried {
            result.unwrap();
        }
    }
}

type Attempt = fn(&Path, &Path) -> std::io::Result<()>;

#[test]
fn every_way_out_is_closed() {
    let attempts: &[(&str, Attempt)] = &[
        ("read a file", |out, _| fs::read(out.join("file")).map(drop)),
        ("read a file of the system", |_, _| fs::read("/etc/passwd").map(drop)),
        ("list a directory", |out, _| fs::read_dir(out).map(drop)),
        ("write a file", |out, _| fs::write(out.join("file"), "after")),
        ("append to a file", |out, _| {
            fs::OpenOptions::new().append(true).open(out.join("file")).map(drop)
        }),
        ("create a file", |out, _| fs::write(out.join("new"), "after")),
        ("create a directory", |out, _| fs::create_dir(out.join("new"))),
        ("remove a file", |out, _| fs::remove_file(out.join("file"))),
        ("move a file out", |out, ws| fs::rename(ws.join("file"), out.join("new"))),
        ("move a file in", |out, ws| fs::rename(out.join("file"), ws.join("new"))),
        ("link a file in", |out, ws| fs::hard_link(out.join("file"), ws.join("new"))),
        ("write through a link", |_, ws| fs::write(ws.join("way out/file"), "after")),
        ("write by climbing", |out, ws| {
            let name = out.file_name().unwrap();
            fs::write(ws.join("..").join(name).join("file"), "after")
        }),
        ("start a program", |_, _| Command::new("/bin/true").status().map(drop)),
        ("start a program of its own", |_, ws| {
            use std::os::unix::fs::PermissionsExt as _;
            fs::write(ws.join("run"), "#!/bin/sh\n")?;
            fs::set_permissions(ws.join("run"), fs::Permissions::from_mode(0o755))?;
            Command::new(ws.join("run")).status().map(drop)
        }),
    ];
    for (name, attempt) in attempts {
        let places = Places::new();
        let (workspace, outside) = (places.workspace.path(), places.outside.path());
        // Without the wall there is a way.
        let free = Places::new();
        if *name != "start a program of its own" {
            attempt(free.outside.path(), free.workspace.path())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let Some(result) = confined(workspace, places.state.path(), || attempt(outside, workspace))
        else {
            return;
        };
        let kind = result.expect_err(name).kind();
        assert!(
            matches!(kind, ErrorKind::PermissionDenied | ErrorKind::CrossesDevices),
            "{name}: {kind:?}"
        );
        assert_eq!(fs::read(outside.join("file")).unwrap(), b"before", "{name}");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 1, "{name}");
    }
}

#[test]
fn what_is_open_stays_open_and_what_is_missing_is_said() {
    let places = Places::new();
    let file = fs::File::open(places.outside.path().join("file")).unwrap();
    let read = confined(places.workspace.path(), places.state.path(), || {
        std::io::read_to_string(&file).unwrap()
    });
    assert!(read.is_none_or(|text| text == "before"));
    let root = Root::open(places.workspace.path(), policy()).unwrap();
    let missing = places.state.path().join("missing");
    let failed = std::thread::scope(|scope| {
        scope.spawn(|| root.confine(&[&missing], &[]).is_err()).join().unwrap()
    });
    assert!(failed);
}

#[test]
fn other_processes_and_the_network_are_out_of_reach() {
    let places = Places::new();
    let tries = || {
        let parent = rustix::process::getppid().unwrap();
        (
            std::net::TcpListener::bind("127.0.0.1:0").map(drop),
            rustix::process::test_kill_process(parent),
        )
    };
    let (bound, killed) = tries();
    bound.unwrap();
    killed.unwrap();
    let version = std::sync::atomic::AtomicI32::new(0);
    let tried = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let root = Root::open(places.workspace.path(), policy()).unwrap();
            let confined = root.confine(&[], &[]).ok()?;
            version.store(confined.version, std::sync::atomic::Ordering::Relaxed);
            Some(tries())
        });
        thread.join().unwrap()
    });
    let Some((bound, killed)) = tried else { return testutils::skip!("no Landlock") };
    // Older kernels know neither.
    let version = version.into_inner();
    if version >= 4 {
        assert_eq!(bound.unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
    if version >= 6 {
        assert_eq!(killed, Err(rustix::io::Errno::PERM));
    }
}
