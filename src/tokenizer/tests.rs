//! Tests of what is not public: cuts, windows, links, atoms.

use super::cut::{next_cut, parts};
use super::pretokenize::pretokens;
use super::*;

static BARE: Vocabulary = Vocabulary { specials: &[], renamed: &[] };
static WITH_USER: Vocabulary = Vocabulary {
    specials: &[SpecialToken { role: Special::User, id: TokenId(128_803), spellings: &[] }],
    renamed: &[],
};

/// Characters of every kind that the pre-tokenizer tells apart.
const KINDS: [char; 24] = [
    'a', 'Z', 'é', '\u{308}', '1', '²', '.', '"', '。', '😀', ' ', '\t', '\n', '\r', '\u{A0}', '\u{3000}',
    '\0', '\u{200D}', '中', '文', 'ァ', '・', '\u{3040}', 'ß',
];

/// A source of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn text(&mut self, len: usize) -> String {
        let mut text = String::new();
        while text.len() < len {
            let kind = KINDS[self.below(KINDS.len())];
            let count = if self.below(4) == 0 { 1 + self.below(6) } else { 1 };
            text.extend(std::iter::repeat_n(kind, count));
            if self.below(3) == 0 {
                text.push_str(["word", " and", "12345", "\r\n", "世界", " (", "'ll", "  x"][self.below(8)]);
            }
        }
        text
    }
}

#[test]
fn cuts_change_no_pretoken() {
    let mut numbers = Numbers(1);
    for round in 0..3000 {
        let text = numbers.text(if round % 10 == 0 { 400 } else { 30 });
        let whole: Vec<&str> = pretokens(&text).collect();
        let mut from = 1;
        while from < text.len() {
            let at = next_cut(&text, from);
            let cut = pretokens(&text[..at]).chain(pretokens(&text[at..]));
            assert!(cut.eq(whole.iter().copied()), "{text:?} at {at}");
            from = at + 1;
        }
        assert_eq!(parts(&text, 7).collect::<String>(), text);
    }
}

#[test]
fn cuts_are_common() {
    let prose = "The first place, whatever stands there, is near. ".repeat(400);
    assert!(parts(&prose, 100).all(|part| part.len() < 140));
}

/// Every text of three kinds, and longer ones, through the windows.
#[test]
fn windows_are_the_pretokens() {
    let tokenizer = Tokenizer::embedded(&BARE);
    let slow = slow::Slow::of(&tokenizer);
    let ascii: Vec<char> = KINDS.into_iter().filter(char::is_ascii).collect();
    let mut numbers = Numbers(2);
    let check = |text: &str| assert_eq!(tokenizer.encode_text(text), slow.encode_text(text), "{text:?}");
    for a in &ascii {
        for b in &ascii {
            for c in &ascii {
                for d in &ascii {
                    check(&String::from_iter([a, b, c, d]));
                }
            }
        }
    }
    for _ in 0..4000 {
        let len = 1 + numbers.below(200);
        let text = numbers.text(len);
        check(&text);
        check(&text.chars().filter(char::is_ascii).collect::<String>());
    }
}

#[test]
fn masks_are_those_of_each_byte() {
    let mut numbers = Numbers(3);
    for _ in 0..2000 {
        let window = std::array::from_fn(|_| numbers.below(256) as u8);
        assert_eq!(scan::masks(&window), scan::slow_masks(&window), "{window:?}");
    }
}

