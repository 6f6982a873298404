//! Errors as pictures: the patch with carets, and beside it the closest place in the file.

use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use apply_patch_api::engine::{Advice, ParseError, Problem, Reject, RejectReason, Remedy};
use apply_patch_api::files::{Access, Root, quoted};
use apply_patch_api::tools::received;
use apply_patch_api::tools::shown::sanitize;
use apply_patch_api::tools::{Hint, bounds, hints};

use super::human::count;
use super::print::{error_width, message, sentence, wrapped};
use crate::global::Global;
use crate::input::Input;

/// How many rejects are drawn; more get a line each.
const DRAWN: usize = 5;

/// How many rejects are shown without `-v`. Nobody reads thousands of lines, and a model pays for
/// each.
const TOLD: usize = 50;

/// How many lines of a region are shown.
const SHOWN_LINES: usize = 12;

/// How long a line may be to be drawn.
const SHOWN_WIDTH: usize = 400;

/// The largest file to be read again for a picture.
const MAX_FILE: u64 = 64 << 20;

fn print(groups: &[Group<'_>]) {
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii);
    let renderer = error_width().map_or(renderer.clone(), |width| renderer.term_width(width));
    let mut picture = format!("{}\n\n", renderer.render(groups));
    // In one piece, so that what other processes print does not come between.
    if anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never {
        picture = anstream::adapter::strip_str(&picture).to_string();
    }
    let _ = anstream::stderr().write_all(picture.as_bytes());
}

/// A text beside something of `taken` columns, in lines that fit into the terminal.
fn fitting(text: &str, taken: usize) -> String {
    error_width()
        .map_or_else(|| text.to_owned(), |width| wrapped(text, width.saturating_sub(taken), 0))
}

/// The same for a text that ends in lines to copy: they stay as they are.
fn with_lines(text: &str, taken: usize) -> String {
    match text.split_once('\n') {
        Some((words, lines)) => format!("{}\n{lines}", fitting(words, taken)),
        None => fitting(text, taken),
    }
}

/// The columns of `error: `, and the columns before a help.
const TITLE: usize = 7;
const HELP: usize = 11;

/// Whether a label fits into the terminal, to the right of its span.
fn fits(excerpt: &DrawnExcerpt, label: &str) -> bool {
    let span = &excerpt.text[..excerpt.span.end];
    let column = span.rsplit('\n').next().unwrap_or_default().chars().count();
    error_width().is_none_or(|width| column + label.chars().count() + 8 <= width)
}

/// How many lines around one are drawn: none of what was sent as another text.
fn around(line: usize, above: isize) -> usize {
    line.saturating_add_signed(-above).saturating_sub(1).min(2)
}

/// Draws why a text is not a patch.
pub(crate) fn parse_error(input: &Input, error: &ParseError, global: &Global) {
    let text = String::from_utf8_lossy(input.sent.text.whole());
    let seen = match &error.seen {
        Some(seen) => {
            format!(
                "expected {}, saw `{}`",
                listed(&error.expected),
                sanitize(&seen.escape_debug().to_string())
            )
        }
        None => format!("expected {}, saw the end of the text", listed(&error.expected)),
    };
    let title = error.kind.to_string();
    // A text that is not UTF-8 has other offsets once it is shown. If that is the error, there is
    // nothing to show.
    let start = shown_len(&input.sent.text.whole()[..error.span.start]);
    let span = start..start + shown_len(&input.sent.text.whole()[error.span.clone()]);
    let drawn = error.kind != apply_patch_api::grammar::ParseErrorKind::NotUtf8;
    let (name, above) = input.place(error.line as usize).unwrap_or((&input.name, 0));
    let around = around(error.line as usize, above);
    let excerpt =
        Some(span).filter(|_| drawn).and_then(|span| DrawnExcerpt::new(&text, span, around));
    let Some(excerpt) = excerpt.map(DrawnExcerpt::sanitized) else {
        message(&format!("{title}, line {}, column {}: {seen}", error.line, error.column));
        return;
    };
    let name = sanitize(name).into_owned();
    let annotation = AnnotationKind::Primary.span(excerpt.span.clone());
    let (annotation, note) = if fits(&excerpt, &seen) {
        (annotation.label(&seen), None)
    } else {
        (annotation, Some(fitting(&seen, HELP)))
    };
    let snippet = Snippet::source(&excerpt.text)
        .line_start(excerpt.first_line.saturating_add_signed(-above))
        .path(&name)
        .annotation(annotation);
    let title = fitting(&title, TITLE);
    let mut group = Level::ERROR.primary_title(&title).element(snippet);
    if let Some(note) = &note {
        group = group.element(Level::NOTE.message(note));
    }
    // The picture shows the line to correct. The sign of a context line is not visible there.
    let remedies = bounds::remedies_within(Remedy::of_parse(error), &global.layers);
    let remedies: Vec<_> = remedies
        .into_iter()
        .filter(|remedy| match remedy {
            Remedy::CorrectLine { wanted, .. } => wanted.starts_with(' ') || wanted == "@@",
            _ => true,
        })
        .collect();
    let hints = Hint::all_of(&remedies, global.caller);
    let help = (!hints.is_empty()).then(|| {
        let words = sanitize(&hints::spelt_out(&hints, global.caller)).into_owned();
        with_lines(&words, HELP)
    });
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(help));
    }
    print(&[group]);
    if let Some(wrapper) = received::wrapper(input.bytes()).filter(|_| input.sent.diff.is_none()) {
        message(&format!("note: {wrapper}"));
    }
}

