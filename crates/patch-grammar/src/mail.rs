//! The first lines of mails and commits.

/// Returns whether a line begins a mail in a file of many: `From ` and the hash of a commit, as `git
/// format-patch` writes it, or a sender and a time, as mail programs do.
#[must_use]
pub fn begins_mail(line: &[u8]) -> bool {
    line.strip_prefix(b"From ").is_some_and(|rest| is_hash(rest, b' ') || is_sent(rest))
}

/// Returns whether a text is an address and a time, such as `a@example.org Mon Sep 17 00:00:00
/// 2001`.
fn is_sent(text: &[u8]) -> bool {
    let mut words =
        text.trim_ascii_end().split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let sender = words.next().unwrap_or_default();
    let is_clock = words.nth(3).is_some_and(|word| {
        matches!(word, [_, _, b':', _, _, b':', _, _])
            && word.iter().all(|byte| *byte == b':' || byte.is_ascii_digit())
    });
    let year = words.next().unwrap_or_default();
    sender.contains(&b'@') && is_clock && year.len() == 4 && year.iter().all(u8::is_ascii_digit)
}

/// Returns the end of the cover letter of a series that begins at line `at`: it shows what others
/// change, and is no patch. `count` is how many lines there are.
pub(crate) fn cover_letter<'l>(
    line: impl Fn(usize) -> &'l [u8],
    at: usize,
    count: usize,
) -> Option<usize> {
    if !begins_mail(line(at)) {
        return None;
    }
    let mut head = (at + 1..count)
        .map(&line)
        .take_while(|line| !line.trim_ascii().is_empty() && !begins_mail(line));
    let subject = head.find_map(|line| line.strip_prefix(b"Subject: "))?;
    let mut below = at + 1..count;
    is_numbered_zero(subject).then(|| below.find(|&at| begins_mail(line(at))).unwrap_or(count))
}

/// Returns whether the subject of a mail begins with the number of a cover letter: `[PATCH 0/2]`.
fn is_numbered_zero(subject: &[u8]) -> bool {
    let Some(tag) = subject.strip_prefix(b"[") else { return false };
    let tag = tag.split(|&byte| byte == b']').next().unwrap_or_default();
    let number = tag.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
    let mut sides = number.split(|&byte| byte == b'/');
    let (Some(nth), Some(all), None) = (sides.next(), sides.next(), sides.next()) else {
        return false;
    };
    !nth.is_empty()
        && nth.iter().all(|&digit| digit == b'0')
        && !all.is_empty()
        && all.iter().all(u8::is_ascii_digit)
}

/// Returns whether a text begins with the hash of a commit, and perhaps goes on after `end`.
pub(crate) fn is_hash(text: &[u8], end: u8) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    (digits == 40 || digits == 64) && text.get(digits).is_none_or(|&byte| byte == end)
}