/// Parts between safe borders, and symbols that start as characters: all pairs of the characters that tokens
/// consist of would be too many, so runs of them.
#[test]
fn characters_of_tokens() {
    let tokenizer = Tokenizer::embedded(&BARE);
    let slow = slow::Slow::of(&tokenizer);
    let mut chars: Vec<char> = (0..tokenizer.len() as u32)
        .filter_map(|id| std::str::from_utf8(tokenizer.tables.token(id)).ok())
        .flat_map(str::chars)
        .filter(|c| !c.is_ascii())
        .collect();
    chars.sort_unstable();
    chars.dedup();
    let mut numbers = Numbers(4);
    let mut near = 0;
    for _ in 0..40_000 {
        // Neighbours in the order of code points are of one script, mostly.
        near = if numbers.below(4) == 0 { numbers.below(chars.len()) } else { near };
        let text: String =
            (0..1 + numbers.below(9))
                .map(|_| {
                    if numbers.below(12) == 0 { ' ' } else { chars[(near + numbers.below(60)) % chars.len()] }
                })
                .collect();
        assert_eq!(tokenizer.encode_text(&text), slow.encode_text(&text), "{text:?}");
    }
}

#[test]
fn prompts_in_every_way() {
    let tokenizer = Tokenizer::embedded(&WITH_USER);
    let cache = EncodeCache::new(1 << 20);
    let small = EncodeCache::new(40_000);
    let mut numbers = Numbers(5);
    let mut prompt = Prompt::plain("");
    for turn in 0..40 {
        prompt.push_special(Special::User);
        let len = [10, 300, 9000, 70_000][numbers.below(4)];
        prompt.push_text(&numbers.text(len));
        let ids = tokenizer.encode(&prompt);
        let slow: Vec<TokenId> = prompt
            .segments()
            .flat_map(|segment| match segment {
                Segment::Special(role) => vec![tokenizer.bound(role)],
                Segment::Text(text) => tokenizer.encode_text(text),
            })
            .collect();
        assert_eq!(ids, slow);
        assert_eq!(tokenizer.encode_with(&prompt, &cache), ids, "turn {turn}");
        assert_eq!(tokenizer.encode_with(&prompt, &small), ids, "turn {turn}");
        let mut kept = vec![TokenId(7)];
        tokenizer.encode_with_into(&prompt, &cache, &mut kept);
        tokenizer.encode_into(&prompt, &mut kept);
        assert_eq!(kept, [&[TokenId(7)], &ids[..], &ids].concat(), "turn {turn}");
        assert!(cache.bytes() <= 1 << 20 && small.bytes() <= 40_000);
        assert_eq!(tokenizer.count(&prompt), ids.len());
        assert!(tokenizer.exceeds(&prompt, ids.len() - 1));
        assert!(!tokenizer.exceeds(&prompt, ids.len()));
        #[cfg(feature = "parallel")]
        assert_eq!(tokenizer.encode_parallel(&prompt), ids, "turn {turn}");
    }
}

/// Pieces of a prompt do not see each other, though their bytes lie side by side.
#[test]
fn prompts_of_short_pieces() {
    let tokenizer = Tokenizer::embedded(&WITH_USER);
    let slow = slow::Slow::of(&tokenizer);
    let mut numbers = Numbers(11);
    for _ in 0..300 {
        let (mut prompt, mut expected) = (Prompt::plain(""), Vec::new());
        for _ in 0..60 {
            let len = numbers.below(40);
            let text = numbers.text(len);
            prompt.push_text(&text);
            expected.extend(slow.encode_text(&text));
            for _ in 0..1 + numbers.below(2) {
                prompt.push_special(Special::User);
                expected.push(TokenId(128_803));
            }
        }
        assert_eq!(tokenizer.encode(&prompt), expected);
        assert_eq!(tokenizer.count(&prompt), expected.len());
    }
}

#[test]
#[should_panic(expected = "binds no id")]
fn unbound_role() {
    let mut prompt = Prompt::plain("");
    prompt.push_special(Special::User);
    let _ = Tokenizer::embedded(&BARE).encode(&prompt);
}

