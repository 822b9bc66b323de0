//! From expressions to automata over classes of characters: each set of an expression is a position, and a state is
//! the set of positions that may come next.

use super::algebra::limit;
use super::chars::{Chars, Classes};
use super::expr::{Expr, Look, Parsed};
use super::hash::{self, Map};
use super::ladder::{Ladder, Ladders};
use super::table::{Table, narrow};
use super::{Language, LanguageError, Limits, look, utf8};

/// Where in a text a match must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    /// Anywhere.
    Anywhere,
    /// From start to end.
    Whole,
}

/// The texts with a match. Adds to `effort` what look-around took, which the result does not show.
pub(super) fn language(
    parsed: Parsed,
    place: Match,
    limits: &Limits,
    effort: &mut usize,
) -> Result<Language, LanguageError> {
    let Parsed { expr, sets } = parsed;
    if expr.looks() {
        return match leading_looks(&expr, place) {
            Some((looks, rest)) => conjunction(&looks, rest, &sets, (place, limits), effort),
            None => look::automaton(&expr, &sets, place, limits, effort),
        };
    }
    plain(&expr, &sets, place, limits)
}

fn plain(expr: &Expr, sets: &[Chars], place: Match, limits: &Limits) -> Result<Language, LanguageError> {
    if let Some((plain, min, max)) = counted(expr, place, sets) {
        let language = automaton(&plain, sets, place, limits)?;
        let bounded = language.counted(min, max);
        if bounded.may_count() {
            return Ok(bounded);
        }
    }
    automaton(expr, sets, place, limits)
}

/// The look-aheads at the start of the text, and the expression without them.
fn leading_looks(expr: &Expr, place: Match) -> Option<(Vec<Look>, Expr)> {
    let Expr::Concat(parts) = expr else { return None };
    let starts = usize::from(parts.first() == Some(&Expr::Start));
    if starts == 0 && place == Match::Anywhere {
        return None;
    }
    let mut looks = Vec::new();
    for part in &parts[starts..] {
        match part {
            Expr::Look(look) if !look.is_behind => looks.push((**look).clone()),
            _ => break,
        }
    }
    let rest = [&parts[..starts], &parts[starts + looks.len()..]].concat();
    (!looks.is_empty()).then(|| (looks, Expr::concat(rest)))
}

/// The texts that a match of `rest` and look-aheads at the start of the text ask for.
fn conjunction(
    looks: &[Look],
    rest: Expr,
    sets: &[Chars],
    (place, limits): (Match, &Limits),
    effort: &mut usize,
) -> Result<Language, LanguageError> {
    let mut of = |expr, place| language(Parsed { expr, sets: sets.to_vec() }, place, limits, effort);
    let mut all = of(rest, place)?;
    for look in looks {
        let mut parts = vec![Expr::Start];
        match &look.inner {
            Expr::Concat(inner) => parts.extend_from_slice(inner),
            inner => parts.push(inner.clone()),
        }
        let ahead = of(Expr::Concat(parts), Match::Anywhere)?;
        all = if look.is_negative { all.without(&ahead, limits)? } else { all.and(&ahead, limits)? };
    }
    Ok(all)
}

/// Repeats of at most so many characters are written out.
const MOST_WRITTEN_OUT: u64 = 64;
/// The same for sets with characters beyond ASCII, each of which takes several states.
const MOST_WRITTEN_OUT_WIDE: u64 = 16;

