//! Automata of expressions with look-around.
//!
//! A look-ahead is a duty: from its place on, the rest of the text must begin with a match (or must not). A thread of
//! the automaton carries its duties along, each as the threads of its own match, and ends well only if they do. What
//! a look-behind asks depends on the text so far alone, so it is tracked from the start of the text on, once for all
//! threads. Both together stay finite, so look-around is decided exactly, within the limits.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use super::algebra::limit;
use super::chars::{Chars, Classes};
use super::expr::Expr;
use super::hash::Map;
use super::nfa::Match;
use super::table::{Table, narrow};
use super::{Language, LanguageError, Limits, utf8};

/// The texts with a match of an expression with look-around.
pub(super) fn automaton(
    expr: &Expr,
    sets: &[Chars],
    place: Match,
    limits: &Limits,
    effort: &mut usize,
) -> Result<Language, LanguageError> {
    let mut program = Program {
        nodes: vec![Node::Match],
        aheads: Vec::new(),
        behinds: Vec::new(),
        rungs: Vec::new(),
        rails: 0,
        limits,
    };
    let end = if place == Match::Whole { program.add(Node::End(MATCH))? } else { MATCH };
    let entry = program.compile(expr, end, false)?;
    let classes = Classes::new(sets);
    let mut member = vec![false; sets.len() * classes.count];
    for (set, members) in classes.members.iter().enumerate() {
        members.iter().for_each(|&class| member[set * classes.count + class as usize] = true);
    }
    let machine = Machine { program, member, classes: classes.count, place, entry };
    let table = machine.run(limits, effort)?;
    utf8::over_bytes(&table.smallest(), &classes, limits).map(Language::of)
}

enum Node {
    /// Reads a character of a set.
    Set(usize, u32),
    Split(Vec<u32>),
    Start(u32),
    End(u32),
    /// A look-ahead, by its index, and whether it is negative.
    Ahead(u32, bool, u32),
    /// A look-behind.
    Behind(u32, bool, u32),
    /// The end of the expression, of a look-ahead or of a look-behind.
    Match,
}

const MATCH: u32 = 0;

struct Program<'a> {
    nodes: Vec<Node>,
    /// Where the expression of each look-ahead begins.
    aheads: Vec<u32>,
    /// The same for look-behinds; one inside another comes first.
    behinds: Vec<u32>,
    /// The [rails](super::ladder) that each node is on, and its rank there; nodes at the end may be left out.
    rungs: Vec<Vec<(u32, u32)>>,
    rails: u32,
    limits: &'a Limits,
}

