//! Outputs that are written at random under the mask.

use std::sync::Arc;

use patch_constrain::{Binder, Bound, Matcher, Operations, Vocabulary};

use super::{allowed, bytes, refusal};

const PYTHON: &str = concat!(
    "import os\n",
    "\n",
    "\n",
    "class A:\n",
    "    def f(self):\n",
    "        return 1\n",
    "\n",
    "    def g(self):\n",
    "        return 1\n",
    "\n",
    "\n",
    "class B:\n",
    "    def f(self):\n",
    "        return 2\n",
);
const RUST: &str = concat!(
    "//! Doc.\n",
    "\n",
    "fn a() {\n",
    "    b();\n",
    "}\n",
    "\n",
    "fn b() {\n",
    "    a();\n",
    "}\n",
    "\n",
    "#[test]\n",
    "fn c() {\n",
    "    a();\n",
    "    b();\n",
    "}\n",
);
const C: &str = concat!(
    "#include <stdio.h>\n",
    "\n",
    "int main(void)\n",
    "{\n",
    "\tputs(\"a\");\n",
    "\tputs(\"b\");\n",
    "\treturn 0;\n",
    "}\n",
);
const GO: &str = concat!(
    "package main\n",
    "\n",
    "func a() {\n",
    "\tif true {\n",
    "\t\tb()\n",
    "\t}\n",
    "}\n",
    "\n",
    "func b() {\n",
    "\tif true {\n",
    "\t\ta()\n",
    "\t}\n",
    "}\n",
);
const SCRIPT: &str = concat!(
    "export const a = 1;\n",
    "export const b = () => {\n",
    "  return a;\n",
    "};\n",
    "// café ☕ 🎉\n",
);

/// Git cuts the headings that it makes of these lines, one of them at a blank.
const LONG: &str = concat!(
    "def a(first_argument_of_this_function, second_argument_of_this_function, third_argument_",
    "of_this_function):\n",
    "    return 1\n",
    "def b(first_argument_of_this_function, second_argument_of_this_function, third =         ",
    "None):\n",
    "    return 1\n",
    "def a(first_argument_of_this_function, second_argument_of_this_function, third_argument_x):\n",
    "    return 2\n",
);

pub(crate) const FILES: &[&str] = &[
    PYTHON,
    RUST,
    C,
    GO,
    SCRIPT,
    "x\nx\nx\n",
    "\n\n\na\n\n",
    "a\r\nb\r\na\r\nc\r\n",
    "a\nb\r\nc",
    "a\nb",
    "one\n",
    "one",
    "\n",
    "",
    "\u{feff}",
    "\u{feff}a\nb\na\n",
    "é\ne\u{301}\n☕\né\n",
    "@@\n*** End Patch\n+a\n-b\n c\n\\ No newline at end of file\n",
    "a\rb\nc\n",
    "1: a\n2: b\na\n",
    "-1,2 +3,4 @@ f\nf\n-1 @@\n",
    " \n\t\n  \n",
    LONG,
];

/// Tokens of several bytes, that cross lines and split characters, beside all bytes.
pub(crate) fn several() -> Arc<Vocabulary> {
    let texts: [&[u8]; 46] = [
        b"*** ",
        b"***",
        b"*** Begin Patch\n",
        b"\n*** End Patch",
        b"*** End Patch\n",
        b"\n@@\n",
        b"\n@@ ",
        b"@@\n ",
        b"@@\n+",
        b"@@\n-",
        b"\n+",
        b"\n-",
        b"\n ",
        b"\n\n",
        b"\n+a\n+b\n",
        b"a\n b\n",
        b"a\n+a\n@@\n",
        b"x\n",
        b"    ",
        b"\n     ",
        b"}\n",
        b" }\n",
        b"}\n ",
        b"+}\n",
        b"}\n+\n }",
        b"\xc3",
        b"\xa9",
        b"\xa9\n",
        b"\xa9\n ",
        b"\xa9\n@@",
        b"\xe2\x98",
        b"\x95",
        b"\xf0\x9f",
        b"a\xc3",
        b"\0",
        b"a\0b",
        b"\xff",
        b"",
        b"",
        b" File: ",
        b"Update",
        b"\r\n",
        b"\r\n ",
        b"return",
        b" return 1\n",
        b"\n*** Update File: ",
    ];
    let tokens = (0..=255_u8).map(|byte| vec![byte]);
    let tokens = tokens.chain(texts.iter().map(|text| text.to_vec()));
    // The end has bytes of its own, as special tokens have.
    let tokens = tokens.chain([b"<|end|>".to_vec(), b"<|other|>".to_vec()]);
    Arc::new(Vocabulary::new(tokens, &[302]).expect("the end is a token"))
}

