//! Objects in their final form: every key has one value, and other keys are in disjoint classes.

use std::collections::HashMap;
use std::rc::Rc;

use super::error::{Cause, Fault, Outcome};
use super::goal::Compiler;
use super::members::{Keys, Members, Rules, Witness};
use crate::grammar::language::Language;
use crate::grammar::value::{KeyClass, Object, Property, ValueId};

impl<'s> Compiler<'s> {
    /// Adds the shapes of an alternative: none, one, or several where keys that depend on others meet an upper
    /// bound on the number of keys.
    pub(super) fn objects(&mut self, members: &Members<'s>, shapes: &mut Vec<Object>) -> Outcome<()> {
        let mut open = vec![self.object(members)?];
        while let Some(next) = open.pop() {
            let Some(mut object) = next.and_then(with_dependents) else { continue };
            self.spend(1 + object.properties.len())?;
            if object.max.is_some()
                && let Some((first, second)) = object.dependent.pop()
            {
                let mut without = object.clone();
                without.properties[first as usize].value = ValueId::NEVER;
                open.push(Some(without));
                object.properties[first as usize].required = true;
                object.properties[second as usize].required = true;
                open.push(Some(object));
            } else {
                shapes.push(object);
            }
            self.check_alternatives(open.len() + shapes.len())?;
        }
        Ok(())
    }

    fn object(&mut self, members: &Members<'s>) -> Outcome<Option<Object>> {
        let mut properties = self.properties(members)?;
        let mut others = self.classes(members)?;
        if properties.iter().any(|property| property.required && property.value == ValueId::NEVER) {
            return Ok(None);
        }
        let witnesses = self.open_witnesses(members, &properties)?;
        match &witnesses[..] {
            [] => {}
            [witness] => {
                for property in &mut properties {
                    if witness.keys.has(&property.name) {
                        property.witness = self.both(property.value, witness.value)?;
                    }
                }
                others = self.witnessed(others, witness)?;
            }
            _ => return Err(Fault::unsupported("several demands that some member is of a kind")),
        }
        let mut places = HashMap::new();
        if !members.dependent.is_empty() {
            places.extend(
                properties.iter().enumerate().map(|(place, property)| (property.name.clone(), place)),
            );
        }
        #[allow(clippy::cast_possible_truncation)]
        let place = |key: &str| places.get(key).map_or(0, |place| *place as u32);
        let dependent =
            members.dependent.iter().map(|(first, second)| (place(first), place(second))).collect();
        let required = properties.iter().filter(|property| property.required).count();
        if members.max.is_some_and(|max| max < members.min || (max as usize) < required) {
            return Ok(None);
        }
        let needs_witness = !witnesses.is_empty();
        Ok(Some(Object { properties, others, min: members.min, max: members.max, dependent, needs_witness }))
    }