/// If the expression is a sequence of known length but for one repeat of one set, with a large bound: the expression
/// with that repeat unbounded, and the bounds on the length of the text.
fn counted(expr: &Expr, place: Match, sets: &[Chars]) -> Option<(Expr, u32, Option<u32>)> {
    let parts = match expr {
        Expr::Concat(parts) => &parts[..],
        single => std::slice::from_ref(single),
    };
    if place == Match::Anywhere && !(parts.first() == Some(&Expr::Start) && parts.last() == Some(&Expr::End))
    {
        return None;
    }
    let is_variable = |part: &Expr| part.width().is_none();
    let at = parts.iter().position(is_variable).or_else(|| {
        parts
            .iter()
            .position(|part| matches!(part, Expr::Repeat { min, .. } if u64::from(*min) > MOST_WRITTEN_OUT))
    })?;
    let Expr::Repeat { inner, min, max } = &parts[at] else { return None };
    let Expr::Set(set) = **inner else { return None };
    let is_wide = sets[set].ranges().last().is_some_and(|&(_, high)| high > 0x7F);
    let most = if is_wide { MOST_WRITTEN_OUT_WIDE } else { MOST_WRITTEN_OUT };
    if u64::from(max.unwrap_or(*min)) <= most {
        return None;
    }
    let mut fixed = 0u64;
    for (index, part) in parts.iter().enumerate() {
        fixed += if index == at { 0 } else { part.width()? };
    }
    let total = |count: u32| u32::try_from(fixed + u64::from(count)).ok();
    let bounds = (total(*min)?, max.map(total));
    let max = match bounds.1 {
        None => None,
        Some(max) => Some(max?),
    };
    let mut plain = parts.to_vec();
    plain[at] = Expr::Repeat { inner: inner.clone(), min: 0, max: None };
    Some((Expr::concat(plain), bounds.0, max))
}

fn automaton(expr: &Expr, sets: &[Chars], place: Match, limits: &Limits) -> Result<Language, LanguageError> {
    let mut program =
        Program { nodes: vec![Node::Match], positions: Vec::new(), ladders: Vec::new(), limits };
    let entry = program.compile(expr, 0)?;
    let classes = Classes::new(sets);
    let table = Builder::new(&program, place, &classes, entry)?.run(&classes, limits)?;
    utf8::over_bytes(&table.smallest(), &classes, limits).map(Language::of)
}

/// A step of the automaton.
enum Node {
    /// Reads a character: an index into [`Program::positions`].
    Position(u32),
    Split(Vec<u32>),
    Start(u32),
    End(u32),
    Match,
}

/// A place that reads a character of a set and goes on at a node.
struct Position {
    set: usize,
    next: u32,
}

struct Program<'a> {
    nodes: Vec<Node>,
    positions: Vec<Position>,
    ladders: Vec<Ladder>,
    limits: &'a Limits,
}

impl Program<'_> {
    fn add(&mut self, node: Node) -> Result<u32, LanguageError> {
        if self.nodes.len() >= 4 * self.limits.max_positions
            || self.positions.len() > self.limits.max_positions
        {
            return Err(LanguageError::TooLarge);
        }
        self.nodes.push(node);
        Ok(narrow(self.nodes.len() - 1))
    }

    /// The node from which `expr` is matched and then `next`.
    fn compile(&mut self, expr: &Expr, next: u32) -> Result<u32, LanguageError> {
        match expr {
            Expr::Empty => Ok(next),
            Expr::Set(set) => {
                self.positions.push(Position { set: *set, next });
                self.add(Node::Position(narrow(self.positions.len() - 1)))
            }
            Expr::Concat(parts) => parts.iter().rev().try_fold(next, |next, part| self.compile(part, next)),
            Expr::Alt(parts) => {
                let entries = parts.iter().map(|part| self.compile(part, next)).collect::<Result<_, _>>()?;
                self.add(Node::Split(entries))
            }
            Expr::Start => self.add(Node::Start(next)),
            Expr::End => self.add(Node::End(next)),
            Expr::Repeat { inner, min, max } => self.repeat(inner, *min, *max, next),
            Expr::Look(_) => Err(LanguageError::Unsupported { at: 0, what: "look-arounds" }),
        }
    }

    /// The copies of a repeat, from the last one to the first.
    fn repeat(&mut self, inner: &Expr, min: u32, max: Option<u32>, next: u32) -> Result<u32, LanguageError> {
        let start = self.positions.len();
        // From the end on, these many copies are on one ladder.
        let (mut entry, copies) = match max {
            None => {
                let entry = self.add(Node::Split(vec![next]))?;
                let body = self.compile(inner, entry)?;
                if let Node::Split(ways) = &mut self.nodes[entry as usize] {
                    ways.push(body);
                }
                (entry, min + 1)
            }
            Some(max) => {
                let mut entry = next;
                for _ in min..max {
                    let body = self.compile(inner, entry)?;
                    if body == entry {
                        break;
                    }
                    entry = self.add(Node::Split(vec![body, next]))?;
                }
                (entry, max - min + u32::from(min > 0 && max > min))
            }
        };
        for _ in 0..min {
            let body = self.compile(inner, entry)?;
            if body == entry {
                break;
            }
            entry = body;
        }
        // All copies of a repeat have as many positions, so their number tells those of one.
        let all = if max.is_none() { min + 1 } else { max.unwrap_or(min) } as usize;
        let width = (self.positions.len() - start) / all.max(1);
        if width > 0 && copies > 1 {
            self.ladders.push(Ladder {
                start,
                width,
                copies: copies as usize,
                last_is_enough: max.is_some(),
            });
        }
        Ok(entry)
    }
}

