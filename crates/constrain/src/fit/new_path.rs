//! The paths of new files: those that no listed path stands in the way of.
//!
//! The names are those of the tight dialect (`tight_name`), of ASCII only: other letters can be the
//! same to a file system in more than one form. For the same reason a name is taken if its folded
//! spelling (`fs_guard::fold`) equals a listed one's.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::OnceLock;

use super::options::FitOptions;
use crate::paths::{DEVICES, DIRECTORIES};
use patch_engine::Profile;

/// An automaton that reads new paths, without the line feed at their end.
#[derive(Debug, Default)]
pub(super) struct NewPaths {
    pub(super) states: Vec<PathState>,
}

/// The state at the beginning of a path.
const START: usize = 0;

/// The possible next characters after a part of a path.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(super) struct PathState {
    /// Characters and the next state, unique for each.
    pub(super) moves: Vec<(String, usize)>,
    /// Whether the path may end.
    pub(super) ends: bool,
}

/// The paths of new files, in the forms that are needed.
#[derive(Debug, Default)]
pub(super) struct NewPathRules {
    /// All existing paths; none if there can be no new file.
    listed: Option<Vec<String>>,
    folders_may_be_new: bool,
    automaton: OnceLock<NewPaths>,
}

impl NewPathRules {
    /// `listed` are all existing paths. Under `strict` a new file is in one of their folders.
    pub(super) fn new<'p>(listed: impl Iterator<Item = &'p str>, options: &FitOptions) -> Self {
        Self {
            listed: Some(listed.map(str::to_owned).collect()),
            folders_may_be_new: options.profile != Profile::Strict,
            automaton: OnceLock::new(),
        }
    }

    /// How many paths are listed, if there can be a new file.
    pub(super) fn listed(&self) -> usize {
        self.listed.as_ref().map_or(0, Vec::len)
    }

    /// How many folders are in each other.
    pub(super) fn depth(&self) -> usize {
        let paths = self.listed.iter().flatten();
        paths.map(|path| path.matches('/').count()).max().unwrap_or(0)
    }

    /// The automaton, made when it is first needed: a state for each character of many paths.
    pub(super) fn automaton(&self) -> &NewPaths {
        self.automaton.get_or_init(|| {
            let listed = self.listed.iter().flatten().map(String::as_str);
            if self.listed.is_none() {
                NewPaths::default()
            } else {
                NewPaths::new(listed, self.folders_may_be_new)
            }
        })
    }

    /// Writes the terminals for llguidance, whose words may be conjunctions and complements.
    pub(super) fn lark(&self, out: &mut String) {
        let Some(listed) = &self.listed else { return };
        let mut folder = Folder::default();
        listed.iter().for_each(|path| folder.list(path));
        let letter = class(letters());
        let name = format!(r"\.?{letter}(\.*{letter})*");
        let path = if self.folders_may_be_new {
            format!(r"{name}(\/{name})*")
        } else {
            format!("({})?{name}", folder.folders())
        };
        let names: Vec<String> = reserved().map(in_any_case).collect();
        let names = names.join("|");
        let taken = folder.taken();
        let is_free = if taken.is_empty() { "" } else { " & ~TAKEN" };
        let _ = writeln!(out, "NEW_PATH: PATH & ~RESERVED{is_free}");
        let _ = writeln!(out, "PATH: /{path}\\n/");
        let reserved = format!(r"([^\n]*\/)?({names})(\.[^\/\n]*)?(\/[^\n]*)?");
        let _ = writeln!(out, "RESERVED: /{reserved}\\n/");
        if !taken.is_empty() {
            let _ = writeln!(out, "TAKEN: /({taken})\\n/");
        }
    }
}

/// The listed paths in a folder.
#[derive(Debug, Default)]
struct Folder {
    names: BTreeMap<String, Option<Folder>>,
}

impl Folder {
    fn list(&mut self, path: &str) {
        let Some((folder, rest)) = path.split_once('/') else {
            self.names.entry(path.to_owned()).or_default();
            return;
        };
        let entry = self.names.entry(folder.to_owned()).or_default();
        entry.get_or_insert_default().list(rest);
    }

    /// The folders beneath, each with a slash, that a new path can name.
    fn folders(&self) -> String {
        let folders = self.names.iter().filter(|(name, _)| is_ascii_name(name));
        let folders = folders.filter_map(|(name, folder)| Some((name, folder.as_ref()?)));
        let folders: Vec<String> = folders
            .map(|(name, folder)| match folder.folders() {
                below if below.is_empty() => format!(r"{}\/", exactly(name)),
                below => format!(r"{}\/({below})?", exactly(name)),
            })
            .collect();
        folders.join("|")
    }

