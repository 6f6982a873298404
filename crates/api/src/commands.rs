//! The commands of `verify`, which run after the files are published and before the change counts,
//! and those of `format-with`, which run before a plan is shown.

use std::collections::VecDeque;
use std::io::{PipeReader, Read as _, Write as _};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
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

/// The variable in which a formatter finds the path of the file, from the root.
const FILE: &str = "APPLY_PATCH_FILE";

/// Returns how a session works that has these settings. Receives what the commands of `verify` and
/// `format-with` print in `show`, as it comes.
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

/// Returns what formats new files under these settings; `None` if nothing does. Receives what the
/// commands print on their error output in `show`, as it comes.
#[must_use]
pub fn formatter(settings: &Settings, show: Option<fn(&str)>) -> Option<Arc<dyn Formatter>> {
    let (checks, timeout) = (settings.format_with.clone(), settings.verify_timeout);
    (!checks.is_empty()).then(|| Arc::new(UserCommands { checks, timeout, show }) as _)
}

/// Commands of the user's shell: those for the files that change, one after the other, until one
/// fails.
#[derive(Debug)]
struct UserCommands {
    checks: Checks,
    timeout: Duration,
    show: Option<fn(&str)>,
}

/// One of them.
#[derive(Debug)]
struct UserCommand<'c> {
    /// The command line.
    line: &'c str,
    /// How long it may take.
    timeout: Duration,
    /// Receives what it prints and is not taken, as it comes; bytes that are not UTF-8 as U+FFFD.
    show: Option<fn(&str)>,
}

/// A command that runs.
struct Started {
    child: Child,
    /// What it prints, but for what a filter prints.
    output: Output,
    /// Receives what a filter prints.
    filtered: Option<Receiver<Vec<u8>>>,
}

impl UserCommands {
    /// The commands for these files.
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
        // A call of this program for the same project could only wait for the lock.
        self.of(paths).try_for_each(|command| {
            command.run(root, (CHECKED, state), None, cancellation).map(|_| ())
        })
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
        let mut formatted: Option<Formatted> = None;
        for command in self.of([path.as_str()]) {
            let line = command.line.trim();
            let (input, by) = match formatted {
                Some(Formatted { bytes, by }) => (bytes, format!("{by} and `{line}`")),
                None => (bytes.to_vec(), format!("`{line}`")),
            };
            let bytes = command.run(root, (FILE, path.as_str()), Some(input), cancellation)?;
            formatted = Some(Formatted { bytes, by });
        }
        Ok(formatted)
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

impl UserCommand<'_> {
    /// Runs it, with the variable set. With an input it is a filter: returns what it prints, and
    /// only what it prints on its error output is shown. Otherwise all is shown, and nothing is
    /// returned.
    fn run(
        &self,
        root: &Root,
        variable: (&str, &str),
        input: Option<Vec<u8>>,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, CommandFailure> {
        let failed = |end, (output, left_out)| {
            let command = Some(self.line.to_owned());
            CommandFailure { command, end, output, left_out }
        };
        let nothing_printed = (Vec::new(), 0);
        let has_text =
            input.as_ref().is_some_and(|input| !input.iter().all(u8::is_ascii_whitespace));
        let Started { mut child, output, filtered } = self
            .start(root, variable, input)
            .map_err(|error| failed(CommandEnd::NotRun(error.to_string()), nothing_printed))?;
        let end = match self.wait(&mut child, cancellation) {
            // What it leaves running is the user's.
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
        Err(failed(end, output.taken()))
    }

    /// Starts it in the root, apart from the terminal, with nothing of ours: handles are closed,
    /// and our variables are left out.
    fn start(
        &self,
        root: &Root,
        variable: (&str, &str),
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
        command.env(variable.0, variable.1);
        if input.is_some() {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writer);
        } else {
            command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        }
        // What it starts ends with it.
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

/// Gives a command its input, and receives all that it prints.
fn filter(child: &mut Child, input: Vec<u8>) -> Option<Receiver<Vec<u8>>> {
    let (mut to, mut from) = child.stdin.take().zip(child.stdout.take())?;
    thread::spawn(move || {
        // A command that needs no more of it may have ended.
        let _ = to.write_all(&input);
    });
    let (done, printed) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What is longer than any file is refused for that.
        let most = patch_engine::MAX_FILE_SIZE + 1;
        let read = from.by_ref().take(most).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        if read.is_ok() {
            let _ = done.send(bytes);
        }
    });
    Some(printed)
}

/// Ends a command that did not succeed, and all that it started.
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

/// What a command prints: it is shown as it comes, and the end is kept.
struct Output {
    kept: Arc<Mutex<OutputTail>>,
    done: Receiver<()>,
}

struct OutputTail {
    end: VecDeque<u8>,
    left_out: u64,
    show: Option<fn(&str)>,
    /// The beginning of a character that is not shown yet.
    cut: Vec<u8>,
    /// What was shown last is not the end of a line.
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
