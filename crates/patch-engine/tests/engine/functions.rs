//! The names of functions in the headers of hunks, and git beside them.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use patch_engine::commit::Workspace;
use patch_engine::{Options, PlanBuilder, Profile, Splices, plan};
use patch_grammar::diff::{self, DiffOptions};
use tempfile::TempDir;

/// A language as git calls it, a file's name, and lines: `+` before those that begin a function,
/// and `-` before others. What git shows follows after `=>`, if it is not the line without its
/// indentation.
const LANGUAGES: &[(&str, &str, &str)] = &[
    ("", "f", "+name\n+_x: y\n+$x = 1 \n- name\n-1 name\n-{"),
    ("", "f.js", "+app.use = function use(fn) {\n+class A {\n-  method() {\n-}"),
    (
        "ada",
        "f.adb",
        "+procedure P is\n+  function F return Integer\n+package body B is\n+Task T is\n\
         -with Ada.Text_IO;\n\
         -package N is new G (Integer);\n-procedure P renames Q;\n-X := 1;",
    ),
    (
        "bash",
        "f.sh",
        "+f() { => f()\n+  g () ( => g ()\n+function h {\n+function i() {\n+j() { echo; } => j()\n\
         -f\n-function\n-if f; then\n-x=()\n+f()",
    ),
    ("bibtex", "f.bib", "+@book{key, => @book{key\n+@article{a:b,c => @article{a:b\n-title = {x},"),
    (
        "cpp",
        "f.c",
        "+int main(void)\n+static struct s x = \
         {\n+::ns::f()\n+A::~A() {\n-  return 0;\n-public:\n-error: // why\n-}\n-#define X",
    ),
    (
        "csharp",
        "f.cs",
        "+namespace A.B\n+    public sealed class C : D\n+    public async Task<int> Run(int x)\n\
         +    public C()\n\
         +    public string Name\n-    if (x)\n-    return f(x);\n-    var a = new A();\n\
         -    Call(x);\n-    {",
    ),
    (
        "css",
        "f.css",
        "+a.b > c {\n+.class,\n+@media print {\n+:root {\n-  color: red;\n-b:\n-color: red;",
    ),
    ("dts", "f.dts", "+/ {\n+&uart0 {\n+  leds: leds {\n-  status = \"okay\";\n-};\n-#include <a>"),
    (
        "elixir",
        "f.exs",
        "+defmodule A do\n+  def f(x) do\n+  defp g, do: 1\n+  test \"it\" do\n-  define x\n-  end",
    ),
    (
        "fortran",
        "f.f90",
        "+program p\n+  Subroutine s(x)\n+  integer function f(x)\n+  end module m\n\
         -  module procedure q\n-! function f\n-  x = 1\n-c function f",
    ),
    (
        "fountain",
        "f.fountain",
        "+INT. KITCHEN - DAY\n+Ext GARDEN\n+.FLASHBACK\n-..dots\n-JANE\n-Interior",
    ),
    (
        "golang",
        "f.go",
        "+func main() {\n+func (t *T) M() error {\n+type T struct { // why => type T struct {\n+\ttype I interface {\n-type A = B\n-\treturn x",
    ),
    ("html", "f.html", "+<h1>Title</h1>\n+  <H2 class=\"x\">Two</H2>\n-<head>\n-<h7>\n-<p>"),
    (
        "java",
        "f.java",
        "+public class A {\n+    non-sealed interface B {\n+    private static Map<K, V> get(int x) throws E {\n+    int f(int x,\n\
         -    return f(x);\n-    call(x);\n-    if (x) {\n-    new A(x) {",
    ),
    (
        "kotlin",
        "f.kt",
        "+fun main() {\n+    override suspend fun f(x: Int): Int =\n+data class D(val x: Int)\n-    val x = 1\n-    f(x)",
    ),
    (
        "markdown",
        "f.md",
        "+# Title\n+   ###### Six =>    ###### Six\n-#hashtag\n-    # code\n-####### seven\n-text",
    ),
    (
        "matlab",
        "f.m",
        "+function y = f(x)\n+  classdef A\n+%% Cell\n-% comment\n-y = x;\n-functions",
    ),
    (
        "objc",
        "f.m",
        "+@implementation A\n+- (void)run:(int)x \
         {\n+  + (instancetype) make\n+int f(int x) {\n-  if (x) {\n-  [self run:x];\n-@end\n-  else if (x) {",
    ),
    (
        "pascal",
        "f.pas",
        "+procedure A.B(x: Integer);\n+function F: Integer;\n+class function G: T;\n\
         +implementation\n+  TFoo = class(TBar) =>   TFoo = class(TBar)\n+TRec = record\n\
         -  x := 1;\n-begin\n-  procedure Nested;",
    ),
    (
        "perl",
        "f.pl",
        "+package A::B;\n+sub f {\n+sub g\n+BEGIN { => BEGIN\n+=head1 NAME\n-sub f;\n-  sub g {\n-my $x = 1;\n-=cut\n-BEGINNING",
    ),
    (
        "php",
        "f.php",
        "+function f($x) {\n+    public static function g()\n+abstract class A {\n+trait T\n-    $x = 1;\n-    f($x);",
    ),
    (
        "python",
        "f.py",
        "+def f(x):\n+    async def g(self):\n+class A:\n-    return x\n-define = 1\n-@decorator\n\
         -x = 1",
    ),
    ("ruby", "f.rb", "+module A\n+  class B < C\n+    def f\n-  attr_reader :x\n-end\n-definitely"),
    (
        "rust",
        "f.rs",
        "+fn main() {\n+    pub(crate) async fn f<T>(x: T)\n+unsafe impl<T> Send for A<T> {}\n\
         +pub trait T {\n+macro_rules! m {\n+extern \"C\" fn f() {\n\
         -mod tests;\n-    let x = 1;\n-struct Unit;\n-use a::b;\n-    fnord {",
    ),
    (
        "scheme",
        "f.scm",
        "+(define (f x)\n+  (define-syntax m\n+(module a\n+(defstruct s\n-(defer x)\n-(f x)\n\
         -; define",
    ),
    (
        "tex",
        "f.tex",
        "+\\section{One}\n+\\subsubsection*{Two}\n+\\chapter{C}\n-\\sectional{x}\n-\\begin{x}\n\
         -text",
    ),
];