    /// The paths that the listed ones stand in the way of. The last name of a listed path is taken
    /// in any case; a folder is one only in its own spelling.
    fn taken(&self) -> String {
        let mut taken = Vec::new();
        for (name, folder) in &self.names {
            let folded = fs_guard::fold(name);
            let folded = Some(&*folded).filter(|folded| is_ascii_name(folded));
            match folder {
                None => {
                    taken.extend(folded.map(|name| format!(r"{}(\/[^\n]*)?", in_any_case(name))))
                }
                Some(folder) => {
                    taken.extend(folded.map(in_any_case));
                    taken.extend(folded.and_then(|folded| {
                        let others = in_another_case(name, folded);
                        (!others.is_empty()).then(|| format!(r"({others})\/[^\n]*"))
                    }));
                    let below = folder.taken();
                    if is_ascii_name(name) && !below.is_empty() {
                        taken.push(format!(r"{}\/({below})", exactly(name)));
                    }
                }
            }
        }
        taken.join("|")
    }
}

fn is_ascii_name(name: &str) -> bool {
    name.chars().all(|c| c == '.' || letters().any(|letter| letter == c))
}

/// A regular expression for one character.
fn escaped(c: char) -> String {
    if c.is_ascii_alphanumeric() { c.to_string() } else { format!(r"\x{:02x}", u32::from(c)) }
}

fn class(chars: impl Iterator<Item = char>) -> String {
    let chars: String = chars.map(escaped).collect();
    format!("[{chars}]")
}

fn exactly(name: &str) -> String {
    name.chars().map(escaped).collect()
}

fn in_any_case(name: &str) -> String {
    name.chars().map(any_case).collect()
}

fn any_case(c: char) -> String {
    if c.is_ascii_alphabetic() {
        class([c.to_ascii_lowercase(), c.to_ascii_uppercase()].into_iter())
    } else {
        escaped(c)
    }
}

/// The spellings of a folded name but for one.
fn in_another_case(name: &str, folded: &str) -> String {
    if !name.is_ascii() {
        return in_any_case(folded);
    }
    let letters = name.char_indices().filter(|(_, c)| c.is_ascii_alphabetic());
    let others = letters.map(|(at, c)| {
        let other =
            if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        format!("{}{}{}", exactly(&name[..at]), escaped(other), in_any_case(&folded[at + 1..]))
    });
    let others: Vec<String> = others.collect();
    others.join("|")
}

impl NewPaths {
    /// `listed` are all existing paths.
    fn new<'p>(listed: impl Iterator<Item = &'p str>, folders_may_be_new: bool) -> Self {
        let mut maker = Maker::new(folders_may_be_new);
        listed.for_each(|path| maker.list_all(path));
        maker.make();
        Self { states: merged(&maker.states) }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        if self.states.is_empty() {
            return false;
        }
        let mut state = START;
        for c in path.chars() {
            match self.states[state].moves.iter().find(|(chars, _)| chars.contains(c)) {
                Some(&(_, next)) => state = next,
                None => return false,
            }
        }
        self.states[state].ends
    }

    /// Writes one of the paths, and the line feed.
    pub(super) fn write(&self, out: &mut String, mut choose: impl FnMut(usize) -> usize) {
        let mut state = START;
        loop {
            let PathState { moves, ends, .. } = &self.states[state];
            let chosen = choose(moves.len() + usize::from(*ends));
            let Some(chosen) = chosen.checked_sub(usize::from(*ends)) else { break };
            let (chars, next) = &moves[chosen];
            out.extend(chars.chars().nth(choose(chars.len())));
            state = *next;
        }
        out.push('\n');
    }
}

/// Names that no new file or folder has. Nor has one such a name with more after a dot, although
/// the guard refuses only those of devices then.
fn reserved() -> impl Iterator<Item = &'static str> {
    DEVICES.into_iter().chain(DIRECTORIES)
}

