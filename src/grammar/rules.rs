//! Grammars: rules over text, special tokens and JSON values.

use std::fmt;

use crate::grammar::language::Language;
use crate::grammar::value::{ObjectId, ValueId, Values};
use crate::token::Special;

/// A rule of a [`Grammar`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleId(pub u32);

/// What may stand in one place.
#[derive(Debug, Clone)]
pub enum Expr {
    /// Exactly this text.
    Text(String),
    /// A word of a language.
    Word(Language),
    /// A special token. Text that spells it is something else.
    Special(Special),
    /// A JSON value.
    Json(ValueId),
    /// What a rule says. Rules may refer to each other, but none may begin with itself.
    Rule(RuleId),
    /// One after the other.
    Sequence(Vec<Expr>),
    /// One of them.
    Choice(Vec<Expr>),
    /// Several of them.
    Repeat {
        /// What is repeated; it cannot be empty.
        of: Box<Expr>,
        /// The fewest.
        min: u32,
        /// The most.
        max: Option<u32>,
    },
    /// The members of an object as markup around each key and value.
    Members(Box<Members>),
}

/// An object whose members are written as markup: in any order, none twice, each as `open` key `string` text `close`,
/// or as `open` key `other` JSON `close` if the value is not a string.
#[derive(Debug, Clone)]
pub struct Members {
    /// Which keys there are, and their values.
    pub object: ObjectId,
    /// In front of a key. The key ends with a quotation mark.
    pub open: Expr,
    /// Between a key's quotation mark and a string, which stands there as it is.
    pub string: Expr,
    /// Between a key's quotation mark and another value, which stands there as JSON.
    pub other: Expr,
    /// After a value.
    pub close: Expr,
}

/// Rules over text, special tokens and JSON values; the first rule is where texts begin.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    /// The rules, by [`RuleId`].
    pub rules: Vec<Expr>,
}

/// Why a grammar is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarError {
    /// The rule can begin with itself.
    LeftRecursion(RuleId),
    /// Something that may be empty is repeated.
    EmptyRepeat,
    /// Repeats are written out, and there are too many.
    TooLarge,
    /// A rule, value or object that does not exist.
    Unknown,
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftRecursion(rule) => write!(f, "rule {} begins with itself", rule.0),
            Self::EmptyRepeat => f.write_str("what may be empty is repeated"),
            Self::TooLarge => f.write_str("the grammar is too large"),
            Self::Unknown => f.write_str("a rule, value or object that does not exist"),
        }
    }
}

impl std::error::Error for GrammarError {}

/// What leads from one state to another.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Edge {
    Byte(u8),
    Special(Special),
    /// An index into the languages of [`RuleCode`].
    Word(u32),
    Json(ValueId),
    /// The first state of a rule.
    Rule(u32),
    /// An index into [`RuleCode::members`].
    Members(u32),
}

#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) edges: Vec<(Edge, u32)>,
    /// Whether the rule may end here.
    pub(super) ends: bool,
}

/// The first states of the parts of [`Members`].
#[derive(Debug, Clone, Copy)]
pub(super) struct MembersCode {
    pub(super) object: ObjectId,
    pub(super) open: u32,
    pub(super) string: u32,
    pub(super) other: u32,
    pub(super) close: u32,
}

/// Rules as states and edges.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleCode {
    pub(super) states: Vec<State>,
    pub(super) members: Vec<MembersCode>,
    pub(super) words: Vec<Language>,
    /// The special tokens that occur.
    pub(super) specials: Vec<Special>,
    /// The first state of the first rule.
    pub(super) start: u32,
}

/// How many states a grammar may have.
const MAX_STATES: usize = 1 << 20;

impl RuleCode {
    pub(super) fn new(grammar: &Grammar) -> Result<Self, GrammarError> {
        check(grammar)?;
        let mut builder = Builder::default();
        let starts: Vec<u32> = grammar.rules.iter().map(|_| builder.state()).collect();
        builder.starts.clone_from(&starts);
        for (rule, start) in grammar.rules.iter().zip(&starts) {
            let end = builder.expr(rule, *start)?;
            builder.states[end as usize].ends = true;
        }
        let mut code = builder.code;
        code.states = without_empty(&builder.states);
        code.start = *starts.first().ok_or(GrammarError::Unknown)?;
        Ok(code)
    }
}

