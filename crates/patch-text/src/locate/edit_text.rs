//! Edits the text of a file, whatever its encoding.

use patch_grammar::Hunk;

use crate::locate::edit::{Edit, edit_by, not_storable};
use crate::locate::edit_rules::EditRules;
use crate::locate::text_edit::{edit_of_text, text_hunk};
use crate::locate::{HunkReject, RejectReason, cut, fixed};
use crate::text::encoding::FileText;

/// Places the hunks of one update in the text of a file, and returns the changes of its bytes.
pub fn edit_text(
    text: &FileText<'_>,
    hunks: &[Hunk<'_>],
    rules: EditRules<'_>,
) -> Result<Edit, Vec<HunkReject>> {
    let mut edit = match text_hunk(hunks) {
        Some(hunk) => edit_of_text(text.bytes(), hunk, rules)?,
        None => edit_by(text.bytes(), hunks, rules)
            .or_else(|rejects| fixed::edit(text.bytes(), hunks, rules).ok_or(rejects))?,
    };
    if let Some(reject) = cut::off(text, hunks, &edit.placed, &edit.splices) {
        return Err(vec![reject]);
    }
    if let Some(splices) = text.stored(std::mem::take(&mut edit.splices)) {
        return Ok(Edit { splices, ..edit });
    }
    let mut rejects = not_storable(hunks);
    if rejects.is_empty() {
        // The splice would remove the byte-order mark.
        let reason = RejectReason::Encoding;
        rejects.push(HunkReject { hunk: 0, patch_line: hunks[0].line, reason });
    }
    Err(rejects)
}
