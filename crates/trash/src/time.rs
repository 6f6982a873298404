//! Times as text: RFC 3339, UTC, microseconds.

use std::time::SystemTime;

use jiff::Timestamp;

/// Formats a time as `2026-11-21T01:42:33.123456Z`.
#[must_use]
pub fn format_time(time: SystemTime) -> String {
    format!("{:.6}", timestamp(time))
}

/// The same time; the last one that can be written, if it is later.
pub(crate) fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn known_times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_795_225_353, "2026-11-21T01:42:33.000000Z"),
            (4_102_444_799, "2099-12-31T23:59:59.000000Z"),
            (1 << 38, "9999-12-30T22:00:00.999999Z"),
        ] {
            assert_eq!(format_time(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
