//! The text behind the name in a `--- ` or `+++ ` line: a time stamp, or the words of Subversion
//! and CVS.

/// The most bytes of a time stamp and a revision behind blanks.
const LONGEST: usize = 80;

/// The minutes of a day.
const DAY: i32 = 24 * 60;

/// Returns the length of a name that is not in quotes, without what stands behind it. A name may
/// have blanks, and tabs if a time stamp follows; where tabs became blanks, a time stamp is told by
/// its form.
pub(super) fn name_length(rest: &[u8]) -> usize {
    before_tab(rest).unwrap_or_else(|| before_time(rest))
}

/// Returns whether what stands behind a name says that there is no file on this side: the time
/// stamp is the epoch, without a revision, or Subversion says so.
pub(super) fn says_absent(behind: &[u8]) -> bool {
    let fields = behind.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
    let mut fields = fields.filter(|field| !field.is_empty());
    let Some(first) = fields.next() else { return false };
    match fields.next_back() {
        Some(last) => last == NONEXISTENT,
        None => first == NONEXISTENT || Time::of(first).is_some_and(Time::is_epoch),
    }
}

/// The word of Subversion for a side without the file.
const NONEXISTENT: &[u8] = b"(nonexistent)";

/// Returns the length of a name before the words of Subversion, where the tab between them became
/// blanks. They may be part of a name.
pub(super) fn before_words(name: &[u8]) -> Option<usize> {
    let blank = memchr::memmem::rfind(name, b" (")?;
    let words = &name[blank + 1..];
    let revision = words.strip_prefix(b"(revision ").and_then(|words| words.strip_suffix(b")"));
    let is_revision =
        revision.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    let length = name[..blank].trim_ascii_end().len();
    let are_words = is_revision || words == NONEXISTENT || words == b"(working copy)";
    (are_words && length > 0).then_some(length)
}

/// Returns the length of a name before the tab at which a time stamp begins, or words in brackets.
fn before_tab(rest: &[u8]) -> Option<usize> {
    let first = memchr::memchr(b'\t', rest)?;
    let mut tabs = memchr::memchr_iter(b'\t', rest);
    let stamped = tabs.find(|&at| {
        let behind = rest[at..].trim_ascii_start();
        let field = behind.split(|&byte| byte == b'\t').next().unwrap_or_default();
        (at == first && behind.starts_with(b"(")) || Time::of(field).is_some()
    });
    stamped.or_else(|| {
        let last = memchr::memrchr(b'\t', rest)?;
        Some(if rest[last + 1..].first().is_some_and(u8::is_ascii_digit) { last } else { first })
    })
}

/// Returns the length of a name without a time stamp behind blanks.
fn before_time(rest: &[u8]) -> usize {
    let text = rest.trim_ascii_end();
    let from = text.len().saturating_sub(LONGEST);
    let mut blanks = memchr::memchr_iter(b' ', &text[from..]).map(|at| from + at);
    let before =
        blanks.find(|&at| at > 0 && text[at - 1] != b' ' && of_words(&text[at..]).is_some());
    before.unwrap_or(rest.len())
}

/// Reads a time stamp behind which the revision of CVS may stand.
fn of_words(text: &[u8]) -> Option<Time> {
    let (before, last) = text.split_at(memchr::memrchr(b' ', text)? + 1);
    let is_revision =
        last.contains(&b'.') && last.iter().all(|&byte| byte == b'.' || byte.is_ascii_digit());
    Time::of(text).or_else(|| Time::of(before).filter(|_| is_revision))
}

/// A time near the epoch, or any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time {
    /// The minutes from the first one of 1970 in the zone of the stamp, if they are whole, and at
    /// most a day away.
    minutes: Option<i32>,
    /// The minutes by which its zone is ahead.
    zone: Option<i32>,
}

