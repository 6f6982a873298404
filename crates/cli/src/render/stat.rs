//! `--stat`: how many lines change in each file.

use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use apply_patch_api::engine::Images;
use apply_patch_api::tools::changes::summary;
use apply_patch_api::tools::shown::sanitize;

use super::print::{line, name, width, written};

const DELETED: Style = AnsiColor::Red.on_default();
const INSERTED: Style = AnsiColor::Green.on_default();

/// The fewest columns that a bar is drawn in.
const LEAST: usize = 10;

/// Prints each change with its line counts; on a terminal in columns, with a bar.
///
/// Fails when bytes that are counted are not what the plan was made for any more.
pub(crate) fn stat(images: Images<'_>) -> Result<(), apply_patch_api::files::Error> {
    let plan = images.plan();
    let rows = plan.changes().iter().map(|change| Ok((name(change), images.line_counts(change)?)));
    let rows = rows.collect::<Result<Vec<_>, apply_patch_api::files::Error>>()?;
    if std::io::stdout().is_terminal() {
        let width = width().unwrap_or(80);
        written(anstream::stdout().write_all(bars(&rows, width).as_bytes()));
    } else {
        for (name, (inserted, deleted)) in &rows {
            line(&format!("{name} | +{inserted} -{deleted}"));
        }
    }
    let (inserted, deleted) =
        rows.iter().fold((0, 0), |sum, (_, counts)| (sum.0 + counts.0, sum.1 + counts.1));
    let lines = if inserted == 1 { "line" } else { "lines" };
    line(&format!("{}, {inserted} {lines} inserted, {deleted} deleted", summary(plan)));
    Ok(())
}

/// The rows as columns of at most `width`, where the names leave room for that.
fn bars(rows: &[(String, (usize, usize))], width: usize) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, (inserted, deleted))| {
            (sanitize(name), format!("+{inserted} -{deleted}"), *inserted, *deleted)
        })
        .collect();
    let longest =
        |of: &dyn Fn(&(_, String, _, _)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let counts = longest(&|row| row.1.len());
    let names =
        longest(&|row: &(std::borrow::Cow<'_, str>, String, usize, usize)| row.0.chars().count());
    let names = names.min(width.saturating_sub(counts + LEAST + 5));
    let room = width.saturating_sub(names + counts + 5).max(LEAST);
    let most = longest(&|row| row.2 + row.3);
    let scaled = |lines: usize| match most {
        0 => 0,
        _ if most <= room => lines,
        // What changes at all is seen.
        _ => (lines * room / most).max(usize::from(lines > 0)),
    };
    let mut out = String::new();
    for (name, count, inserted, deleted) in &rows {
        let plus = "+".repeat(scaled(*inserted));
        let minus = "-".repeat(scaled(*deleted));
        out += &format!(
            "{name:names$} | {count:counts$}  \
             {INSERTED}{plus}{INSERTED:#}{DELETED}{minus}{DELETED:#}\n"
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fit_into_the_terminal() {
        let rows = [
            ("M a".to_owned(), (3, 1)),
            ("A long/name".to_owned(), (200, 0)),
            ("D b".to_owned(), (0, 0)),
        ];
        let plain = |width| anstream::adapter::strip_str(&bars(&rows, width)).to_string();
        let wide: Vec<_> = plain(300).lines().map(str::to_owned).collect();
        assert_eq!(wide[0], "M a         | +3 -1    +++-");
        assert_eq!(wide[1], format!("A long/name | +200 -0  {}", "+".repeat(200)));
        for width in [40, 80, 200] {
            for line in plain(width).lines() {
                assert!(line.len() <= width, "{width}: {line}");
            }
        }
        assert!(
            plain(80).starts_with("M a         | +3 -1    +-"),
            "what changes is seen: {}",
            plain(80)
        );
    }
}