fn shown_len(bytes: &[u8]) -> usize {
    String::from_utf8_lossy(bytes).len()
}

fn listed(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Draws every reject.
pub(crate) fn rejects(input: &Input, rejects: &[Reject], global: &Global) {
    let root =
        global.settings.policy().ok().and_then(|policy| Root::open(global.root(), policy).ok());
    // Without what is around the patch; its lines keep their numbers.
    let whole = input.sent.shown();
    let above = &whole.whole()[..whole.range().start];
    let above = above.iter().filter(|&&byte| byte == b'\n').count();
    let mut text = String::from_utf8_lossy(whole.as_bytes());
    if above > 0 {
        text = ("\n".repeat(above) + &text).into();
    }
    let (rejects, others) = if global.verbose {
        (rejects.iter().collect(), HashMap::new())
    } else {
        one_for_each_missing_directory(rejects)
    };
    let told = if global.verbose { rejects.len() } else { TOLD };
    for (nth, &reject) in rejects.iter().take(told).enumerate() {
        if nth >= DRAWN {
            sentence(&reject.to_string());
        } else {
            draw(input, &text, reject, root.as_ref(), global);
        }
        if let Some(others) = missing_directory(reject).and_then(|missing| others.get(missing)) {
            let need = if *others == 1 { "needs" } else { "need" };
            sentence(&format!("{} {need} the same directory", count(*others, "more file")));
        }
    }
    let more = rejects.len().saturating_sub(told);
    if more > 0 {
        sentence(&format!("and {more} more (-v names them all)"));
    }
}

/// Returns the missing directory behind the refusal of a file.
fn missing_directory(reject: &Reject) -> Option<&str> {
    match &reject.problem {
        Problem::MissingParent { directory } => Some(directory),
        _ => None,
    }
}

/// Returns the rejects without further files in the same missing directory, and the number of files
/// for each directory.
fn one_for_each_missing_directory(rejects: &[Reject]) -> (Vec<&Reject>, HashMap<&str, usize>) {
    let mut files: HashMap<&str, usize> = HashMap::new();
    let mut told = Vec::new();
    for reject in rejects {
        let files = missing_directory(reject).map(|missing| files.entry(missing).or_default());
        if files.as_ref().is_none_or(|files| **files == 0) {
            told.push(reject);
        }
        files.into_iter().for_each(|files| *files += 1);
    }
    files.retain(|_, files| *files > 1);
    files.values_mut().for_each(|files| *files -= 1);
    (told, files)
}

fn draw(input: &Input, text: &str, reject: &Reject, root: Option<&Root>, global: &Global) {
    let title = fitting(&title(reject), TITLE);
    let help = help(reject, global);
    let in_patch = PatchExcerpt::of(input, text, reject);
    let in_file = root.map(|root| file_excerpts(root, reject)).unwrap_or_default();
    let path = match reject.state() {
        Some(state) => format!("{} ({state})", reject.path),
        None => reject.path.clone(),
    };
    let path = sanitize(&path).into_owned();
    let mut group = Group::with_title(Level::ERROR.primary_title(&title));
    if let Some(excerpt) = &in_patch {
        group = group.element(excerpt.snippet());
    }
    for excerpt in &in_file {
        group = group.element(excerpt.snippet(&path));
    }
    print(&[group.element(Level::HELP.message(&help))]);
}

fn title(reject: &Reject) -> String {
    let title = match reject.hunk {
        Some(hunk) => {
            let title = format!("{}: hunk {}: {}", quoted(&reject.path), hunk + 1, reject.problem);
            match reject.state() {
                Some(state) => format!("{title} ({state})"),
                None => title,
            }
        }
        None => match &reject.problem {
            Problem::Guard(error) => error.to_string(),
            problem => format!("{}: {problem}", quoted(&reject.path)),
        },
    };
    sanitize(&title).into_owned()
}

/// The hints of a reject; hints with lines to paste come last.
fn help(reject: &Reject, global: &Global) -> String {
    let remedies = bounds::remedies_within(reject.remedies(), &global.layers);
    let mut hints = Hint::all_of(&remedies, global.caller);
    hints.sort_by_key(|hint| matches!(hint, Hint::ReplaceHunk { .. }));
    let mut help = String::new();
    for (nth, hint) in hints.iter().enumerate() {
        let words = hints::spelt_out(std::slice::from_ref(hint), global.caller);
        let words = sanitize(&if nth == 0 { words } else { format!("or {words}") }).into_owned();
        help += &with_lines(&words, HELP);
        // Lines to paste stay as they are, and have no sign of a sentence behind them.
        help += match nth + 1 == hints.len() {
            true => "",
            false if words.contains('\n') => "\n",
            false => ";\n",
        };
    }
    help
}

/// The line of a reject in the patch, with the lines around.
struct PatchExcerpt {
    excerpt: DrawnExcerpt,
    /// The sent text with the line, and how many lines further up the line is there.
    name: String,
    above: isize,
    label: &'static str,
}

impl PatchExcerpt {
    fn of(input: &Input, text: &str, reject: &Reject) -> Option<Self> {
        let difference = match reject.hunk_reason() {
            Some(RejectReason::ContextNotFound { nearest: Some(nearest), .. }) => {
                nearest.difference.as_ref()
            }
            _ => None,
        };
        let line = match reject.hunk_reason() {
            Some(RejectReason::Indentation { patch_line, .. }) => Some(*patch_line),
            _ => difference.map(|difference| difference.patch_line).or(reject.patch_line),
        };
        let label = match difference {
            Some(difference) if difference.found.is_some() => "the file has another line here",
            Some(_) => "the file ends before this line",
            None => "",
        };
        let line = line? as usize;
        let (name, above) = input.place(line)?;
        let excerpt = DrawnExcerpt::new(text, line_range(text, line)?, around(line, above))?;
        let name = sanitize(name).into_owned();
        Some(Self { excerpt: excerpt.sanitized(), name, above, label })
    }

    fn snippet(&self) -> Snippet<'_, Annotation<'_>> {
        let Self { excerpt, name, above, label } = self;
        let annotation = AnnotationKind::Primary.span(excerpt.span.clone());
        let annotation = if fits(excerpt, label) { annotation.label(*label) } else { annotation };
        Snippet::source(&excerpt.text)
            .line_start(excerpt.first_line.saturating_add_signed(-above))
            .path(name)
            .annotation(annotation)
    }
}

/// A place of the file as it is drawn.
struct FileExcerpt {
    excerpt: DrawnExcerpt,
    /// The ranges that are pointed at; the first carries the label.
    spans: Vec<Range<usize>>,
    label: String,
    whole: bool,
}

/// The places of the file that a reject of a hunk is about.
fn file_excerpts(root: &Root, reject: &Reject) -> Vec<FileExcerpt> {
    let Some(reason) = reject.hunk_reason() else { return Vec::new() };
    if reject.after_section.is_some() {
        let Some(file) = left_file(reason) else { return Vec::new() };
        return places(reason).into_iter().filter_map(|at| FileExcerpt::of(&file, at)).collect();
    }
    let path = root.check(&reject.path, Access::Read).ok();
    let read = path.and_then(|path| root.read(&path, MAX_FILE).ok());
    let Some((bytes, _)) = read else { return Vec::new() };
    let file = String::from_utf8_lossy(&bytes);
    places(reason).into_iter().filter_map(|place| FileExcerpt::of(&file, place)).collect()
}

/// The lines that are known of a file that another section of the patch leaves; the others are
/// empty.
fn left_file(reason: &RejectReason) -> Option<String> {
    let RejectReason::ContextNotFound { nearest: Some(nearest), .. } = reason else {
        return None;
    };
    let above = nearest.region.first()?.line - 1;
    let lines = nearest.region.iter().map(|shown| format!("{}\n", shown.text));
    Some("\n".repeat(above) + &lines.collect::<String>())
}

impl FileExcerpt {
    fn of(file: &str, place: DrawnPlace) -> Option<Self> {
        let around = DrawnExcerpt::lines(file, place.lines.clone())?;
        let mut spans: Vec<_> =
            place.marks.iter().filter_map(|mark| around.locate(&mark.range(file)?)).collect();
        if spans.is_empty() {
            let line = place.line.and_then(|line| line_range(file, line));
            let span = line.and_then(|line| around.locate(&line));
            spans.push(span.unwrap_or_else(|| around.span.clone()));
        }
        let shown = DrawnExcerpt { span: spans[0].clone(), ..around };
        let spans = spans.iter().map(|span| shown.at(span).sanitized().span).collect();
        Some(Self { excerpt: shown.sanitized(), spans, label: place.label, whole: place.whole })
    }

    fn snippet<'a>(&'a self, path: &'a str) -> Snippet<'a, Annotation<'a>> {
        let excerpt = &self.excerpt;
        // Of the nearest place every line is shown.
        let mut snippet = Snippet::source(&excerpt.text)
            .line_start(excerpt.first_line)
            .path(path)
            .fold(!self.whole);
        for (nth, span) in self.spans.iter().enumerate() {
            let annotation = AnnotationKind::Context.span(span.clone());
            let labelled = nth == 0
                && fits(&DrawnExcerpt { span: span.clone(), ..excerpt.at(span) }, &self.label);
            snippet = snippet.annotation(if labelled {
                annotation.label(&*self.label)
            } else {
                annotation
            });
        }
        snippet
    }
}

