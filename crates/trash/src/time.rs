//! Times as text: for programs RFC 3339, UTC, microseconds; for people in their time zone.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a time as `2026-11-21T01:42:33.123456Z`.
#[must_use]
pub fn format_time(time: SystemTime) -> String {
    format!("{:.6}", timestamp(time))
}

/// Formats a time as git does for people, in the time zone of the system:
/// `2026-11-21 02:42:33 +0100`.
#[must_use]
pub fn format_local_time(time: SystemTime) -> String {
    local(time, TimeZone::system())
}

fn local(time: SystemTime, zone: TimeZone) -> String {
    timestamp(time).to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S %z").to_string()
}

/// The same time, or the last one that can be written.
pub(crate) fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_time_for_people_is_that_of_their_clock() {
        let time = UNIX_EPOCH + Duration::from_secs(1_795_225_353);
        for (hours, text) in [
            (0, "2026-11-21 01:42:33 +0000"),
            (-5, "2026-11-20 20:42:33 -0500"),
            (9, "2026-11-21 10:42:33 +0900"),
        ] {
            assert_eq!(local(time, TimeZone::fixed(jiff::tz::offset(hours))), text);
        }
    }

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
