//! What a schema document defines: resources (schemas with identifiers) and anchors; and whether everything it
//! refers to from elsewhere is there. Nothing is ever fetched.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::MetaError;
use super::drafts::Draft;
use super::{uri, walk};
use crate::json::{Json, Object};
use crate::schema::pointer::Pointer;

/// A schema that references can name, and the draft it is read by.
#[derive(Debug, Clone, Copy)]
pub(in crate::schema) struct Resource<'s> {
    pub(in crate::schema) draft: Draft,
    pub(in crate::schema) schema: &'s Json,
}

/// A base URI. Shared by all schemas below one identifier.
pub(in crate::schema) type Base = Rc<str>;

#[derive(Default)]
pub(in crate::schema) struct Registry<'s> {
    resources: HashMap<Base, Resource<'s>>,
    anchors: HashMap<Base, HashMap<&'s str, Resource<'s>>>,
    /// All base URIs that occur, and the meta-schemas if they are in use.
    known: HashSet<Base>,
    /// The members of objects that were searched, by the object's address.
    members: HashMap<usize, HashMap<&'s str, &'s Json>>,
}

/// Where a reference leads.
pub(in crate::schema) enum Target<'s> {
    Schema(Base, Resource<'s>),
    /// Into a meta-schema, which is valid.
    MetaSchema,
}

/// How many bytes the pointers of external references may have in all, so that a long name above many of them costs
/// little. The references beyond are located at the root.
const ROOM_FOR_POINTERS: usize = 1 << 20;

/// From this many members on, an object is indexed when it is searched.
const MANY_MEMBERS: usize = 16;

impl<'s> Registry<'s> {
    /// Reads the document `root`; returns its base as well.
    pub(super) fn of(draft: Draft, root: &'s Json) -> Result<(Self, Base), MetaError> {
        // Most tools have nothing to be found.
        if draft != Draft::Unknown && walk::names_nothing(root) {
            return Ok((Self::default(), uri::NO_BASE.into()));
        }
        let (mut crawl, base) = Self::crawl(draft, root)?;
        crawl.external()?;
        crawl.meta_schemas()?;
        Ok((crawl.registry, base))
    }

    /// Reads the document `root`, which may refer to others. Those are nowhere to be found.
    pub(in crate::schema) fn alone(draft: Draft, root: &'s Json) -> Result<Self, MetaError> {
        Ok(Self::crawl(draft, root)?.0.registry)
    }

    fn crawl(draft: Draft, root: &'s Json) -> Result<(Crawl<'s>, Base), MetaError> {
        let id = root.as_object().and_then(|members| walk::identifier(draft, members));
        let base: Base = match id {
            Some(id) => uri::absolute(id.trim_end_matches('#'))
                .map_err(|message| MetaError::at(&Pointer::default(), message))?
                .into(),
            None => uri::NO_BASE.into(),
        };
        let mut crawl = Crawl {
            registry: Self::default(),
            root,
            root_draft: draft,
            root_base: Rc::clone(&base),
            pointer: Pointer::default(),
            seen: HashSet::new(),
            local: Vec::new(),
            external: Vec::new(),
            room: ROOM_FOR_POINTERS,
            refers_to_meta_schema: false,
        };
        crawl.registry.known.insert(Rc::clone(&base));
        crawl.register(&base, Resource { draft, schema: root }, true);
        crawl.schema(&base, draft, root, true)?;
        crawl.local_targets()?;
        Ok((crawl, base))
    }