impl Program<'_> {
    fn add(&mut self, node: Node) -> Result<u32, LanguageError> {
        if self.nodes.len() >= self.limits.max_positions {
            return Err(LanguageError::TooLarge);
        }
        self.nodes.push(node);
        Ok(narrow(self.nodes.len() - 1))
    }

    fn compile(&mut self, expr: &Expr, next: u32, is_behind: bool) -> Result<u32, LanguageError> {
        match expr {
            Expr::Empty => Ok(next),
            Expr::Set(set) => self.add(Node::Set(*set, next)),
            Expr::Concat(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.compile(part, next, is_behind))
            }
            Expr::Alt(parts) => {
                let entries =
                    parts.iter().map(|part| self.compile(part, next, is_behind)).collect::<Result<_, _>>()?;
                self.add(Node::Split(entries))
            }
            Expr::Start => self.add(Node::Start(next)),
            Expr::End if is_behind => {
                Err(LanguageError::Unsupported { at: 0, what: "ends inside of look-behinds" })
            }
            Expr::End => self.add(Node::End(next)),
            Expr::Repeat { inner, min, max } => self.repeat(inner, (*min, *max), next, is_behind),
            Expr::Look(look) if look.is_behind => {
                let entry = self.compile(&look.inner, MATCH, true)?;
                self.behinds.push(entry);
                self.add(Node::Behind(narrow(self.behinds.len() - 1), look.is_negative, next))
            }
            Expr::Look(_) if is_behind => {
                Err(LanguageError::Unsupported { at: 0, what: "look-aheads inside of look-behinds" })
            }
            Expr::Look(look) => {
                let entry = self.compile(&look.inner, MATCH, false)?;
                self.aheads.push(entry);
                self.add(Node::Ahead(narrow(self.aheads.len() - 1), look.is_negative, next))
            }
        }
    }

    fn repeat(
        &mut self,
        inner: &Expr,
        (min, max): (u32, Option<u32>),
        next: u32,
        is_behind: bool,
    ) -> Result<u32, LanguageError> {
        let mut entry = next;
        // Where each copy begins, and how many nodes it has.
        let mut copies: Vec<u32> = Vec::new();
        let mut width = 0;
        let mut copy = |program: &mut Self, entry: u32| {
            let start = program.nodes.len();
            copies.push(narrow(start));
            let body = program.compile(inner, entry, is_behind)?;
            width = program.nodes.len() - start;
            Ok(body)
        };
        if let Some(max) = max {
            for _ in min..max {
                let body = copy(self, entry)?;
                if body == entry {
                    break;
                }
                entry = self.add(Node::Split(vec![body, next]))?;
            }
        } else {
            entry = self.add(Node::Split(vec![next]))?;
            let body = copy(self, entry)?;
            if let Node::Split(ways) = &mut self.nodes[entry as usize] {
                ways.push(body);
            }
        }
        for _ in 0..min {
            let body = copy(self, entry)?;
            if body == entry {
                break;
            }
            entry = body;
        }
        match max {
            None => self.ladder(copies.into_iter(), width),
            // What has to come is not on it, but for the last copy.
            Some(max) => {
                self.ladder(copies[..copies.len().min((max - min) as usize + 1)].iter().rev().copied(), width)
            }
        }
        Ok(entry)
    }

    /// Notes that a place in one of these copies is enough instead of the same place in those after it.
    fn ladder(&mut self, copies: impl Iterator<Item = u32>, width: usize) {
        for (rank, start) in (0..).zip(copies) {
            let end = start as usize + width;
            if self.rungs.len() < end {
                self.rungs.resize_with(end, Vec::new);
            }
            for (rail, rungs) in (self.rails..).zip(&mut self.rungs[start as usize..end]) {
                rungs.push((rail, rank));
            }
        }
        self.rails += narrow(width);
    }

    /// Whether all that may follow node `other` may follow `node` as well, as far as that shows at once.
    fn includes(&self, node: u32, other: u32) -> bool {
        let rungs = |node: u32| self.rungs.get(node as usize).map_or(&[][..], Vec::as_slice);
        let others = rungs(other);
        node == other
            || !others.is_empty()
                && rungs(node)
                    .iter()
                    .any(|(rail, rank)| others.iter().any(|other| other.0 == *rail && *rank < other.1))
    }

    /// Threads in order, without those that another one makes unnecessary because it goes on in the same ways and more,
    /// and has fewer duties.
    fn fewest(&self, mut threads: Vec<Thread>) -> Vec<Thread> {
        threads.sort_unstable();
        threads.dedup();
        let is_needed = |thread: &Thread| {
            !threads.iter().any(|other| {
                other != thread
                    && self.includes(other.node, thread.node)
                    && other.at_end <= thread.at_end
                    && other.duties.is_subset(&thread.duties)
            })
        };
        let needed: Vec<bool> = threads.iter().map(is_needed).collect();
        let mut needed = needed.into_iter();
        threads.retain(|_| needed.next().unwrap_or(true));
        threads
    }
}

/// One way to go on: a node that reads a character, or [`MATCH`], and what must hold beside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Thread {
    node: u32,
    /// Whether the text must end here.
    at_end: bool,
    duties: BTreeSet<Duty>,
}

impl Thread {
    /// A thread at `node` without duties.
    fn at(node: u32) -> Self {
        Self { node, at_end: false, duties: BTreeSet::new() }
    }
}

/// A look-ahead that is not decided yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Duty {
    is_negative: bool,
    threads: Vec<Thread>,
}

/// What some threads come to.
enum Outcome {
    /// A match, whatever follows.
    Matched,
    /// It depends; there may be no thread left.
    Threads(Vec<Thread>),
}

/// A state: the threads, and those of each look-behind, which have no duties.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    behinds: Vec<Vec<u32>>,
}

/// A place in a text.
struct Place<'a> {
    is_start: bool,
    /// Which look-behinds find their match before it.
    behinds: &'a [bool],
}

struct Machine<'a> {
    program: Program<'a>,
    /// Whether a class is in a set.
    member: Vec<bool>,
    classes: usize,
    place: Match,
    entry: u32,
}

