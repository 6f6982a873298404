//! The ids of transactions.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::time::{self, LAST, Utc};

const AHEAD: Duration = Duration::from_secs(24 * 3600);

/// The id of a transaction: the time it began and a random tail, as
/// `20261121-014233-123456-9f3ac1d2`.
///
/// Ids sort by time, and are safe as file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId {
    /// Microseconds since 1970.
    time: i64,
    tail: u32,
}

/// The text is not a transaction id.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a transaction id; one looks like `20261121-014233-123456-9f3ac1d2`")]
pub struct ParseIdError(String);

fs_guard::debug_is_display!(ParseIdError);

impl TransactionId {
    /// Creates a new id, later than `last` even if the clock went back.
    #[must_use]
    pub fn new(now: SystemTime, last: Option<Self>) -> Self {
        // It tells apart what began at the same time, and is no secret: the keys of a hash map are
        // random enough.
        let tail = RandomState::new().hash_one(now) as u32;
        let after = last.map_or(0, |last| last.time + 1);
        // A later one could not be read back.
        let time = time::micros(now).max(after).min(LAST);
        Self { time, tail }
    }

    /// Returns whether the id lies in the future, by more than a day: a clock set back by hours
    /// does not count.
    #[must_use]
    pub fn is_ahead_of(self, now: SystemTime) -> bool {
        self.time() > now + AHEAD
    }

    /// How many characters of an id name it at least: fewer soon name another one, too.
    pub const NAMED_BY: usize = 4;

    /// Returns whether the id, or its [short form](Self::short), begins with a text, or the id ends
    /// with the text: of [`NAMED_BY`](Self::NAMED_BY) characters at least.
    #[must_use]
    pub fn is_named(self, part: &str) -> bool {
        let name = self.to_string();
        let begins = name.starts_with(part) || self.short().starts_with(part);
        part.len() >= Self::NAMED_BY && (begins || name.ends_with(part))
    }

    /// Returns the end of the id, its name for people: `9f3ac1d2`.
    #[must_use]
    pub fn short(self) -> String {
        format!("{:08x}", self.tail)
    }

    /// Returns when the transaction began.
    #[must_use]
    pub fn time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_micros(self.time.unsigned_abs())
    }

    /// Returns whether this is one in `number` transactions, by chance.
    pub(crate) fn is_one_in(self, number: u32) -> bool {
        self.tail.is_multiple_of(number)
    }
}

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = Utc::at(self.time);
        write!(
            f,
            "{:04}{:02}{:02}-{:02}{:02}{:02}-{:06}-{:08x}",
            t.year, t.month, t.day, t.hour, t.minute, t.second, t.micro, self.tail
        )
    }
}

impl FromStr for TransactionId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::read(text).ok_or_else(|| ParseIdError(text.chars().take(80).collect()))
    }
}

impl TransactionId {
    fn read(text: &str) -> Option<Self> {
        let time = Utc {
            year: number(text, 0..4)?,
            month: number(text, 4..6)?,
            day: number(text, 6..8)?,
            hour: number(text, 9..11)?,
            minute: number(text, 11..13)?,
            second: number(text, 13..15)?,
            micro: number(text, 16..22)?,
        };
        let time = time.micros()?;
        let tail = u32::from_str_radix(text.get(23..)?, 16).ok()?;
        let id = Self { time, tail };
        // An id is written in one way only.
        (time >= 0 && id.to_string() == text).then_some(id)
    }
}

fn number(text: &str, range: std::ops::Range<usize>) -> Option<i64> {
    text.get(range)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn reads_what_it_writes_and_sorts_by_time() {
        let now = UNIX_EPOCH + Duration::from_micros(1_795_225_353_123_456);
        let one = TransactionId::new(now, None);
        assert!(one.to_string().starts_with("20261121-014233-123456-"));
        assert_eq!(one.to_string().parse(), Ok(one));
        let later = TransactionId::new(now - Duration::from_secs(9), Some(one));
        assert!(later > one);
        assert!(later.to_string() > one.to_string());
    }

    #[test]
    fn a_clock_that_was_set_back_by_a_day_is_no_future() {
        let now = UNIX_EPOCH + Duration::from_micros(1_795_225_353_123_456);
        let day = Duration::from_secs(24 * 3600);
        for (ahead, is_ahead) in [
            (Duration::ZERO, false),
            (day, false),
            (day + Duration::from_micros(1), true),
            (2 * day, true),
        ] {
            assert_eq!(
                TransactionId::new(now + ahead, None).is_ahead_of(now),
                is_ahead,
                "{ahead:?}"
            );
        }
        assert!(!TransactionId::new(now - 2 * day, None).is_ahead_of(now));
    }

    #[test]
    fn an_id_is_named_by_its_ends_and_its_short_form() {
        let id: TransactionId = "20261121-014233-123456-9f3ac1d2".parse().unwrap();
        for (part, is_named) in [
            ("20261121-014233-123456-9f3ac1d2", true),
            ("20261121-01", true),
            ("9f3ac1d2", true),
            ("9f3a", true),
            ("c1d2", true),
            ("2026", true),
            ("9f3", false),
            ("1d2", false),
            ("2", false),
            ("f3ac", false),
            ("014233", false),
            ("", false),
        ] {
            assert_eq!(id.is_named(part), is_named, "{part}");
        }
    }

    #[test]
    fn no_name_is_made_that_cannot_be_read() {
        let last = "99991231-235959-999999-ffffffff".parse().unwrap();
        let far = UNIX_EPOCH + Duration::from_secs(1 << 38);
        for id in [TransactionId::new(UNIX_EPOCH, Some(last)), TransactionId::new(far, None)] {
            assert_eq!(id.to_string().parse(), Ok(id), "{id}");
        }
    }

    #[test]
    fn refuses_what_is_no_id() {
        for text in [
            "",
            "x",
            "../../../../etc",
            "20261121-014233-123456-9F3AC1D2",
            "20261321-014233-123456-9f3ac1d2",
            "20260230-000000-000000-9f3ac1d2",
            "19691231-235959-000000-9f3ac1d2",
            "20261121-014233-123456-+f3ac1d2",
            "20261121-14233-123456-9f3ac1d2",
            " 20261121-014233-123456-9f3ac1d2",
            "20261121-014233-123456-9f3ac1d2/",
        ] {
            assert!(text.parse::<TransactionId>().is_err(), "{text}");
        }
    }
}