    /// The demands for witnesses that no required member meets anyway.
    fn open_witnesses(
        &mut self,
        members: &Members<'s>,
        properties: &[Property],
    ) -> Outcome<Vec<Rc<Witness<'s>>>> {
        let mut open = Vec::new();
        for witness in &members.witnesses {
            let mut is_met = false;
            for property in properties.iter().filter(|property| property.required) {
                if witness.keys.has(&property.name) {
                    is_met = is_met || self.both(property.value, witness.value)? == property.value;
                }
            }
            if !is_met {
                open.push(Rc::clone(witness));
            }
        }
        Ok(open)
    }

    fn properties(&mut self, members: &Members<'s>) -> Outcome<Vec<Property>> {
        let mut names: Vec<&'s str> = Vec::new();
        let mut places: HashMap<&'s str, usize> = HashMap::new();
        let mut add = |name: &'s str| {
            places.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
        };
        members.rules.iter().for_each(|rules| rules.named.iter().for_each(|(name, _)| add(name)));
        members.refined.iter().for_each(|(name, _)| add(name));
        members.required.iter().for_each(|name| add(name));
        members.dependent.iter().for_each(|(first, second)| {
            add(first);
            add(second);
        });
        for witness in &members.witnesses {
            if let Keys::Beyond(known) = &witness.keys {
                known.named.iter().for_each(|(name, _)| add(name));
            }
        }
        self.spend(names.len() * (1 + members.rules.len()))?;
        let mut values = vec![ValueId::ANY; names.len()];
        // Which names the current rules know.
        let mut known = vec![usize::MAX; names.len()];
        for (turn, rules) in members.rules.iter().enumerate() {
            for (name, value) in &rules.named {
                let place = places[name];
                values[place] = self.both(values[place], *value)?;
                known[place] = turn;
            }
            if rules.patterns.is_empty() && rules.rest.is_none() {
                continue;
            }
            self.spend(names.len() * rules.patterns.len())?;
            for (place, name) in names.iter().enumerate() {
                for (pattern, value) in &rules.patterns {
                    if pattern.contains(name) {
                        values[place] = self.both(values[place], *value)?;
                        known[place] = turn;
                    }
                }
                if let Some(rest) = rules.rest
                    && known[place] != turn
                {
                    values[place] = self.both(values[place], rest)?;
                }
            }
        }
        for (name, value) in &members.refined {
            values[places[name]] = self.both(values[places[name]], *value)?;
        }
        for allowed in &members.names {
            for (place, name) in names.iter().enumerate() {
                if !allowed.contains(name) {
                    values[place] = ValueId::NEVER;
                }
            }
        }
        let mut properties: Vec<Property> = names
            .iter()
            .zip(values)
            .map(|(name, value)| Property {
                name: (*name).to_owned(),
                value,
                witness: ValueId::NEVER,
                required: false,
            })
            .collect();
        for name in &members.required {
            properties[places[name]].required = true;
        }
        Ok(properties)
    }

    /// The classes of keys that are not known by name.
    fn classes(&mut self, members: &Members<'s>) -> Outcome<Vec<KeyClass>> {
        // Nothing splits where some rules leave no other keys.
        if members.rules.iter().any(|rules| rules.patterns.is_empty() && rules.rest == Some(ValueId::NEVER)) {
            return Ok(Vec::new());
        }
        let mut keys = Language::any();
        for names in &members.names {
            match self.and_strings(&keys, names)? {
                Some(both) => keys = both,
                None => return Ok(Vec::new()),
            }
        }
        let mut classes = vec![(keys, ValueId::ANY)];
        for rules in &members.rules {
            classes = self.split_by_rules(classes, rules)?;
        }
        let mut others: Vec<KeyClass> = Vec::with_capacity(classes.len());
        for (keys, value) in classes {
            match others.iter_mut().find(|class| class.value == value) {
                Some(class) => class.keys = self.or_strings(&class.keys, &keys)?,
                None => others.push(KeyClass { keys, value, witness: ValueId::NEVER }),
            }
        }
        for class in &mut others {
            if class.keys.counts() {
                let keys = class.keys.clone();
                class.keys = self.language(|limits| keys.expanded(limits))?;
            }
        }
        Ok(others)
    }

    fn split_by_rules(
        &mut self,
        classes: Vec<(Language, ValueId)>,
        rules: &Rules<'s>,
    ) -> Outcome<Vec<(Language, ValueId)>> {
        let mut split = Vec::with_capacity(classes.len());
        for (keys, value) in classes {
            // The parts of the class, and whether a pattern of these rules knows them.
            let mut parts = vec![(keys, value, false)];
            for (pattern, matched) in &rules.patterns {
                let mut smaller = Vec::with_capacity(parts.len() + 1);
                for (keys, value, is_known) in parts {
                    let (inside, outside) = self.split(&keys, pattern)?;
                    if let Some(inside) = inside {
                        let value = self.both(value, *matched)?;
                        smaller.push((inside, value, true));
                    }
                    smaller.extend(outside.map(|outside| (outside, value, is_known)));
                }
                parts = smaller;
                if parts.len() + split.len() > self.options.limits.alternatives {
                    return Err(Fault::new(Cause::Crowded, "patterns divide keys into too many classes"));
                }
            }
            for (keys, mut value, is_known) in parts {
                if let Some(rest) = rules.rest
                    && !is_known
                {
                    value = self.both(value, rest)?;
                }
                if value != ValueId::NEVER {
                    split.push((keys, value));
                }
            }
        }
        Ok(split)
    }

    /// The keys inside and outside of a language.
    fn split(&mut self, keys: &Language, by: &Language) -> Outcome<(Option<Language>, Option<Language>)> {
        let inside = self.and_strings(keys, by)?;
        if inside.is_none() {
            return Ok((None, Some(keys.clone())));
        }
        Ok((inside, self.strings_without(keys, by)?))
    }

    fn witnessed(&mut self, classes: Vec<KeyClass>, witness: &Witness<'s>) -> Outcome<Vec<KeyClass>> {
        let mut split = Vec::with_capacity(classes.len() + 1);
        let mut add = |compiler: &mut Self, keys: Language, value: ValueId, bears: bool| -> Outcome<()> {
            let witness = if bears { compiler.both(value, witness.value)? } else { ValueId::NEVER };
            split.push(KeyClass { keys, value, witness });
            Ok(())
        };
        for class in classes {
            let (bears, language) = match &witness.keys {
                Keys::In(language) => (true, Some(language.clone())),
                Keys::Outside(language) => (false, Some(language.clone())),
                Keys::Beyond(known) => {
                    let mut all: Option<Language> = None;
                    for (pattern, _) in &known.patterns {
                        all = Some(match all {
                            None => pattern.clone(),
                            Some(all) => self.or_strings(&all, pattern)?,
                        });
                    }
                    (false, all)
                }
            };
            match language {
                None => add(self, class.keys, class.value, true)?,
                Some(language) => {
                    let (inside, outside) = self.split(&class.keys, &language)?;
                    if let Some(keys) = inside {
                        add(self, keys, class.value, bears)?;
                    }
                    if let Some(keys) = outside {
                        add(self, keys, class.value, !bears)?;
                    }
                }
            }
        }
        for class in &mut split {
            if class.keys.counts() {
                let keys = class.keys.clone();
                class.keys = self.language(|limits| keys.expanded(limits))?;
            }
        }
        Ok(split)
    }

    /// The shape without what cannot be enforced: the named members stay.
    pub(super) fn plain_object(&mut self, members: &Members<'s>) -> Outcome<Object> {
        let rules: Vec<Rc<Rules<'s>>> = members
            .rules
            .iter()
            .map(|rules| Rc::new(Rules { named: rules.named.clone(), ..Rules::default() }))
            .collect();
        let plain = Members {
            rules,
            refined: members.refined.clone(),
            required: members.required.clone(),
            ..Members::default()
        };
        let properties = self.properties(&plain)?;
        let others = vec![KeyClass { keys: Language::any(), value: ValueId::ANY, witness: ValueId::NEVER }];
        Ok(Object { properties, others, min: 0, max: None, dependent: Vec::new(), needs_witness: false })
    }
}

