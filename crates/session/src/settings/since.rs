//! Times in the past, as people write them.

use std::time::SystemTime;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Timestamp, Zoned};

use super::keep::age;

/// Examples of every form for [`since`], for messages.
const FORMS: [&str; 9] = [
    "2d",
    "3 weeks",
    "9am",
    "10:30",
    "today",
    "yesterday 9am",
    "tuesday",
    "last tuesday",
    "2026-11-01",
];

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Reads a time in the past: an age; a day (`today`, `yesterday`, `tuesday`, `last tuesday`, a
/// date), from midnight; the latest occurrence of a time of day (`9am`, `10:30`); or a day and a
/// time of day. Days are in the system's time zone, unless there is an offset.
///
/// # Errors
///
/// When the text has none of these forms.
pub fn since(text: &str) -> Result<SystemTime, String> {
    since_at(text, &Zoned::now())
}

/// Reads a time in the past, as of `now`.
fn since_at(text: &str, now: &Zoned) -> Result<SystemTime, String> {
    let text = text.trim();
    // A date with an offset is tried as a time first: read as a date, it would lose the offset.
    let time = text.parse::<Timestamp>().ok();
    if let Some(time) = time.or_else(|| Some(local(text, now)?.timestamp())) {
        return Ok(time.into());
    }
    let passed = age(text).map_err(|_| {
        let [forms @ .., last] = FORMS;
        format!("{text:?} is not a time; one looks like {} or {last}", forms.join(", "))
    })?;
    SystemTime::from(now.timestamp())
        .checked_sub(passed)
        .ok_or_else(|| format!("{text:?} is too long ago"))
}

/// Reads a time in the time zone of `now`.
fn local(text: &str, now: &Zoned) -> Option<Zoned> {
    let date = text.parse::<DateTime>().ok();
    date.and_then(|date| date.to_zoned(now.time_zone().clone()).ok())
        .or_else(|| day_and_time(text, now))
}

/// Reads a day, a time of day, or both.
fn day_and_time(text: &str, now: &Zoned) -> Option<Zoned> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The time of day may begin at any word.
    (0..=words.len()).find_map(|at| {
        let (date, time) = words.split_at(at);
        let time = match time {
            ["at", time @ ..] | time => time.concat(),
        };
        if time.is_empty() {
            return day(date, now)?.to_zoned(now.time_zone().clone()).ok();
        }
        let time = time_of_day(&time)?;
        if !date.is_empty() {
            return zoned(day(date, now)?, time, now);
        }
        let today = zoned(now.date(), time, now)?;
        if today <= *now { Some(today) } else { zoned(now.date().yesterday().ok()?, time, now) }
    })
}

/// Returns a time of day on a day, in the time zone of `now`.
fn zoned(day: Date, time: Time, now: &Zoned) -> Option<Zoned> {
    day.to_datetime(time).to_zoned(now.time_zone().clone()).ok()
}

fn day(words: &[&str], now: &Zoned) -> Option<Date> {
    let today = now.date();
    match words {
        ["today"] => Some(today),
        ["yesterday"] => today.yesterday().ok(),
        [day] if day.len() == "2026-11-01".len() => day.parse().ok(),
        [day] if weekday(day)? == today.weekday() => Some(today),
        [day] | ["last", day] => today.nth_weekday(-1, weekday(day)?).ok(),
        _ => None,
    }
}

fn weekday(word: &str) -> Option<Weekday> {
    let mut days = DAYS.iter().filter(|(name, _)| word.len() >= 3 && name.starts_with(word));
    days.next().map(|(_, day)| *day)
}

/// Reads a number of at most two digits.
fn two_digits(text: &str) -> Option<i8> {
    let is_number = text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Reads a time of day. A number alone is not one.
fn time_of_day(text: &str) -> Option<Time> {
    let (numbers, half) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(numbers), _) => (numbers.trim_end(), Some(0)),
        (_, Some(numbers)) => (numbers.trim_end(), Some(12)),
        _ => (text, None),
    };
    let numbers: Option<Vec<i8>> = numbers.split(':').map(two_digits).collect();
    let (hour, minute, second) = match numbers?[..] {
        [hour] if half.is_some() => (hour, 0, 0),
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute, second, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_the_past() {
        // A Thursday.
        let now = "2026-11-26T01:30:00+02:00[+02:00]".parse().expect("a time");
        for (text, wanted) in [
            ("today", "2026-11-25T22:00:00.000000Z"),
            ("yesterday", "2026-11-24T22:00:00.000000Z"),
            ("2 days ago", "2026-11-23T23:30:00.000000Z"),
            ("2 hours ago", "2026-11-25T21:30:00.000000Z"),
            ("2h", "2026-11-25T21:30:00.000000Z"),
            (" 3 weeks", "2026-11-04T23:30:00.000000Z"),
            ("2026-11-01", "2026-10-31T22:00:00.000000Z"),
            ("2026-11-01 12:00", "2026-11-01T10:00:00.000000Z"),
            ("2026-11-01T12:00Z", "2026-11-01T12:00:00.000000Z"),
            ("2026-11-01T02:00+05:00", "2026-10-31T21:00:00.000000Z"),
            // The latest occurrence: an hour ago, and half a day ago.
            ("0:30", "2026-11-25T22:30:00.000000Z"),
            ("1am", "2026-11-25T23:00:00.000000Z"),
            ("1:30:00", "2026-11-25T23:30:00.000000Z"),
            ("10:30", "2026-11-25T08:30:00.000000Z"),
            ("9am", "2026-11-25T07:00:00.000000Z"),
            ("9 PM", "2026-11-25T19:00:00.000000Z"),
            ("12am", "2026-11-25T22:00:00.000000Z"),
            ("12:15pm", "2026-11-25T10:15:00.000000Z"),
            ("today 1am", "2026-11-25T23:00:00.000000Z"),
            ("yesterday 9am", "2026-11-25T07:00:00.000000Z"),
            ("yesterday at 21:05", "2026-11-25T19:05:00.000000Z"),
            ("thursday", "2026-11-25T22:00:00.000000Z"),
            ("last thursday", "2026-11-18T22:00:00.000000Z"),
            ("Tuesday", "2026-11-23T22:00:00.000000Z"),
            ("last tue", "2026-11-23T22:00:00.000000Z"),
            ("last friday 5pm", "2026-11-20T15:00:00.000000Z"),
            ("2026-11-01 at 9am", "2026-11-01T07:00:00.000000Z"),
        ] {
            let time = since_at(text, &now).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(workspace_trash::format_time(time), wanted, "{text}");
        }
        for wrong in [
            "",
            "7",
            "-1d",
            "ago",
            "tomorrow",
            "2026-13-01",
            "2026-11-01x",
            "9",
            "13pm",
            "0am",
            "25:00",
            "9:",
            "at",
            "last",
            "last 9am",
            "next tuesday",
            "tu",
            "yesterday today",
        ] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_the_error_names_is_read() {
        let said = since("tomorrow").expect_err("in the future");
        for form in FORMS {
            assert!(said.contains(form), "{said}");
            assert!(since(form).is_ok(), "{form}");
        }
    }
}
