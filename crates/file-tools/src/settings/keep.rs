//! Ages and sizes, as people write them.

use std::time::{Duration, SystemTime};

use workspace_trash::Retention;

/// Reads an age: a number with `s`, `min`, `h`, `d` (or nothing, which is days too), `w`, `mo` (30
/// days) or `y` (365 days), or with the whole word.
fn age(text: &str) -> Result<Duration, String> {
    const UNITS: &[(&str, f64)] = &[
        ("s", 1.0),
        ("second", 1.0),
        ("min", 60.0),
        ("minute", 60.0),
        ("h", 3600.0),
        ("hour", 3600.0),
        ("d", 86_400.0),
        ("day", 86_400.0),
        ("days", 86_400.0),
        ("w", 7.0 * 86_400.0),
        ("week", 7.0 * 86_400.0),
        ("mo", 30.0 * 86_400.0),
        ("month", 30.0 * 86_400.0),
        ("y", 365.0 * 86_400.0),
        ("year", 365.0 * 86_400.0),
    ];
    let wrong = || format!("{text:?} is no age; one looks like 30d, 12h or 2w");
    let seconds = scaled(text, UNITS, 86_400.0).ok_or_else(wrong)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// Reads a time in the past: an age, also with `ago`, or a date, which is the beginning of that day
/// in UTC.
///
/// # Errors
///
/// When it is neither.
pub fn since(text: &str) -> Result<SystemTime, String> {
    if let Some(time) = workspace_trash::parse_time(text) {
        return Ok(time);
    }
    let passed = age(text.trim().trim_end_matches("ago").trim_end()).map_err(|_| {
        format!(
            "{text:?} is no time; wanted an age such as 2d or 3 weeks, or a date such as 2026-11-01"
        )
    })?;
    SystemTime::now().checked_sub(passed).ok_or_else(|| format!("{text:?} is too long ago"))
}

/// Reads a size: a number of bytes, or one with `kB`, `MB`, `GB`, `TB` (powers of 1000) or `KiB`,
/// `MiB`, `GiB`, `TiB`.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, f64)] = &[
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("B", 1.0),
    ];
    let wrong = || format!("{text:?} is no size; one looks like 500MB or 1GiB");
    let bytes =
        scaled(text, UNITS, 1.0).filter(|bytes| *bytes < u64::MAX as f64).ok_or_else(wrong)?;
    // The fraction of a byte does not matter.
    Ok(bytes as u64)
}

/// Reads what is kept: an age, a size, or both with a comma between. What neither limits has the
/// usual limits.
///
/// # Errors
///
/// When it is neither, or has two ages or two sizes.
pub fn keep(text: &str) -> Result<Retention, String> {
    let mut keep = Retention { keep_last: 1, ..Retention::default() };
    let (mut aged, mut sized) = (false, false);
    for part in text.split(',').map(str::trim) {
        let twice = || {
            format!("{text:?} has two of a kind; wanted an age, a size, or both, as \"30d, 1GiB\"")
        };
        if let Ok(found) =
            age(part).and_then(|age| if ends_in_unit(part) { Ok(age) } else { Err(String::new()) })
        {
            if std::mem::replace(&mut aged, true) {
                return Err(twice());
            }
            keep.max_age = found;
        } else {
            if std::mem::replace(&mut sized, true) {
                return Err(twice());
            }
            keep.max_bytes = size(part)?;
        }
    }
    Ok(keep)
}

fn ends_in_unit(text: &str) -> bool {
    text.ends_with(|last: char| last.is_ascii_alphabetic())
}

/// A number of the unit at its end.
fn scaled(text: &str, units: &[(&str, f64)], preset: f64) -> Option<f64> {
    let text = text.trim();
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => (text[..at].trim_end(), &text[at..]),
        None => (text, ""),
    };
    let digits =
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = number.parse().ok().filter(|_| digits)?;
    let scale = match unit {
        "" => preset,
        unit => {
            let is = |name: &str, unit: &str| name.eq_ignore_ascii_case(unit);
            let plural = |name: &str| {
                name.len() > 3 && unit.strip_suffix('s').is_some_and(|unit| is(name, unit))
            };
            units.iter().find(|(name, _)| is(name, unit) || plural(name))?.1
        }
    };
    Some(number * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes() {
        for (text, seconds) in [
            ("30d", 2_592_000.0),
            ("1.5 h", 5400.0),
            ("2w", 1_209_600.0),
            ("90min", 5400.0),
            ("7", 604_800.0),
            ("3 weeks", 1_814_400.0),
            ("1 Day", 86_400.0),
        ] {
            assert_eq!(age(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for (text, bytes) in
            [("1GiB", 1 << 30), ("500 MB", 500_000_000), ("0", 0), ("1.5KiB", 1536), ("7", 7)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "d", "-1d", "1x", "inf", "1e9", "1 GiBs", "NaN"] {
            assert!(age(wrong).is_err(), "{wrong}");
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_in_the_past() {
        let passed =
            SystemTime::now().duration_since(since("2 days ago").unwrap()).unwrap().as_secs();
        assert!((172_790..172_900).contains(&passed), "{passed}");
        assert_eq!(
            workspace_trash::format_time(since("2026-11-01").unwrap()),
            "2026-11-01T00:00:00.000000Z"
        );
        for wrong in ["", "ago", "yesterday", "2026-13-01", "2026-11-01x"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_kept_has_an_age_a_size_or_both() {
        let usual = Retention { keep_last: 1, ..Retention::default() };
        let month = Duration::from_secs(2_592_000);
        for (text, wanted) in [
            ("30d, 1GiB", Retention { max_age: month, max_bytes: 1 << 30, ..usual }),
            ("1GiB,30d", Retention { max_age: month, max_bytes: 1 << 30, ..usual }),
            ("30d", Retention { max_age: month, ..usual }),
            ("100MB", Retention { max_bytes: 100_000_000, ..usual }),
            ("0", Retention { max_bytes: 0, ..usual }),
        ] {
            assert_eq!(keep(text), Ok(wanted), "{text}");
        }
        for wrong in ["", "30d, 2w", "1GB, 2GB", "often"] {
            assert!(keep(wrong).is_err(), "{wrong}");
        }
    }
}