/// Chooses a token: mostly one that comes nearer to the end, so that outputs do end.
fn choose(random: &mut fastrand::Rng, vocabulary: &Vocabulary, tokens: &[u32]) -> u32 {
    if random.u8(..3) > 0 {
        let bytes = |&&token: &&u32| matches!(vocabulary.bytes(token), b"\n" | b"*" | b" " | b"-");
        let near: Vec<&u32> = tokens.iter().filter(bytes).collect();
        if let Some(&&token) = random.choice(&near) {
            return token;
        }
    }
    if let Some(&end) = tokens.iter().find(|token| vocabulary.end().contains(token)) {
        return end;
    }
    *random.choice(tokens).expect("some token")
}

/// Writes an output to its end; `None` if that takes too long.
fn write(
    random: &mut fastrand::Rng,
    vocabulary: &Arc<Vocabulary>,
    bound: &Arc<Bound>,
) -> Option<String> {
    let mut matcher = Matcher::new(Arc::clone(vocabulary), Arc::clone(bound));
    for _ in 0..600 {
        let tokens = allowed(&mut matcher);
        let text = String::from_utf8_lossy(matcher.text());
        assert!(!tokens.is_empty(), "no token may follow:\n{text:?}");
        let token = choose(random, vocabulary, &tokens);
        matcher.accept(token).expect("it is in the mask");
        if vocabulary.end().contains(&token) {
            assert!(matcher.is_finished());
            return Some(String::from_utf8(matcher.text().to_vec()).expect("UTF-8"));
        }
    }
    None
}

fn all_apply(vocabulary: &Arc<Vocabulary>, outputs: usize, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let bounds: Vec<Arc<Bound>> = FILES
        .iter()
        .map(|file| Binder::new(Operations::default()).file("d/f.x", *file))
        .map(|binder| Arc::new(binder.bind().expect("it can be bound")))
        .collect();
    let mut finished = 0;
    for round in 0..outputs {
        let nth = round % FILES.len();
        let Some(output) = write(&mut random, vocabulary, &bounds[nth]) else { continue };
        finished += 1;
        let refusal = refusal(&[("d/f.x", FILES[nth])], &output);
        assert_eq!(refusal, None, "{:?}\n{output}", FILES[nth]);
    }
    assert!(finished * 10 > outputs * 7, "{finished} of {outputs} ended");
}

#[test]
fn all_outputs_apply_that_end() {
    let more = if testutils::share::whole() { 40 } else { 1 };
    all_apply(&several(), 300 * more, 5);
    all_apply(&bytes(), 60 * more, 6);
}

/// `APPLY_PATCH_VOCABULARY` names a file with the bytes of a token a line, in hexadecimal digits.
#[test]
#[ignore = "wants the tokens of a model: APPLY_PATCH_VOCABULARY"]
fn outputs_of_a_real_vocabulary_apply() {
    let path = std::env::var_os("APPLY_PATCH_VOCABULARY").expect("a file of tokens");
    let text = std::fs::read_to_string(path).expect("a vocabulary");
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("hexadecimal digits");
    let token = |line: &str| -> Vec<u8> {
        (0..line.len()).step_by(2).map(|at| byte(&line[at..at + 2])).collect()
    };
    let tokens: Vec<Vec<u8>> = text.lines().map(token).chain([Vec::new()]).collect();
    let end = tokens.len() as u32 - 1;
    all_apply(&Arc::new(Vocabulary::new(tokens, &[end]).expect("the end is a token")), 66, 10);
}

#[test]
fn all_operations_apply() {
    let files = [("a.txt", "a\nb\na\n"), ("src/b.txt", "b\n"), ("src/in/c.txt", "c\nd\n")];
    let operations = Operations { update: true, add: true, delete: true, rename: true };
    let binder =
        files.iter().fold(Binder::new(operations), |binder, (path, text)| binder.file(path, *text));
    let bound = Arc::new(binder.path("src/other.bin").bind().expect("they can be bound"));
    let mut tree = files.to_vec();
    tree.push(("src/other.bin", "\0"));
    let (vocabulary, mut random) = (several(), fastrand::Rng::with_seed(9));
    let mut outputs = Vec::new();
    for _ in 0..150 {
        let Some(output) = write(&mut random, &vocabulary, &bound) else { continue };
        assert_eq!(refusal(&tree, &output), None, "{output}");
        outputs.push(output);
    }
    for section in ["*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "] {
        let count = outputs.iter().filter(|output| output.contains(section)).count();
        assert!(count > 10, "{count} of {} outputs have {section}", outputs.len());
    }
}
