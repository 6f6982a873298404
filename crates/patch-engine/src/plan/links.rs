//! Symbolic links, which only git diffs make, change and delete. The text of a link is the path
//! that it leads to.

use fs_guard::Access;
use patch_grammar::{Line, LineKind, Section, SectionOperation};
use patch_text::locate::RejectReason;

use super::builder::PlanBuilder;
use super::image::PostImage;
use super::reject::{Checked, Problem, Reject};

/// The texts of a link before and after a section, as the section shows them.
pub(super) struct LinkTexts {
    /// Empty where the section shows no line: then it is not known.
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
        let text = |without: LineKind| {
            let lines = section.hunks().iter().flat_map(|hunk| &hunk.lines);
            let lines = lines.filter(|line| line.kind != without);
            let whole = |line: &Line<'_>| [line.text, line.ending()].concat();
            lines.flat_map(whole).collect::<Vec<u8>>()
        };
        Self { old: text(LineKind::Insert), new: text(LineKind::Delete) }
    }

    /// Returns the text after the section of a link that has the text `found` before.
    pub(super) fn after(self, found: Vec<u8>) -> Vec<u8> {
        if self.new.is_empty() { found } else { self.new }
    }
}

impl PlanBuilder<'_> {
    /// Plans a new symbolic link.
    pub(super) fn create_link(&mut self, path: &str, target: Vec<u8>) -> Result<(), Reject> {
        self.at(path, |builder| {
            let checked = builder.check(path, Access::Create)?;
            Ok(builder.files.check_link(&checked, &target)?)
        })?;
        self.create_from(path, PostImage::link_to(target))
    }

    /// Plans that a symbolic link leads elsewhere. It leads to `texts.old` now.
    pub(super) fn change_link(&mut self, path: &str, texts: LinkTexts) -> Result<(), Reject> {
        let found = self.link_text(path)?;
        self.at(path, |builder| {
            let checked = builder.check(path, Access::Update)?;
            builder.files.check_link(&checked, &texts.new)?;
            let is_applied = found == texts.new && found != texts.old;
            if is_applied && !builder.options.placement.skip_applied {
                return Err(Problem::Hunk(RejectReason::AlreadyApplied { lines: 1..=1 }));
            }
            if !is_applied {
                expect(&found, &texts.old)?;
            }
            // Where it leads there already, the plan notes that nothing changes.
            builder.retarget(&checked, texts.new);
            Ok(())
        })
    }

    /// Checks that a symbolic link leads to where a section says, and returns its text.
    pub(super) fn check_target(&mut self, path: &str, old: &[u8]) -> Result<Vec<u8>, Reject> {
        let found = self.link_text(path)?;
        self.at(path, |_| expect(&found, old))?;
        Ok(found)
    }
}

/// Fails if a link leads elsewhere than a section says.
fn expect(found: &[u8], old: &[u8]) -> Checked<()> {
    if found == old || old.is_empty() {
        return Ok(());
    }
    let target = String::from_utf8_lossy(found).into_owned();
    Err(Problem::OtherLink { target: Some(target) })
}
