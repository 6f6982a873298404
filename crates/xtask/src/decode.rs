//! A language model that knows nothing, held to the grammar by llguidance's token masks.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie, TokenId};
use llguidance::{Matcher, ParserFactory};
use proptest::collection::vec;
use proptest::prelude::any;

use super::texts::{Step, values};

/// How many tokens the vocabulary has.
pub const VOCABULARY: usize = 32_768;

/// Tokens that lead out of every state of the language, if one that fits is taken often enough:
/// after `***` only the token of the last marker.
const WAY_OUT: [&[u8]; 9] = [b"\n", b" -> ", b"P", b"E", b"*", b" E", b"+", b" ", b"-"];

/// A vocabulary such as byte-pair encoding makes, only worse: pieces of patches across the ends of
/// lines and of markers, and pieces of characters.
#[must_use]
pub fn vocabulary() -> TokEnv {
    let text = patch_grammar::GRAMMAR.to_owned()
        + "*** Begin Patch\n*** Update File: src/größe.py\n@@ def f():\n-    return 1\n\
           +    return 2\n*** End of File\n\
           *** Add File: a b\n+😀\n+\n\\ No newline at end of file\n*** Move File: a -> b\n\
           *** Delete File: c\n*** End Patch\n";
    let mut words: BTreeSet<Vec<u8>> = (0..=0xFE).map(|byte| vec![byte]).collect();
    for length in 2..=4 {
        words.extend(text.as_bytes().windows(length).map(<[u8]>::to_vec));
    }
    for line in text.split_inclusive('\n') {
        words.extend(line.split_inclusive(' ').map(|word| word.as_bytes().to_vec()));
        words.insert(line.as_bytes().to_vec());
    }
    let mut random = values(vec(any::<u8>(), 2..=4), 0xC0DE);
    while words.len() < VOCABULARY - 1 {
        words.extend(random.next().filter(|word| word[0] != TokTrie::SPECIAL_TOKEN_MARKER));
    }
    let mut words: Vec<_> = words.into_iter().take(VOCABULARY - 1).collect();
    words.push(b"\xFF<|end|>".to_vec());
    let info = TokRxInfo::new(VOCABULARY as u32, VOCABULARY as TokenId - 1);
    Arc::new(ApproximateTokEnv::new(TokTrie::from(&info, &words)))
}

/// A number that looks random.
fn mixed(nth: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    nth.hash(&mut hasher);
    hasher.finish() as usize
}

/// A model held to a grammar.
pub struct Model {
    env: TokEnv,
    start: Matcher,
    /// The time that each mask took to compute.
    pub costs: Vec<Duration>,
    /// How many tokens were written.
    pub tokens: usize,
}

impl Model {
    /// A model over the vocabulary `env`, held to the grammar `lark`.
    ///
    /// # Panics
    ///
    /// When llguidance refuses the grammar.
    #[must_use]
    pub fn new(env: &TokEnv, lark: &str) -> Self {
        let mut factory = ParserFactory::new_simple(env).expect("a factory");
        factory.quiet();
        let start =
            Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(lark.to_owned())));
        assert_eq!(start.get_error(), None, "llguidance refuses the grammar");
        Self { env: Arc::clone(env), start, costs: Vec::new(), tokens: 0 }
    }

    /// Writes one answer: any allowed token, and after the last step towards the end.
    ///
    /// # Panics
    ///
    /// When the grammar leads nowhere, or the answer does not end.
    pub fn write(&mut self, steps: &[Step]) -> Vec<u8> {
        let trie = self.env.tok_trie();
        let end = trie.eos_token();
        let line_feed = trie.token_id(b"\n").expect("every byte is a token");
        let mut matcher = self.start.deep_clone();
        let mut answer = Vec::new();
        for (nth, step) in steps.iter().cycle().enumerate() {
            let begun = Instant::now();
            let mask = matcher.compute_mask_or_eos().expect("the grammar has no dead ends");
            self.costs.push(begun.elapsed());
            let late = nth >= steps.len();
            assert!(
                nth < steps.len() + 1000,
                "no end in sight: {:?}",
                String::from_utf8_lossy(&answer)
            );
            if mask.is_allowed(end) && (late || mask.num_set() == 1 || step.stop) {
                return answer;
            }
            // When the steps are used up, chance of another kind decides: the same steps again
            // could lead in a circle.
            let choose = |from: &[TokenId]| {
                if late {
                    from[mixed(nth) % from.len()]
                } else {
                    from[step.which.index(from.len())]
                }
            };
            let way_out: Vec<_> = WAY_OUT
                .iter()
                .filter_map(|word| trie.token_id(word))
                .filter(|&token| mask.is_allowed(token))
                .collect();
            let token = match way_out.len() {
                1.. if late => choose(&way_out),
                _ if mask.is_allowed(line_feed) && step.line_feed => line_feed,
                _ => {
                    let mut allowed = mask.to_list();
                    allowed.retain(|&token| token != end);
                    choose(&allowed)
                }
            };
            matcher.consume_token(token).expect("the mask allowed it");
            answer.extend_from_slice(trie.token(token));
            self.tokens += 1;
        }
        unreachable!("a text that has no step")
    }
}