/// Windows against the heap, on runs and on letters without sense.
#[test]
fn long_parts_by_windows() {
    let tokenizer = Tokenizer::embedded(&BARE);
    let tables = &tokenizer.tables;
    let mut numbers = Numbers(6);
    let mut parts: Vec<String> = (0..60)
        .map(|round| {
            let letters = 1 + round % 26;
            (0..65 + 97 * round).map(|_| char::from(b'a' + numbers.below(letters) as u8)).collect()
        })
        .collect();
    for unit in
        ["a", " ", "\n", "=", "-", "ab", "\t\t ", "é", "ا", "哈", "👍", "\u{308}", "aaaaaaaaaaaaab", "\r\n"]
    {
        parts.extend([67, 130, 513, 700, 1500, 5003].map(|count| unit.repeat(count)));
        parts.push(unit.repeat(400) + "xyz" + &unit.repeat(333));
    }
    for part in &parts {
        let (mut windows, mut heap) = (Vec::new(), Vec::new());
        long::merge(tables, part.as_bytes(), &mut windows);
        bpe::merge_by_heap(tables, part.as_bytes(), &mut heap);
        assert_eq!(windows, heap, "{part:?}");
    }
}

/// Parts of a text, and their tokens.
struct Parts<'t> {
    text: &'t str,
    parts: &'t [String],
    at: usize,
    next: usize,
    found: Vec<Option<Vec<TokenId>>>,
}

impl lanes::Work for Parts<'_> {
    type Name = usize;

    fn next(&mut self) -> Option<(usize, symbols::Word<'_>)> {
        let len = self.parts.get(self.next)?.len();
        let word = symbols::Word { text: &self.text.as_bytes()[self.at..], len };
        (self.at, self.next) = (self.at + len, self.next + 1);
        Some((self.next - 1, word))
    }

    fn give(&mut self, name: usize, tokens: lanes::Merged<'_>) {
        let tokens = match tokens {
            lanes::Merged::Few(tokens, count) => tokens[..count].to_vec(),
            lanes::Merged::Many(tokens) => tokens.to_vec(),
        };
        assert!(self.found[name].replace(tokens).is_none());
    }
}

/// Short parts side by side, against the heap: more and fewer than there are lanes, too long ones among them.
#[test]
fn short_parts_by_lanes() {
    let tokenizer = Tokenizer::embedded(&BARE);
    let tables = &tokenizer.tables;
    let mut numbers = Numbers(9);
    for round in 0..6000 {
        let parts: Vec<String> = (0..round % 12)
            .map(|_| {
                let letters = 1 + numbers.below(26);
                let len = 1 + numbers.below(24);
                match numbers.below(3) {
                    0 => numbers.text(len),
                    _ => (0..len).map(|_| char::from(b'a' + numbers.below(letters) as u8)).collect(),
                }
            })
            .collect();
        let text = parts.concat();
        let mut work = Parts { text: &text, parts: &parts, at: 0, next: 0, found: vec![None; parts.len()] };
        lanes::merge(tables, &mut work);
        for (part, tokens) in parts.iter().zip(work.found) {
            let mut heap = Vec::new();
            bpe::merge_by_heap(tables, part.as_bytes(), &mut heap);
            assert_eq!(tokens, Some(heap), "{part:?}");
        }
    }
}

#[test]
fn long_runs_cost_little_more_than_prose() {
    // Counted in steps of the clock would be noise; this holds the order of growth.
    let tokenizer = Tokenizer::embedded(&BARE);
    for unit in ["a", " ", "\n", "中", "=", "ab", "é", "\u{308}", "\0", "0", "👍"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let start = std::time::Instant::now();
        assert!(!tokenizer.encode_text(&text).is_empty());
        assert!(start.elapsed().as_secs() < 5, "{unit:?}");
    }
}