/// Follows keys that depend on others as far as they must or cannot be there. None if a key must be and cannot.
pub(super) fn with_dependents(mut object: Object) -> Option<Object> {
    if !object.dependent.is_empty() {
        follow(&mut object);
    }
    let mut count = 0;
    for property in object.properties.iter().filter(|property| property.required) {
        if property.value == ValueId::NEVER {
            return None;
        }
        count += 1;
    }
    object.max.is_none_or(|max| max as usize >= count).then_some(object)
}

fn follow(object: &mut Object) {
    let properties = &mut object.properties;
    let mut after = vec![Vec::new(); properties.len()];
    let mut before = vec![Vec::new(); properties.len()];
    for (first, second) in &object.dependent {
        after[*first as usize].push(*second as usize);
        before[*second as usize].push(*first as usize);
    }
    let of = |wanted: &dyn Fn(&Property) -> bool, properties: &[Property]| -> Vec<usize> {
        (0..properties.len()).filter(|place| wanted(&properties[*place])).collect()
    };
    let mut required = of(&|property| property.required, properties);
    while let Some(place) = required.pop() {
        for second in std::mem::take(&mut after[place]) {
            if !properties[second].required {
                properties[second].required = true;
                required.push(second);
            }
        }
    }
    let mut never = of(&|property| property.value == ValueId::NEVER, properties);
    while let Some(place) = never.pop() {
        for first in std::mem::take(&mut before[place]) {
            if properties[first].value != ValueId::NEVER {
                properties[first].value = ValueId::NEVER;
                properties[first].witness = ValueId::NEVER;
                never.push(first);
            }
        }
    }
    object.dependent.sort_unstable();
    object.dependent.dedup();
    object.dependent.retain(|(first, second)| {
        first != second
            && properties[*first as usize].value != ValueId::NEVER
            && !properties[*second as usize].required
    });
}
