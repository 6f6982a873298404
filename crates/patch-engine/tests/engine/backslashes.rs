//! Paths as Windows writes them.

use std::fs;

use fs_guard::Root;
use patch_engine::{Options, Profile, parse, plan, policy};
use testutils::temp::temp;

/// The paths that a patch changes in a directory, or why it does not.
fn changed(files: &[&str], body: &str, profile: Profile) -> Result<Vec<String>, String> {
    let dir = temp();
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, "a\n").expect("written");
    }
    let root = std::sync::Arc::new(Root::open(dir.path(), policy()).expect("a root"));
    let options = Options::new(profile);
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    let patch = parse(text, &options.parse).expect("it parses");
    let files = patch_engine::Files::from(&root);
    let plan = plan(&files, &patch, &options).map_err(|rejects| {
        rejects.iter().map(|reject| reject.reason().to_owned()).collect::<Vec<_>>().join(" ")
    })?;
    Ok(plan.transitions().iter().map(|one| one.path().to_string()).collect())
}

#[test]
fn backslashes_are_slashes_where_that_is_clear() {
    let update = |path: &str| format!("*** Update File: {path}\n@@\n-a\n+b\n");
    let add = |path: &str| format!("*** Add File: {path}\n+n\n");
    let (ok, refused) = (
        |paths: &[&str]| Ok(paths.iter().map(|&it| it.to_owned()).collect()),
        Err("backslash".to_owned()),
    );
    for (files, body, wanted) in [
        (&["m/i.cs"][..], update("m\\i.cs"), ok(&["m/i.cs"])),
        (&["m/n/i.cs"], update("m/n\\i.cs"), ok(&["m/n/i.cs"])),
        (&["m/i.cs"], update(".\\m\\i.cs"), ok(&["m/i.cs"])),
        (&["m/i.cs"], "*** Delete File: m\\i.cs\n".into(), ok(&["m/i.cs"])),
        (&["m/i.cs"], "*** Move File: m\\i.cs -> o\\i.cs\n".into(), ok(&["o/i.cs", "m/i.cs"])),
        (&["m/i.cs"], add("m\\new.cs"), ok(&["m/new.cs"])),
        (
            &[],
            add("x\\y\\new.cs") + &update("x\\y\\new.cs").replace("-a", "-n"),
            ok(&["x/y/new.cs"]),
        ),
        // No such file.
        (&["m/i.cs"], update("m\\j.cs"), refused.clone()),
        // Somebody has the name with the backslash.
        #[cfg(unix)]
        (&["m/i.cs", "m\\i.cs"], update("m\\i.cs"), refused.clone()),
        // A name that git printed with escapes, and paths that lead elsewhere.
        (&["m/i.cs"], add("caf\\303\\251.py"), refused.clone()),
        (&["m/i.cs"], add("\\\\host\\i.cs"), Err("absolute_path".into())),
        (&["m/i.cs"], add("m\\..\\..\\i.cs"), refused.clone()),
        (&["m/i.cs"], add(".git\\hooks\\x"), Err("git_directory".into())),
    ] {
        assert_eq!(changed(files, &body, Profile::Standard), wanted, "{body}");
        assert_eq!(changed(files, &body, Profile::Codex), wanted, "{body}");
        if wanted.is_ok() {
            assert_eq!(
                changed(files, &body, Profile::Strict).map_err(|why| why.contains("backslash")),
                Err(true),
                "{body}"
            );
        }
    }
}