/// By file and the first old line of a hunk, the text behind its `@@`.
type Headers = BTreeMap<(String, String), String>;

/// The text of a file before it is changed at its end, and after.
struct Pair {
    name: String,
    driver: &'static str,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The headers of a diff in git's form.
fn headers(diff: &[u8]) -> Headers {
    let mut headers = BTreeMap::new();
    let mut name = "";
    let diff = String::from_utf8_lossy(diff);
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("--- a/") {
            name = path;
        } else if let Some((ranges, function)) =
            line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@"))
        {
            let first = ranges.split([',', ' ']).next().unwrap_or_default();
            headers.insert((name.to_owned(), first.to_owned()), function.to_owned());
        }
    }
    headers
}

/// The headers that we write, of a file that is edited or (`anew`) written anew.
fn ours(pairs: &[Pair], anew: bool) -> Headers {
    let dir = TempDir::new().unwrap();
    for Pair { name, before, .. } in pairs {
        fs::write(dir.path().join(name), before).unwrap();
    }
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let options = Options { overwrite: true, ..Options::new(Profile::Strict) };
    let mut builder = PlanBuilder::new(workspace.root(), &options);
    for Pair { name, before, after, .. } in pairs {
        if anew {
            builder.create(name, after.clone()).unwrap();
            continue;
        }
        let same = before.iter().zip(after).take_while(|(old, new)| old == new).count();
        let mut splices = Splices::new();
        splices.push(same..before.len(), after[same..].to_vec());
        builder.update(name, splices).unwrap();
    }
    headers(&builder.finish().unwrap().images().diffs().unwrap())
}

/// The headers that git writes; `None` where it is not at hand.
fn gits(pairs: &[Pair]) -> Option<Headers> {
    let dir = TempDir::new().unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(dir.path()).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_CONFIG_NOSYSTEM", "1").output().ok()
    };
    git(&["init", "-q", "."])?;
    let mut attributes = String::new();
    for Pair { name, driver, before, .. } in pairs {
        fs::write(dir.path().join(name), before).unwrap();
        if !driver.is_empty() {
            attributes += &format!("{name} diff={driver}\n");
        }
    }
    fs::write(dir.path().join(".gitattributes"), attributes).unwrap();
    git(&["-c", "core.autocrlf=false", "add", "."])?;
    for Pair { name, after, .. } in pairs {
        fs::write(dir.path().join(name), after).unwrap();
    }
    Some(headers(&git(&["-c", "core.quotePath=false", "diff"])?.stdout))
}

