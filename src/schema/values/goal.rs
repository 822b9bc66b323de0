//! Goals, sets of goals, and the walk over all of them.

use std::collections::HashMap;
use std::rc::Rc;

use super::error::{Cause, Fault, Outcome, Relaxed, SchemaError};
use super::quick::QuickMap;
use super::sets::Languages;
use super::union::Union;
use super::{Options, Relax, keyword, settle, shapes};
use crate::grammar::value::{ValueId, Values};
use crate::json::{Json, Object};
use crate::schema::meta::drafts::Draft;
use crate::schema::meta::registry::{Base, Registry, Target};
use crate::schema::meta::{uri, walk};
use crate::schema::pointer::{Pointer, Step};

/// A chain of references longer than this is followed one by one.
const MAX_PLAIN_REFERENCES: usize = 8;

/// Something that a value must satisfy, or must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Goal(u32);

impl Goal {
    const fn new(source: usize) -> Self {
        Self((source as u32) << 1)
    }

    const fn source(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the value must not satisfy the source.
    pub(super) const fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) const fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// What a goal is about.
#[derive(Debug, Clone)]
pub(super) enum Source<'s> {
    /// To be valid under a schema.
    Schema(Site<'s>),
    /// To equal a value.
    Equal(&'s Json),
    /// To be in one of several values of the result.
    Either(Rc<[ValueId]>),
}

/// A schema that is not a boolean, where it stands.
#[derive(Debug, Clone)]
pub(super) struct Site<'s> {
    pub(super) schema: &'s Json,
    pub(super) members: &'s Object,
    pub(super) draft: Draft,
    pub(super) base: Base,
    /// Whether alternatives are to remember what they evaluate.
    pub(super) tracked: bool,
}

impl Site<'_> {
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self.schema) as usize
    }
}

/// A set of goals: a value of the result, by the same id.
struct Node<'s> {
    goals: Rc<[Goal]>,
    /// Where there are several goals.
    union: Option<Progress<'s>>,
}

impl Node<'_> {
    fn of(goals: &[Goal]) -> Self {
        Self { goals: goals.into(), union: None }
    }
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// The address of a schema, its base (by address as well: bases are interned) and its draft.
    Schema(usize, usize, Draft),
    /// The address of a value.
    Equal(usize),
    Either(Rc<[ValueId]>),
}

/// How far a union is.
enum Progress<'s> {
    Begun,
    Done(Rc<Union<'s>>),
}

impl<'s> Progress<'s> {
    /// What failed may be asked for again.
    fn of(found: &Outcome<Rc<Union<'s>>>) -> Option<Self> {
        found.as_ref().ok().map(|union| Self::Done(Rc::clone(union)))
    }
}

pub(super) struct Compiler<'s> {
    root: &'s Json,
    pub(super) options: &'s Options,
    registry: Option<Registry<'s>>,
    /// How often each `$dynamicAnchor` stands in the document, once a reference asks.
    pub(super) dynamic: Option<HashMap<&'s str, usize>>,
    bases: HashMap<Base, Base>,
    sources: Vec<Source<'s>>,
    /// For each source the unions of its goals: satisfied, refuted, and the same with what alternatives evaluate.
    unions: Vec<[Option<Progress<'s>>; 4]>,
    source_ids: QuickMap<Key, usize>,
    nodes: Vec<Node<'s>>,
    node_ids: QuickMap<Rc<[Goal]>, ValueId>,
    conjunctions: QuickMap<(ValueId, ValueId), ValueId>,
    work: u64,
    depth: usize,
    /// The results of the algebra of languages.
    pub(super) languages: Languages,
    /// What [`implies`](Self::implies) has found.
    pub(super) implications: QuickMap<(ValueId, ValueId), bool>,
    /// How many levels of members and items a question about emptiness has gone down.
    pub(super) levels: usize,
    /// The address of a schema, its keyword, and why that is not enforced.
    notes: Vec<(usize, String, String)>,
}