/// The text may end here.
const ENDS: u32 = 1;
/// Whatever follows, there is a match.
const MATCHED: u32 = 2;

/// What can be reached without reading a character.
#[derive(Default, Clone)]
struct Closure {
    positions: Vec<u32>,
    flags: u32,
}

/// Makes states of sets of positions.
struct Builder {
    /// Words of a set of positions.
    words: usize,
    ladders: Ladders,
    /// What may come after positions.
    follow: Vec<Closure>,
    /// What comes after each position: an index into `follow`.
    follow_of: Vec<u32>,
    /// Whether a position reads characters of a class.
    reads: Vec<bool>,
    first: Closure,
    /// What is added after each character: a match may begin anywhere.
    restart: Closure,
    /// The sets of positions of all states, one after the other, each followed by its flags.
    sets: Vec<u64>,
    known: Map<u64, u32>,
    /// For each state an older one whose set has the same hash.
    same_hash: Vec<u32>,
}

/// All closures together may have so many positions for each position that is allowed.
const CLOSURE_FACTOR: usize = 64;

impl Builder {
    fn new(
        program: &Program<'_>,
        place: Match,
        classes: &Classes,
        entry: u32,
    ) -> Result<Self, LanguageError> {
        let count = program.positions.len();
        let words = count.div_ceil(64).max(1);
        let mut reads = vec![false; count * classes.count];
        for (index, position) in program.positions.iter().enumerate() {
            for &class in &classes.members[position.set] {
                reads[index * classes.count + class as usize] = true;
            }
        }
        let mut walk =
            Walk { program, place, seen: vec![0; program.nodes.len() * 2], round: 0, stack: Vec::new() };
        let first = walk.closure(entry, true);
        let restart = if place == Match::Anywhere { walk.closure(entry, false) } else { Closure::default() };
        // Positions that go on at the same node share what follows.
        let mut known = vec![u32::MAX; program.nodes.len()];
        let mut follow: Vec<Closure> = Vec::new();
        let mut follow_of = Vec::with_capacity(count);
        let mut total = 0;
        for position in &program.positions {
            let known = &mut known[position.next as usize];
            if *known == u32::MAX {
                *known = narrow(follow.len());
                let closure = walk.closure(position.next, false);
                total += closure.positions.len();
                if total > CLOSURE_FACTOR * program.limits.max_positions {
                    return Err(LanguageError::TooLarge);
                }
                follow.push(closure);
            }
            follow_of.push(*known);
        }
        Ok(Self {
            words,
            ladders: Ladders::new(count, &program.ladders),
            follow,
            follow_of,
            reads,
            first,
            restart,
            sets: Vec::new(),
            known: Map::default(),
            same_hash: Vec::new(),
        })
    }

    fn run(mut self, classes: &Classes, limits: &Limits) -> Result<Table, LanguageError> {
        let words = self.words;
        let mut table = Table::never(classes.count);
        // State 0 has no positions, so no set needs to be compared with it; state 1 matches whatever follows.
        self.sets.resize(2 * (words + 1), 0);
        self.same_hash.resize(2, 0);
        let matched = table.add(1);
        (0..classes.count).for_each(|class| table.set(matched, class, matched));
        let mut scratch = vec![0; words + 1];
        set_bits(&mut scratch, &self.first);
        scratch[words] = self.first.flags.into();
        table.start = self.state(&mut scratch, &mut table, limits)?;
        let mut base = vec![0; words + 1];
        set_bits(&mut base, &self.restart);
        base[words] = self.restart.flags.into();
        let nothing_read = self.state(&mut base, &mut table, limits)?;
        let mut positions: Vec<usize> = Vec::new();
        // The targets so far in a state, by which of its first 64 positions read the character and no other does.
        let mut targets: Vec<(u64, u32)> = Vec::new();
        let mut state = 2;
        while state < table.states() {
            self.positions(state, &mut positions);
            targets.clear();
            for class in 0..classes.count {
                let reads = |position: usize| self.reads[position * classes.count + class];
                let mut hits = 0u64;
                for (index, &position) in positions.iter().take(64).enumerate() {
                    hits |= u64::from(reads(position)) << index;
                }
                let is_rest_hit = positions.iter().skip(64).any(|&position| reads(position));
                let known = match targets.iter().find(|known| known.0 == hits) {
                    _ if is_rest_hit => None,
                    _ if hits == 0 => Some(nothing_read),
                    known => known.map(|known| known.1),
                };
                let target = match known {
                    Some(target) => target,
                    None => {
                        scratch.copy_from_slice(&base);
                        for &position in positions.iter().filter(|&&position| reads(position)) {
                            self.step(position, &mut scratch);
                        }
                        let target = self.state(&mut scratch, &mut table, limits)?;
                        if !is_rest_hit {
                            targets.push((hits, target));
                        }
                        target
                    }
                };
                table.set(narrow(state), class, target);
            }
            state += 1;
        }
        Ok(table)
    }

