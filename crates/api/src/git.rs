//! The files of a commit, and patches that become commits.

use std::path::Path;
use std::sync::Arc;

use fs_guard::Access;
use patch_engine::Tree as _;
use patch_git::{CommitTree, GitRequest, GitSession};
use patch_session::ToolError;
use patch_session::audit::Audit;
use patch_session::settings::Layers;
use patch_session::{SessionName, changes::DiffDetail};
use serde_json::{Value, json};

use crate::error::argument;
use crate::host::{Approver, Callbacks};
use crate::options::PatchOptions;
use crate::plan::PlannedPatch;
use crate::workspace::session_name;
use crate::workspace_options::{GitOptions, WorkspaceOptions};

/// The files of a commit in a git repository, without a checkout.
#[derive(Debug)]
pub struct GitTree {
    session: GitSession,
    approver: Approver,
    layers: Layers,
    tree: CommitTree,
    /// The branch that the revision is the name of.
    branch: Option<String>,
}

impl GitTree {
    /// Opens a repository (its git directory, or its work tree) at a revision: a branch, a tag, an
    /// id.
    ///
    /// # Errors
    ///
    /// When there is no repository or no such commit, or the options make no sense.
    pub fn open(
        repository: &Path,
        revision: &str,
        options: &WorkspaceOptions,
    ) -> Result<Self, ToolError> {
        let (approver, policy) = Approver::new(options.settings.approve, options.policy()?);
        let name = match &options.session {
            Some(name) => session_name(name)?,
            None => SessionName::random()?,
        };
        let commands = [
            ("verify", options.settings.verify.is_some()),
            ("formatWith", options.settings.format_with.is_some()),
        ];
        if let Some((name, _)) = commands.iter().find(|(_, is_given)| *is_given) {
            let message = "a commit is made without a checkout, so no command is run for its files";
            return Err(argument(name, message, "nothing here: run it in a workspace"));
        }
        let audit = Audit::new(name, options.agent.clone());
        let session = GitSession::open(repository, policy, audit, options.session_settings())?;
        let tree = session.tree(revision)?;
        // A tag or an id may look the same.
        let named = session.repository().branch(revision).is_ok_and(|at| at == Some(tree.commit()));
        Ok(Self {
            session,
            approver,
            layers: options.layers(),
            tree,
            branch: named.then(|| revision.to_owned()),
        })
    }

    /// The commit that the revision named when it was opened.
    #[must_use]
    pub fn commit(&self) -> String {
        self.tree.commit().to_string()
    }

    /// Its tree.
    #[must_use]
    pub fn tree(&self) -> String {
        self.tree.tree().to_string()
    }

    /// The bytes of a file, or the text of a link; none when there is none.
    ///
    /// # Errors
    ///
    /// When the guard refuses the path, or an object is missing.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ToolError> {
        let path =
            self.tree.clone().files(Arc::clone(self.session.policy())).check(path, Access::Read)?;
        let failed =
            |source| fs_guard::Error::Io { operation: "read", path: path.as_str().into(), source };
        match self.tree.entry(path.as_str()).map_err(failed)? {
            Some(entry)
                if matches!(entry.kind, fs_guard::FileKind::File | fs_guard::FileKind::Symlink) =>
            {
                Ok(Some(self.tree.read(path.as_str()).map_err(failed)?.to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// The paths of all files and links that may be read.
    ///
    /// # Errors
    ///
    /// When an object is missing.
    pub fn list(&self) -> Result<Vec<String>, ToolError> {
        let files = self.tree.clone().files(Arc::clone(self.session.policy()));
        let mut paths = self.tree.paths()?;
        paths.retain(|path| files.check(path, Access::Read).is_ok());
        Ok(paths)
    }

    /// Plans a patch over the commit that was opened; nothing is written.
    ///
    /// # Errors
    ///
    /// When the text is not a patch, or does not apply.
    pub fn plan(&self, patch: &[u8], options: &PatchOptions) -> Result<PlannedPatch, ToolError> {
        let (patch, rules) = options.parsed(&self.layers, patch)?;
        let files = self.tree.clone().files(Arc::clone(self.session.policy())).hashed_late();
        Ok(PlannedPatch::of(patch_engine::plan(files, &patch, &rules)?))
    }

    /// The id of the tree that a plan of [`plan`](Self::plan) makes; nothing is written.
    ///
    /// # Errors
    ///
    /// When an object is missing.
    pub fn tree_of(&self, plan: &PlannedPatch) -> Result<String, ToolError> {
        Ok(self.session.tree_of(&plan.plan, self.tree.tree())?.to_string())
    }

    /// Applies a patch: it becomes a commit, and a branch is moved to it. The answer has `commit`,
    /// `tree`, `onto`, `branch` and what a patch of a workspace answers.
    ///
    /// # Errors
    ///
    /// When the text is not a patch, does not apply, is not approved, or the branch is not where it
    /// was. The branch has not moved then.
    pub fn apply(
        &self,
        patch: &[u8],
        options: &PatchOptions,
        git: &GitOptions,
        host: Callbacks<'_>,
    ) -> Result<Value, ToolError> {
        let request = GitRequest {
            onto: self.commit(),
            // It moves only from where it was when it was opened, unless the patch is carried.
            branch: git.branch.clone().or_else(|| self.branch.clone()),
            message: git.message.clone(),
            author: git.author.clone(),
            carry: git.carry,
            allow_checked_out: git.allow_checked_out,
        };
        let input = json!({ "patch": String::from_utf8_lossy(patch) });
        let call = |host: &mut dyn patch_engine::Host| {
            let (patch, rules) = options.parsed(&self.layers, patch)?;
            let report = self.session.apply("git", &patch, &rules, &request, host)?;
            Ok(report.data(false, DiffDetail::None)?)
        };
        let answer = |data: &_| json!({ "ok": true, "data": data });
        let data = self.approver.run(
            host,
            self.session.repository().git_dir(),
            ("git", &input),
            call,
            answer,
        )?;
        Ok(serde_json::to_value(data).expect("text keys"))
    }
}
