//! Ages and sizes, as people write them.

use std::time::Duration;

use jiff::Span;
use workspace_trash::Retention;

/// Reads an age, as jiff reads durations: `30d`, `1h 30m`, `2 weeks`, `3 months ago`. A month is 30
/// days, a year 365; less than a second does not count.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    seconds(text)
        .map(Duration::from_secs)
        .ok_or_else(|| format!("{text:?} is not an age; one looks like 30d, 12h or 2 weeks"))
}

fn seconds(text: &str) -> Option<u64> {
    let span: Span = text.trim().trim_end_matches("ago").trim_end().parse().ok()?;
    let days = 365 * i64::from(span.get_years())
        + 30 * i64::from(span.get_months())
        + 7 * i64::from(span.get_weeks())
        + i64::from(span.get_days());
    let hours = 24 * days + i64::from(span.get_hours());
    let seconds = 60 * (60 * hours + span.get_minutes()) + span.get_seconds();
    // A span may be negative.
    u64::try_from(seconds).ok()
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
    match scaled(text, UNITS, 1.0) {
        // The fraction of a byte does not matter.
        Some(bytes) if bytes < u64::MAX as f64 => Ok(bytes as u64),
        _ => Err(format!("{text:?} is not a size; one looks like 500MB or 1GiB")),
    }
}

/// The values for [`keep`], for messages.
pub(super) const KEPT: &str = "an age, a size, a number of transactions, or several of them, as \"30d, 1GiB, 500 transactions\"";

/// The same where proposals are kept.
pub(super) const KEPT_PROPOSALS: &str =
    "an age, a size, a number of proposals, or several of them, as \"30d, 64MiB, 200 proposals\"";

/// How long proposals are kept by default.
pub(super) const PROPOSALS: Retention = Retention {
    keep_last: 0,
    max_age: Duration::from_secs(30 * 24 * 3600),
    max_bytes: 64 << 20,
    max_count: 200,
};

/// Reads the limits of retention: an age, a size, a number of transactions, or several of these with
/// commas between. A limit not given has its default. Every limit needs a unit: a number alone could
/// mean any of the three, and files beyond the limits are deleted.
///
/// # Errors
///
/// When a limit is none of the three, two are of one kind, or a number has no unit.
pub fn keep(text: &str) -> Result<Retention, String> {
    let preset = Retention { keep_last: 1, ..Retention::default() };
    limits(text, preset, Counted { one: "transaction", wanted: KEPT })
}

/// Reads the limits for proposals: an age, a size, a number of proposals, or several of these.
pub(super) fn keep_proposals(text: &str) -> Result<Retention, String> {
    limits(text, PROPOSALS, Counted { one: "proposal", wanted: KEPT_PROPOSALS })
}

/// The things that are kept.
#[derive(Clone, Copy)]
struct Counted {
    /// The word for one of them; several have an `s`.
    one: &'static str,
    /// The values, for messages.
    wanted: &'static str,
}

fn limits(text: &str, preset: Retention, counted_as: Counted) -> Result<Retention, String> {
    let wanted = counted_as.wanted;
    let mut keep = preset;
    let mut aged = false;
    let mut sized = false;
    let mut counted = false;
    for part in text.split(',').map(str::trim) {
        if scaled(part, &[], 1.0).is_some() {
            return Err(no_unit(part, counted_as));
        }
        let seen = if let Some(count) = number_of(part, counted_as.one) {
            keep.max_count = count;
            &mut counted
        } else if let Ok(found) = age(part) {
            keep.max_age = found;
            &mut aged
        } else {
            keep.max_bytes =
                size(part).map_err(|_| format!("{part:?} is none of what is wanted: {wanted}"))?;
            &mut sized
        };
        if std::mem::replace(seen, true) {
            return Err(format!("{text:?} has two of a kind; wanted {wanted}"));
        }
    }
    Ok(keep)
}

