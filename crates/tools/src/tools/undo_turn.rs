//! `undo_turn`: undoes the last turn, where the host offers it.

use patch_engine::commit::LogEntry;
use patch_engine::remedy::ForPerson;
use patch_engine::{Host, Remedy};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tools::file_tool::{About, FileTool};
use crate::tools::undo::UndoData;
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::{DiffDetail, committed_files, summary};
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::answer::fit::cut_changes;
use patch_session::answer::reason::Reason;
use patch_session::audit::session_name::TurnName;
use patch_session::session::Session;
use patch_session::session::span::Span;

/// The arguments of `undo_turn`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoTurn {
    /// Diff to show; none by default.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

impl FileTool for UndoTurn {
    type Data = UndoData;

    const ABOUT: About = About {
        title: "Undo the last turn",
        does: "Undo turn: reverts all that your last turn changed, before the one that is open.",
        errors: "Errors: stale_file: the files changed since, edit them instead. not_found: it is \
            undone already. command_failed: no turn has ended. permission_denied: ask. \
            outside_workspace: ask.",
        example: "{}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        Vec::new()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::UndoTurn, host, |call| {
            let open = session.turn();
            let open = open.as_ref();
            let (log, _) = session
                .workspace()
                .history_while(|entry| !is_of_ended_turn(session, open, entry))?;
            let ended = log.last().filter(|entry| is_of_ended_turn(session, open, entry));
            let Some(turn) = ended.and_then(|entry| entry.journal.header.turn.clone()) else {
                let message = "no turn of this session has ended that changed something";
                return Err(ToolError::arguments(Reason::NoTransaction, message)
                    .remedies([Remedy::Ask(ForPerson::NameChange)]));
            };
            let span = Span::Turn(turn.clone(), Some(session.name().to_string()));
            let report = call.commit(&mut |files| {
                let plan = session.plan_undo_span(&span, false, files.cancellation());
                plan.map_err(|error| ToolError::workspace(&error))
            })?;
            let output = format!("undid turn {turn}: {}", summary(&report.plan));
            let data = UndoData {
                undo_of: turn,
                transaction_id: report.transaction.map(|id| id.to_string()),
                changed_files: committed_files(&report, self.diff.unwrap_or_default()),
                truncated: false,
            };
            Ok(Success::new(output, data))
        })
    }

    fn fit(data: &mut Self::Data, max: usize) {
        data.truncated |= cut_changes(&mut data.changed_files, max);
    }
}

/// Returns whether a transaction is one of a turn of this session that is over.
fn is_of_ended_turn(session: &Session, open: Option<&TurnName>, entry: &LogEntry) -> bool {
    let header = &entry.journal.header;
    header.session.as_deref() == Some(session.name().as_str())
        && header.turn.is_some()
        && header.turn.as_deref() != open.map(TurnName::as_str)
        && !entry.aborted
}
