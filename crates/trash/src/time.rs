//! Times as text for programs: RFC 3339, UTC, microseconds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The first time that RFC 3339 can say, in microseconds since 1970: it has no years below 0.
const FIRST: i64 = -62_167_219_200_000_000;

/// The last one: it has no years of five digits.
pub(crate) const LAST: i64 = 253_402_300_799_999_999;

const MICROS: i64 = 1_000_000;
const DAY: i64 = 24 * 3600 * MICROS;

/// Formats a time as `2026-11-21T01:42:33.123456Z`.
///
/// Times before the year 0 are its beginning, and those after 9999 its end.
#[must_use]
pub fn format_time(time: SystemTime) -> String {
    let t = Utc::at(micros(time));
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        t.year, t.month, t.day, t.hour, t.minute, t.second, t.micro
    )
}

/// Returns the microseconds since 1970; those of the first or the last time that can be written
/// for one that cannot.
pub(crate) fn micros(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since).min(LAST),
        Err(before) => (-whole(before.duration())).max(FIRST),
    }
}

fn whole(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// A time in the Gregorian calendar and in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Utc {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) micro: i64,
}

impl Utc {
    /// Returns the time so many microseconds after 1970.
    pub(crate) fn at(micros: i64) -> Self {
        let days = micros.div_euclid(DAY);
        let rest = micros.rem_euclid(DAY);
        let seconds = rest / MICROS;
        let mut time = Self {
            year: 0,
            month: 1,
            day: 1,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            micro: rest % MICROS,
        };
        // A year has 365.2425 days: the estimate is one too high at most.
        time.year = 1970 + (days * 10_000).div_euclid(3_652_425) + 1;
        while time.days() > days {
            time.year -= 1;
        }
        time.month = 12;
        while time.days() > days {
            time.month -= 1;
        }
        time.day += days - time.days();
        time
    }

    /// Returns the microseconds since 1970; `None` if the calendar or the clock has no such time.
    pub(crate) fn micros(self) -> Option<i64> {
        let micros = self.days() * DAY
            + (self.hour * 3600 + self.minute * 60 + self.second) * MICROS
            + self.micro;
        (1..=12).contains(&self.month).then_some(micros).filter(|&micros| Self::at(micros) == self)
    }

    /// Returns the days since 1970.
    fn days(self) -> i64 {
        // The year begins in March here, so that a leap day is its last one: the months before one
        // of them have 30.6 days each, rounded down.
        let year = self.year - i64::from(self.month < 3);
        let month = (self.month + 9) % 12;
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        365 * year + leap_days + (153 * month + 2) / 5 + self.day - 719_469
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn known_times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_795_225_353, "2026-11-21T01:42:33.000000Z"),
            (4_102_444_799, "2099-12-31T23:59:59.000000Z"),
            (1 << 38, "9999-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(format_time(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        let earlier = |seconds| format_time(UNIX_EPOCH - Duration::from_secs(seconds));
        assert_eq!(earlier(1), "1969-12-31T23:59:59.000000Z");
        assert_eq!(earlier(1 << 37), "0000-01-01T00:00:00.000000Z");
    }

    /// Days of all months in 10 000 years, each at another time of the day.
    #[test]
    fn a_time_is_that_of_a_calendar() {
        let step = 29 * DAY + 7_654_321;
        let mut tried = 0;
        for micros in (FIRST..LAST).step_by(step as usize) {
            let Ok(wanted) = Timestamp::from_microsecond(micros) else { continue };
            assert_eq!(format_time(wanted.into()), format!("{wanted:.6}"));
            assert_eq!(Utc::at(micros).micros(), Some(micros));
            tried += 1;
        }
        assert!(tried > 120_000, "{tried}");
    }
}