impl Time {
    /// Reads a time stamp of diff, git, hg, bzr and CVS: `1970-01-01 00:00:00.000000000 +0000`,
    /// `1 Jan 1970 00:00:00 -0000`, `Thu, 1 Jan 1970 00:00:00 +0000` or `Thu Jan  1 00:00:00 1970
    /// +0000`; each with or without the fraction and the zone.
    fn of(text: &[u8]) -> Option<Self> {
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        // One more than the longest has.
        let words: Vec<&[u8]> = words.take(7).collect();
        let (zone, words) = match words.split_last() {
            Some((last, rest)) if let Some(zone) = zone(last) => (Some(zone), rest),
            _ => (None, &words[..]),
        };
        let (day, clock) = match *words {
            [date, clock] => (Day::iso(date)?, clock),
            [day, month, year, clock] => (Day::named(day, month, year)?, clock),
            [weekday, day, month, year, clock] if weekday.ends_with(b",") => {
                (Day::named(day, month, year)?, clock)
            }
            [weekday, month, day, clock, year] if is_weekday(weekday) => {
                (Day::named(day, month, year)?, clock)
            }
            _ => return None,
        };
        let minutes = clock_minutes(clock)?;
        let before = match day {
            Day::First => Some(0),
            Day::Before => Some(-DAY),
            Day::Other => None,
        };
        Some(Self { minutes: before.zip(minutes).map(|(before, minutes)| before + minutes), zone })
    }

    /// Returns whether this is the epoch; without a zone, whether the epoch is this in some zone.
    fn is_epoch(self) -> bool {
        /// Zones are as much behind, or ahead.
        const ZONES: std::ops::RangeInclusive<i32> = -12 * 60..=14 * 60;
        match (self.minutes, self.zone) {
            (Some(minutes), Some(zone)) => minutes == zone,
            (Some(minutes), None) => ZONES.contains(&minutes) && minutes % 15 == 0,
            (None, _) => false,
        }
    }
}

/// A day, as far as the epoch can be told from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Day {
    /// 1 January 1970.
    First,
    /// The day before.
    Before,
    Other,
}

impl Day {
    fn iso(date: &[u8]) -> Option<Self> {
        is_like(date, b"0000-00-00").then_some(match date {
            b"1970-01-01" => Self::First,
            b"1969-12-31" => Self::Before,
            _ => Self::Other,
        })
    }

    fn named(day: &[u8], month: &[u8], year: &[u8]) -> Option<Self> {
        const MONTHS: [&[u8]; 12] = [
            b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov",
            b"Dec",
        ];
        let is_day = (is_like(day, b"0") || is_like(day, b"00")) && is_like(year, b"0000");
        (is_day && MONTHS.contains(&month)).then_some(match (day, month, year) {
            (b"1" | b"01", b"Jan", b"1970") => Self::First,
            (b"31", b"Dec", b"1969") => Self::Before,
            _ => Self::Other,
        })
    }
}

fn is_weekday(word: &[u8]) -> bool {
    [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"].iter().any(|day| word == *day)
}

/// Reads a time of day, with or without a fraction: its minutes, if they are whole.
#[expect(clippy::option_option, reason = "no time of day, and one that is not whole")]
fn clock_minutes(word: &[u8]) -> Option<Option<i32>> {
    let (time, fraction) = word.split_at(word.len().min(8));
    let is_fraction = fraction.is_empty()
        || (fraction.len() > 1
            && fraction.starts_with(b".")
            && fraction[1..].iter().all(u8::is_ascii_digit));
    if !is_like(time, b"00:00:00") || !is_fraction {
        return None;
    }
    let is_whole = time.ends_with(b":00") && fraction.iter().all(|byte| b".0".contains(byte));
    Some(is_whole.then(|| two_digits(&time[..2]) * 60 + two_digits(&time[3..5])))
}

/// Reads a zone, as the minutes by which it is ahead.
fn zone(word: &[u8]) -> Option<i32> {
    if matches!(word, b"UTC" | b"GMT") {
        return Some(0);
    }
    if !is_like(word, b"+0000") && !is_like(word, b"+00:00") {
        return None;
    }
    let minutes = two_digits(&word[1..3]) * 60 + two_digits(&word[word.len() - 2..]);
    Some(if word[0] == b'-' { -minutes } else { minutes })
}

fn two_digits(digits: &[u8]) -> i32 {
    digits.iter().fold(0, |number, digit| number * 10 + i32::from(digit - b'0'))
}

/// Returns whether a word has the form of another, in which `0` is any digit, and `+` any sign.
fn is_like(word: &[u8], form: &[u8]) -> bool {
    word.len() == form.len()
        && word.iter().zip(form).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            b'+' => matches!(byte, b'+' | b'-'),
            form => byte == form,
        })
}
