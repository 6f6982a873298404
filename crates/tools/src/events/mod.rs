//! The events of a turn, as lines of JSON for the program around the agent.
//!
//! A *turn* is the work of an agent between two messages of a person: several calls that change
//! files. The lines of a call report its begin, with the planned changes; its end, with the
//! committed changes, also after a failure; and the changes of the turn so far, as one diff.
//!
//! | [`EventForm`] | lines |
//! |---|---|
//! | `Jsonl` | `begin`, `update`, `progress`, `end`, `turn_diff`, this project's own |
//! | `Codex` | `{"id":…,"msg":{"type":…}}` with `patch_apply_begin`, `patch_apply_updated`, `patch_apply_end`, `turn_diff`, as Codex clients know them |
//! | `AcpV1`, `AcpV2` | `session/update` notifications of the Agent Client Protocol: the tool call is announced, goes on, and ends |
//!
//! ```
//! use file_tools::events::{EventForm, Events};
//! use patch_engine::{Options, Profile, ApplyOptions, parse, commit::Workspace};
//!
//! # let dir = tempfile::tempdir()?;
//! let workspace = Workspace::open(dir.path(), patch_engine::policy())?;
//! let settings = ApplyOptions::new(Options::new(Profile::Codex));
//! let text = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n";
//! let patch = parse(text, &settings.options.parse)?;
//!
//! let mut lines = Vec::new();
//! let mut events = Events::new(EventForm::Codex, "session-1", dir.path(), |line: &str| lines.push(line.to_owned()));
//! events.begin_call("call-1", "apply_patch", &text);
//! let applied = workspace.apply(&patch, &settings, &mut events);
//! events.end_call(&"the answer to the model", applied.err().map(|failed| failed.to_string()).as_deref());
//! drop(events);
//! assert!(lines[0].contains(r#""type":"patch_apply_begin""#));
//! assert!(lines.last().unwrap().contains(r#""type":"turn_diff""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acp;
mod codex;
mod event;
mod item;
mod jsonl;

use std::path::Path;

use patch_engine::{Event, Host, Plan, TurnDiff};
use serde::Serialize;
use serde_json::value::to_raw_value;

use event::{CallEvent, CurrentCall};
use item::Item;

use patch_session::answer::changes::notes;

pub use item::MAX_TEXT;

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventForm {
    /// This project's own.
    Jsonl,
    /// As Codex clients know them.
    Codex,
    /// Agent Client Protocol, version 1.
    AcpV1,
    /// Agent Client Protocol, the draft of version 2.
    AcpV2,
}

/// Writes the events of a turn, a line for each: a host of its commits. The caller marks where its
/// calls begin and end.
pub struct Events<'e> {
    form: EventForm,
    call: CurrentCall,
    sink: Box<dyn FnMut(&str) + 'e>,
    turn: TurnDiff,
    state: CallState,
}

/// The state of the current call, or of the last one.
#[derive(Default)]
struct CallState {
    /// The changes of the present plan, and its paths in the order of the plan.
    pending: Vec<Item>,
    paths: Vec<String>,
    published: usize,
    committed: Vec<Item>,
    transactions: Vec<String>,
    /// The notes of the committed plans.
    notes: Vec<String>,
    began: bool,
    changed: bool,
    /// The decisions about the plans of the call.
    declined: bool,
    asked: bool,
}

impl std::fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events")
            .field("form", &self.form)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

impl<'e> Events<'e> {
    /// Starts a turn in the workspace at `root`; every line goes to `sink`, without its line feed.
    pub fn new(
        form: EventForm,
        session_id: &str,
        root: &Path,
        sink: impl FnMut(&str) + 'e,
    ) -> Self {
        // These paths are for the readers of the events; nothing is opened by them here.
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        let root: std::path::PathBuf = root.components().collect();
        let root = root.to_string_lossy();
        let call = CurrentCall {
            session_id: session_id.to_owned(),
            call_id: String::new(),
            tool: String::new(),
            input: to_raw_value(&()).expect("null"),
            root: format!("{}/", root.trim_end_matches('/')),
        };
        Self {
            form,
            call,
            sink: Box::new(sink),
            turn: TurnDiff::new(),
            state: CallState::default(),
        }
    }

