//! Puts mutants into sources, each behind a switch, so that one build has them all.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::list::{Genre, Mutant};

/// What is added to a crate: tells whether a mutant is the one that this process tries, and lists
/// those that were reached.
pub const SWITCH: &str = r#"
pub(crate) mod mutant_switch {
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static TRIED: LazyLock<usize> =
        LazyLock::new(|| std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(usize::MAX));
    static LIST: LazyLock<Option<std::fs::File>> = LazyLock::new(|| {
        let path = std::env::var_os("MUTANTS_REACHED")?;
        std::fs::File::options().create(true).append(true).open(path).ok()
    });
    static REACHED: [AtomicBool; 16384] = [const { AtomicBool::new(false) }; 16384];
    #[deprecated = "the compiler names each call that it compiles"]
    pub(crate) fn on(id: usize) -> bool {
        if *TRIED == usize::MAX && !REACHED[id].swap(true, Ordering::Relaxed) {
            if let Some(mut list) = LIST.as_ref() {
                let _ = list.write_all(format!("{id}\n").as_bytes());
            }
        }
        *TRIED == id
    }
}
"#;

/// A source with switches.
pub struct Switched {
    pub text: String,
    /// Which bytes of the text are there for a mutant, or for it and others in the same place. What
    /// is around one may hold others.
    pub places: Vec<(usize, Range<usize>)>,
}

/// Returns the source with these mutants of it; those that cannot be put behind a switch are left
/// out: constants, operators beside `let` in a condition, iterators.
pub fn switched(source: &str, mutants: &[&Mutant]) -> Switched {
    let lines: Vec<usize> =
        std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let offset = |line: usize, column: usize| {
        let line = &source[lines[line - 1]..];
        source.len() - line.len()
            + line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at)
    };
    let mut at: BTreeMap<usize, Vec<&Mutant>> = BTreeMap::new();
    for mutant in mutants {
        at.entry(offset(mutant.span.start.line, mutant.span.start.column))
            .or_default()
            .push(mutant);
    }
    let mut switches =
        Switches { source, at, constants: 0, done: BTreeSet::new(), added: Vec::new() };
    switches.visit_file(&syn::parse_file(source).expect("a source of Rust"));
    let (text, places) = merge(source, switches.added);
    Switched { text, places }
}

/// Text that is added to a source.
struct Added {
    at: usize,
    side: Side,
    /// How many bytes it is put around: of two at one place, the longer is the outer one.
    around: usize,
    id: usize,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Close,
    Open,
    /// It has no end.
    Alone,
}

fn merge(source: &str, mut added: Vec<Added>) -> (String, Vec<(usize, Range<usize>)>) {
    added.sort_by_key(|one| {
        (
            one.at,
            one.side,
            if one.side == Side::Close { one.around } else { usize::MAX - one.around },
        )
    });
    let (mut text, mut from) = (String::new(), 0);
    let (mut open, mut places) = (Vec::<(usize, usize)>::new(), Vec::new());
    for one in &added {
        text += &source[from..one.at];
        from = one.at;
        let begin = text.len();
        text += &one.text;
        match one.side {
            Side::Alone => places.push((one.id, begin..text.len())),
            Side::Open => open.push((one.id, begin)),
            Side::Close => {
                let last = open
                    .iter()
                    .rposition(|(id, _)| *id == one.id)
                    .expect("what is closed was opened");
                places.push((one.id, open.remove(last).1..text.len()));
            }
        }
    }
    text += &source[from..];
    (text, places)
}

struct Switches<'a> {
    source: &'a str,
    /// By the place where their spans begin.
    at: BTreeMap<usize, Vec<&'a Mutant>>,
    /// How many constants, types and patterns this is in: there, no function can be called.
    constants: usize,
    done: BTreeSet<usize>,
    added: Vec<Added>,
}