/// Makes one state of those with the same ways to an end, as the ends of the names in many folders
/// have: `mod.rs` here and there. The way from a listed path leads to greater numbers, or out of all
/// listed paths; states out there stay as they are.
fn merged(states: &[PathState]) -> Vec<PathState> {
    let mut known: HashMap<PathState, usize> = HashMap::new();
    let mut kept: Vec<usize> = (0..states.len()).collect();
    for (number, state) in states.iter().enumerate().rev() {
        if state.moves.iter().all(|&(_, next)| next > number || kept[next] == next) {
            let moves = state.moves.iter().map(|(chars, next)| (chars.clone(), kept[*next]));
            let state = PathState { moves: moves.collect(), ends: state.ends };
            kept[number] = *known.entry(state).or_insert(number);
        }
    }
    // The states that are left are numbered anew, in their order.
    let mut numbers = vec![0; states.len()];
    let mut count = 0;
    for (number, &kept) in kept.iter().enumerate() {
        numbers[number] = count;
        count += usize::from(kept == number);
    }
    let left = states.iter().zip(&kept).enumerate().filter(|(number, (_, kept))| *number == **kept);
    left.map(|(_, (state, _))| PathState {
        moves: state
            .moves
            .iter()
            .map(|(chars, next)| (chars.clone(), numbers[kept[*next]]))
            .collect(),
        ends: state.ends,
    })
    .collect()
}

/// How far a name is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum NamePosition {
    /// Where the name may end.
    Whole,
    /// After a dot in the name.
    Dot,
    /// At the beginning of a reserved name, perhaps empty.
    Reserved(String),
}

impl NamePosition {
    fn begin() -> Self {
        Self::Reserved(String::new())
    }

    fn then(&self, c: char) -> Option<Self> {
        if let Self::Reserved(name) = self {
            let longer = format!("{name}{}", c.to_ascii_lowercase());
            if reserved().any(|reserved| reserved.starts_with(&longer)) {
                return Some(Self::Reserved(longer));
            }
            if c == '.' && !self.may_end() {
                return None;
            }
        }
        Some(if c == '.' { Self::Dot } else { Self::Whole })
    }

    fn may_end(&self) -> bool {
        match self {
            Self::Whole => true,
            Self::Dot => false,
            Self::Reserved(name) => {
                !["", "."].contains(&name.as_str()) && !reserved().any(|reserved| reserved == name)
            }
        }
    }
}

/// The characters of a name besides the dot: `tight_ascii` of the grammar.
fn letters() -> impl Iterator<Item = char> {
    ('!'..='}').filter(|c| c.is_ascii_alphanumeric() || "!#$%&'()+,-;=@[]^_`{}".contains(*c))
}

/// Where a path is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum PathPosition {
    /// In a name that no listed path begins with.
    Free(NamePosition),
    /// At the beginning of a listed path.
    Listed(String, NamePosition),
    /// At the beginning of a listed path if its last name were folded.
    OtherCase(String, NamePosition),
}

#[derive(Debug)]
struct Maker {
    /// All beginnings of listed paths, as they are; and folded but for the folder.
    beginnings: BTreeSet<String>,
    folded_beginnings: BTreeSet<String>,
    /// The listed paths and their folders, folded but for the folder they are in.
    taken: BTreeSet<String>,
    folders: BTreeSet<String>,
    folders_may_be_new: bool,
    states: Vec<PathState>,
    known: HashMap<PathPosition, usize>,
    open: VecDeque<PathPosition>,
}

impl Maker {
    fn new(folders_may_be_new: bool) -> Self {
        Self {
            beginnings: BTreeSet::new(),
            folded_beginnings: BTreeSet::new(),
            taken: BTreeSet::new(),
            folders: BTreeSet::new(),
            folders_may_be_new,
            states: Vec::new(),
            known: HashMap::new(),
            open: VecDeque::new(),
        }
    }

    /// Notes a path and its folders.
    fn list_all(&mut self, path: &str) {
        self.list(path);
        for (slash, _) in path.rmatch_indices('/') {
            self.list(&path[..slash]);
            self.folders.insert(path[..slash].to_owned());
        }
    }

    /// Notes a path or a folder.
    fn list(&mut self, path: &str) {
        let folded = self.folded(path);
        for (text, beginnings) in
            [(path, &mut self.beginnings), (&folded, &mut self.folded_beginnings)]
        {
            let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
            beginnings.extend(ends.map(|end| text[..end].to_owned()));
        }
        self.taken.insert(folded);
    }

    /// A path with its last name folded.
    fn folded(&self, path: &str) -> String {
        let name = path.rfind('/').map_or(0, |slash| slash + 1);
        format!("{}{}", &path[..name], fs_guard::fold(&path[name..]))
    }

