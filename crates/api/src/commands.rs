//! The commands of the user: `verify` runs after the files are published and before the change
//! counts, `format-with` before a plan is shown.

use std::collections::VecDeque;
use std::io::{PipeReader, Read as _, Write as _};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fs_guard::Root;
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::commit::{CHECKED, Verify};
use patch_engine::{
    Cancellation, CommandEnd, CommandFailure, Formatted, Formatter, Plan, Profile, RelPath,
};
use patch_session::settings::{Checks, Layers, Settings};
use patch_session::{SessionSettings, Versions};

/// The bytes at the end of the output that are kept.
const MAX_OUTPUT: usize = 64 << 10;

/// The time between two polls of a command.
const POLL: Duration = Duration::from_millis(10);

/// The time that a command has to end after `SIGTERM`, and that its children have to finish their
/// output.
const GRACE: Duration = Duration::from_secs(2);

/// The time to wait for the rest of the output, where a child of the command may still print.
const REST: Duration = Duration::from_millis(200);

/// The prefix of this program's own variables.
const OWN_VARIABLES: &str = "APPLY_PATCH_";

/// The variable in which a formatter finds the path of the file, from the root.
const FILE: &str = "APPLY_PATCH_FILE";

/// Returns the settings of a session. `show` receives the output of the commands of `verify` and
/// `format-with` as they print it.
#[must_use]
pub fn session_settings(layers: &Layers, show: Option<fn(&str)>) -> SessionSettings {
    let (settings, _) = layers.resolve(Profile::default(), ApprovalPolicy::default());
    let formatter = formatter(&settings, show);
    let commands = UserCommands { checks: settings.verify, timeout: settings.verify_timeout, show };
    let verify = (!commands.checks.is_empty()).then(|| Arc::new(commands) as Arc<dyn Verify>);
    #[cfg(feature = "git")]
    let versions: Option<Versions> = Some(patch_git::committed);
    #[cfg(not(feature = "git"))]
    let versions: Option<Versions> = None;
    SessionSettings { verify, formatter, versions, ..SessionSettings::of(layers) }
}

/// Returns the formatter of new files under these settings, if there is one. `show` receives the
/// error output of the commands as they print it.
#[must_use]
pub fn formatter(settings: &Settings, show: Option<fn(&str)>) -> Option<Arc<dyn Formatter>> {
    let checks = settings.format_with.clone();
    let timeout = settings.verify_timeout;
    (!checks.is_empty()).then(|| Arc::new(UserCommands { checks, timeout, show }) as _)
}

/// Commands of the user's shell. The commands for the changed files run one after the other, until
/// one fails.
#[derive(Debug)]
struct UserCommands {
    checks: Checks,
    timeout: Duration,
    show: Option<fn(&str)>,
}

/// One command of the user's shell.
#[derive(Debug)]
struct UserCommand<'c> {
    /// The command line.
    line: &'c str,
    /// The most time that the command may take.
    timeout: Duration,
    /// Receives the output of the command that is no new text, as the command prints it; bytes
    /// that are not UTF-8 become U+FFFD.
    show: Option<fn(&str)>,
}

/// A variable in the environment of a command.
#[derive(Debug, Clone, Copy)]
struct Variable<'v> {
    name: &'static str,
    value: &'v str,
}

/// A running command.
struct Started {
    child: Child,
    /// The output, without the new text of a filter.
    output: Output,
    /// Receives the new text of a filter.
    filtered: Option<Receiver<Vec<u8>>>,
}

impl UserCommands {
    /// Returns the commands for these files.
    fn of<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p str> + Clone,
    ) -> impl Iterator<Item = UserCommand<'_>> {
        let &Self { timeout, show, .. } = self;
        let lines = self.checks.commands(paths).into_iter();
        lines.map(move |line| UserCommand { line, timeout, show })
    }
}

impl Verify for UserCommands {
    fn concerns(&self, paths: &[&str]) -> bool {
        self.of(paths.iter().copied()).next().is_some()
    }

    fn verify(
        &self,
        root: &Root,
        plan: &Plan,
        state: &str,
        cancellation: &Cancellation,
    ) -> Result<(), CommandFailure> {
        let paths = plan.transitions().iter().map(|transition| transition.path().as_str());
        // Without the variable, a call of this program for the same project would wait for the lock.
        let variable = Variable { name: CHECKED, value: state };
        self.of(paths)
            .try_for_each(|command| command.run(root, variable, None, cancellation).map(|_| ()))
    }
}

impl Formatter for UserCommands {
    fn format(
        &self,
        root: &Root,
        path: &RelPath,
        bytes: &[u8],
        cancellation: &Cancellation,
    ) -> Result<Option<Formatted>, CommandFailure> {
        let variable = Variable { name: FILE, value: path.as_str() };
        let mut formatted: Option<Formatted> = None;
        for command in self.of([path.as_str()]) {
            let line = command.line.trim();
            let (input, by) = match formatted {
                Some(Formatted { bytes, by }) => (bytes, format!("{by} and `{line}`")),
                None => (bytes.to_vec(), format!("`{line}`")),
            };
            let bytes = command.run(root, variable, Some(input), cancellation)?;
            formatted = Some(Formatted { bytes, by });
        }
        Ok(formatted)
    }
}

/// Returns the command of the shell for a command line: of `sh`, or of `cmd` on Windows, where the
/// line is passed on as written.
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

