//! One call of a tool: the call runs on a thread, and asks a person before anything changes.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use apply_patch_api::engine::Remedy;
use apply_patch_api::engine::commit::approval::Approvals;
use apply_patch_api::engine::remedy::ForPerson;
use apply_patch_api::tools::Tools as _;
use apply_patch_api::tools::{
    Arguments, ErrorKind, FailureClass, Reason, Session, Tool, ToolError, TurnName,
};
use rmcp::model::{
    CallToolResponse, CallToolResult, ElicitResult, ElicitationAction, ErrorData, InputResponses,
    ProgressNotificationParam,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::answer;
use crate::ask::{Form, OpenQuestion, Preview, Response};
use crate::host::{CallHost, CallProgress, Progress, ToolAnswer, Unapproved};
use crate::links::Changed;
use crate::server::{OpenedProject, Server, end_turn, has_data, has_session};
use crate::settings::Approval;

/// Where a host names the turn that a call belongs to.
const TURN: &str = "apply-patch/turn";

/// How often a plan is shown again after a change of its files during the question.
const MAX_QUESTIONS: usize = 3;

/// One call.
pub(crate) struct CallOf<'c> {
    server: &'c Server,
    tools: OpenedProject,
    tool: Tool,
    args: Arc<RawValue>,
    context: &'c RequestContext<RoleServer>,
    /// The turn named by the host.
    turn: Option<TurnName>,
    /// Where its progress goes, if the client wants to know.
    progress: Option<Arc<Progress>>,
}

/// A question about a plan, until the answer.
struct OpenProposal<'c> {
    server: &'c Server,
    plan: &'c Preview,
}

impl Drop for OpenProposal<'_> {
    fn drop(&mut self) {
        self.server.proposals.close(self.plan.digest);
    }
}

impl<'c> CallOf<'c> {
    pub(crate) fn new(
        server: &'c Server,
        tools: OpenedProject,
        tool: Tool,
        args: Arc<RawValue>,
        context: &'c RequestContext<RoleServer>,
    ) -> Self {
        Self { server, tools, tool, args, context, turn: None, progress: None }
    }

    /// Runs the call, and asks a person where needed; `state` and `responses` are the client's
    /// answer to an earlier question.
    pub(crate) async fn answer(
        mut self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.named_turn() {
            Ok(turn) => self.turn = turn,
            Err(error) => return Ok(answer::failed(self.tool, error).into()),
        }
        let reporting = self.report_progress();
        let is_later = self.tools.rules.approval == Approval::Later;
        let response = if is_later && self.is_by_sections() {
            Ok(self.not_by_sections())
        } else if self.asks() {
            self.ask(state, responses).await
        } else {
            self.run(ToolAnswer::Commit, None).await.map(|(result, _)| result.into())
        };
        // Progress is reported before the answer, or not at all.
        self.progress = None;
        if let Some(reporting) = reporting {
            let _ = reporting.await;
        }
        response
    }

    /// Reads the turn named by the host.
    fn named_turn(&self) -> Result<Option<TurnName>, ToolError> {
        let Some(name) = self.context.meta.get(TURN) else { return Ok(None) };
        let Some(name) = name.as_str() else {
            let message =
                format!("_meta[{TURN:?}]: {name} is not the name of a turn: it is no text");
            return Err(ToolError::arguments(Reason::BadArguments, message));
        };
        let name = name.parse::<TurnName>();
        name.map(Some).map_err(|error| {
            ToolError::arguments(Reason::BadArguments, format!("_meta[{TURN:?}]: {error}"))
        })
    }

    /// Starts to report progress to a client that wants to know.
    fn report_progress(&mut self) -> Option<JoinHandle<()>> {
        let token = self.context.meta.get_progress_token()?;
        let peer = self.context.peer.clone();
        let (sender, mut steps) = mpsc::unbounded_channel::<CallProgress>();
        self.progress = Some(Arc::new(Progress::new(sender)));
        Some(tokio::spawn(async move {
            while let Some(CallProgress { steps, total, message }) = steps.recv().await {
                let mut progress = ProgressNotificationParam::new(token.clone(), steps.into())
                    .with_message(message);
                progress.total = total.map(Into::into);
                if peer.notify_progress(progress).await.is_err() {
                    break;
                }
            }
        }))
    }