impl<'s> Compiler<'s> {
    pub(super) fn new(root: &'s Json, options: &'s Options) -> Self {
        let mut compiler = Self {
            root,
            options,
            registry: None,
            dynamic: None,
            bases: HashMap::new(),
            sources: Vec::new(),
            unions: Vec::new(),
            source_ids: QuickMap::default(),
            nodes: Vec::new(),
            node_ids: QuickMap::default(),
            conjunctions: QuickMap::default(),
            work: options.limits.work,
            depth: 0,
            languages: Languages::default(),
            implications: QuickMap::default(),
            levels: 0,
            notes: Vec::new(),
        };
        // The two values that are always there. The first has no goals that could be listed.
        compiler.nodes.push(Node::of(&[]));
        compiler.nodes.push(Node::of(&[]));
        compiler.node_ids.insert(Rc::default(), ValueId::ANY);
        compiler
    }

    /// Works out the whole document.
    pub(super) fn run(&mut self) -> Outcome<Values> {
        let draft = walk::own_draft(Draft::Draft202012, self.root);
        if draft == Draft::Unknown {
            let fault = Fault::unsupported("its meta-schema is another document");
            self.relax(fault.at(std::ptr::from_ref(self.root) as usize, "$schema"))?;
        }
        let base = match self.root.as_object().and_then(|members| walk::identifier(draft, members)) {
            Some(id) => uri::absolute(id.trim_end_matches('#'))
                .map_err(|message| Fault::new(Cause::Reference, message))?
                .into(),
            None => uri::NO_BASE.into(),
        };
        let root = self.site_at(base, draft, self.root)?;
        let mut shapes = shapes::Shapes::default();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if shapes.has(id) {
                continue;
            }
            let shape = self.shape(id)?;
            shape.each_value(&mut |child| {
                if !shapes.has(child) {
                    open.push(child);
                }
            });
            shapes.insert(id, shape);
        }
        settle::settle(self, shapes, root)
    }

    /// Pays for `steps` of work.
    pub(super) fn spend(&mut self, steps: usize) -> Outcome<()> {
        match self.work.checked_sub(steps as u64) {
            Some(rest) => {
                self.work = rest;
                Ok(())
            }
            None => {
                // Also for what is listed as left out: a relaxed schema goes on.
                self.work = 0;
                Err(Fault::new(Cause::Limit, "the schema takes too much work"))
            }
        }
    }

    /// The value for a schema below `site`.
    pub(super) fn subschema(&mut self, site: &Site<'s>, schema: &'s Json) -> Outcome<ValueId> {
        let draft = walk::own_draft(site.draft, schema);
        let id = schema.as_object().and_then(|members| walk::identifier(draft, members));
        let base = match id {
            Some(id) => uri::resolve(&site.base, id.trim_end_matches('#'))
                .map_err(|message| Fault::new(Cause::Reference, message))?
                .into(),
            None => Rc::clone(&site.base),
        };
        self.site_at(base, draft, schema)
    }

    fn site_at(&mut self, mut base: Base, mut draft: Draft, mut schema: &'s Json) -> Outcome<ValueId> {
        // A schema that is only a reference is what it leads to.
        for _ in 0..MAX_PLAIN_REFERENCES {
            let Some(reference) = keyword::plain_reference(draft, schema) else { break };
            match self.target(&base, reference) {
                Ok((target_base, target_draft, target)) => {
                    (base, draft, schema) = (target_base, target_draft, target);
                }
                // It may never be applied.
                Err(_) => break,
            }
        }
        let members = match schema {
            Json::Bool(true) => return Ok(ValueId::ANY),
            Json::Bool(false) => return Ok(ValueId::NEVER),
            Json::Object(members) if members.is_empty() => return Ok(ValueId::ANY),
            Json::Object(members) => members,
            other => return Err(Fault::malformed(format!("{} is no schema", other.kind()))),
        };
        let base = match self.bases.get(&base) {
            Some(known) => Rc::clone(known),
            None => {
                self.bases.insert(Rc::clone(&base), Rc::clone(&base));
                base
            }
        };
        let key = Key::Schema(std::ptr::from_ref(schema) as usize, base.as_ptr() as usize, draft);
        self.source(key, || Source::Schema(Site { schema, members, draft, base, tracked: false }))
    }

    /// The value that holds just `value`.
    pub(super) fn equal(&mut self, value: &'s Json) -> Outcome<ValueId> {
        self.source(Key::Equal(std::ptr::from_ref(value) as usize), || Source::Equal(value))
    }

    /// The union of `values`.
    pub(super) fn either(&mut self, values: &[ValueId]) -> Outcome<ValueId> {
        let mut values: Vec<ValueId> = values.iter().copied().filter(|id| *id != ValueId::NEVER).collect();
        values.sort_unstable();
        values.dedup();
        match values[..] {
            [] => Ok(ValueId::NEVER),
            [one] => Ok(one),
            _ if values.contains(&ValueId::ANY) => Ok(ValueId::ANY),
            _ => {
                let values: Rc<[ValueId]> = values.into();
                self.source(Key::Either(Rc::clone(&values)), || Source::Either(values))
            }
        }
    }

    fn source(&mut self, key: Key, source: impl FnOnce() -> Source<'s>) -> Outcome<ValueId> {
        let index = match self.source_ids.get(&key) {
            Some(index) => *index,
            None => {
                self.sources.push(source());
                self.unions.push([const { None }; 4]);
                self.source_ids.insert(key, self.sources.len() - 1);
                self.sources.len() - 1
            }
        };
        self.node(&[Goal::new(index)])
    }

    /// The value for a sorted set of goals.
    fn node(&mut self, goals: &[Goal]) -> Outcome<ValueId> {
        if let Some(id) = self.node_ids.get(goals) {
            return Ok(*id);
        }
        self.spend(goals.len() + 2)?;
        if self.nodes.len() >= self.options.limits.values {
            return Err(Fault::new(Cause::Limit, "the schema has too many different places"));
        }
        #[allow(clippy::cast_possible_truncation)]
        let id = ValueId(self.nodes.len() as u32);
        let node = Node::of(goals);
        self.node_ids.insert(Rc::clone(&node.goals), id);
        self.nodes.push(node);
        Ok(id)
    }

    /// Whether a value has several goals.
    pub(super) fn is_conjunction(&self, id: ValueId) -> bool {
        self.nodes[id.0 as usize].goals.len() > 1
    }

    /// Whether the goals of `value` are those of `more`, and perhaps others.
    pub(super) fn is_stated(&self, value: ValueId, more: ValueId) -> bool {
        if value == more || value == ValueId::NEVER || more == ValueId::ANY {
            return true;
        }
        if more == ValueId::NEVER {
            return false;
        }
        let all = &self.nodes[value.0 as usize].goals;
        self.nodes[more.0 as usize].goals.iter().all(|goal| all.binary_search(goal).is_ok())
    }

    /// What is in both values.
    pub(super) fn both(&mut self, a: ValueId, b: ValueId) -> Outcome<ValueId> {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        match (a, b) {
            (ValueId::NEVER, _) => return Ok(ValueId::NEVER),
            (ValueId::ANY, other) => return Ok(other),
            _ if a == b => return Ok(a),
            _ => {}
        }
        if let Some(id) = self.conjunctions.get(&(a, b)) {
            return Ok(*id);
        }
        let goals = [a, b].map(|id| &self.nodes[id.0 as usize].goals);
        let mut both: Vec<Goal> = goals.into_iter().flat_map(|goals| goals.iter().copied()).collect();
        both.sort_unstable();
        both.dedup();
        // A goal and its opposite stand side by side.
        let clash = both.windows(2).any(|pair| pair[0].source() == pair[1].source());
        let id = if clash { ValueId::NEVER } else { self.node(&both)? };
        self.conjunctions.insert((a, b), id);
        Ok(id)
    }

    /// What is not in the value.
    pub(super) fn negated(&mut self, id: ValueId) -> Outcome<ValueId> {
        match id {
            ValueId::NEVER => return Ok(ValueId::ANY),
            ValueId::ANY => return Ok(ValueId::NEVER),
            _ => {}
        }
        let goals = Rc::clone(&self.nodes[id.0 as usize].goals);
        let mut parts = Vec::with_capacity(goals.len());
        for goal in goals.iter() {
            parts.push(self.node(&[goal.negated()])?);
        }
        self.either(&parts)
    }

    /// The alternatives of a value, found before or now.
    pub(super) fn union(&mut self, id: ValueId) -> Outcome<Rc<Union<'s>>> {
        match id {
            ValueId::NEVER => return Ok(Rc::new(Union::none())),
            ValueId::ANY => return Ok(Rc::new(Union::any())),
            _ => {}
        }
        if let [goal] = self.nodes[id.0 as usize].goals[..] {
            return self.goal_union(goal, false);
        }
        match &self.nodes[id.0 as usize].union {
            Some(Progress::Done(union)) => return Ok(Rc::clone(union)),
            Some(Progress::Begun) => return Err(Fault::new(Cause::Loop, "the schema leads only to itself")),
            None => {}
        }
        self.nodes[id.0 as usize].union = Some(Progress::Begun);
        let found = self.conjunction(id);
        self.nodes[id.0 as usize].union = Progress::of(&found);
        found
    }

    fn conjunction(&mut self, id: ValueId) -> Outcome<Rc<Union<'s>>> {
        let goals = Rc::clone(&self.nodes[id.0 as usize].goals);
        let mut all = Union::any();
        for goal in goals.iter().copied() {
            let part = self.goal_union(goal, false)?;
            all = match all.and(&part, self) {
                Err(fault) => {
                    let fault = fault.at(self.address_of(goal), "");
                    self.relax(fault)?;
                    continue;
                }
                Ok(all) => all,
            };
            if all.is_none() {
                break;
            }
        }
        Ok(Rc::new(all))
    }

    /// Like [`union`](Self::union) for a subschema that applies to the same place, and with what alternatives
    /// evaluate if that is `tracked`.
    pub(super) fn union_in_place(&mut self, id: ValueId, tracked: bool) -> Outcome<Rc<Union<'s>>> {
        match (tracked, &self.nodes[id.0 as usize].goals[..]) {
            (true, [goal]) => self.goal_union(*goal, true),
            _ => self.union(id),
        }
    }

    fn goal_union(&mut self, goal: Goal, tracked: bool) -> Outcome<Rc<Union<'s>>> {
        let form = usize::from(goal.is_negated()) + 2 * usize::from(tracked);
        match &self.unions[goal.source()][form] {
            Some(Progress::Done(union)) => return Ok(Rc::clone(union)),
            Some(Progress::Begun) => {
                let fault = Fault::new(Cause::Loop, "the schema leads only to itself");
                return Err(fault.at(self.address_of(goal), ""));
            }
            None => {}
        }
        if self.depth >= self.options.limits.depth {
            let fault = Fault::new(Cause::Limit, "too many schemas apply to one place");
            return Err(fault.at(self.address_of(goal), ""));
        }
        self.spend(4)?;
        self.unions[goal.source()][form] = Some(Progress::Begun);
        self.depth += 1;
        let found = self.goal_union_now(goal, tracked).map(Rc::new);
        self.depth -= 1;
        self.unions[goal.source()][form] = Progress::of(&found);
        found
    }

    fn goal_union_now(&mut self, goal: Goal, tracked: bool) -> Outcome<Union<'s>> {
        match (self.sources[goal.source()].clone(), goal.is_negated()) {
            (Source::Schema(site), false) => self.assert(&site, tracked),
            (Source::Schema(site), true) => self.refute(&site),
            (Source::Equal(value), false) => self.listed_values(&[value]),
            (Source::Equal(value), true) => self.unlisted_values(&[value]),
            (Source::Either(values), false) => {
                let mut some = Union::none();
                for id in values.iter() {
                    let union = self.union(*id)?;
                    some.or(&union, self)?;
                }
                Ok(some)
            }
            (Source::Either(values), true) => {
                let mut all = Union::any();
                for id in values.iter() {
                    let id = self.negated(*id)?;
                    let union = self.union(id)?;
                    all = all.and(&union, self)?;
                }
                Ok(all)
            }
        }
    }

    /// The value of the schema that `reference` in `site` leads to.
    pub(super) fn referenced(&mut self, site: &Site<'s>, reference: &str) -> Outcome<ValueId> {
        let (base, draft, schema) = self.target(&site.base, reference)?;
        self.site_at(base, draft, schema)
    }

    fn target(&mut self, base: &Base, reference: &str) -> Outcome<(Base, Draft, &'s Json)> {
        let fail = |message: String| Fault::new(Cause::Reference, message);
        self.spend(4)?;
        if self.registry.is_none() {
            let draft = walk::own_draft(Draft::Draft202012, self.root);
            let registry = Registry::alone(draft, self.root);
            self.registry = Some(registry.map_err(|error| fail(error.message().to_owned()))?);
        }
        let registry = self.registry.as_mut().ok_or_else(|| fail(String::new()))?;
        match registry.lookup(base, reference).map_err(fail)? {
            // The base is the target's own already.
            Target::Schema(base, resource) => {
                Ok((base, walk::own_draft(resource.draft, resource.schema), resource.schema))
            }
            Target::MetaSchema => Err(fail(format!("'{reference}' is another document"))),
        }
    }

    /// All schemas of the document: for questions about it as a whole.
    pub(super) const fn document(&self) -> &'s Json {
        self.root
    }

    fn address_of(&self, goal: Goal) -> usize {
        match &self.sources[goal.source()] {
            Source::Schema(site) => site.address(),
            Source::Equal(value) => std::ptr::from_ref(*value) as usize,
            Source::Either(_) => 0,
        }
    }

    /// The schema that a value comes from, for errors.
    pub(super) fn place_of(&self, id: ValueId) -> usize {
        self.nodes[id.0 as usize].goals.first().map_or(0, |goal| self.address_of(*goal))
    }

    /// Lists what failed, and goes on, if the options say so.
    pub(super) fn relax(&mut self, fault: Fault) -> Outcome<()> {
        if self.options.relax == Relax::Nothing || !fault.can_be_relaxed() {
            return Err(fault);
        }
        let (address, keyword) = fault.place.unwrap_or((0, ""));
        self.note(address, keyword, fault.detail);
        Ok(())
    }

    pub(super) fn note(&mut self, address: usize, keyword: &str, reason: String) {
        self.notes.push((address, keyword.to_owned(), reason));
    }

    /// The list of what is not enforced, sorted by place.
    pub(super) fn listed(&mut self) -> Vec<Relaxed> {
        let notes = std::mem::take(&mut self.notes);
        if notes.is_empty() {
            return Vec::new();
        }
        let mut pointers = Pointers::of(self.root, notes.iter().map(|(address, ..)| *address));
        let mut listed: Vec<Relaxed> = notes
            .into_iter()
            .map(|(address, keyword, reason)| Relaxed { pointer: pointers.get(address), keyword, reason })
            .collect();
        listed.sort_by(|a, b| (&a.pointer, &a.keyword, &a.reason).cmp(&(&b.pointer, &b.keyword, &b.reason)));
        listed.dedup_by(|a, b| a.pointer == b.pointer && a.keyword == b.keyword);
        listed
    }

    pub(super) fn error(&self, fault: Fault) -> SchemaError {
        let (address, keyword) = fault.place.unwrap_or((0, ""));
        SchemaError {
            pointer: Pointers::of(self.root, [address]).get(address),
            keyword: keyword.to_owned(),
            kind: fault.kind(),
            detail: fault.detail,
        }
    }
}

