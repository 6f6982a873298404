//! The one JSON object of `--json`: the result envelope and the data of `apply_patch`, the same as
//! from the file tools.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use apply_patch_api::engine::{Patch, Plan, Report};
use apply_patch_api::tools::ToolError;
use apply_patch_api::tools::changes::{DiffDetail, PatchData, outcome, summary};
use apply_patch_api::tools::envelope::{self, Success};
use apply_patch_api::tools::statistics::{FileStatistics, totals};
use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Serializer, Value, json};

use crate::render;

/// Prints a value as the answer, in a line.
pub(crate) fn print(value: &impl Serialize) {
    let result = write(value, &mut BufWriter::new(io::stdout().lock()));
    render::written_or(result, || serde_json::to_value(value).ok().as_ref().and_then(in_a_line));
}

/// The sentence of an answer, with its new transactions: for those who do not get it.
fn in_a_line(answer: &Value) -> Option<String> {
    let text = answer["output"].as_str().or_else(|| answer["error"]["message"].as_str())?;
    let data = &answer["data"];
    let many = data["transactionIds"].as_array().into_iter().flatten();
    let ids: Vec<&str> =
        data["transactionId"].as_str().into_iter().chain(many.filter_map(Value::as_str)).collect();
    Some(if ids.is_empty() { text.to_owned() } else { format!("{text} ({})", ids.join(", ")) })
}

fn write(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    match value.serialize(&mut Serializer::with_formatter(&mut *out, ForTerminals)) {
        Err(error) if !error.is_io() => panic!("BUG: a value cannot be written: {error}"),
        result => result?,
    }
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints the envelope of a success.
pub(crate) fn done(output: impl Into<String>, data: impl Serialize) {
    print(&Success::new(output, data));
}

/// The envelope of a success.
#[cfg(feature = "shell")]
pub(crate) fn success(output: impl Into<String>, data: impl Serialize) -> Value {
    json!({ "ok": true, "output": output.into(), "data": data })
}

/// The envelope of a failure with details of its own.
pub(crate) fn refusal(error: Value) -> Value {
    json!({ "ok": false, "error": error })
}

/// Prints a line of JSON.
#[cfg(feature = "tools")]
pub(crate) fn line(text: &str) {
    render::written_or(writeln!(io::stdout(), "{}", escape(text)), || {
        in_a_line(&serde_json::from_str(text).ok()?)
    });
}

/// JSON in one line, without what a terminal would obey.
struct ForTerminals;

impl Formatter for ForTerminals {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(escape(fragment).as_bytes())
    }
}

/// Writes what a terminal would obey as JSON's own escapes: a person may look at the answer, and a
/// program reads the same.
fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // Only strings have such characters; the C0 ones are escaped already.
        if is_hidden(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}"))
        } else {
            out.push(c)
        }
    }
    out.into()
}

fn is_hidden(c: char) -> bool {
    render::is_unsafe(c) || apply_patch_api::files::is_invisible(c)
}

/// The envelope of an uncommitted plan.
pub(crate) fn planned(
    plan: &Plan,
    atomic: bool,
    detail: Option<DiffDetail>,
) -> Result<impl Serialize + use<>, apply_patch_api::files::Error> {
    Ok(Success::new(
        format!("it applies: {}", summary(plan)),
        PatchData::planned(plan, atomic, detail.unwrap_or(DiffDetail::Full))?,
    ))
}

/// The envelope of what was committed.
pub(crate) fn applied(
    reports: &[Report],
    atomic: bool,
    detail: Option<DiffDetail>,
) -> impl Serialize + use<> {
    Success::new(outcome(reports), PatchData::applied(reports, atomic, detail.unwrap_or_default()))
}

/// The data of a patch, with how much it changes in each file.
#[derive(Serialize)]
struct Counted<D> {
    #[serde(flatten)]
    data: D,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Vec<FileStatistics>>,
}

/// The envelope of a plan that is not committed, with how much it changes in each file.
pub(crate) fn planned_counted(
    plan: &Plan,
    atomic: bool,
    detail: Option<DiffDetail>,
) -> Result<impl Serialize + use<>, apply_patch_api::files::Error> {
    let data = PatchData::planned(plan, atomic, detail.unwrap_or_default())?;
    let statistics = Some(FileStatistics::of_plan(plan.images())?);
    Ok(Success::new(format!("it applies: {}", summary(plan)), Counted { data, statistics }))
}

/// The envelope of what was committed, with how much changed in each file, unless a file was
/// changed again since.
pub(crate) fn applied_counted(
    reports: &[Report],
    atomic: bool,
    detail: Option<DiffDetail>,
) -> impl Serialize + use<> {
    let data = PatchData::applied(reports, atomic, detail.unwrap_or_default());
    let counted: Result<Vec<_>, _> =
        reports.iter().map(|report| FileStatistics::of_plan(report.images())).collect();
    let statistics = counted.ok().map(|files| files.concat());
    Success::new(outcome(reports), Counted { data, statistics })
}

/// The envelope of a diff that was only counted.
pub(crate) fn counted(patch: &Patch, files: Vec<FileStatistics>) -> impl Serialize + use<> {
    let data = json!({ "dryRun": true, "hunkCount": patch.hunk_count() });
    let said = totals(files.iter().map(|file| file.operation));
    Success::new(said, Counted { data, statistics: Some(files) })
}

/// Prints the envelope of a failure; without `all`, every reason but the gravest is a line when
/// there are many.
pub(crate) fn failed(mut error: ToolError, all: bool) {
    if !all {
        error.fit(apply_patch_api::tools::MAX_RESULT);
    }
    print(&envelope::Failure::from(error));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_the_same_and_a_terminal_obeys_nothing() {
        for text in [
            "plain \u{e9}\t\n\"\\",
            "\u{1b}[31m\u{7f}",
            "\u{9b}31m\u{85}",
            "a\u{202e}b\u{2066}\u{feff}",
            "\u{e0041}",
        ] {
            let value = json!({ text: [text] });
            let mut written = Vec::new();
            write(&value, &mut written).expect("it is in memory");
            let written = String::from_utf8(written).expect("text");
            let line = written.strip_suffix('\n').expect("a line");
            assert!(!line.chars().any(render::is_unsafe), "{line:?}");
            assert_eq!(serde_json::from_str::<Value>(line).expect("JSON"), value);
            assert_eq!(escape(&serde_json::to_string(&value).expect("JSON")), line);
        }
    }
}