    /// Follows `reference` from a schema with `base`.
    pub(in crate::schema) fn lookup(&mut self, base: &Base, reference: &str) -> Result<Target<'s>, String> {
        let (target, fragment) = match reference.strip_prefix('#') {
            Some(fragment) => (Rc::clone(base), fragment),
            None => {
                let (target, fragment) = reference.rsplit_once('#').unwrap_or((reference, ""));
                (uri::resolve(base, target)?.into(), fragment)
            }
        };
        let Some(resource) = self.resources.get(&target).copied() else {
            if self.known.contains(&target) && META_SCHEMAS.iter().any(|(_, uri)| **uri == *target) {
                return Ok(Target::MetaSchema);
            }
            return Err(format!(
                "Resource '{target}' is not present in a registry and retrieving it failed: Retrieving external \
                 resources is not supported once the registry is populated"
            ));
        };
        if fragment.starts_with('/') {
            return self.point(target, resource, fragment);
        }
        if fragment.is_empty() {
            return Ok(Target::Schema(target, resource));
        }
        let anchor = self.anchor(&target, fragment).or_else(|| {
            let id = walk::identifier(resource.draft, resource.schema.as_object()?)?;
            self.anchor(&uri::absolute(id.trim_end_matches('#')).ok()?.into(), fragment)
        });
        match anchor {
            Some(resource) => Ok(Target::Schema(target, resource)),
            None if fragment.contains('/') => Err(format!("Anchor '{fragment}' is invalid")),
            None => Err(format!("Anchor '{fragment}' does not exist")),
        }
    }

    fn anchor(&self, base: &Base, name: &str) -> Option<Resource<'s>> {
        self.anchors.get(base)?.get(name).copied()
    }

    /// Follows the JSON pointer `fragment`, which starts with a slash, through `resource`.
    fn point(
        &mut self,
        mut base: Base,
        resource: Resource<'s>,
        fragment: &str,
    ) -> Result<Target<'s>, String> {
        let Some(pointer) = uri::decode(fragment) else {
            return Err(format!(
                "Invalid percent encoding in pointer '{fragment}': the decoded bytes do not represent valid UTF-8"
            ));
        };
        let nowhere = || format!("Pointer '{fragment}' does not exist");
        let draft = resource.draft;
        let mut schema = resource.schema;
        let mut way = Way::default();
        for token in pointer.split('/').skip(1) {
            if let Json::Array(elements) = schema {
                let index: usize = token
                    .parse()
                    .map_err(|_| format!("Failed to parse array index '{token}' in pointer '{fragment}'"))?;
                schema = elements.get(index).ok_or_else(nowhere)?;
                way.index();
            } else {
                let key = token.replace("~1", "/").replace("~0", "~");
                schema = self.member(schema, &key).ok_or_else(nowhere)?;
                way.key(draft, &key);
            }
            if let Some(members) = schema.as_object()
                && way.is_at_schema()
                && let Some(id) = walk::identifier(draft, members)
            {
                base = uri::resolve(&base, id.trim_end_matches('#'))?.into();
                way = Way::default();
            }
        }
        Ok(Target::Schema(base, Resource { draft, schema }))
    }

    /// `schema[key]`, in constant time on average for large objects.
    fn member(&mut self, schema: &'s Json, key: &str) -> Option<&'s Json> {
        let members = schema.as_object()?;
        if members.len() < MANY_MEMBERS {
            return members.get(key);
        }
        let address = std::ptr::from_ref(members) as usize;
        self.members.entry(address).or_insert_with(|| members.iter().collect()).get(key).copied()
    }
}

/// Whether a pointer has gone from schema to schema so far, so that identifiers on its way count.
#[derive(Default)]
enum Way {
    #[default]
    Schema,
    /// At a keyword that holds an array or object of schemas.
    Among,
    /// Below a keyword that holds either, after which every object counts.
    Loose,
    Elsewhere,
}

impl Way {
    fn key(&mut self, draft: Draft, key: &str) {
        use walk::Holds;
        *self = match self {
            Self::Schema => match walk::holds(draft, key) {
                Some(Holds::One | Holds::OneObject) => Self::Schema,
                Some(Holds::Array | Holds::ByName) => Self::Among,
                Some(Holds::OneOrArray | Holds::ObjectsByName) => Self::Loose,
                None => Self::Elsewhere,
            },
            Self::Among => Self::Schema,
            Self::Loose => Self::Loose,
            Self::Elsewhere => Self::Elsewhere,
        };
    }

    fn index(&mut self) {
        if matches!(self, Self::Among) {
            *self = Self::Schema;
        }
    }

    const fn is_at_schema(&self) -> bool {
        matches!(self, Self::Schema | Self::Loose)
    }
}

/// A reference to something outside the document.
struct External {
    reference: String,
    target: String,
    pointer: String,
}

/// A schema in its context: its address, base and draft.
type Seen = (usize, Base, Draft);

struct Crawl<'s> {
    registry: Registry<'s>,
    root: &'s Json,
    root_draft: Draft,
    root_base: Base,
    pointer: Pointer,
    seen: HashSet<Seen>,
    /// Pointers of references inside the document.
    local: Vec<&'s str>,
    external: Vec<External>,
    /// How many bytes of pointers may still be kept for external references.
    room: usize,
    refers_to_meta_schema: bool,
}

