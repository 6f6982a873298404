//! Landlock: the kernel takes rights from this thread, and from everything started from here, for
//! good.

use std::fmt;
use std::io;
use std::path::Path;

#[cfg(unix)]
use super::unix::Fd;
#[cfg(not(any(unix, windows)))]
use super::unsupported::Fd;
#[cfg(windows)]
use super::windows::Fd;

/// How far the kernel confines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confined {
    /// The version of Landlock in the kernel.
    pub version: i32,
    /// Whether the kernel supports every requested right. Otherwise it lacks truncation (before
    /// version 3), network (4), devices (5), or signals and abstract sockets (6); the others are
    /// enforced.
    pub complete: bool,
}

impl fmt::Display for Confined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.complete {
            "complete"
        } else {
            "in part: the kernel does not know all that was asked for"
        };
        write!(f, "confined by Landlock, version {}, {how}", self.version)
    }
}

/// Allows reading and writing beneath `root` and `dirs`, reading and writing the files `written`,
/// reading the files `read` and beneath them, and nothing else. Missing files are left out.
#[cfg(all(target_os = "linux", feature = "sandbox"))]
pub(crate) fn confine(
    root: &Fd,
    dirs: &[&Path],
    written: &[&str],
    read: &[&Path],
) -> io::Result<Confined> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd,
        Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
    };

    // Everything in the newest of these versions is requested; rights missing from the kernel are
    // left out.
    let files = AccessFs::from_all(ABI::V5);
    let failed = |error: landlock::RulesetError| io::Error::other(error.to_string());
    let inside: BitFlags<AccessFs> = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::Refer
        | AccessFs::MakeDir
        | AccessFs::MakeReg
        | AccessFs::MakeSym
        | AccessFs::RemoveDir
        | AccessFs::RemoveFile;
    let mut rules = Ruleset::default()
        .handle_access(files)
        .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI::V4)))
        .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rule(PathBeneath::new(root, inside)))
        .map_err(failed)?;
    for dir in dirs {
        let dir = PathFd::new(dir).map_err(|error| io::Error::other(error.to_string()))?;
        rules = rules.add_rule(PathBeneath::new(dir, inside)).map_err(failed)?;
    }
    let both = AccessFs::ReadFile | AccessFs::WriteFile;
    let beneath = AccessFs::ReadFile | AccessFs::ReadDir;
    let reads = |path: &Path| if path.is_dir() { beneath } else { AccessFs::ReadFile.into() };
    let single = written
        .iter()
        .map(|file| (Path::new(file), both))
        .chain(read.iter().map(|path| (*path, reads(path))));
    for (file, access) in single {
        if let Ok(file) = PathFd::new(file) {
            rules = rules.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
        }
    }
    let status = rules.restrict_self().map_err(failed)?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _)
        | (_, LandlockStatus::NotEnabled | LandlockStatus::NotImplemented) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel has no Landlock (Linux 5.13), or it is switched off",
        )),
        (ruleset, LandlockStatus::Available { effective_abi, kernel_abi }) => Ok(Confined {
            version: kernel_abi.unwrap_or(effective_abi as i32),
            complete: ruleset == RulesetStatus::FullyEnforced,
        }),
    }
}

#[cfg(not(all(target_os = "linux", feature = "sandbox")))]
pub(crate) fn confine(_: &Fd, _: &[&Path], _: &[&str], _: &[&Path]) -> io::Result<Confined> {
    let why = if cfg!(target_os = "linux") {
        "this program was built without the feature `sandbox` of fs-guard"
    } else {
        "a sandbox needs Landlock, which Linux has"
    };
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

/// Returns whether this kernel can confine a process ([`Root::confine`](crate::Root::confine)).
/// This call confines nothing: the rules are dropped without being enforced.
#[cfg(all(target_os = "linux", feature = "sandbox"))]
#[must_use]
pub fn can_confine() -> bool {
    use landlock::{
        ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    };
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
}

/// Returns whether this kernel can confine a process: only Linux can, with the feature `sandbox`.
#[cfg(not(all(target_os = "linux", feature = "sandbox")))]
#[must_use]
pub fn can_confine() -> bool {
    false
}
