//! The same on file systems of other kinds, as they are mounted: what they lack is not pretended.
//!
//! Needs root, and the programs that make and mount them; what cannot be mounted is skipped, and
//! named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use super::Tried;
use testutils::temp::temp;

/// How each is made and mounted by a shell, in a folder with an image file of 64 MiB that is called
/// `image`; it is mounted on `mounted`.
const KINDS: &[(&str, &str)] = &[
    ("ramfs", "mount -t ramfs ramfs mounted"),
    ("a bind mount", "mkdir bound && mount --bind bound mounted"),
    (
        "overlayfs",
        "mkdir lower upper work && mount -t overlay overlay -o \
         lowerdir=lower,upperdir=upper,workdir=work mounted",
    ),
    (
        "exfat-fuse",
        "mkfs.exfat image && device=$(losetup -f --show image) && \
         mount.exfat-fuse -o umask=077 \"$device\" mounted; status=$?; losetup -d \"$device\"; \
         exit $status",
    ),
    ("ntfs-3g", "mkfs.ntfs -q -F -f image && ntfs-3g -o umask=077 image mounted"),
    ("ntfs-3g with modes", "mkfs.ntfs -q -F -f image && ntfs-3g -o permissions image mounted"),
    (
        "sshfs",
        "mkdir there && printf '#!/bin/sh\\nexec /usr/lib/openssh/sftp-server\\n' > ssh && chmod \
         +x ssh && sshfs -o ssh_command=\"$PWD/ssh\" host:\"$PWD/there\" mounted",
    ),
];

/// What is mounted in a folder.
struct Mounted(PathBuf);

impl Mounted {
    fn new(dir: &Path, how: &str) -> Option<Self> {
        let place = dir.join("mounted");
        fs::create_dir(&place).expect("a folder");
        fs::File::create(dir.join("image"))
            .and_then(|image| image.set_len(64 << 20))
            .expect("an image");
        let output =
            Process::new("sh").args(["-c", how]).current_dir(dir).output().expect("a shell");
        if !output.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Self(place))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let comes_off = Process::new("umount").arg(&self.0).status();
        assert!(comes_off.expect("umount runs").success(), "what is mounted comes off");
    }
}

#[test]
#[ignore = "needs root and the programs of file systems"]
fn nothing_is_lied_about_on_file_systems_of_other_kinds() {
    for (number, (kind, how)) in KINDS.iter().enumerate() {
        let (dir, home) = (temp(), temp());
        let Some(mounted) = Mounted::new(dir.path(), how) else {
            testutils::skip!("faults on {kind} (it cannot be mounted)");
            continue;
        };
        Tried {
            kind,
            lacks: "",
            dir: &mounted.0,
            home: Some(home.path()),
            rows: 1,
            step: (200, number),
        }
        .all();
    }
}