impl<'s> Crawl<'s> {
    fn register(&mut self, base: &Base, resource: Resource<'s>, is_named: bool) {
        if is_named {
            self.registry.resources.insert(Rc::clone(base), resource);
        }
        let Some(members) = resource.schema.as_object() else { return };
        let names = self.registry.anchors.entry(Rc::clone(base)).or_default();
        for name in anchors(resource.draft, members) {
            names.insert(name, resource);
        }
    }

    fn schema(
        &mut self,
        base: &Base,
        draft: Draft,
        schema: &'s Json,
        is_root: bool,
    ) -> Result<(), MetaError> {
        let Some(members) = schema.as_object() else { return Ok(()) };
        let mut base = Rc::clone(base);
        let resource = Resource { draft, schema };
        if let Some(id) = walk::identifier(draft, members) {
            let named = self.resolve_id(&base, id)?;
            self.registry.known.insert(Rc::clone(&named));
            let is_new = named != base;
            base = named;
            if !is_root || base != self.root_base {
                self.register(&base, resource, is_new);
            }
        } else if !is_root && anchors(draft, members).next().is_some() {
            self.register(&base, resource, false);
        }
        if self.seen.insert((address(schema), Rc::clone(&base), draft)) {
            self.references(&base, members)?;
        }
        for child in walk::children(draft, members) {
            self.enter(&child, |crawl| crawl.schema(&base, child.draft, child.schema, false))?;
        }
        Ok(())
    }

    fn enter<T>(&mut self, child: &walk::Child<'s>, step: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.enter(child.keyword);
        if let Some(inner) = child.inner {
            self.pointer.enter_step(inner);
        }
        let result = step(self);
        self.pointer.leave(length);
        result
    }

    fn resolve_id(&self, base: &Base, id: &str) -> Result<Base, MetaError> {
        if id.starts_with('#') {
            return Ok(Rc::clone(base));
        }
        let id = id.strip_suffix('#').unwrap_or(id);
        Ok(uri::resolve(base, id).map_err(|message| MetaError::at(&self.pointer, message))?.into())
    }

    /// Notes what the `$ref` and `$schema` of a schema refer to.
    fn references(&mut self, base: &Base, members: &'s Object) -> Result<(), MetaError> {
        for keyword in ["$ref", "$schema"] {
            let Some(reference) = members.get(keyword).and_then(Json::as_str) else { continue };
            if reference.starts_with("https://json-schema.org/draft/")
                || reference.starts_with("http://json-schema.org/draft-")
                || base.starts_with("https://json-schema.org/draft/")
            {
                self.refers_to_meta_schema |= keyword == "$ref";
            } else if let Some(pointer) = reference.strip_prefix('#') {
                if !pointer.is_empty() {
                    self.local.push(pointer);
                }
            } else {
                let target =
                    uri::resolve(base, reference).map_err(|message| MetaError::at(&self.pointer, message))?;
                // What a `$schema` names is never missed here.
                if keyword == "$ref" {
                    let reference = reference.to_owned();
                    let pointer = self.pointer.as_str();
                    let pointer = if pointer.len() <= self.room { pointer.to_owned() } else { String::new() };
                    self.room -= pointer.len();
                    self.external.push(External { reference, target, pointer });
                }
            }
        }
        Ok(())
    }

    /// Looks for more references in what local ones point to, which need not be where schemas stand.
    fn local_targets(&mut self) -> Result<(), MetaError> {
        while !self.local.is_empty() {
            for pointer in std::mem::take(&mut self.local) {
                if let Some((base, resource)) = self.local_target(pointer)? {
                    self.below_target(&base, resource)?;
                }
            }
        }
        Ok(())
    }

    fn local_target(&mut self, pointer: &str) -> Result<Option<(Base, Resource<'s>)>, MetaError> {
        if !pointer.starts_with('/') {
            return Ok(None);
        }
        let mut resource = Resource { draft: self.root_draft, schema: self.root };
        let mut base = self.own_base(&Rc::clone(&self.root_base), resource)?;
        for token in pointer.split('/').skip(1) {
            let key = token.replace("~1", "/").replace("~0", "~");
            let next = match resource.schema {
                Json::Array(elements) => key.parse::<usize>().ok().and_then(|index| elements.get(index)),
                schema => self.registry.member(schema, &key),
            };
            let Some(schema) = next else { return Ok(None) };
            resource.schema = schema;
            // An object of many definitions is passed often; asking it for these members must not take long.
            if ["$schema", "$id", "id"].iter().any(|key| self.registry.member(schema, key).is_some()) {
                resource.draft = walk::own_draft(resource.draft, schema);
                base = self.own_base(&base, resource)?;
            }
        }
        Ok(Some((base, resource)))
    }