impl<'a> Switches<'a> {
    fn here(&self, genre: Genre, at: usize) -> Vec<&'a Mutant> {
        let here = self.at.get(&at).into_iter().flatten().copied();
        here.filter(|mutant| {
            self.constants == 0 && mutant.genre == genre && !self.done.contains(&mutant.id)
        })
        .collect()
    }

    /// Puts an expression behind a switch for each of the others that may stand for it.
    fn around(&mut self, place: &Range<usize>, others: Vec<(usize, String)>) {
        let Some(&(id, _)) = others.first() else { return };
        let around = place.len();
        let mut text = "(".to_owned();
        for (id, other) in others {
            text += &format!("if crate::mutant_switch::on({id}) {{ {other} }} else ");
            self.done.insert(id);
        }
        text += "{ ";
        self.added.push(Added { at: place.start, side: Side::Open, around, id, text });
        self.added.push(Added {
            at: place.end,
            side: Side::Close,
            around,
            id,
            text: " })".to_owned(),
        });
    }

    fn alone(&mut self, at: usize, id: usize, text: String) {
        self.done.insert(id);
        self.added.push(Added { at, side: Side::Alone, around: 0, id, text });
    }

    /// A body that returns something else at once.
    fn body(&mut self, block: &syn::Block) {
        let Some(first) = block.stmts.first() else { return };
        let place = block.span().byte_range();
        let mutants = self.here(Genre::FnValue, first.span().byte_range().start);
        // `impl Iterator` is one type, and the body has another.
        for mutant in
            mutants.into_iter().filter(|mutant| !mutant.replacement.contains("::std::iter::"))
        {
            let text = format!(
                " if crate::mutant_switch::on({}) {{ return {}; }}",
                mutant.id, mutant.replacement
            );
            self.alone(place.start + 1, mutant.id, text);
        }
    }

    /// The source between two places, ended where a comment may stand.
    fn text(&self, place: Range<usize>) -> String {
        let text = &self.source[place];
        if text.contains("//") { format!("{text}\n") } else { text.to_owned() }
    }

    fn constant(&mut self, is: bool, inside: impl FnOnce(&mut Self)) {
        self.constants += usize::from(is);
        inside(self);
        self.constants -= usize::from(is);
    }
}

fn has_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        syn::Expr::Paren(paren) => has_let(&paren.expr),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Switches<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(true, |this| visit::visit_item_const(this, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(true, |this| visit::visit_impl_item_const(this, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant(true, |this| visit::visit_item_static(this, item));
    }

    fn visit_type(&mut self, of: &'ast syn::Type) {
        self.constant(true, |this| visit::visit_type(this, of));
    }

    fn visit_pat(&mut self, pat: &'ast syn::Pat) {
        self.constant(!matches!(pat, syn::Pat::Guard(_)), |this| visit::visit_pat(this, pat));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.constant(item.sig.constness.is_some(), |this| {
            this.body(&item.block);
            visit::visit_item_fn(this, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.constant(item.sig.constness.is_some(), |this| {
            this.body(&item.block);
            visit::visit_impl_item_fn(this, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        item.default.iter().for_each(|block| self.body(block));
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let (place, operator) = (binary.span().byte_range(), binary.op.span().byte_range());
        if !has_let(&binary.left) && !has_let(&binary.right) {
            let others = self.here(Genre::BinaryOperator, operator.start);
            let (left, right) =
                (self.text(place.start..operator.start), self.text(operator.end..place.end));
            let others = others
                .iter()
                .map(|mutant| (mutant.id, format!("{left}{}{right}", mutant.replacement)));
            self.around(&place, others.collect());
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        let (place, operator) = (unary.span().byte_range(), unary.op.span().byte_range());
        let others = self.here(Genre::UnaryOperator, operator.start);
        let operand = self.text(operator.end..place.end);
        let others =
            others.iter().map(|mutant| (mutant.id, format!("{} {operand}", mutant.replacement)));
        self.around(&place, others.collect());
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let deleted = self.here(Genre::MatchArm, arm.span().byte_range().start);
        match &arm.pat {
            syn::Pat::Guard(syn::PatGuard { guard, .. }) if !has_let(guard) => {
                let place = guard.span().byte_range();
                let others = self.here(Genre::MatchArmGuard, place.start);
                let others = others.iter().map(|mutant| (mutant.id, mutant.replacement.clone()));
                let deleted = deleted.iter().map(|mutant| (mutant.id, "false".to_owned()));
                self.around(&place, others.chain(deleted).collect());
            }
            syn::Pat::Guard(_) => {}
            _ => {
                for mutant in deleted {
                    let text = format!(" if !crate::mutant_switch::on({}) ", mutant.id);
                    self.alone(arm.fat_arrow_token.span().byte_range().start, mutant.id, text);
                }
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        let place = expr.span().byte_range();
        let mut others = Vec::new();
        for pair in expr.fields.pairs() {
            let field = pair.span().byte_range();
            for mutant in self.here(Genre::StructField, pair.value().span().byte_range().start) {
                let (before, after) =
                    (self.text(place.start..field.start), self.text(field.end..place.end));
                others.push((mutant.id, format!("{before}{after}")));
            }
        }
        self.around(&place, others);
        visit::visit_expr_struct(self, expr);
    }
}
