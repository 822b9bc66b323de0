//! The schemas that validation would apply: whether their references lead somewhere and their regular expressions
//! can be used. What nothing applies, such as a definition without a reference to it, is not looked at.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use super::MetaError;
use super::drafts::Draft;
use super::registry::{Base, Registry, Resource, Target};
use super::{form, pattern, uri, walk};
use crate::json::{Json, Object};
use crate::schema::pointer::{Pointer, Step};

/// Checks the document `root`.
pub(super) fn check(draft: Draft, root: &Json) -> Result<(), MetaError> {
    let (registry, base) = Registry::of(draft, root)?;
    let mut applied = Applied {
        registry,
        pointer: Pointer::default(),
        done: HashSet::new(),
        references: 0,
        later: VecDeque::new(),
    };
    applied.subschema(&base, draft, root)?;
    while let Some((pointer, base, resource)) = applied.later.pop_front() {
        applied.pointer = pointer;
        applied.schema(&base, resource)?;
    }
    Ok(())
}

struct Applied<'s> {
    registry: Registry<'s>,
    pointer: Pointer,
    /// Schemas that are checked or being checked: their address and base.
    done: HashSet<(usize, Base)>,
    /// How many references were followed to the current place.
    references: usize,
    /// Targets of references that are too many to follow at once.
    later: VecDeque<(Pointer, Base, Resource<'s>)>,
}

/// How many references are followed before the rest waits, so that a long chain of them needs no deep stack.
const MAX_NESTED_REFERENCES: usize = 8;

type Checked = Result<(), MetaError>;

impl<'s> Applied<'s> {
    fn at(&mut self, step: Step<'_>, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        let length = self.pointer.enter_step(step);
        check(self)?;
        self.pointer.leave(length);
        Ok(())
    }

    fn fail<T>(&self, message: String) -> Result<T, MetaError> {
        Err(MetaError::at(&self.pointer, message))
    }

    /// A schema inside a schema of `draft` with `base`.
    fn subschema(&mut self, base: &Base, draft: Draft, schema: &'s Json) -> Checked {
        let draft = walk::own_draft(draft, schema);
        let id = schema.as_object().and_then(|members| walk::identifier(draft, members));
        let own = match id.map(|id| uri::resolve(base, id.trim_end_matches('#'))) {
            Some(Ok(own)) => own.into(),
            Some(Err(message)) => return self.fail(message),
            None => Rc::clone(base),
        };
        self.schema(&own, Resource { draft, schema })
    }