/// A place in the file worth showing.
struct DrawnPlace {
    lines: std::ops::RangeInclusive<usize>,
    line: Option<usize>,
    label: String,
    marks: Vec<Mark>,
    /// Every line is shown, and not only those that are pointed at.
    whole: bool,
}

impl DrawnPlace {
    fn new(lines: &std::ops::RangeInclusive<usize>, line: Option<usize>, label: &str) -> Self {
        Self {
            lines: lines.clone(),
            line,
            label: label.to_owned(),
            marks: Vec::new(),
            whole: false,
        }
    }
}

/// A part of a line that differs from the hunk, from a column to a column.
struct Mark {
    line: usize,
    first: usize,
    last: usize,
}

impl Mark {
    fn range(&self, file: &str) -> Option<Range<usize>> {
        let line = line_range(file, self.line)?;
        Some(column(file, &line, self.first - 1)..column(file, &line, self.last))
    }
}

/// Where a column of a line is, or else where the line ends.
fn column(file: &str, line: &Range<usize>, column: usize) -> usize {
    let mut chars = file[line.clone()].char_indices();
    chars.nth(column).map_or(line.end, |(at, _)| line.start + at)
}

fn places(reason: &RejectReason) -> Vec<DrawnPlace> {
    /// How many candidates are shown.
    const CANDIDATES: usize = 3;
    match reason {
        RejectReason::ContextNotFound { nearest: Some(nearest), .. } => {
            let difference = nearest.difference.as_ref();
            let line = difference
                .filter(|difference| difference.found.is_some())
                .map(|difference| difference.file_line);
            let label = match difference {
                Some(difference) if line.is_some() => {
                    format!("differs from column {} on", difference.column)
                }
                _ => "the closest place".into(),
            };
            let marks = nearest
                .region
                .iter()
                .filter_map(|shown| {
                    let (first, last) = shown.columns?;
                    Some(Mark { line: shown.line, first, last })
                })
                .collect();
            let place = DrawnPlace::new(&nearest.lines, line, &label);
            vec![DrawnPlace { marks, whole: true, ..place }]
        }
        RejectReason::MultipleMatches { candidates, .. }
        | RejectReason::OutsideScope { candidates, .. }
        | RejectReason::HeaderNotFound { candidates, .. } => candidates
            .iter()
            .take(CANDIDATES)
            .map(|candidate| {
                // The help has the lines.
                let line = *candidate.lines.start();
                let label = match &candidate.advice {
                    Some(Advice::Header(_)) => format!("line {line}: by its own header"),
                    Some(Advice::Before(lines)) => {
                        format!("line {line}: with {} above", count(lines.len(), "more line"))
                    }
                    Some(Advice::After(lines)) => {
                        format!("line {line}: with {} below", count(lines.len(), "more line"))
                    }
                    Some(Advice::Text { .. }) | None => format!("line {line}"),
                };
                DrawnPlace::new(&candidate.lines, Some(line), &label)
            })
            .collect(),
        RejectReason::Indentation { lines, .. } => {
            let place = DrawnPlace::new(lines, None, "the old lines, but for blanks");
            vec![DrawnPlace { whole: true, ..place }]
        }
        RejectReason::AlreadyApplied { lines } => {
            vec![DrawnPlace::new(lines, None, "the new lines are here")]
        }
        RejectReason::OverlappingEdits { lines: Some(lines), .. } => {
            vec![DrawnPlace::new(lines, None, "changed by both hunks")]
        }
        _ => Vec::new(),
    }
}

