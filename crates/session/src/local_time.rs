//! Times for people, in their time zone.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a time as git does for people, in the time zone of the system:
/// `2026-11-21 02:42:33 +0100`.
#[must_use]
pub fn format_local_time(time: SystemTime) -> String {
    in_zone(time, TimeZone::system())
}

/// The last time that can be written stands for later ones.
fn in_zone(time: SystemTime, zone: TimeZone) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::MAX);
    time.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S %z").to_string()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use jiff::tz::offset;

    use super::*;

    #[test]
    fn a_time_for_people_is_that_of_their_clock() {
        let time = UNIX_EPOCH + Duration::from_secs(1_795_225_353);
        for (hours, text) in [
            (0, "2026-11-21 01:42:33 +0000"),
            (-5, "2026-11-20 20:42:33 -0500"),
            (9, "2026-11-21 10:42:33 +0900"),
        ] {
            assert_eq!(in_zone(time, TimeZone::fixed(offset(hours))), text);
        }
    }
}
