//! The commands of `verify`: they run after the files are published, and before the change counts.

use std::collections::VecDeque;
use std::io::{PipeReader, Read as _};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use file_tools::SessionSettings;
use file_tools::settings::{Checks, Layers};
use fs_guard::Root;
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::commit::{CHECKED, CheckEnd, NotVerified, Verify};
use patch_engine::{Cancellation, Plan, Profile};

/// How much of the output is kept: its end.
const MAX_OUTPUT: usize = 64 << 10;

/// How often the command is polled.
const POLL: Duration = Duration::from_millis(10);

/// How long a command may take to end after it was asked to, and what it left running to finish its
/// output.
const GRACE: Duration = Duration::from_secs(2);

/// How long the rest of the output is waited for where something that was left running may print
/// more.
const REST: Duration = Duration::from_millis(200);

/// The prefix of this program's own variables.
const OWN_VARIABLES: &str = "APPLY_PATCH_";

/// Returns how a session works that has these settings. Receives what the commands of `verify`
/// print in `show`, as it comes.
#[must_use]
pub fn session_settings(layers: &Layers, show: Option<fn(&str)>) -> SessionSettings {
    let (settings, _) = layers.resolve(Profile::default(), ApprovalPolicy::default());
    let (checks, timeout) = (settings.verify, settings.verify_timeout);
    let verify = (!checks.is_empty())
        .then(|| Arc::new(VerifyCommands { checks, timeout, show }) as Arc<dyn Verify>);
    SessionSettings { verify, ..SessionSettings::of(layers) }
}

/// Commands of the user's shell: those for the files that change, one after the other, until one
/// fails.
#[derive(Debug)]
struct VerifyCommands {
    checks: Checks,
    timeout: Duration,
    show: Option<fn(&str)>,
}

/// One of them.
#[derive(Debug)]
struct VerifyCommand<'c> {
    /// The command line.
    command: &'c str,
    /// How long it may take.
    timeout: Duration,
    /// Receives what it prints, as it comes; bytes that are not UTF-8 as U+FFFD.
    show: Option<fn(&str)>,
}

impl Verify for VerifyCommands {
    fn verify(
        &self,
        root: &Root,
        plan: &Plan,
        state: &str,
        cancellation: &Cancellation,
    ) -> Result<(), NotVerified> {
        let &Self { timeout, show, .. } = self;
        let paths = plan.transitions().iter().map(|transition| transition.path().as_str());
        let mut commands = self.checks.commands(paths).into_iter();
        commands.try_for_each(|command| {
            VerifyCommand { command, timeout, show }.run(root, state, cancellation)
        })
    }
}

/// A command line of the user's, for the shell: `sh`, or `cmd` on Windows, which takes it as it is
/// written.
#[must_use]
pub fn shell(line: &str) -> std::process::Command {
    #[cfg(windows)]
    {
        let mut shell = std::process::Command::new("cmd");
        std::os::windows::process::CommandExt::raw_arg(shell.arg("/C"), line);
        shell
    }
    #[cfg(not(windows))]
    {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]);
        shell
    }
}