    /// The positions of a state.
    fn positions(&self, state: usize, positions: &mut Vec<usize>) {
        positions.clear();
        for word in 0..self.words {
            let mut bits = self.sets[state * (self.words + 1) + word];
            while bits != 0 {
                positions.push(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// Adds what comes after `position`.
    fn step(&self, position: usize, scratch: &mut [u64]) {
        let closure = &self.follow[self.follow_of[position] as usize];
        set_bits(scratch, closure);
        scratch[self.words] |= u64::from(closure.flags);
    }

    fn state(&mut self, set: &mut [u64], table: &mut Table, limits: &Limits) -> Result<u32, LanguageError> {
        self.ladders.prune(&mut set[..self.words]);
        let flags = set[self.words];
        if flags & u64::from(MATCHED) != 0 {
            return Ok(1);
        }
        if set.iter().all(|&word| word == 0) {
            return Ok(0);
        }
        let hash = set.iter().fold(0, |hash, &word| hash::add(hash, word));
        let size = self.words + 1;
        let newest = self.known.get(&hash).copied().unwrap_or(0);
        let mut candidate = newest;
        while candidate != 0 {
            if self.sets[candidate as usize * size..][..size] == *set {
                return Ok(candidate);
            }
            candidate = self.same_hash[candidate as usize];
        }
        limit(table.states(), table.letters, limits)?;
        if self.sets.len() > 2 * limits.max_cells {
            return Err(LanguageError::TooLarge);
        }
        let state = table.add(u32::from(flags & u64::from(ENDS) != 0));
        self.sets.extend_from_slice(set);
        self.known.insert(hash, state);
        self.same_hash.push(newest);
        Ok(state)
    }
}

fn set_bits(bits: &mut [u64], closure: &Closure) {
    for &position in &closure.positions {
        bits[position as usize / 64] |= 1 << (position % 64);
    }
}

/// Finds closures.
struct Walk<'a> {
    program: &'a Program<'a>,
    place: Match,
    /// The round in which a node was last met, before and after an end of the text.
    seen: Vec<u32>,
    round: u32,
    stack: Vec<(u32, bool)>,
}

impl Walk<'_> {
    /// What can be reached from `node` at the start of the text or elsewhere.
    fn closure(&mut self, node: u32, at_start: bool) -> Closure {
        self.round += 1;
        let mut closure = Closure::default();
        self.stack.push((node, false));
        while let Some((node, at_end)) = self.stack.pop() {
            let seen = &mut self.seen[node as usize * 2 + usize::from(at_end)];
            if std::mem::replace(seen, self.round) == self.round {
                continue;
            }
            match &self.program.nodes[node as usize] {
                Node::Position(position) if !at_end => closure.positions.push(*position),
                Node::Position(_) => {}
                Node::Split(ways) => self.stack.extend(ways.iter().map(|&way| (way, at_end))),
                Node::Start(next) if at_start => self.stack.push((*next, at_end)),
                Node::Start(_) => {}
                Node::End(next) => self.stack.push((*next, true)),
                Node::Match if at_end || self.place == Match::Whole => closure.flags |= ENDS,
                Node::Match => closure.flags |= MATCHED,
            }
        }
        closure
    }
}