/// What a window says about borders, against the pre-tokens themselves.
#[test]
fn windows_give_every_border() {
    let tokenizer = Tokenizer::embedded(&BARE);
    let links = &tokenizer.tables.links;
    let mut borders = 0;
    let mut check = |text: &str| {
        let mut window = [0; scan::READ];
        let len = text.len().min(scan::WINDOW);
        let read = text.len().min(scan::READ);
        window[..read].copy_from_slice(&text.as_bytes()[..read]);
        let (found, is_whole) = scan::starts(&window, len, links);
        let found = found | 1;
        let mut at = 0;
        for (piece, after) in pretokens(text).zip(pretokens(text).skip(1).map(Some).chain([None])) {
            for (inner, right) in piece.char_indices().skip(1) {
                let place = at + inner;
                if place < scan::WINDOW && found >> place & 1 != 0 {
                    let left = text[..place].chars().next_back().map(utf8::Utf8::from);
                    assert!(!links.linked(left.unwrap(), right.into()), "{text:?} at {place}");
                }
            }
            at += piece.len();
            let is_known = found >> (at % scan::WINDOW) != 0 || is_whole && len == text.len();
            if after.is_some() && at < scan::WINDOW && is_known {
                assert!(found >> at & 1 != 0, "{text:?} at {at}");
                borders += 1;
            }
        }
    };
    for a in KINDS {
        for b in KINDS {
            for c in KINDS {
                check(&String::from_iter([a, b, c, 'x', 'y', ' ', 'z', '.']));
                check(&String::from_iter([a, b, c, a, a, '.', 'z', b, '中', c, '👍', 'é', 'b']));
            }
        }
    }
    let mut numbers = Numbers(7);
    for _ in 0..20_000 {
        let len = 1 + numbers.below(90);
        check(&numbers.text(len));
    }
    assert!(borders > 100_000);
}

/// A vocabulary of the bytes and, for each of some seeds, hundreds of words that have the same hash by it.
fn colliding(seeds: &[table::Seed]) -> Result<Tables, tables::NoTables> {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    let mut add = |tokens: &mut Vec<Vec<u8>>, left: usize, right: usize| {
        tokens.push([tokens[left].as_slice(), &tokens[right]].concat());
        let result = tokens.len() as u32 - 1;
        merges.push(tables::Merge { left: left as u32, right: right as u32, result });
        result as usize
    };
    for seed in seeds {
        // The first factor of the hash is zero for words that begin with these bytes.
        let start = seed.0.to_le_bytes().map(usize::from);
        let start = start[1..].iter().fold(start[0], |left, right| add(&mut tokens, left, *right));
        for byte in 0..=255 {
            let word = add(&mut tokens, start, byte);
            if byte < 4 {
                (0..=255).for_each(|byte| _ = add(&mut tokens, word, byte));
            }
        }
    }
    let mut all = tokens::Tokens::with_capacity(tokens.len());
    tokens.into_iter().for_each(|token| all.push(token));
    load::tables(all, &merges, tables::Words::Merged)
}

fn key_of(word: &[u8]) -> words::Key {
    let mut front = [0; 16];
    let len = word.len().min(16);
    front[..len].copy_from_slice(&word[..len]);
    words::Key::of_front(&front, word.len())
}

#[test]
fn hostile_vocabularies_meet_another_seed() {
    let tables = colliding(&table::Seed::ALL[..1]).unwrap();
    assert_eq!(tables.seed, table::Seed::ALL[1]);
    let tables = Arc::new(tables);
    for id in (0..tables.len() as u32).step_by(7) {
        let mut ids = Vec::new();
        bpe::merge(&tables, tables.token(id), &mut ids);
        assert_eq!(ids, [TokenId(id)]);
        let key = key_of(tables.token(id));
        assert_eq!(tables.words.find_short(key, key.hash(tables.seed)), Some(id));
    }
    assert_eq!(Tokenizer::embedded(&BARE).tables.seed, table::Seed::ALL[0]);
    assert!(matches!(colliding(&table::Seed::ALL), Err(tables::NoTables::Collisions)));
}