impl VerifyCommand<'_> {
    fn run(
        &self,
        root: &Root,
        state: &str,
        cancellation: &Cancellation,
    ) -> Result<(), NotVerified> {
        let command = || Some(self.command.to_owned());
        let not_run = |error: std::io::Error| NotVerified {
            command: command(),
            end: CheckEnd::NotRun(error.to_string()),
            output: Vec::new(),
            left_out: 0,
        };
        let (mut child, output) = self.start(root, state).map_err(not_run)?;
        let refused = match self.wait(&mut child, cancellation) {
            // What it leaves running is the user's.
            Ok(status) if status.success() => {
                output.end_showing();
                return Ok(());
            }
            Ok(status) => end_of(status),
            Err(refused) => refused,
        };
        end(&mut child);
        output.end_showing();
        let (output, left_out) = output.taken();
        Err(NotVerified { command: command(), end: refused, output, left_out })
    }

    /// Starts it in the root, apart from the terminal, with nothing of ours: handles are closed,
    /// and our variables are left out.
    fn start(&self, root: &Root, state: &str) -> std::io::Result<(Child, Output)> {
        let (reader, writer) = std::io::pipe()?;
        let mut command = shell(self.command);
        command.current_dir(root.path());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with(OWN_VARIABLES) {
                command.env_remove(name);
            }
        }
        // A call of this program for the same project could only wait for the lock.
        command.env(CHECKED, state);
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // What it starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        Ok((child, Output::of(reader, self.show)))
    }

    fn wait(&self, child: &mut Child, cancellation: &Cancellation) -> Result<ExitStatus, CheckEnd> {
        let start = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if cancellation.is_cancelled() => return Err(CheckEnd::Cancelled),
                Ok(None) if start.elapsed() >= self.timeout => {
                    return Err(CheckEnd::TimedOut(self.timeout));
                }
                Ok(None) => thread::sleep(POLL),
                Err(error) => return Err(CheckEnd::NotRun(error.to_string())),
            }
        }
    }
}

fn end_of(status: ExitStatus) -> CheckEnd {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return CheckEnd::Killed(signal);
    }
    CheckEnd::Exited(status.code().unwrap_or(-1))
}

/// Ends a command that did not succeed, and all that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        use rustix::process::{Signal, kill_process_group};
        let start = Instant::now();
        let mut asked = kill_process_group(group, Signal::TERM).is_ok();
        while asked && start.elapsed() < GRACE {
            let _ = child.try_wait();
            thread::sleep(POLL);
            asked = rustix::process::test_kill_process_group(group).is_ok();
        }
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// What a command prints: it is shown as it comes, and the end is kept.
struct Output {
    kept: Arc<Mutex<Kept>>,
    done: Receiver<()>,
}

struct Kept {
    end: VecDeque<u8>,
    left_out: u64,
    show: Option<fn(&str)>,
    /// The beginning of a character that is not shown yet.
    cut: Vec<u8>,
    /// What was shown last is not the end of a line.
    within_line: bool,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        self.end.extend(bytes);
        let surplus = self.end.len().saturating_sub(MAX_OUTPUT);
        self.end.drain(..surplus);
        self.left_out += surplus as u64;
        if let Some(show) = self.show {
            self.cut.extend_from_slice(bytes);
            let whole = match std::str::from_utf8(&self.cut) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                // What comes after a byte that is not UTF-8 is not looked at: at worst a character
                // is shown as two.
                _ => self.cut.len(),
            };
            let text = String::from_utf8_lossy(&self.cut[..whole]);
            if let Some(last) = text.chars().next_back() {
                self.within_line = last != '\n';
                show(&text);
            }
            self.cut.drain(..whole);
        }
    }
}

impl Output {
    fn of(mut reader: PipeReader, show: Option<fn(&str)>) -> Self {
        let kept =
            Kept { end: VecDeque::new(), left_out: 0, show, cut: Vec::new(), within_line: false };
        let kept = Arc::new(Mutex::new(kept));
        let (over, done) = channel();
        let into = Arc::clone(&kept);
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                into.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..length]);
            }
            let _ = over.send(());
        });
        Self { kept, done }
    }

    /// Shows the rest of what it printed, and nothing that what it left running prints later.
    fn end_showing(&self) {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().show.is_some() {
            let _ = self.done.recv_timeout(REST);
            let mut kept = lock();
            if let Some(show) = kept.show.take().filter(|_| kept.within_line) {
                show("\n");
            }
        }
    }

    /// The end of the output, and how many bytes were before it. What still runs and writes is not
    /// waited for.
    fn taken(self) -> (Vec<u8>, u64) {
        // The sender is gone when all is read.
        let _ = self.done.recv_timeout(GRACE);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut kept.end).into(), kept.left_out)
    }
}
