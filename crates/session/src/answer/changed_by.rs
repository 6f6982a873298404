//! Who changed a file, as far as the history tells.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// Who changed a file last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedBy {
    /// It was a transaction. Otherwise it was an editor or another program.
    pub by_apply_patch: bool,
    /// The transaction that left the file as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The agent of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// It was the session that asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_session: bool,
    /// The turn of that session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// When it was: RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl fmt::Display for ChangedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.by_apply_patch {
            return f.write_str("by an editor or another program, not by apply-patch");
        }
        f.write_str("by ")?;
        if let Some(agent) = &self.agent {
            write!(f, "{} in ", fs_guard::quoted(agent))?;
        }
        match &self.session {
            _ if self.own_session => f.write_str("this session")?,
            Some(session) => write!(f, "session {session}")?,
            None => f.write_str("a session without a name")?,
        }
        if let Some(turn) = &self.turn_id {
            write!(f, ", turn {turn}")?;
        }
        let tool = self.tool.as_deref().unwrap_or("apply-patch");
        let time = self.time.as_deref().and_then(|time| time.get(..19)).unwrap_or_default();
        write!(f, " ({tool}, {time}Z)")
    }
}