    /// Announces a call of `tool` with its arguments.
    ///
    /// # Panics
    ///
    /// When `input` cannot be written as JSON.
    pub fn begin_call(&mut self, call_id: &str, tool: &str, input: &impl Serialize) {
        call_id.clone_into(&mut self.call.call_id);
        tool.clone_into(&mut self.call.tool);
        self.call.input = to_raw_value(input).expect("arguments are JSON");
        self.state = CallState::default();
        self.write(&CallEvent::Called);
    }

    /// Concludes the call with its answer, and with its error if it failed.
    ///
    /// # Panics
    ///
    /// When `result` cannot be written as JSON.
    pub fn end_call(&mut self, result: &impl Serialize, failure: Option<&str>) {
        if !self.state.began {
            self.write_planned();
        }
        let result = to_raw_value(result).expect("an answer is JSON");
        let committed = std::mem::take(&mut self.state.committed);
        let transactions = std::mem::take(&mut self.state.transactions);
        let notes = std::mem::take(&mut self.state.notes);
        self.write(&CallEvent::Ended {
            items: &committed,
            transactions: &transactions,
            notes: &notes,
            result: &result,
            failure,
            declined: self.state.declined,
        });
        if self.state.changed {
            let diff = self.turn.diff();
            self.write(&CallEvent::TurnDiff { diff: &String::from_utf8_lossy(&diff) });
        }
    }

    /// Returns the changes of the turn so far.
    #[must_use]
    pub fn turn_diff(&self) -> &TurnDiff {
        &self.turn
    }

    fn write_planned(&mut self) {
        let items: Vec<&Item> = self.state.committed.iter().chain(&self.state.pending).collect();
        let auto_approved = !self.state.asked;
        let event = CallEvent::Planned { items: &items, again: self.state.began, auto_approved };
        if let Some(line) = line(self.form, &self.call, &event) {
            (self.sink)(&line);
        }
        self.state.began = true;
    }

    fn write(&mut self, event: &CallEvent<'_>) {
        if let Some(line) = line(self.form, &self.call, event) {
            (self.sink)(&line);
        }
    }
}

fn line(form: EventForm, call: &CurrentCall, event: &CallEvent<'_>) -> Option<String> {
    match form {
        EventForm::Jsonl => jsonl::line(call, event),
        EventForm::Codex => codex::line(call, event),
        EventForm::AcpV1 => acp::line(call, event, 1),
        EventForm::AcpV2 => acp::line(call, event, 2),
    }
}

impl Events<'_> {
    fn planned(&mut self, plan: &Plan) {
        self.state.pending = plan
            .changes()
            .iter()
            .map(|change| Item::new(plan.images(), change, &self.call.root))
            .collect();
        self.state.paths =
            plan.transitions().iter().map(|transition| transition.path().to_string()).collect();
        self.state.published = 0;
        self.write_planned();
    }
}

/// Approves everything, and writes events. A host that asks can pass its events on to this one.
impl Host for Events<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Decided { approved, asked } => {
                self.state.declined = !approved;
                self.state.asked |= asked;
            }
            Event::Planned(plan) => self.planned(plan),
            // A second attempt publishes everything anew.
            Event::Staged(_) => self.state.published = 0,
            Event::Published(index) => {
                self.state.published += 1;
                let path = self.state.paths.get(index).cloned().unwrap_or_default();
                self.write(&CallEvent::Progress {
                    path: &path,
                    done: self.state.published,
                    total: self.state.paths.len(),
                });
            }
            Event::Committed(report) => {
                self.turn.applied(report);
                self.state.notes.extend(notes(&report.plan));
                self.state.transactions.extend(report.transaction.map(|id| id.to_string()));
                self.state.committed.append(&mut self.state.pending);
                self.state.changed = true;
            }
            Event::Failed { plan, rolled_back } => {
                let items = std::mem::take(&mut self.state.pending);
                if !rolled_back {
                    self.turn.interrupted(plan);
                    let stayed = items
                        .into_iter()
                        .zip(plan.changes())
                        .filter(|(_, change)| plan.is_done(change));
                    self.state.committed.extend(stayed.map(|(item, _)| item));
                    self.state.changed = true;
                }
            }
            _ => {}
        }
    }
}
