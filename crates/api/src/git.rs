//! Files of a commit, and patches that become commits.

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
    opened: Arc<OpenRepository>,
    tree: CommitTree,
    /// The name of the branch, if the revision is one.
    branch: Option<String>,
}

/// A repository, with what was read of it.
#[derive(Debug)]
struct OpenRepository {
    session: GitSession,
    approver: Approver,
    layers: Layers,
}

impl GitTree {
    /// Opens a repository, by its git directory or its work tree, at a revision: a branch, a tag,
    /// or an object id.
    ///
    /// # Errors
    ///
    /// If there is no repository or no such commit, or if an option makes no sense.
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
        let layers = options.layers();
        Self::of(Arc::new(OpenRepository { session, approver, layers }), revision)
    }

    /// Opens another revision of the same repository, which shares what was read of it.
    ///
    /// # Errors
    ///
    /// If there is no such commit.
    pub fn at(&self, revision: &str) -> Result<Self, ToolError> {
        Self::of(Arc::clone(&self.opened), revision)
    }

    fn of(opened: Arc<OpenRepository>, revision: &str) -> Result<Self, ToolError> {
        let tree = opened.session.tree(revision)?;
        // A tag may have the name of a branch. An object id is not looked for among the branches.
        let is_branch = revision != tree.commit().to_string()
            && opened
                .session
                .repository()
                .branch(revision)
                .is_ok_and(|at| at == Some(tree.commit()));
        Ok(Self { opened, tree, branch: is_branch.then(|| revision.to_owned()) })
    }

    /// Returns the object id of the commit. It stays the commit of the opening, also when the
    /// revision moves.
    #[must_use]
    pub fn commit(&self) -> String {
        self.tree.commit().to_string()
    }

    /// Returns the object id of the commit's tree.
    #[must_use]
    pub fn tree(&self) -> String {
        self.tree.tree().to_string()
    }

    /// Returns the bytes of a file, or the text of a link; `None` if there is neither.
    ///
    /// # Errors
    ///
    /// If the guard refuses the path, or if an object is missing.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ToolError> {
        let path = self
            .tree
            .clone()
            .files(Arc::clone(self.opened.session.policy()))
            .check(path, Access::Read)?;
        let path = path.as_str();
        let entry = self.tree.entry(path).map_err(|source| not_read(path, source))?;
        match entry {
            Some(entry)
                if matches!(entry.kind, fs_guard::FileKind::File | fs_guard::FileKind::Symlink) =>
            {
                let bytes = self.tree.read(path).map_err(|source| not_read(path, source))?;
                Ok(Some(bytes.to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// Returns the paths of all files and links that the guard allows to read.
    ///
    /// # Errors
    ///
    /// If an object is missing.
    pub fn list(&self) -> Result<Vec<String>, ToolError> {
        let files = self.tree.clone().files(Arc::clone(self.opened.session.policy()));
        let mut paths = self.tree.paths()?;
        paths.retain(|path| files.check(path, Access::Read).is_ok());
        Ok(paths)
    }

    /// Plans a patch over the commit, and writes nothing.
    ///
    /// # Errors
    ///
    /// If the text is not a patch, or if the patch does not apply.
    pub fn plan(&self, patch: &[u8], options: &PatchOptions) -> Result<PlannedPatch, ToolError> {
        let (patch, rules) = options.parsed(&self.opened.layers, patch)?;
        let files = self.tree.clone().files(Arc::clone(self.opened.session.policy())).hashed_late();
        Ok(PlannedPatch::of(patch_engine::plan(files, &patch, &rules)?))
    }

    /// Returns the object id of the tree that a plan of [`plan`](Self::plan) makes, and writes
    /// nothing.
    ///
    /// # Errors
    ///
    /// If an object is missing.
    pub fn tree_of(&self, plan: &PlannedPatch) -> Result<String, ToolError> {
        Ok(self.opened.session.tree_of(&plan.plan, self.tree.tree())?.to_string())
    }

    /// Applies a patch: makes a commit of it, and moves a branch there. The answer is that of
    /// [`OpenWorkspace::apply`](crate::OpenWorkspace::apply) with `commit`, `tree`, `onto` and
    /// `branch` besides.
    ///
    /// # Errors
    ///
    /// If the text is not a patch, if the patch does not apply or is not approved, or if the branch
    /// has moved meanwhile. Then the branch stays where it is.
    pub fn apply(
        &self,
        patch: &[u8],
        options: &PatchOptions,
        git: &GitOptions,
        host: Callbacks<'_>,
    ) -> Result<Value, ToolError> {
        let request = GitRequest {
            onto: self.commit(),
            // The branch moves only from the opened commit, unless the patch is carried.
            branch: git.branch.clone().or_else(|| self.branch.clone()),
            message: git.message.clone(),
            author: git.author.clone(),
            carry: git.carry,
            allow_checked_out: git.allow_checked_out,
        };
        let input = json!({ "patch": String::from_utf8_lossy(patch) });
        let data = self.opened.approver.run(
            host,
            self.opened.session.repository().git_dir(),
            "git",
            &input,
            |host| {
                let (patch, rules) = options.parsed(&self.opened.layers, patch)?;
                let report = self.opened.session.apply("git", &patch, &rules, &request, host)?;
                Ok(report.data(false, DiffDetail::None)?)
            },
            |data| json!({ "ok": true, "data": data }),
        )?;
        Ok(serde_json::to_value(data).expect("text keys"))
    }
}

fn not_read(path: &str, source: std::io::Error) -> fs_guard::Error {
    fs_guard::Error::Io { operation: "read", path: path.into(), source }
}
