//! A thread swaps things under our eyes.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use fs_guard::{Dirs, Spot};

use crate::support::*;
use testutils::stop::Stop;

/// While `d` is a directory and a link to the outside in turn, nothing outside is read or written.
#[test]
fn swapping_a_directory_for_a_link_never_lets_anything_out() {
    let tree = Tree::new(&[("d/secret", "inside"), ("stage/x", "")]);
    let (dir, away) = (tree.root.join("d"), tree.root.join("away"));
    let link = tree.root.join("link");
    symlink(&tree.outside, &link).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stopping = Stop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(&dir, &away).unwrap();
                fs::rename(&link, &dir).unwrap();
                fs::rename(&dir, &link).unwrap();
                fs::rename(&away, &dir).unwrap();
            }
        });
        let mut reads = 0;
        let mut writes = 0;
        for round in 0..4_000 {
            let [kernel, walk] = tree.both();
            let root = if round % 2 == 0 { kernel } else { walk };
            if let Ok((bytes, _)) = root.read(&path(&root, "d/secret"), 99) {
                assert_eq!(bytes, b"inside");
                reads += 1;
            }
            let dirs = Dirs::new(&root);
            let stage: Spot = dirs.place(&target(&root, "stage/new")).unwrap();
            let mut file = stage.create(0o644).unwrap();
            file.write(b"new").unwrap();
            let file = file.finish(None, None, false).unwrap();
            let place = dirs.place(&target(&root, "d/new"));
            match place.map(|place| file.publish_new(&place)) {
                Ok(Ok(())) => writes += 1,
                _ => stage.remove().unwrap(),
            }
            let _ = fs::remove_file(tree.root.join("away/new"));
            let _ = fs::remove_file(tree.root.join("d/new"));
            stage.remove().unwrap();
        }
        eprintln!("{reads} reads and {writes} writes went through");
        assert!(reads > 0);
        assert!(writes > 0);
    });
    let names: Vec<_> =
        fs::read_dir(&tree.outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["secret"]);
    assert_eq!(fs::read_to_string(tree.outside.join("secret")).unwrap(), "secret");
}