/// Offers the units for a number without one.
fn no_unit(number: &str, counted_as: Counted) -> String {
    let some = format!("{}{}", counted_as.one, if number == "1" { "" } else { "s" });
    let offers = [
        (format!("{number}d"), " for days"),
        (format!("{number}MiB"), " for a size"),
        (format!("{number} {some}"), ""),
    ];
    let offers =
        offers.into_iter().filter(|(offer, _)| limits(offer, PROPOSALS, counted_as).is_ok());
    let offers: Vec<String> = offers.map(|(offer, what)| format!("\"{offer}\"{what}")).collect();
    format!("{number} has no unit: write {}", offers.join(", or "))
}

/// Reads a number of what `one` is the word for: `20 transactions`.
fn number_of(text: &str, one: &str) -> Option<usize> {
    let number = text.strip_suffix('s').unwrap_or(text).strip_suffix(one)?;
    number.trim_end().parse().ok()
}

/// Reads a number and scales it by the unit behind it, or by `preset` without a unit.
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
        unit => units.iter().find(|(name, _)| is_unit(unit, name))?.1,
    };
    Some(number * scale)
}

/// Returns whether a text is a unit; the name of a long unit may have an `s` behind it.
fn is_unit(text: &str, name: &str) -> bool {
    let singular = text.strip_suffix('s').filter(|_| name.len() > 3);
    name.eq_ignore_ascii_case(text) || singular.is_some_and(|text| name.eq_ignore_ascii_case(text))
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
            ("1h 30m", 5400.0),
            ("3 weeks", 1_814_400.0),
            ("1 day", 86_400.0),
            ("1y 1 month", 34_128_000.0),
        ] {
            assert_eq!(age(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for (text, bytes) in
            [("1GiB", 1 << 30), ("500 MB", 500_000_000), ("0", 0), ("1.5KiB", 1536), ("7", 7)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "d", "-1d", "1x", "inf", "1e9", "1 GiBs", "NaN", "99999y"] {
            assert!(age(wrong).is_err(), "{wrong}");
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_kept_has_units() {
        let usual = Retention { keep_last: 1, ..Retention::default() };
        let month = Duration::from_secs(2_592_000);
        for (text, wanted) in [
            ("30d, 1GiB", Retention { max_age: month, max_bytes: 1 << 30, ..usual }),
            ("1GiB,30d", Retention { max_age: month, max_bytes: 1 << 30, ..usual }),
            ("30d", Retention { max_age: month, ..usual }),
            ("100MB", Retention { max_bytes: 100_000_000, ..usual }),
            ("0B", Retention { max_bytes: 0, ..usual }),
            ("20 transactions", Retention { max_count: 20, ..usual }),
            ("1 transaction", Retention { max_count: 1, ..usual }),
            ("0transactions, 30d", Retention { max_count: 0, max_age: month, ..usual }),
        ] {
            assert_eq!(keep(text), Ok(wanted), "{text}");
        }
        for wrong in
            ["", "30d, 2w", "1GB, 2GB", "often", "-1 transactions", "2 transactions, 1 transaction"]
        {
            assert!(keep(wrong).is_err(), "{wrong}");
        }
        let proposals = keep_proposals("7d, 20 proposals").expect("limits");
        assert_eq!(proposals, Retention { max_count: 20, max_age: month * 7 / 30, ..PROPOSALS });
        assert!(keep_proposals("20 transactions").is_err());
        assert!(keep_proposals("20").is_err_and(|said| said.contains("20 proposals")));
        // A number alone could mean any of the three.
        for bare in ["0", "1", "30", "1.5", "30d, 1", "1,30d", "99999999"] {
            let said = keep(bare).expect_err(bare);
            assert!(said.contains("has no unit: write"), "{said}");
            // Every offer is accepted.
            let offers: Vec<&str> = said.split('"').skip(1).step_by(2).collect();
            assert!(!offers.is_empty(), "{said}");
            for offer in offers {
                assert!(keep(offer).is_ok(), "{bare}: {said}");
            }
        }
    }
}