impl RuleCode {
    /// Whether all values and objects that the rules name are among `values`.
    pub(super) fn fits(&self, values: &Values) -> bool {
        let edge = |(edge, _): &(Edge, u32)| match edge {
            Edge::Json(value) => values.has(*value),
            _ => true,
        };
        self.states.iter().all(|state| state.edges.iter().all(edge))
            && self.members.iter().all(|members| values.has_object(members.object))
    }
}

/// States with edges that take nothing.
#[derive(Debug, Default)]
struct Draft {
    edges: Vec<(Edge, u32)>,
    empty: Vec<u32>,
    ends: bool,
}

#[derive(Debug, Default)]
struct Builder {
    states: Vec<Draft>,
    starts: Vec<u32>,
    code: RuleCode,
}

impl Builder {
    fn state(&mut self) -> u32 {
        self.states.push(Draft::default());
        (self.states.len() - 1) as u32
    }

    fn edge(&mut self, from: u32, edge: Edge) -> u32 {
        let to = self.state();
        self.states[from as usize].edges.push((edge, to));
        to
    }

    /// Adds `expr` after the state `from`; returns the state after it.
    fn expr(&mut self, expr: &Expr, from: u32) -> Result<u32, GrammarError> {
        if self.states.len() > MAX_STATES {
            return Err(GrammarError::TooLarge);
        }
        Ok(match expr {
            Expr::Text(text) => text.bytes().fold(from, |from, byte| self.edge(from, Edge::Byte(byte))),
            Expr::Word(language) => {
                self.code.words.push(language.clone());
                self.edge(from, Edge::Word((self.code.words.len() - 1) as u32))
            }
            Expr::Special(special) => {
                if !self.code.specials.contains(special) {
                    self.code.specials.push(*special);
                }
                self.edge(from, Edge::Special(*special))
            }
            Expr::Json(value) => self.edge(from, Edge::Json(*value)),
            Expr::Rule(rule) => {
                let start = *self.starts.get(rule.0 as usize).ok_or(GrammarError::Unknown)?;
                self.edge(from, Edge::Rule(start))
            }
            Expr::Sequence(parts) => {
                let mut from = from;
                for part in parts {
                    from = self.expr(part, from)?;
                }
                from
            }
            Expr::Choice(parts) => {
                let end = self.state();
                for part in parts {
                    let last = self.expr(part, from)?;
                    self.states[last as usize].empty.push(end);
                }
                end
            }
            Expr::Repeat { of, min, max } => self.repeat(of, *min, *max, from)?,
            Expr::Members(members) => {
                let mut part = |expr: &Expr| -> Result<u32, GrammarError> {
                    let start = self.state();
                    let end = self.expr(expr, start)?;
                    self.states[end as usize].ends = true;
                    Ok(start)
                };
                let code = MembersCode {
                    object: members.object,
                    open: part(&members.open)?,
                    string: part(&members.string)?,
                    other: part(&members.other)?,
                    close: part(&members.close)?,
                };
                self.code.members.push(code);
                self.edge(from, Edge::Members((self.code.members.len() - 1) as u32))
            }
        })
    }

    fn repeat(&mut self, of: &Expr, min: u32, max: Option<u32>, from: u32) -> Result<u32, GrammarError> {
        let mut from = from;
        for _ in 0..min {
            from = self.expr(of, from)?;
        }
        let Some(max) = max else {
            let again = self.state();
            self.states[from as usize].empty.push(again);
            let last = self.expr(of, again)?;
            self.states[last as usize].empty.push(again);
            return Ok(again);
        };
        let end = self.state();
        self.states[from as usize].empty.push(end);
        for _ in min..max {
            from = self.expr(of, from)?;
            self.states[from as usize].empty.push(end);
        }
        Ok(end)
    }
}

/// The states with what can be reached by taking nothing.
fn without_empty(drafts: &[Draft]) -> Vec<State> {
    let mut seen = vec![u32::MAX; drafts.len()];
    (0..drafts.len() as u32)
        .map(|start| {
            let mut state = State::default();
            let mut open = vec![start];
            seen[start as usize] = start;
            while let Some(next) = open.pop() {
                let draft = &drafts[next as usize];
                state.ends |= draft.ends;
                state.edges.extend(draft.edges.iter().cloned());
                for &to in &draft.empty {
                    if seen[to as usize] != start {
                        seen[to as usize] = start;
                        open.push(to);
                    }
                }
            }
            state
        })
        .collect()
}

