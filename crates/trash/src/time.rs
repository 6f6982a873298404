//! Times as text: RFC 3339, UTC, microseconds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Formats a time as `2026-11-21T01:42:33.123456Z`.
#[must_use]
pub fn format_time(time: SystemTime) -> String {
    let fields = Fields::of(micros(time));
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        fields.year,
        fields.month,
        fields.day,
        fields.hour,
        fields.minute,
        fields.second,
        fields.micro
    )
}

/// Parses a date, `2026-11-21`, or a time as [`format_time`] writes it, with or without a fraction
/// of a second; UTC. `None` if it is neither.
#[must_use]
pub fn parse_time(text: &str) -> Option<SystemTime> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time.strip_suffix('Z')?),
        None => (text, "00:00:00"),
    };
    let (time, part) = time.split_once('.').unwrap_or((time, "0"));
    let numbers = |text: &str, separator: char, widths: [usize; 3]| {
        let mut parts = text.split(separator);
        let mut next = |width: usize| {
            let part = parts.next().filter(|part| part.len() == width)?;
            part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u64>().ok())?
        };
        let found = [next(widths[0])?, next(widths[1])?, next(widths[2])?];
        parts.next().is_none().then_some(found)
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let digits =
        !part.is_empty() && part.len() <= 6 && part.bytes().all(|byte| byte.is_ascii_digit());
    let micro = format!("{part:0<6}").parse().ok().filter(|_| digits)?;
    Fields { year, month, day, hour, minute, second, micro }.time()
}

pub(crate) fn micros(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The parts of a date and a time of day.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    pub(crate) micro: u64,
}

impl Fields {
    /// Splits microseconds since 1970 (Howard Hinnant's `civil_from_days`).
    pub(crate) fn of(micros: u64) -> Self {
        let (seconds, micro) = (micros / 1_000_000, micros % 1_000_000);
        let (days, rest) = (seconds / 86_400, seconds % 86_400);
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        Self {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            micro,
        }
    }

    /// Joins the parts again; `None` if they are not a date after 1970.
    pub(crate) fn time(&self) -> Option<SystemTime> {
        // Other values out of range give another time, which the final comparison finds.
        let in_range =
            self.year >= 1970 && (1..=12).contains(&self.month) && (1..=31).contains(&self.day);
        if !in_range {
            return None;
        }
        let year = self.year - u64::from(self.month <= 2);
        let (era, year_of_era) = (year / 400, year % 400);
        let shifted_month = if self.month > 2 { self.month - 3 } else { self.month + 9 };
        let day_of_year = (153 * shifted_month + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
        let seconds = days * 86_400 + self.hour * 3600 + self.minute * 60 + self.second;
        let micros = seconds * 1_000_000 + self.micro;
        let time = UNIX_EPOCH + Duration::from_micros(micros);
        (Self::of(micros) == *self).then_some(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_read() {
        let day = parse_time("2026-11-21").unwrap();
        assert_eq!(format_time(day), "2026-11-21T00:00:00.000000Z");
        assert_eq!(parse_time("2026-11-21T00:00:01Z"), Some(day + Duration::from_secs(1)));
        assert_eq!(parse_time("2026-11-21T00:00:00.5Z"), Some(day + Duration::from_millis(500)));
        for wrong in [
            "",
            "2026-11",
            "2026-02-30",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "0000-01-01",
            "1969-12-31",
            "2026-11-21T",
            "2026-11-21T00:00:00",
            "2026-11-21T24:00:00Z",
            "2026-11-21T00:60:00Z",
            "2026-11-21T00:00:60Z",
            "2026-11-21T00:00:00.Z",
            "2026-11-21T00:00:00.+5Z",
            "2026-11-21T00:00:00.1234567Z",
            "+026-11-21",
            "2026-11-21-01",
        ] {
            assert_eq!(parse_time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_day_of_nine_centuries_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0.. {
            let fields = Fields::of(days * 86_400_000_000);
            assert_eq!(fields.year, year, "day {days}");
            assert_eq!(fields.month, month, "day {days}");
            assert_eq!(fields.day, day, "day {days}");
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            match (month, day == last) {
                (12, true) => (year, month, day) = (year + 1, 1, 1),
                (_, true) => (month, day) = (month + 1, 1),
                (_, false) => day += 1,
            }
            if year == 2870 {
                break;
            }
        }
    }

    #[test]
    fn known_times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_795_225_353, "2026-11-21T01:42:33.000000Z"),
            (4_102_444_799, "2099-12-31T23:59:59.000000Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(format_time(time), text);
            assert_eq!(parse_time(text), Some(time));
            assert_eq!(Fields::of(micros(time)).time(), Some(time));
        }
    }
}