    fn make(&mut self) {
        self.number(PathPosition::Listed(String::new(), NamePosition::begin()));
        while let Some(at) = self.open.pop_front() {
            let state = self.state(&at);
            self.states[self.known[&at]] = state;
        }
    }

    fn number(&mut self, at: PathPosition) -> usize {
        if let Some(&number) = self.known.get(&at) {
            return number;
        }
        let number = self.states.len();
        self.states.push(PathState::default());
        self.known.insert(at.clone(), number);
        self.open.push_back(at);
        number
    }

    fn state(&mut self, at: &PathPosition) -> PathState {
        let mut moves: BTreeMap<PathPosition, String> = BTreeMap::new();
        for c in letters().chain(['.', '/']) {
            if let Some(next) = self.then(at, c) {
                moves.entry(next).or_default().push(c);
            }
        }
        // Free characters come first: they lead to an end.
        let moves: Vec<_> =
            moves.into_iter().map(|(next, chars)| (chars, self.number(next))).collect();
        PathState { moves, ends: self.may_end(at) }
    }

    /// Whether no path or folder of this name exists.
    fn may_end(&self, at: &PathPosition) -> bool {
        match at {
            PathPosition::Free(name) => name.may_end(),
            PathPosition::Listed(path, name) | PathPosition::OtherCase(path, name) => {
                name.may_end() && !self.taken.contains(&self.folded(path))
            }
        }
    }

    fn then(&self, at: &PathPosition, c: char) -> Option<PathPosition> {
        if c == '/' {
            return match at {
                PathPosition::Listed(path, name)
                    if name.may_end() && self.folders.contains(path) =>
                {
                    Some(PathPosition::Listed(format!("{path}/"), NamePosition::begin()))
                }
                _ if self.folders_may_be_new && self.may_end(at) => {
                    Some(PathPosition::Free(NamePosition::begin()))
                }
                _ => None,
            };
        }
        match at {
            PathPosition::Free(name) => Some(PathPosition::Free(name.then(c)?)),
            PathPosition::Listed(path, name) => {
                let path = format!("{path}{c}");
                let name = name.then(c)?;
                Some(if self.beginnings.contains(&path) {
                    PathPosition::Listed(path, name)
                } else {
                    self.in_other_case(path, name)
                })
            }
            PathPosition::OtherCase(path, name) => {
                Some(self.in_other_case(format!("{path}{c}"), name.then(c)?))
            }
        }
    }

    fn in_other_case(&self, path: String, name: NamePosition) -> PathPosition {
        let path = self.folded(&path);
        if self.folded_beginnings.contains(&path) {
            PathPosition::OtherCase(path, name)
        } else {
            PathPosition::Free(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_path_is_in_nobodys_way() {
        let listed = ["README.md", "src/lib.rs", "src/a/b.rs", "mein Brief/ü", ".github/x"];
        for (path, strict, codex) in [
            ("README.md", false, false),
            ("readme.MD", false, false),
            ("README.md5", true, true),
            ("README", true, true),
            ("README.md/x", false, false),
            ("src", false, false),
            ("SRC", false, false),
            ("SRC/x", false, false),
            ("src/", false, false),
            ("src/x.rs", true, true),
            ("src/Lib.rs", false, false),
            ("src/lib.rs/x", false, false),
            ("src/a", false, false),
            ("src/a/c.rs", true, true),
            ("src/b/c.rs", false, true),
            ("new/c.rs", false, true),
            ("new/README.md", false, true),
            ("new//c", false, false),
            ("/c", false, false),
            (".git", false, false),
            (".GiT", false, false),
            (".git/x", false, false),
            (".gitignore", true, true),
            (".g", true, true),
            (".G/x", false, true),
            ("src/.hg", false, false),
            ("x/CVS/y", false, false),
            ("nul.txt", false, false),
            ("null.txt", true, true),
            (".hg.x", false, false),
            ("...", false, false),
            (".apply-patch/x", false, false),
            (".github/y", true, true),
            ("src/.git", false, false),
            ("a.", false, false),
            ("a..b", true, true),
            ("..", false, false),
            ("../a", false, false),
            ("a b", false, false),
            ("mein Brief/o", false, false),
            ("é", false, false),
            ("", false, false),
        ] {
            for (profile, wanted) in [(Profile::Strict, strict), (Profile::Codex, codex)] {
                let options = FitOptions { profile, ..FitOptions::default() };
                let paths = NewPathRules::new(listed.into_iter(), &options);
                assert_eq!(paths.automaton().has(path), wanted, "{path} {profile}");
            }
        }
    }
}