/// Refuses what would never come to an end: left recursion, and repeats of what may be empty.
fn check(grammar: &Grammar) -> Result<(), GrammarError> {
    let mut empty = vec![false; grammar.rules.len()];
    loop {
        let mut changed = false;
        for (rule, expr) in grammar.rules.iter().enumerate() {
            if !empty[rule] && may_be_empty(expr, &empty)? {
                empty[rule] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    // 0: not visited, 1: being visited, 2: done.
    let mut visited = vec![0_u8; grammar.rules.len()];
    for rule in 0..grammar.rules.len() as u32 {
        visit(RuleId(rule), grammar, &empty, &mut visited, 0)?;
    }
    for expr in &grammar.rules {
        check_repeats(expr, &empty)?;
    }
    Ok(())
}

/// How deep rules may begin with other rules.
const MAX_DEPTH: usize = 256;

fn visit(
    rule: RuleId,
    grammar: &Grammar,
    empty: &[bool],
    visited: &mut [u8],
    depth: usize,
) -> Result<(), GrammarError> {
    let state = visited.get_mut(rule.0 as usize).ok_or(GrammarError::Unknown)?;
    match *state {
        1 => return Err(GrammarError::LeftRecursion(rule)),
        2 => return Ok(()),
        _ if depth > MAX_DEPTH => return Err(GrammarError::TooLarge),
        _ => *state = 1,
    }
    let mut firsts = Vec::new();
    first_rules(&grammar.rules[rule.0 as usize], empty, &mut firsts);
    for first in firsts {
        visit(first, grammar, empty, visited, depth + 1)?;
    }
    visited[rule.0 as usize] = 2;
    Ok(())
}

/// The rules that `expr` can begin with.
fn first_rules(expr: &Expr, empty: &[bool], firsts: &mut Vec<RuleId>) {
    match expr {
        Expr::Rule(rule) => firsts.push(*rule),
        Expr::Sequence(parts) => {
            for part in parts {
                first_rules(part, empty, firsts);
                if !may_be_empty(part, empty).unwrap_or(false) {
                    break;
                }
            }
        }
        Expr::Choice(parts) => parts.iter().for_each(|part| first_rules(part, empty, firsts)),
        Expr::Repeat { of, .. } => first_rules(of, empty, firsts),
        Expr::Members(members) => first_rules(&members.open, empty, firsts),
        Expr::Text(_) | Expr::Word(_) | Expr::Special(_) | Expr::Json(_) => {}
    }
}

fn may_be_empty(expr: &Expr, empty: &[bool]) -> Result<bool, GrammarError> {
    Ok(match expr {
        Expr::Text(text) => text.is_empty(),
        Expr::Word(language) => language.is_accepting(language.start()) && language.min_chars() == 0,
        Expr::Special(_) | Expr::Json(_) => false,
        Expr::Rule(rule) => *empty.get(rule.0 as usize).ok_or(GrammarError::Unknown)?,
        Expr::Sequence(parts) => {
            for part in parts {
                if !may_be_empty(part, empty)? {
                    return Ok(false);
                }
            }
            true
        }
        Expr::Choice(parts) => {
            for part in parts {
                if may_be_empty(part, empty)? {
                    return Ok(true);
                }
            }
            false
        }
        Expr::Repeat { of, min, .. } => *min == 0 || may_be_empty(of, empty)?,
        Expr::Members(_) => true,
    })
}

fn check_repeats(expr: &Expr, empty: &[bool]) -> Result<(), GrammarError> {
    match expr {
        Expr::Repeat { of, .. } => {
            if may_be_empty(of, empty)? {
                return Err(GrammarError::EmptyRepeat);
            }
            check_repeats(of, empty)
        }
        Expr::Sequence(parts) | Expr::Choice(parts) => {
            parts.iter().try_for_each(|part| check_repeats(part, empty))
        }
        Expr::Members(members) => {
            if may_be_empty(&members.open, empty)? {
                return Err(GrammarError::EmptyRepeat);
            }
            [&members.open, &members.string, &members.other, &members.close]
                .into_iter()
                .try_for_each(|part| check_repeats(part, empty))
        }
        _ => Ok(()),
    }
}