impl Machine<'_> {
    fn run(&self, limits: &Limits, effort: &mut usize) -> Result<Table, LanguageError> {
        // A step of the search costs about as much as several cells of a table.
        let most = limits.max_cells / 2;
        let mut work = most;
        let table = self.search(limits, &mut work);
        *effort += most - work;
        table
    }

    fn search(&self, limits: &Limits, work: &mut usize) -> Result<Table, LanguageError> {
        let mut table = Table::never(self.classes);
        let matched = table.add(1);
        (0..self.classes).for_each(|class| table.set(matched, class, matched));
        let mut known: Map<State, u32> = Map::default();
        let mut states = Vec::new();
        let first = self.state(None, 0, work)?;
        table.start = self.number(first, &mut table, &mut known, &mut states, limits)?;
        let mut at = 0;
        while at < states.len() {
            let state: State = Clone::clone(&states[at]);
            let own = known.get(&state).copied().unwrap_or(0);
            // Characters that the state does not tell apart lead to the same one.
            let sets = self.sets(&state);
            let mut targets: Map<Vec<bool>, u32> = Map::default();
            for class in 0..self.classes {
                let reading = sets.iter().map(|set| self.member[set * self.classes + class]).collect();
                let target = match targets.entry(reading) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        let next = self.state(Some(&state), class, work)?;
                        *new.insert(self.number(next, &mut table, &mut known, &mut states, limits)?)
                    }
                };
                table.set(own, class, target);
            }
            at += 1;
        }
        Ok(table)
    }

    /// The sets that a state reads characters of.
    fn sets(&self, state: &State) -> BTreeSet<usize> {
        fn add(machine: &Machine<'_>, threads: &[Thread], sets: &mut BTreeSet<usize>) {
            for thread in threads {
                sets.extend(machine.set(thread.node));
                thread.duties.iter().for_each(|duty| add(machine, &duty.threads, sets));
            }
        }
        let mut sets = state.behinds.iter().flatten().filter_map(|node| self.set(*node)).collect();
        add(self, &state.threads, &mut sets);
        sets
    }

    fn set(&self, node: u32) -> Option<usize> {
        match self.program.nodes[node as usize] {
            Node::Set(set, _) => Some(set),
            _ => None,
        }
    }

    fn number(
        &self,
        state: Option<State>,
        table: &mut Table,
        known: &mut Map<State, u32>,
        states: &mut Vec<State>,
        limits: &Limits,
    ) -> Result<u32, LanguageError> {
        let Some(state) = state else { return Ok(1) };
        if state.threads.is_empty() && (self.place == Match::Whole || self.never_restarts()) {
            return Ok(0);
        }
        if let Some(&known) = known.get(&state) {
            return Ok(known);
        }
        limit(table.states(), table.letters, limits)?;
        let number = table.add(ends_well(&state.threads).into());
        known.insert(state.clone(), number);
        states.push(state);
        Ok(number)
    }

    /// Whether a match must begin at the start of the text.
    fn never_restarts(&self) -> bool {
        matches!(self.program.nodes[self.entry as usize], Node::Start(_))
    }

    /// The state at the start, or after a character of `class` from another state; `None` if there is a match,
    /// whatever follows.
    fn state(
        &self,
        from: Option<&State>,
        class: usize,
        work: &mut usize,
    ) -> Result<Option<State>, LanguageError> {
        let is_start = from.is_none();
        let mut behinds: Vec<Vec<u32>> = Vec::new();
        let mut holds: Vec<bool> = Vec::new();
        for (index, &entry) in self.program.behinds.iter().enumerate() {
            let place = Place { is_start, behinds: &holds };
            let mut nodes = vec![entry];
            if let Some(from) = from {
                nodes.extend(from.behinds[index].iter().filter_map(|&node| self.read(node, class)));
            }
            let mut found = false;
            let mut reached = BTreeSet::new();
            for node in nodes {
                let mut closure = Vec::new();
                found |= self.close(Thread::at(node), &place, &mut closure, work)?;
                reached.extend(closure.into_iter().filter(|thread| !thread.at_end).map(|thread| thread.node));
            }
            behinds.push(reached.into_iter().collect());
            holds.push(found);
        }
        let place = Place { is_start, behinds: &holds };
        let mut threads = match from {
            Some(from) => match self.step(&from.threads, class, &place, work)? {
                Outcome::Matched => return Ok(None),
                Outcome::Threads(threads) => threads,
            },
            None => Vec::new(),
        };
        let begins = is_start || self.place == Match::Anywhere;
        if begins && self.close(Thread::at(self.entry), &place, &mut threads, work)? {
            return Ok(None);
        }
        Ok(Some(State { threads: self.program.fewest(threads), behinds }))
    }

    /// Where a node goes on that reads a character of `class`.
    fn read(&self, node: u32, class: usize) -> Option<u32> {
        match self.program.nodes[node as usize] {
            Node::Set(set, next) if self.member[set * self.classes + class] => Some(next),
            _ => None,
        }
    }

    /// Reads a character with all threads.
    fn step(
        &self,
        threads: &[Thread],
        class: usize,
        place: &Place<'_>,
        work: &mut usize,
    ) -> Result<Outcome, LanguageError> {
        let mut after = Vec::new();
        for thread in threads.iter().filter(|thread| !thread.at_end) {
            let next = if thread.node == MATCH { Some(MATCH) } else { self.read(thread.node, class) };
            let Some(next) = next else { continue };
            let Some(duties) = self.step_duties(&thread.duties, class, place, work)? else { continue };
            let from = Thread { node: next, at_end: false, duties };
            if self.close(from, place, &mut after, work)? {
                return Ok(Outcome::Matched);
            }
        }
        Ok(Outcome::Threads(self.program.fewest(after)))
    }

    /// What is left of duties after a character; `None` if one cannot be met any more.
    fn step_duties(
        &self,
        duties: &BTreeSet<Duty>,
        class: usize,
        place: &Place<'_>,
        work: &mut usize,
    ) -> Result<Option<BTreeSet<Duty>>, LanguageError> {
        let mut left = BTreeSet::new();
        for duty in duties {
            let outcome = self.step(&duty.threads, class, place, work)?;
            if !add_duty(&mut left, duty.is_negative, outcome) {
                return Ok(None);
            }
        }
        Ok(Some(left))
    }

    /// Adds the threads that can be reached from `from` without reading, to `threads`. Whether there is a match,
    /// whatever follows.
    fn close(
        &self,
        from: Thread,
        place: &Place<'_>,
        threads: &mut Vec<Thread>,
        work: &mut usize,
    ) -> Result<bool, LanguageError> {
        let mut seen: BTreeSet<(u32, bool, BTreeSet<Duty>)> = BTreeSet::new();
        let mut stack = vec![(from.node, from.at_end, from.duties)];
        while let Some((node, at_end, mut duties)) = stack.pop() {
            *work = work.checked_sub(weight(&duties)).ok_or(LanguageError::TooLarge)?;
            if !seen.insert((node, at_end, duties.clone())) {
                continue;
            }
            match &self.program.nodes[node as usize] {
                Node::Set(..) if at_end => {}
                Node::Set(..) => threads.push(Thread { node, at_end, duties }),
                Node::Split(ways) => stack.extend(ways.iter().map(|&way| (way, at_end, duties.clone()))),
                Node::Start(next) if place.is_start => stack.push((*next, at_end, duties)),
                Node::Start(_) => {}
                Node::End(next) => stack.push((*next, true, duties)),
                Node::Behind(index, is_negative, next) => {
                    if place.behinds[*index as usize] != *is_negative {
                        stack.push((*next, at_end, duties));
                    }
                }
                Node::Ahead(index, is_negative, next) => {
                    let mut inner = Vec::new();
                    let entry = self.program.aheads[*index as usize];
                    let outcome = match self.close(Thread::at(entry), place, &mut inner, work)? {
                        true => Outcome::Matched,
                        false => Outcome::Threads(self.program.fewest(inner)),
                    };
                    if add_duty(&mut duties, *is_negative, outcome) {
                        stack.push((*next, at_end, duties));
                    }
                }
                Node::Match if !at_end && duties.is_empty() => return Ok(true),
                Node::Match => threads.push(Thread { node: MATCH, at_end, duties }),
            }
        }
        Ok(false)
    }
}

/// How much it takes to copy and compare duties.
fn weight(duties: &BTreeSet<Duty>) -> usize {
    let threads = duties.iter().flat_map(|duty| &duty.threads);
    1 + duties.len() + threads.map(|thread| weight(&thread.duties)).sum::<usize>()
}

/// Adds what a look-ahead comes to; whether it can still be met.
fn add_duty(duties: &mut BTreeSet<Duty>, is_negative: bool, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Matched => !is_negative,
        Outcome::Threads(threads) if threads.is_empty() => is_negative,
        Outcome::Threads(threads) => {
            duties.insert(Duty { is_negative, threads });
            true
        }
    }
}

/// Whether the text may end here.
fn ends_well(threads: &[Thread]) -> bool {
    threads.iter().any(|thread| {
        thread.node == MATCH && thread.duties.iter().all(|duty| ends_well(&duty.threads) != duty.is_negative)
    })
}