/// The pointers of some values of a document, by address.
struct Pointers {
    found: HashMap<usize, Option<String>>,
    /// How many bytes they may have in all, so that a long name above many of them costs little. The values beyond
    /// are located at the root.
    room: usize,
}

impl Pointers {
    fn of(root: &Json, addresses: impl IntoIterator<Item = usize>) -> Self {
        let found = addresses.into_iter().map(|address| (address, None)).collect();
        let mut pointers = Self { found, room: 1 << 20 };
        pointers.walk(root, &mut Pointer::default());
        pointers
    }

    fn get(&mut self, address: usize) -> String {
        self.found.get(&address).cloned().flatten().unwrap_or_default()
    }

    fn walk(&mut self, json: &Json, pointer: &mut Pointer) {
        if let Some(found) = self.found.get_mut(&(std::ptr::from_ref(json) as usize))
            && pointer.as_str().len() <= self.room
        {
            self.room -= pointer.as_str().len();
            *found = Some(pointer.as_str().to_owned());
        }
        let mut enter = |step: Step<'_>, json: &Json| {
            let length = pointer.enter_step(step);
            self.walk(json, pointer);
            pointer.leave(length);
        };
        match json {
            Json::Array(elements) => {
                elements.iter().enumerate().for_each(|(index, element)| enter(Step::Index(index), element));
            }
            Json::Object(members) => members.iter().for_each(|(key, value)| enter(Step::Key(key), value)),
            _ => {}
        }
    }
}