/// A file with a line, and a change far below it.
fn pair(driver: &'static str, name: String, line: &str) -> Pair {
    let before = format!("{line}\n\n\n\n\n\n");
    Pair { name, driver, after: format!("{before}\n.\n").into_bytes(), before: before.into_bytes() }
}

#[test]
fn the_header_has_the_function_that_git_shows() {
    let (mut pairs, mut wanted) = (Vec::new(), BTreeMap::new());
    for (nth, (driver, file, lines)) in LANGUAGES.iter().enumerate() {
        for (at, line) in lines.lines().enumerate() {
            let (sign, line) = line.split_at(1);
            let (line, shown) = line.split_once(" => ").unwrap_or((line, line.trim()));
            let name = format!("{nth}-{at}-{file}");
            let shown = if sign == "+" { format!(" {shown}") } else { String::new() };
            wanted.insert((name.clone(), "4".to_owned()), shown);
            pairs.push(pair(driver, name, line));
        }
    }
    same(&ours(&pairs, false), &wanted);
    same(&ours(&pairs, true), &wanted);
    if let Some(theirs) = gits(&pairs) {
        same(&theirs, &wanted);
    }
}

fn same(found: &Headers, wanted: &Headers) {
    let of = |headers: &Headers, others: &Headers| -> Headers {
        let differ = headers.iter().filter(|(hunk, function)| others.get(*hunk) != Some(function));
        differ.map(|(hunk, function)| (hunk.clone(), function.clone())).collect()
    };
    assert_eq!(of(found, wanted), of(wanted, found));
}

/// A Python file with a function of 20 lines for each name.
fn functions(names: &[&str], line_end: &str) -> String {
    let body: String = (1..20).map(|line| format!("    x{line}{line_end}")).collect();
    names.iter().map(|name| format!("def {name}():{line_end}{body}")).collect()
}

#[test]
fn each_hunk_has_the_nearest_function_of_the_old_file() {
    let long = "n".repeat(90);
    let wide = "é".repeat(60);
    for (names, line_end, changes, wanted) in [
        // The first line of a hunk is one of its context, three above the change.
        (vec!["a", "b"], "\n", vec![(1, "y")], vec![""]),
        (vec!["a", "b"], "\n", vec![(8, "y"), (30, "y")], vec![" def a():", " def b():"]),
        (vec!["a", "b"], "\n", vec![(23, "y")], vec![" def a():"]),
        (vec!["a", "b"], "\n", vec![(24, "y")], vec![" def b():"]),
        // Where nothing is between two hunks, the function is that of the hunk before.
        (vec!["a"], "\n", vec![(7, "y"), (15, "y")], vec![" def a():", " def a():"]),
        // A new function is not above the hunks after it, since it is not in the old file.
        (vec!["a"], "\n", vec![(7, "def z():"), (17, "y")], vec![" def a():", " def a():"]),
        (vec!["a"], "\r\n", vec![(8, "y")], vec![" def a():"]),
        (vec![&long], "\n", vec![(8, "y")], vec![&format!(" def {}", &long[..76])[..]]),
        // A name is not cut within a character.
        (vec![&format!("x{wide}")], "\n", vec![(8, "y")], vec![&format!(" def x{}", &wide[..74])]),
    ] {
        let before = functions(&names, line_end);
        let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
        let new = changes.iter().map(|(line, text)| (*line, format!("{text}{line_end}")));
        let new: Vec<(usize, String)> = new.collect();
        new.iter().for_each(|(line, text)| lines[*line] = text);
        let pairs = [Pair {
            name: "f.py".to_owned(),
            driver: "python",
            after: lines.concat().into_bytes(),
            before: before.clone().into_bytes(),
        }];
        let first = |line: usize| (line.max(3) - 2).to_string();
        let wanted: Headers = changes
            .iter()
            .zip(wanted)
            .map(|((line, _), function)| (("f.py".to_owned(), first(*line)), function.to_owned()))
            .collect();
        same(&ours(&pairs, true), &wanted);
        if let Some(theirs) = gits(&pairs) {
            same(&theirs, &wanted);
        }
    }
}