    fn schema(&mut self, base: &Base, resource: Resource<'s>) -> Checked {
        let members = match resource.schema {
            Json::Bool(_) => return Ok(()),
            Json::Object(members) => members,
            other => return self.fail(format!("{other} is not of types \"boolean\", \"object\"")),
        };
        if !self.done.insert((std::ptr::from_ref(members) as usize, Rc::clone(base))) {
            return Ok(());
        }
        if resource.draft.is_classic()
            && let Some(reference) = members.get("$ref")
        {
            return self.reference(base, "$ref", reference, members);
        }
        for (keyword, value) in members.iter() {
            self.keyword(base, resource.draft, members, keyword, value)?;
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        base: &Base,
        draft: Draft,
        members: &'s Object,
        keyword: &str,
        value: &'s Json,
    ) -> Checked {
        // These two are applied together with `additionalProperties` if that restricts anything.
        if matches!(keyword, "properties" | "patternProperties")
            && matches!(members.get("additionalProperties"), Some(Json::Bool(false) | Json::Object(_)))
        {
            return Ok(());
        }
        if let Some(fault) = form::fault(draft, members, keyword, value) {
            return self.at(Step::Key(keyword), |walk| walk.fail(fault));
        }
        let is_schema = matches!(value, Json::Object(_) | Json::Bool(_));
        match keyword {
            "$ref" => self.reference(base, keyword, value, members),
            "$dynamicRef" if draft >= Draft::Draft202012 => self.reference(base, keyword, value, members),
            "$recursiveRef" if draft == Draft::Draft201909 => self.recursive(base, value, members),
            "pattern" => match value.as_str() {
                Some(pattern) if !pattern::is_usable(pattern) => {
                    self.at(Step::Key(keyword), |walk| walk.fail(format!("{value} is not a \"regex\"")))
                }
                _ => Ok(()),
            },
            "properties" => self.by_name(base, draft, keyword, value),
            "patternProperties" => self.by_pattern(base, draft, value),
            "additionalProperties" => self.additional_properties(base, draft, members, value),
            "allOf" | "anyOf" | "oneOf" => self.each(base, draft, keyword, value),
            "not" => self.one(base, draft, keyword, value),
            "items" if value.as_array().is_some() => self.each(base, draft, keyword, value),
            "items" if is_schema => self.one(base, draft, keyword, value),
            "additionalItems" if members.get("items").is_some_and(|items| items.as_array().is_some()) => {
                self.one(base, draft, keyword, value)
            }
            "dependencies" => self.dependencies(base, draft, value),
            "propertyNames" if draft >= Draft::Draft6 && is_schema => self.one(base, draft, keyword, value),
            "contains" if draft >= Draft::Draft6 => self.one(base, draft, keyword, value),
            "if" if draft >= Draft::Draft7 => {
                let branches =
                    ["then", "else"].map(|branch| members.get(branch).map(|schema| (branch, schema)));
                if branches.iter().all(Option::is_none) {
                    return Ok(());
                }
                self.one(base, draft, keyword, value)?;
                branches
                    .into_iter()
                    .flatten()
                    .try_for_each(|(branch, schema)| self.one(base, draft, branch, schema))
            }
            "dependentSchemas" if draft >= Draft::Draft201909 => self.by_name(base, draft, keyword, value),
            "unevaluatedItems" | "unevaluatedProperties" if draft >= Draft::Draft201909 => {
                self.one(base, draft, keyword, value)?;
                // These look at what their siblings evaluate, some of which nothing else would apply.
                if let Some(condition) = members.get("if") {
                    self.one(base, draft, "if", condition)?;
                }
                let reference = members.get("$dynamicRef");
                reference.map_or(Ok(()), |value| self.reference(base, "$dynamicRef", value, members))
            }
            "prefixItems" if draft >= Draft::Draft202012 => self.each(base, draft, keyword, value),
            _ => Ok(()),
        }
    }

    /// Where this restricts anything, it is applied together with the properties that are known.
    fn additional_properties(
        &mut self,
        base: &Base,
        draft: Draft,
        members: &'s Object,
        value: &'s Json,
    ) -> Checked {
        if let Some(patterns) = members.get("patternProperties") {
            if let Some(fault) = form::fault(draft, members, "patternProperties", patterns) {
                return self.at(Step::Key("patternProperties"), |walk| walk.fail(fault));
            }
            self.by_pattern(base, draft, patterns)?;
        }
        let properties = members.get("properties");
        match (value, properties) {
            (Json::Bool(true), _) => return Ok(()),
            (_, Some(properties)) if properties.as_object().is_none() => {
                return self.at(Step::Key("properties"), |walk| walk.fail("Unexpected type".to_owned()));
            }
            _ => {}
        }
        self.one(base, draft, "additionalProperties", value)?;
        properties.map_or(Ok(()), |schemas| self.by_name(base, draft, "properties", schemas))
    }

    fn one(&mut self, base: &Base, draft: Draft, keyword: &str, schema: &'s Json) -> Checked {
        self.at(Step::Key(keyword), |walk| walk.subschema(base, draft, schema))
    }

    fn each(&mut self, base: &Base, draft: Draft, keyword: &str, schemas: &'s Json) -> Checked {
        self.at(Step::Key(keyword), |walk| {
            let mut schemas = schemas.as_array().into_iter().flatten().enumerate();
            schemas.try_for_each(|(index, schema)| {
                walk.at(Step::Index(index), |walk| walk.subschema(base, draft, schema))
            })
        })
    }

    fn by_name(&mut self, base: &Base, draft: Draft, keyword: &str, schemas: &'s Json) -> Checked {
        self.at(Step::Key(keyword), |walk| {
            let mut schemas = schemas.as_object().into_iter().flat_map(Object::iter);
            schemas.try_for_each(|(name, schema)| walk.one(base, draft, name, schema))
        })
    }

    fn by_pattern(&mut self, base: &Base, draft: Draft, schemas: &'s Json) -> Checked {
        self.at(Step::Key("patternProperties"), |walk| {
            let mut schemas = schemas.as_object().into_iter().flat_map(Object::iter);
            schemas.try_for_each(|(name, schema)| {
                walk.at(Step::Key(name), |walk| {
                    if !pattern::is_usable(name) {
                        return walk.fail(format!("{} is not a \"regex\"", Json::from(name)));
                    }
                    walk.subschema(base, draft, schema)
                })
            })
        })
    }

    fn dependencies(&mut self, base: &Base, draft: Draft, value: &'s Json) -> Checked {
        self.at(Step::Key("dependencies"), |walk| {
            let mut dependencies = value.as_object().into_iter().flat_map(Object::iter);
            dependencies.try_for_each(|(name, value)| {
                if value.as_array().is_none() {
                    return walk.one(base, draft, name, value);
                }
                match form::names(value) {
                    Some(fault) => walk.at(Step::Key(name), |walk| walk.fail(fault)),
                    None => Ok(()),
                }
            })
        })
    }

    fn reference(&mut self, base: &Base, keyword: &str, value: &Json, parent: &'s Object) -> Checked {
        let Some(reference) = value.as_str() else {
            return self
                .at(Step::Key(keyword), |walk| walk.fail(format!("{value} is not of type \"string\"")));
        };
        if reference.is_empty() {
            return Ok(());
        }
        let target = uri::resolve(base, reference).and_then(|_| self.registry.lookup(base, reference));
        self.follow(keyword, reference, target, parent)
    }

    /// `$recursiveRef`, which leads to the root of the resource whatever it says.
    fn recursive(&mut self, base: &Base, value: &Json, parent: &'s Object) -> Checked {
        let reference = value.as_str().unwrap_or_default();
        let target = uri::resolve(base, reference).and_then(|_| self.registry.lookup(base, "#"));
        self.follow("$recursiveRef", "#", target, parent)
    }

    fn follow(
        &mut self,
        keyword: &str,
        reference: &str,
        target: Result<Target<'s>, String>,
        parent: &'s Object,
    ) -> Checked {
        let (base, resource) = match target {
            Ok(Target::Schema(base, resource)) => (base, resource),
            Ok(Target::MetaSchema) => return Ok(()),
            Err(message) => return self.at(Step::Key(keyword), |walk| walk.fail(message)),
        };
        if resource.schema.as_object().is_some_and(|members| std::ptr::eq(members, parent)) {
            return Ok(());
        }
        // An anchor does not tell where it stands: what is found below it is located from the reference on.
        let target_pointer = match reference.strip_prefix('#') {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => Some(Pointer::from(pointer)),
            _ => None,
        };
        if self.references >= MAX_NESTED_REFERENCES {
            self.later.push_back((target_pointer.unwrap_or_default(), base, resource));
            return Ok(());
        }
        let here = target_pointer.map(|pointer| std::mem::replace(&mut self.pointer, pointer));
        self.references += 1;
        self.schema(&base, resource)?;
        self.references -= 1;
        if let Some(here) = here {
            self.pointer = here;
        }
        Ok(())
    }
}