    fn asked(&self) -> OpenQuestion<'_> {
        let root = &self.server.root;
        let question = OpenQuestion { tool: self.tool, args: &self.args, root, in_turn: false };
        OpenQuestion { in_turn: self.turn.is_some() && !question.is_permanent(), ..question }
    }

    /// Returns a flag of the arguments, as the tool takes it.
    fn flag(&self, name: &str) -> Option<bool> {
        Arguments::from(&*self.args).flag(self.tool, name)
    }

    /// Puts the question about a plan to the client, and waits for the answer.
    async fn put(
        &self,
        preview: &Preview,
    ) -> Result<Result<ElicitResult, rmcp::ServiceError>, ErrorData> {
        let _counted = self.server.backlog.question();
        let question = self.context.peer.create_elicitation(self.asked().question(preview));
        tokio::select! {
            answered = question => Ok(answered),
            () = self.context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
            () = self.server.gone() => {
                Err(ErrorData::internal_error("the client has gone", None))
            }
        }
    }

    /// Returns whether a person has to be asked.
    fn asks(&self) -> bool {
        match self.tools.rules.approval {
            Approval::Never | Approval::Later => false,
            Approval::Auto => self.tool == Tool::DeleteFile && self.flag("permanent") == Some(true),
            Approval::Ask => !self.tool.is_read_only(),
        }
    }

    /// Returns whether a patch is to be applied section by section.
    fn is_by_sections(&self) -> bool {
        self.tool == Tool::ApplyPatch && self.flag("atomic") == Some(false)
    }

    fn not_by_sections(&self) -> CallToolResponse {
        let message = "a patch that has to be approved is applied as a whole";
        let error =
            ToolError::arguments(Reason::BadArguments, message).remedies([Remedy::omit("atomic")]);
        answer::failed(self.tool, error).into()
    }

    /// Returns whether the client can show a question.
    fn can_ask(&self) -> bool {
        let client = self.context.client_capabilities().and_then(|client| client.elicitation);
        client.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
    }

    /// Runs the call, and asks before anything changes. No lock is held while a person thinks:
    /// after the answer the call is planned again, and goes on only if the plan is still the one
    /// shown.
    async fn ask(
        &self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.is_by_sections() {
            return Ok(self.not_by_sections());
        }
        if !self.can_ask() {
            return self.cannot_ask().await;
        }
        let sessions = has_session(self.context);
        let mut approved = None;
        let mut form = Form::default();
        if !sessions {
            match self.server.seals.response(self.asked(), state, responses) {
                Response::Nothing => {}
                Response::Yes(plan, filled) => {
                    self.server.proposals.close(plan);
                    approved = Some(plan);
                    form = filled;
                }
                Response::No(plan, filled) => {
                    self.server.proposals.close(plan);
                    return Ok(self.run(ToolAnswer::Declined, filled.note).await?.0.into());
                }
                Response::Cancelled(plan) => {
                    self.server.proposals.close(plan);
                    return self.not_answered().await;
                }
            }
        }
        for _ in 0..MAX_QUESTIONS {
            let answer = ToolAnswer::Ask { approved, rest: form.rest };
            let preview = match self.run(answer, form.note.clone()).await? {
                (_, Some(Unapproved::ToShow(preview))) => preview,
                (_, Some(Unapproved::TooMany(files))) => {
                    return Ok(answer::failed(self.tool, too_many(files)).into());
                }
                (result, _) => return Ok(result.into()),
            };
            if let Some(diff) = &preview.whole_diff {
                self.server.proposals.keep(preview.digest, diff);
            }
            if !sessions {
                let asked = self.server.seals.ask(self.asked(), &preview);
                return asked
                    .map(Into::into)
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None));
            }
            let _open = OpenProposal { server: self.server, plan: &preview };
            match self.put(&preview).await? {
                Ok(answer) if answer.action == ElicitationAction::Accept => {
                    approved = Some(preview.digest);
                    form = Form::read(answer.content.as_ref());
                }
                Ok(answer) if answer.action == ElicitationAction::Cancel => {
                    return self.not_answered().await;
                }
                Ok(answer) => {
                    let note = Form::read(answer.content.as_ref()).note;
                    return Ok(self.run(ToolAnswer::Declined, note).await?.0.into());
                }
                Err(_) => return self.cannot_ask().await,
            }
        }
        let message =
            "the files kept changing while a person looked at the plan; nothing was applied";
        let error = ToolError::new(FailureClass::Stale, ErrorKind::StaleFile, message)
            .reason(Reason::Changed)
            .remedies([Remedy::TryAgain]);
        Ok(answer::failed(self.tool, error).into())
    }

    /// Answers a client that cannot ask; a call that fails for another reason gives that reason.
    async fn cannot_ask(&self) -> Result<CallToolResponse, ErrorData> {
        let (result, unapproved) = self.run(ToolAnswer::CannotAsk, None).await?;
        if unapproved.is_none() {
            return Ok(result.into());
        }
        let message =
            "a person has to approve this, and the client cannot ask one; nothing was changed";
        let what = "start the server with --approve auto and let the client ask, or use a client \
                    that can (elicitation)";
        let error = ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
            .reason(Reason::ApprovalRequired)
            .remedies([Remedy::Ask(ForPerson::Own(what.into()))]);
        Ok(answer::failed(self.tool, error).into())
    }

    /// Answers after a person closed the question; a call that fails for another reason gives that
    /// reason.
    async fn not_answered(&self) -> Result<CallToolResponse, ErrorData> {
        let (result, unapproved) = self.run(ToolAnswer::Cancelled, None).await?;
        if unapproved.is_none() {
            return Ok(result.into());
        }
        let message = "the person who was asked closed the question without an answer; nothing was \
                       changed";
        let error = ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
            .reason(Reason::Cancelled)
            .remedies([Remedy::Ask(ForPerson::Own("say whether the change is wanted".into()))]);
        Ok(answer::failed(self.tool, error).into())
    }

    /// Runs the tool on a thread that may wait for disks; `said` is the person's message to the
    /// model.
    async fn run(
        &self,
        answer: ToolAnswer,
        said: Option<String>,
    ) -> Result<(CallToolResult, Option<Unapproved>), ErrorData> {
        let OpenedProject { session, rules, approvals } = self.tools.clone();
        let tool = self.tool;
        let args = self.args.clone();
        let turn = self.turn.clone();
        let cancelled = self.context.ct.clone();
        let progress = self.progress.clone();
        let root = session.workspace().root().clone();
        let place = self.server.in_order(tool).await;
        let approval = rules.approval;
        // The approval of a turn does not count where a person has just said no.
        let asks_anew = !matches!(answer, ToolAnswer::Ask { .. }) || self.asked().is_permanent();
        let ran = self.server.workers.run(move || {
            // Held to the end, even if the client no longer waits for the answer.
            let _place = place;
            let changes = !tool.is_read_only();
            if changes {
                let mut approvals = approvals.lock().unwrap_or_else(PoisonError::into_inner);
                enter(&session, turn, &mut approvals);
            }
            let mut own = approvals.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if asks_anew {
                own.end_turn();
            }
            let mut host = CallHost::new(answer, move || cancelled.is_cancelled(), progress);
            let mut reply = match approval {
                Approval::Ask => session.call_tool(tool, &*args, &mut own.ask(&mut host)),
                Approval::Later => session.call_later(tool, &*args, None, &mut own, &mut host),
                Approval::Auto | Approval::Never => session.call_tool(tool, &*args, &mut host),
            };
            // No other call changes anything meanwhile.
            if changes && !asks_anew {
                *approvals.lock().unwrap_or_else(PoisonError::into_inner) = own;
            }
            if let Some(said) = said {
                reply.add_remark(&said);
            }
            (answer::result(&reply), host.unapproved, host.changed)
        });
        let Some((mut result, unapproved, changed)) = ran.await else {
            return Err(ErrorData::internal_error("the call ended in a defect", None));
        };
        self.tell_of(&changed, root.path(), &mut result).await;
        Ok((result, unapproved))
    }

    /// Links what was changed, and tells the client's subscriptions of it.
    async fn tell_of(&self, changed: &Changed, root: &Path, result: &mut CallToolResult) {
        let uris = changed.uris();
        if uris.is_empty() {
            return;
        }
        // The versions with data in results have links too.
        if self.server.settings.links && has_data(self.context) {
            let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
            result.content.extend(changed.links(&root));
        }
        self.server.subscriptions.tell(&self.context.peer, uris).await;
    }
}

/// Lets the next change belong to this turn, or to none.
fn enter(session: &Session, turn: Option<TurnName>, approvals: &mut Approvals) {
    if session.turn() != turn {
        end_turn(session);
        approvals.end_turn();
        if let Some(turn) = turn {
            session.begin_turn(Some(turn)).expect("no turn is open");
            approvals.begin_turn();
        }
    }
}

/// The error of a plan with more files than a person is shown.
fn too_many(files: usize) -> ToolError {
    let message =
        format!("its {files} files are too many to show to a person who has to approve them");
    let error = ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
        .reason(Reason::TooManyToShow)
        .details(json!({ "files": files }))
        .remedies([
            Remedy::Split,
            Remedy::Ask(ForPerson::Own("apply the patch in a terminal".into())),
        ]);
    ToolError { recoverable: true, ..error }
}