/// The text behind `@@` names a line of the file, and yet says nothing about the place: git's may
/// be any function above the hunk.
#[test]
fn a_diff_with_functions_applies_as_one_without() {
    let before = functions(&["a", "b", "a"], "\n");
    for line in [9, 30, 50] {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("f.py"), &before).unwrap();
        let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
        let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
        lines[line] = "    y\n";
        let after = lines.concat();
        let overwrite = Options { overwrite: true, ..Options::new(Profile::Strict) };
        let mut builder = PlanBuilder::new(workspace.root(), &overwrite);
        builder.create("f.py", after.clone().into_bytes()).unwrap();
        let diff = builder.finish().unwrap().images().diffs().unwrap();
        let diff = String::from_utf8(diff).unwrap();
        assert!(diff.contains("@@ def "), "{diff}");
        for diff in
            [diff.clone(), diff.replace("@@ def", "@@ def z"), diff.replace(" def a():", "")]
        {
            let patch = diff::parse(diff.as_bytes(), &DiffOptions::default());
            for profile in [Profile::Strict, Profile::Codex] {
                let plan = plan(workspace.root(), patch.as_ref().unwrap(), &Options::new(profile));
                let plan = plan.unwrap_or_else(|error| panic!("{profile:?}: {error:?} of {diff}"));
                let [change] = plan.changes() else { panic!("one file") };
                let made = plan.images().new_bytes(change).unwrap();
                assert_eq!(String::from_utf8_lossy(&made), after, "{profile:?} {diff}");
            }
        }
    }
}

/// The commits of a repository (`FUNCTIONS_OF`, a git directory) beside git: most headers are the
/// same.
#[test]
#[ignore = "wants a git directory of others: FUNCTIONS_OF"]
fn the_headers_of_real_commits_are_those_of_git() {
    let repository = std::env::var("FUNCTIONS_OF").expect("a git directory");
    let git = |args: &[&str]| {
        let output = Command::new("git").args(["--git-dir", &repository]).args(args).output();
        output.unwrap().stdout
    };
    let log = git(&[
        "log",
        "--first-parent",
        "--no-renames",
        "--diff-filter=M",
        "--raw",
        "--no-abbrev",
        "--format=",
        "--max-count=1500",
    ]);
    let mut pairs: Vec<Pair> = Vec::new();
    for line in String::from_utf8_lossy(&log).lines() {
        let Some((modes, path)) = line.split_once('\t') else { continue };
        let words: Vec<&str> = modes.split(' ').collect();
        let name = path.rsplit('/').next().unwrap();
        let extension = name.rsplit_once('.').map_or("none", |(_, extension)| extension);
        let driver = match extension {
            "py" => "python",
            "rs" => "rust",
            "md" => "markdown",
            "html" => "html",
            "css" => "css",
            "sh" => "bash",
            "rb" => "ruby",
            "c" | "h" => "cpp",
            "toml" | "ini" => continue,
            _ => "",
        };
        if words[0] == ":100644" && words[1] == "100644" && pairs.len() < 2500 {
            let (before, after) =
                (git(&["cat-file", "blob", words[2]]), git(&["cat-file", "blob", words[3]]));
            if !before.is_empty() && !after.is_empty() && std::str::from_utf8(&before).is_ok() {
                pairs.push(Pair {
                    name: if driver.is_empty() {
                        pairs.len().to_string()
                    } else {
                        format!("{}.{extension}", pairs.len())
                    },
                    driver,
                    before,
                    after,
                });
            }
        }
    }
    let (ours, theirs) = (ours(&pairs, true), gits(&pairs).expect("git"));
    let both: Vec<_> =
        ours.iter().filter_map(|(hunk, one)| Some((hunk, one, theirs.get(hunk)?))).collect();
    let differ: Vec<_> = both.iter().filter(|(_, one, other)| one != other).collect();
    for (hunk, one, other) in &differ {
        println!("{hunk:?}\n  ours:{one}\n   git:{other}");
    }
    println!(
        "{} files, {} hunks of git, {} of them ours, {} differ",
        pairs.len(),
        theirs.len(),
        both.len(),
        differ.len()
    );
    assert!(differ.len() * 100 <= both.len(), "more than one of 100");
}