impl UserCommand<'_> {
    /// Runs the command with a variable set. A command with an input is a filter: its output is
    /// returned, and only its error output is shown. Of other commands all output is shown, and
    /// none is returned.
    fn run(
        &self,
        root: &Root,
        variable: Variable<'_>,
        input: Option<Vec<u8>>,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, CommandFailure> {
        let has_text =
            input.as_ref().is_some_and(|input| !input.iter().all(u8::is_ascii_whitespace));
        let Started { mut child, output, filtered } = self
            .start(root, variable, input)
            .map_err(|error| self.failure(CommandEnd::NotRun(error.to_string()), Vec::new(), 0))?;
        let end = match self.wait(&mut child, cancellation) {
            // Children of a command that succeeded are left running.
            Ok(status) if status.success() => {
                output.end_showing();
                match filtered.map(|filtered| filtered.recv_timeout(GRACE)) {
                    None => return Ok(Vec::new()),
                    Some(Ok(bytes)) if !bytes.is_empty() || !has_text => return Ok(bytes),
                    Some(Ok(_)) => CommandEnd::PrintedNothing,
                    Some(Err(_)) => {
                        CommandEnd::NotRun("what it left running keeps its output open".into())
                    }
                }
            }
            Ok(status) => end_of(status),
            Err(end) => end,
        };
        stop(&mut child);
        output.end_showing();
        let (output, left_out) = output.taken();
        Err(self.failure(end, output, left_out))
    }

    fn failure(&self, end: CommandEnd, output: Vec<u8>, left_out: u64) -> CommandFailure {
        CommandFailure { command: Some(self.line.to_owned()), end, output, left_out }
    }

    /// Starts the command in the root, apart from the terminal, without our handles and without our
    /// variables.
    fn start(
        &self,
        root: &Root,
        variable: Variable<'_>,
        input: Option<Vec<u8>>,
    ) -> std::io::Result<Started> {
        let (reader, writer) = std::io::pipe()?;
        let mut command = shell(self.line);
        command.current_dir(root.path());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with(OWN_VARIABLES) {
                command.env_remove(name);
            }
        }
        command.env(variable.name, variable.value);
        if input.is_some() {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writer);
        } else {
            command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        }
        // The group has the children, too, so that they can be ended together.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let filtered = input.and_then(|input| filter(&mut child, input));
        Ok(Started { child, output: Output::of(reader, self.show), filtered })
    }

    fn wait(
        &self,
        child: &mut Child,
        cancellation: &Cancellation,
    ) -> Result<ExitStatus, CommandEnd> {
        let start = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if cancellation.is_cancelled() => return Err(CommandEnd::Cancelled),
                Ok(None) if start.elapsed() >= self.timeout => {
                    return Err(CommandEnd::TimedOut(self.timeout));
                }
                Ok(None) => thread::sleep(POLL),
                Err(error) => return Err(CommandEnd::NotRun(error.to_string())),
            }
        }
    }
}

fn end_of(status: ExitStatus) -> CommandEnd {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return CommandEnd::Killed(signal);
    }
    CommandEnd::Exited(status.code().unwrap_or(-1))
}

/// Gives a command its input, and receives its output.
fn filter(child: &mut Child, input: Vec<u8>) -> Option<Receiver<Vec<u8>>> {
    let (mut to, mut from) = child.stdin.take().zip(child.stdout.take())?;
    thread::spawn(move || {
        // A command that needs no more input may have ended.
        let _ = to.write_all(&input);
    });
    let (done, printed) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // One byte more than a file may have is enough to refuse the output.
        let most = patch_engine::MAX_FILE_SIZE + 1;
        let read = from.by_ref().take(most).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        if read.is_ok() {
            let _ = done.send(bytes);
        }
    });
    Some(printed)
}

/// Ends a command that did not succeed, and its children.
fn stop(child: &mut Child) {
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

/// The output of a command. It is shown as it comes, and its end is kept.
struct Output {
    kept: Arc<Mutex<OutputTail>>,
    done: Receiver<()>,
}

struct OutputTail {
    end: VecDeque<u8>,
    left_out: u64,
    show: Option<fn(&str)>,
    /// The bytes of a character that is not complete yet.
    cut: Vec<u8>,
    /// Whether the last line shown has no end yet.
    within_line: bool,
}

impl OutputTail {
    fn add(&mut self, bytes: &[u8]) {
        self.end.extend(bytes);
        let surplus = self.end.len().saturating_sub(MAX_OUTPUT);
        self.end.drain(..surplus);
        self.left_out += surplus as u64;
        if let Some(show) = self.show {
            self.cut.extend_from_slice(bytes);
            let whole = match std::str::from_utf8(&self.cut) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                // After a byte that is not UTF-8 all is shown: at worst a character becomes two.
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
        let kept = OutputTail {
            end: VecDeque::new(),
            left_out: 0,
            show,
            cut: Vec::new(),
            within_line: false,
        };
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

    fn kept(&self) -> MutexGuard<'_, OutputTail> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the rest of the output; later output, of children that still run, is not shown.
    fn end_showing(&self) {
        if self.kept().show.is_some() {
            let _ = self.done.recv_timeout(REST);
            let mut kept = self.kept();
            if let Some(show) = kept.show.take().filter(|_| kept.within_line) {
                show("\n");
            }
        }
    }

    /// Returns the end of the output, and the number of bytes before it. Children that still write
    /// are not waited for.
    fn taken(self) -> (Vec<u8>, u64) {
        // The sender is gone when all is read.
        let _ = self.done.recv_timeout(GRACE);
        let mut kept = self.kept();
        (std::mem::take(&mut kept.end).into(), kept.left_out)
    }
}