/// A few lines of a text, and what to point at in them.
struct DrawnExcerpt {
    text: String,
    first_line: usize,
    span: Range<usize>,
    /// Where the excerpt begins in the text.
    offset: usize,
}

impl DrawnExcerpt {
    /// The lines around `span` of `text`. `None` when they are too long to be drawn.
    fn new(text: &str, span: Range<usize>, around: usize) -> Option<Self> {
        let start = text[..span.start.min(text.len())]
            .rmatch_indices('\n')
            .nth(around)
            .map_or(0, |(end, _)| end + 1);
        let end = text[span.end.min(text.len())..]
            .match_indices('\n')
            .nth(around)
            .map_or(text.len(), |(end, _)| span.end + end);
        // Something to point at even at the end of the text.
        let from = span.start - start;
        let to = (span.end - start).min(end.max(start) - start);
        Self::of(text, start..end, text[..start].matches('\n').count() + 1, from..to.max(from + 1))
    }

    /// A range of lines, cut if long; the span is its first line.
    fn lines(text: &str, lines: std::ops::RangeInclusive<usize>) -> Option<Self> {
        let last = (*lines.end()).min(lines.start() + SHOWN_LINES - 1);
        let start = line_range(text, *lines.start())?.start;
        let end = line_range(text, last).map_or(text.len(), |range| range.end);
        let first_end = line_range(text, *lines.start())?.end;
        Self::of(text, start..end, *lines.start(), 0..(first_end - start).max(1))
    }

