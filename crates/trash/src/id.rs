//! The ids of transactions.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::time::{Fields, micros};

/// The last microsecond of the year 9999: the id of a later time could not be read back.
const MAX_MICROS: u64 = 253_402_300_799_999_999;

const AHEAD: Duration = Duration::from_secs(24 * 3600);

/// The id of a transaction: the time it began and a random tail, as
/// `20261121-014233-123456-9f3ac1d2`.
///
/// Ids sort by time, and are safe as file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId {
    micros: u64,
    tail: u32,
}

/// The text is not a transaction id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a transaction id; one looks like `20261121-014233-123456-9f3ac1d2`")]
pub struct ParseIdError(String);

impl TransactionId {
    /// Creates a new id, later than `last` even if the clock went back.
    pub fn new(now: SystemTime, last: Option<Self>) -> Result<Self, fs_guard::Error> {
        let mut tail = [0; 4];
        fs_guard::random(&mut tail)?;
        let after = last.map_or(0, |last| last.micros + 1);
        Ok(Self { micros: micros(now).max(after).min(MAX_MICROS), tail: u32::from_ne_bytes(tail) })
    }

    /// Returns whether the id lies in the future, by more than a day: a clock that was set back by
    /// hours does not count.
    #[must_use]
    pub fn is_ahead_of(self, now: SystemTime) -> bool {
        self.time() > now + AHEAD
    }

    /// Returns whether the id begins or ends with a text.
    #[must_use]
    pub fn is_named(self, part: &str) -> bool {
        let name = self.to_string();
        !part.is_empty() && (name.starts_with(part) || name.ends_with(part))
    }

    /// Returns the end of the id, which people use as its name: `9f3ac1d2`.
    #[must_use]
    pub fn short(self) -> String {
        format!("{:08x}", self.tail)
    }

    /// Returns when the transaction began.
    #[must_use]
    pub fn time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_micros(self.micros)
    }
}

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = Fields::of(self.micros);
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
        let parse = || {
            let shape = b"00000000-000000-000000-xxxxxxxx";
            let fits = text.len() == shape.len()
                && text.bytes().zip(shape).all(|(b, s)| match s {
                    b'0' => b.is_ascii_digit(),
                    b'x' => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
                    s => b == *s,
                });
            if !fits {
                return None;
            }
            let number = |from: usize, to: usize| text[from..to].parse::<u64>().ok();
            let fields = Fields {
                year: number(0, 4)?,
                month: number(4, 6)?,
                day: number(6, 8)?,
                hour: number(9, 11)?,
                minute: number(11, 13)?,
                second: number(13, 15)?,
                micro: number(16, 22)?,
            };
            Some(Self {
                micros: micros(fields.time()?),
                tail: u32::from_str_radix(&text[23..], 16).ok()?,
            })
        };
        parse().ok_or_else(|| ParseIdError(text.chars().take(80).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_sorts_by_time() {
        let now = UNIX_EPOCH + Duration::from_micros(1_795_225_353_123_456);
        let one = TransactionId::new(now, None).unwrap();
        assert!(one.to_string().starts_with("20261121-014233-123456-"));
        assert_eq!(one.to_string().parse(), Ok(one));
        let later = TransactionId::new(now - Duration::from_secs(9), Some(one)).unwrap();
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
                TransactionId::new(now + ahead, None).unwrap().is_ahead_of(now),
                is_ahead,
                "{ahead:?}"
            );
        }
        assert!(!TransactionId::new(now - 2 * day, None).unwrap().is_ahead_of(now));
    }

    #[test]
    fn no_name_is_made_that_cannot_be_read() {
        let last = "99991231-235959-999999-ffffffff".parse().unwrap();
        let far = UNIX_EPOCH + Duration::from_secs(1 << 38);
        for id in [
            TransactionId::new(UNIX_EPOCH, Some(last)).unwrap(),
            TransactionId::new(far, None).unwrap(),
        ] {
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
            "20261121-014233-123456-9f3ac1d2/",
        ] {
            assert!(text.parse::<TransactionId>().is_err(), "{text}");
        }
    }
}
