//! The ids that git gives files.

#[cfg(any(feature = "git-sha1", feature = "git-sha256"))]
use sha2::Digest as _;

/// The fewest digits of a useful id: the default length of git's abbreviations.
const FEWEST_DIGITS: usize = 7;

/// How many digits an id has by SHA-1; more are SHA-256.
const SHA1_DIGITS: usize = 40;

/// Returns whether the id of a file in git begins with these digits; `None` for too few digits, for
/// the id of no file, and for a hash without its feature (`git-sha1`, `git-sha256`).
#[must_use]
pub fn is_blob(id: &str, bytes: &[u8]) -> Option<bool> {
    if id.len() < FEWEST_DIGITS || id.bytes().all(|digit| digit == b'0') {
        return None;
    }
    let id = id.to_ascii_lowercase();
    if id.len() != SHA1_DIGITS && sha256_id(bytes)?.starts_with(&id) {
        return Some(true);
    }
    if id.len() > SHA1_DIGITS { Some(false) } else { Some(sha1_id(bytes)?.starts_with(&id)) }
}

/// Returns the id of a file in a git repository that uses SHA-1.
#[cfg(feature = "git-sha1")]
#[must_use]
pub fn blob_id(bytes: &[u8]) -> String {
    digits(&sha1::Sha1::new().chain_update(header(bytes)).chain_update(bytes).finalize())
}

#[cfg(feature = "git-sha1")]
fn sha1_id(bytes: &[u8]) -> Option<String> {
    Some(blob_id(bytes))
}

#[cfg(not(feature = "git-sha1"))]
fn sha1_id(_: &[u8]) -> Option<String> {
    None
}

#[cfg(feature = "git-sha256")]
fn sha256_id(bytes: &[u8]) -> Option<String> {
    Some(digits(&sha2::Sha256::new().chain_update(header(bytes)).chain_update(bytes).finalize()))
}

#[cfg(not(feature = "git-sha256"))]
fn sha256_id(_: &[u8]) -> Option<String> {
    None
}

#[cfg(any(feature = "git-sha1", feature = "git-sha256"))]
fn digits(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(any(feature = "git-sha1", feature = "git-sha256"))]
fn header(bytes: &[u8]) -> String {
    format!("blob {}\0", bytes.len())
}

#[cfg(all(test, feature = "git-sha1", feature = "git-sha256"))]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        // `git hash-object`, with both object formats.
        let sha1 = "ce013625030ba8dba906f756967f9e9ca394464a";
        let sha256 = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        for (id, expected) in [
            (sha1, Some(true)),
            (&sha1[..7], Some(true)),
            (&sha1.to_ascii_uppercase(), Some(true)),
            (sha256, Some(true)),
            (&sha256[..7], Some(true)),
            (&sha256[..50], Some(true)),
            // The beginning of one that is as long as the other.
            (&sha256[..40], Some(false)),
            ("ce013625030ba8dba906f756967f9e9ca394464b", Some(false)),
            ("ce01363", Some(false)),
            // Too short; no file.
            ("ce0136", None),
            ("0000000", None),
            (&"0".repeat(40), None),
            ("", None),
        ] {
            assert_eq!(is_blob(id, b"hello\n"), expected, "{id}");
        }
    }
}
