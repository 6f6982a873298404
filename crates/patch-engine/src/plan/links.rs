//! Symbolic links, which only git diffs make, change and delete. The text of a link is the path
//! that it leads to.

use fs_guard::Access;
use patch_grammar::{LineKind, Section, SectionOperation};
use patch_text::locate::RejectReason;

use super::overlay::Overlay;
use super::reject::{Checked, Problem};

/// The texts of a link before and after a section, as the section shows them.
pub(super) struct LinkTexts {
    /// Empty where the section shows no line: then the text is not known.
    pub(super) old: Vec<u8>,
    /// The same.
    pub(super) new: Vec<u8>,
}

impl LinkTexts {
    pub(super) fn of(section: &Section<'_>) -> Self {
        if let SectionOperation::Add(added) = &section.operation {
            let lines: Vec<&[u8]> = added.lines().collect();
            let end: &[u8] = if added.no_newline { b"" } else { b"\n" };
            return Self { old: Vec::new(), new: [&lines.join(&b'\n')[..], end].concat() };
        }
        Self {
            old: text_without(section, LineKind::Insert),
            new: text_without(section, LineKind::Delete),
        }
    }

    /// Returns the text after the section of a link that has the text `found` before.
    pub(super) fn after(self, found: Vec<u8>) -> Vec<u8> {
        if self.new.is_empty() { found } else { self.new }
    }
}

impl Overlay<'_> {
    /// Checks the text of a symbolic link at a path.
    pub(super) fn check_link(&mut self, path: &str, target: &[u8]) -> Checked<()> {
        let checked = self.check(path, Access::Create)?;
        Ok(self.files.check_link(&checked, target)?)
    }

    /// Lets a symbolic link lead elsewhere. The link leads to `texts.old` now.
    pub(super) fn change_link(&mut self, path: &str, texts: LinkTexts) -> Checked<()> {
        let found = self.link_text(path)?;
        let checked = self.check(path, Access::Update)?;
        self.files.check_link(&checked, &texts.new)?;
        let is_applied = found == texts.new && found != texts.old;
        if is_applied && !self.options.placement.skip_applied {
            return Err(Problem::Hunk(RejectReason::AlreadyApplied { lines: 1..=1 }));
        }
        if !is_applied {
            expect(&found, &texts.old)?;
        }
        // Where the link leads there already, the plan notes that nothing changes.
        self.retarget(&checked, texts.new);
        Ok(())
    }

    /// Checks that a symbolic link leads to where a section says, and returns its text.
    pub(super) fn check_target(&mut self, path: &str, old: &[u8]) -> Checked<Vec<u8>> {
        let found = self.link_text(path)?;
        expect(&found, old)?;
        Ok(found)
    }
}

/// Returns the lines of a section but for those of one kind.
fn text_without(section: &Section<'_>, kind: LineKind) -> Vec<u8> {
    let lines = section.hunks().iter().flat_map(|hunk| &hunk.lines);
    let lines = lines.filter(|line| line.kind != kind);
    lines.flat_map(|line| [line.text, line.ending()].concat()).collect()
}

/// Fails if a link leads elsewhere than a section says.
fn expect(found: &[u8], old: &[u8]) -> Checked<()> {
    if found == old || old.is_empty() {
        return Ok(());
    }
    let target = String::from_utf8_lossy(found).into_owned();
    Err(Problem::OtherLink { target: Some(target) })
}
