//! Numbers as people read them.

use std::time::SystemTime;

/// The age of a time: `2 min ago`; after months, the date.
pub(crate) fn age(time: SystemTime) -> String {
    let Ok(passed) = SystemTime::now().duration_since(time) else { return "just now".into() };
    aged(passed.as_secs())
        .unwrap_or_else(|| apply_patch_api::tools::format_local_time(time)[..10].to_owned())
}

fn aged(seconds: u64) -> Option<String> {
    const DAY: u64 = 86_400;
    Some(match seconds {
        0..=9 => "just now".into(),
        10..=59 => format!("{seconds} s ago"),
        60..=3599 => format!("{} min ago", seconds / 60),
        3600..DAY => format!("{} h ago", seconds / 3600),
        _ if seconds < 2 * DAY => "1 day ago".into(),
        _ if seconds < 60 * DAY => format!("{} days ago", seconds / DAY),
        _ => return None,
    })
}

/// A number of bytes: `4.2 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: &[&str] = &["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut number = bytes as f64 / 1024.0;
    let mut unit = 0;
    while number >= 1024.0 && unit + 1 < UNITS.len() {
        (number, unit) = (number / 1024.0, unit + 1);
    }
    format!("{number:.1} {}", UNITS[unit])
}

/// A number and its unit: `1 file`, `2 files`.
pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// How many lines change.
pub(super) fn line_counts(inserted: usize, deleted: usize) -> String {
    format!("{} inserted, {deleted} deleted", count(inserted, "line"))
}

/// A text in at most so many columns; `…` stands for what is left out.
pub(crate) fn cut(text: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if text.chars().count() > width => {
            text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_are_short() {
        for (seconds, wanted) in [
            (0, "just now"),
            (59, "59 s ago"),
            (119, "1 min ago"),
            (7200, "2 h ago"),
            (86_400, "1 day ago"),
            (86_400 * 59, "59 days ago"),
        ] {
            assert_eq!(aged(seconds).as_deref(), Some(wanted));
        }
        assert_eq!(aged(86_400 * 60), None);
        for (bytes, wanted) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB")]
        {
            assert_eq!(size(bytes), wanted);
        }
        assert_eq!(cut("äöü", Some(2)), "ä…");
        assert_eq!(cut("äöü", Some(3)), "äöü");
    }
}