    fn of(text: &str, range: Range<usize>, first_line: usize, span: Range<usize>) -> Option<Self> {
        let inner = &text[range.start..range.end.max(range.start)];
        let drawn = inner.lines().all(|line| line.len() <= SHOWN_WIDTH);
        drawn.then(|| Self { text: format!("{inner}\n"), first_line, span, offset: range.start })
    }

    /// The same, pointing at another span.
    fn at(&self, span: &Range<usize>) -> Self {
        Self { text: self.text.clone(), span: span.clone(), ..*self }
    }

    /// A range of the text as a range of the excerpt.
    fn locate(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let start = range.start.checked_sub(self.offset)?;
        let end = (range.end - self.offset).max(start + 1);
        (end <= self.text.len()).then_some(start..end)
    }

    /// The same, safe for a terminal. ASCII is left to the renderer: it has pictures of control
    /// characters, and knows line ends.
    fn sanitized(self) -> Self {
        let mut text = String::with_capacity(self.text.len());
        let mut start = None;
        let mut end = None;
        for (at, c) in self.text.char_indices() {
            if at >= self.span.start {
                start.get_or_insert(text.len());
            }
            if at >= self.span.end {
                end.get_or_insert(text.len());
            }
            // An empty line has nothing to point at but its end, drawn on two lines.
            if c == '\n' && (text.is_empty() || text.ends_with('\n')) {
                text.push(' ');
                if at + 1 == self.span.end {
                    end.get_or_insert(text.len());
                }
            }
            match c {
                c if c.is_ascii() => text.push(c),
                c if apply_patch_api::files::is_invisible(c) => text.extend(c.escape_unicode()),
                c => text += &sanitize(c.encode_utf8(&mut [0; 4])),
            }
        }
        let span = start.unwrap_or(text.len())..end.unwrap_or(text.len());
        Self { text, span, ..self }
    }
}

/// The byte range of a 1-based line, without its terminator.
fn line_range(text: &str, line: usize) -> Option<Range<usize>> {
    let mut start = 0;
    for _ in 1..line {
        start += text[start..].find('\n')? + 1;
    }
    let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
    Some(start..end)
}