    fn own_base(&self, base: &Base, resource: Resource<'s>) -> Result<Base, MetaError> {
        let id = resource.schema.as_object().and_then(|members| walk::identifier(resource.draft, members));
        id.map_or_else(|| Ok(Rc::clone(base)), |id| self.resolve_id(base, id))
    }

    fn below_target(&mut self, base: &Base, resource: Resource<'s>) -> Result<(), MetaError> {
        let Some(members) = resource.schema.as_object() else { return Ok(()) };
        let base = self.own_base(base, resource)?;
        if !self.seen.insert((address(resource.schema), Rc::clone(&base), resource.draft)) {
            return Ok(());
        }
        if !base.starts_with("urn:") {
            self.references(&base, members)?;
        }
        for child in walk::children(resource.draft, members) {
            let resource = Resource { draft: child.draft, schema: child.schema };
            self.enter(&child, |crawl| crawl.below_target(&base, resource))?;
        }
        Ok(())
    }

    fn external(&mut self) -> Result<(), MetaError> {
        for External { reference, target, pointer } in &self.external {
            let target_base = uri::without_fragment(target);
            if self.registry.known.contains(target_base) {
                continue;
            }
            let (name, why) = if target.starts_with("json-schema:") {
                (reference.as_str(), "No base URI is available".to_owned())
            } else {
                (target_base, format!("Retrieval is disabled, cannot fetch {target_base}"))
            };
            return Err(MetaError {
                message: format!(
                    "Resource '{name}' is not present in a registry and retrieving it failed: {why}"
                ),
                pointer: pointer.clone(),
            });
        }
        Ok(())
    }

    /// Adds the meta-schemas that are referred to; refuses a `$schema` that names none.
    fn meta_schemas(&mut self) -> Result<(), MetaError> {
        let named = match self.root_draft {
            Draft::Unknown => self.root.get("$schema").and_then(Json::as_str),
            _ => None,
        };
        let all = named.is_some_and(|named| named.starts_with("https://json-schema.org/draft/"));
        let own = match self.root_draft {
            Draft::Unknown => Draft::Draft202012,
            draft => draft,
        };
        for (draft, uri) in META_SCHEMAS {
            if all || self.refers_to_meta_schema && *draft == own {
                self.registry.known.insert(Rc::from(*uri));
            }
        }
        let Some(named) = named else { return Ok(()) };
        let is_known =
            uri::absolute(named).is_ok_and(|uri| self.registry.known.contains(uri::without_fragment(&uri)));
        if is_known {
            return Ok(());
        }
        Err(MetaError {
            message: format!(
                "Unknown meta-schema: '{named}'. Custom meta-schemas must be registered in the registry before use"
            ),
            pointer: "/$schema".to_owned(),
        })
    }
}

fn address(schema: &Json) -> usize {
    std::ptr::from_ref(schema) as usize
}

/// The anchors that a schema itself declares.
fn anchors(draft: Draft, members: &Object) -> impl Iterator<Item = &str> {
    let keywords: &[&str] = match draft {
        Draft::Draft4 => &["id"],
        Draft::Draft6 | Draft::Draft7 => &["$id"],
        Draft::Draft201909 => &["$anchor"],
        Draft::Draft202012 | Draft::Unknown => &["$anchor", "$dynamicAnchor"],
    };
    let names = keywords.iter().filter_map(|keyword| members.get(keyword)?.as_str());
    names.filter_map(move |name| if draft.is_classic() { name.strip_prefix('#') } else { Some(name) })
}

/// The official meta-schemas.
const META_SCHEMAS: &[(Draft, &str)] = &[
    (Draft::Draft4, "http://json-schema.org/draft-04/schema"),
    (Draft::Draft6, "http://json-schema.org/draft-06/schema"),
    (Draft::Draft7, "http://json-schema.org/draft-07/schema"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/schema"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/meta/applicator"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/meta/content"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/meta/core"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/meta/format"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/meta/meta-data"),
    (Draft::Draft201909, "https://json-schema.org/draft/2019-09/meta/validation"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/schema"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/applicator"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/content"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/core"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/format-annotation"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/format-assertion"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/meta-data"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/unevaluated"),
    (Draft::Draft202012, "https://json-schema.org/draft/2020-12/meta/validation"),
];