#[test]
fn hostile_merges_are_refused() {
    // Merges whose hashes are equal in their upper bits for every seed would be hard to find; the table itself
    // does not care where its hashes come from.
    let items: Vec<u64> = (1..=200).collect();
    assert!(table::build(&items, |_| 7, |item| *item == 0).is_none());
    assert!(table::build(&items[..100], |_| 7, |item| *item == 0).is_some());
    // Pairs that are all in one of ten groups by every seed; the results do not matter.
    let one_group = |count: usize| -> Vec<tables::Merge> {
        (0..2_000_000)
            .map(|number| tables::Merge { left: number / 1000, right: number % 1000, result: number })
            .filter(|merge| pairs::is_in_first_group(merge, pairs::Pairs::groups(count)))
            .take(count)
            .collect()
    };
    assert!(pairs::Pairs::new(&one_group(36)).is_none());
    assert!(pairs::Pairs::new(&one_group(6)).is_some());
    // The same pair twice has no two places.
    let merge = tables::Merge { left: 1, right: 2, result: 3 };
    assert!(pairs::Pairs::new(&[merge; 2]).is_none());
}

/// A cache guesses what follows a part; the guess may end where the text cannot be cut.
#[test]
fn caches_guess_what_follows() {
    let tokenizer = Tokenizer::embedded(&BARE);
    let mut numbers = Numbers(8);
    let text = numbers.text(40_000);
    for _ in 0..60 {
        let cache = EncodeCache::new(4 << 20);
        let end = 20_000 + numbers.below(20_000);
        let end = text.floor_char_boundary(end);
        let _ = tokenizer.encode_with(&Prompt::plain(&text[..end]), &cache);
        for after in ["", "a", "word", "1", "\n", " ", "。", "é", "世界", " x", &text[end..], &text[..9000]]
        {
            let prompt = Prompt::plain(format!("{}{after}", &text[..end]));
            assert_eq!(tokenizer.encode_with(&prompt, &cache), tokenizer.encode(&prompt), "{end} {after:?}");
        }
    }
}

#[test]
fn the_compact_file_is_the_embedded_vocabulary() {
    let file = include_bytes!("vocab/deepseek.bin");
    let read = BaseVocabulary::read(file).expect("the file of this version").tokenizer(&BARE);
    let text = "Grüße, 世界! fn main() { println!(\"🙂\"); }";
    assert_eq!(read.encode_text(text), Tokenizer::embedded(&BARE).encode_text(text));
    assert_eq!(read.len(), Tokenizer::embedded(&BARE).len());
    for at in [0, 100, file.len() - 1] {
        let mut other = file.to_vec();
        other[at] ^= 1;
        let error = BaseVocabulary::read(&other).expect_err("another file");
        assert_eq!(error.kind(), LoadErrorKind::Vocabulary);
    }
    assert!(BaseVocabulary::read(b"").is_err());
}

/// The file's pilots are those that a search finds, so a table needs no search to be filled.
#[test]
fn pilots_of_the_file() {
    let tables = &Tokenizer::embedded(&BARE).tables;
    let mut merges: Vec<(u32, tables::Merge)> = tables.pairs.merges().collect();
    merges.sort_unstable_by_key(|(rank, _)| *rank);
    let merges: Vec<tables::Merge> = merges.into_iter().map(|(_, merge)| merge).collect();
    let found = pairs::Pairs::new(&merges).expect("they have places");
    assert_eq!(found.pilots(), tables.pairs.pilots());
    for (rank, merge) in (0..).zip(&merges) {
        assert_eq!(
            (tables.pairs.rank(merge.left, merge.right), tables.pairs.result(rank)),
            (rank, merge.result)
        );
        let other = tables.pairs.rank(merge.right, merge.left);
        assert!(other == pairs::NO_RANK || merges[other as usize].left == merge.right);
    }
}

#[test]
fn an_embedded_tokenizer_is_made_once() {
    static OTHER: Vocabulary = Vocabulary {
        specials: &[SpecialToken {
            role: Special::Eos,
            id: TokenId(1),
            spellings: &["<｜end▁of▁sentence｜>"],
        }],
        renamed: &[],
    };
    let [one, again, other] = [&BARE, &BARE, &OTHER].map(Tokenizer::embedded);
    assert!(Arc::ptr_eq(&one.added, &again.added) && Arc::ptr_eq(&one.tables, &other.tables));
    assert_eq!((one.special_id(Special::Eos), other.special_id(Special::Eos)), (None, Some(TokenId(1))));
}
