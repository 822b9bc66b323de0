//! Which values have instances, and the result without the others.
//!
//! A value has an instance if one of its alternatives does, and that only depends on which values named in it have
//! some: the least fixpoint is exactly the values with finite instances.

use std::cell::Cell;
use std::collections::HashMap;

use super::error::{Cause, Fault, Outcome};
use super::goal::Compiler;
use super::object::with_dependents;
use super::quick::QuickMap;
use super::sets::is_any_number;
use super::shapes::{Shape, Shapes};
use crate::grammar::language::Language;
use crate::grammar::number::NumberSet;
use crate::grammar::value::{Array, ArrayId, Item, KeyClass, Object, ObjectId, Value, ValueId, Values};

mod count;
mod items;

/// The result for the values that were reached from `root`.
pub(super) fn settle(compiler: &mut Compiler<'_>, shapes: Shapes, root: ValueId) -> Outcome<Values> {
    let mut alive = Alive::of(compiler, shapes)?;
    let root = alive.renamed(root);
    if !alive.is(root) {
        return Err(Fault::new(Cause::Unsatisfiable, "no value is valid"));
    }
    alive.trim(compiler)?;
    Ok(Emit::run(alive, root))
}

/// The shapes by their own ids (the first two of which are [`ValueId::NEVER`] and [`ValueId::ANY`]) and which of
/// them have instances.
pub(super) struct Alive {
    shapes: Vec<Shape>,
    alive: Vec<bool>,
    names: QuickMap<ValueId, usize>,
    /// How many more values may be looked at for counting.
    fuel: Cell<u32>,
}

impl Alive {
    fn of(compiler: &mut Compiler<'_>, shapes: Shapes) -> Outcome<Self> {
        let (found, names) = shapes.into_parts();
        let mut shapes = vec![Shape::default(), any()];
        shapes.extend(found);
        let mut alive = vec![false; shapes.len()];
        alive[1] = true;
        let mut all = Self { shapes, alive, names, fuel: Cell::new(count::FUEL) };
        all.rename();
        // What a value needs was mostly reached after it.
        loop {
            let mut is_changed = false;
            for place in (2..all.shapes.len()).rev() {
                if !all.alive[place] {
                    compiler.spend(1 + all.shapes[place].objects.len() + all.shapes[place].arrays.len())?;
                    all.alive[place] = all.has_instance(&all.shapes[place]);
                    is_changed |= all.alive[place];
                }
            }
            if !is_changed {
                return Ok(all);
            }
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn renamed(&self, id: ValueId) -> ValueId {
        match id {
            ValueId::NEVER | ValueId::ANY => id,
            id => ValueId(self.names[&id] as u32 + 2),
        }
    }

    fn rename(&mut self) {
        let mut shapes = std::mem::take(&mut self.shapes);
        for shape in &mut shapes[2..] {
            for array in &mut shape.arrays {
                for item in array.prefix.iter_mut().chain([&mut array.rest]) {
                    item.value = self.renamed(item.value);
                    item.counted = self.renamed(item.counted);
                }
            }
            for object in &mut shape.objects {
                for property in &mut object.properties {
                    property.value = self.renamed(property.value);
                    property.witness = self.renamed(property.witness);
                }
                for class in &mut object.others {
                    class.value = self.renamed(class.value);
                    class.witness = self.renamed(class.witness);
                }
            }
        }
        self.shapes = shapes;
    }

    fn is(&self, id: ValueId) -> bool {
        self.alive[id.0 as usize]
    }

    /// `id`, unless it has no instance.
    fn only(&self, id: ValueId) -> ValueId {
        if self.is(id) { id } else { ValueId::NEVER }
    }

    fn has_instance(&self, shape: &Shape) -> bool {
        shape.null
            || shape.yes
            || shape.no
            || !shape.numbers.is_empty()
            || shape.strings.is_some()
            || shape.arrays.iter().any(|array| self.trimmed_items(array.clone()).is_some())
            || shape.objects.iter().any(|object| self.has_object(object))
    }

    fn has_object(&self, object: &Object) -> bool {
        let required = object.properties.iter().filter(|property| property.required);
        let is_plain = object.dependent.is_empty() && !object.needs_witness && object.min == 0;
        required.into_iter().all(|property| self.is(property.value))
            && (is_plain || self.trimmed(object.clone()).is_some())
    }

    /// Takes out of all shapes what has no instance.
    fn trim(&mut self, compiler: &mut Compiler<'_>) -> Outcome<()> {
        // Items that must differ are counted in the arrays and objects of all shapes, which have to be there.
        let trim_arrays = |shape: &Shape| -> Vec<Array> {
            shape.arrays.iter().filter_map(|array| self.trimmed_items(array.clone())).collect()
        };
        let arrays: Vec<Vec<Array>> = self.shapes.iter().map(trim_arrays).collect();
        for (place, arrays) in arrays.into_iter().enumerate().skip(2) {
            let mut shape = std::mem::take(&mut self.shapes[place]);
            if self.alive[place] {
                compiler.spend(1)?;
                shape.arrays = arrays;
                let objects = std::mem::take(&mut shape.objects);
                shape.objects.extend(objects.into_iter().filter_map(|object| self.trimmed(object)));
                drop_repeated(&mut shape);
            }
            self.shapes[place] = shape;
        }
        let unsure = (2..self.shapes.len())
            .filter(|place| self.alive[*place])
            .any(|place| self.shapes[place].arrays.iter().any(|array| self.may_run_out(array)));
        if unsure {
            let fault = Fault::unsupported("items that must differ may run out before there are enough");
            compiler.relax(fault.at(0, "uniqueItems"))?;
            for shape in &mut self.shapes {
                for array in &mut shape.arrays {
                    // A list of what is left out says so.
                    array.unique = false;
                }
            }
        }
        Ok(())
    }

    /// The object without what has no instance, if it has one itself.
    fn trimmed(&self, mut object: Object) -> Option<Object> {
        for property in &mut object.properties {
            property.value = self.only(property.value);
            property.witness =
                if property.value == ValueId::NEVER { ValueId::NEVER } else { self.only(property.witness) };
        }
        let mut object = with_dependents(object)?;
        object.others.retain(|class| self.is(class.value));
        for class in &mut object.others {
            class.witness = self.only(class.witness);
        }
        let names: Vec<&str> = object.properties.iter().map(|property| property.name.as_str()).collect();
        object.others.retain(|class| more_keys(class, &names, 1) > 0);
        let named = object.properties.iter().filter(|property| property.value != ValueId::NEVER).count();
        let missing = (object.min as usize).saturating_sub(named);
        if missing > 0 {
            let mut more = 0;
            for class in &object.others {
                more += more_keys(class, &names, missing);
            }
            if more < missing {
                return None;
            }
        }
        if object.needs_witness {
            let required = || object.properties.iter().filter(|property| property.required);
            if required().any(|property| property.witness == property.value) {
                object.needs_witness = false;
            } else {
                let is_borne = object.properties.iter().any(|property| property.witness != ValueId::NEVER)
                    || object.others.iter().any(|class| class.witness != ValueId::NEVER);
                let takes_one_more = required().all(|property| property.witness == ValueId::NEVER);
                let is_full = object.max.is_some_and(|max| (max as usize) <= required().count());
                if !is_borne || takes_one_more && is_full {
                    return None;
                }
            }
        }
        if !object.needs_witness {
            object.properties.iter_mut().for_each(|property| property.witness = ValueId::NEVER);
            object.others.iter_mut().for_each(|class| class.witness = ValueId::NEVER);
        }
        Some(object)
    }
}

/// How many keys of a class are not among `names`; at most `limit`.
fn more_keys(class: &KeyClass, names: &[&str], limit: usize) -> usize {
    if class.keys.is_any() {
        return limit;
    }
    match class.keys.count((names.len() + limit) as u64) {
        None => limit,
        Some(count) => {
            let known = names.iter().filter(|name| class.keys.contains(name)).count();
            usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(known).min(limit)
        }
    }
}

/// Alternatives that became equal are one.
fn drop_repeated(shape: &mut Shape) {
    let mut objects: Vec<Object> = Vec::with_capacity(shape.objects.len());
    for object in shape.objects.drain(..) {
        if !objects.iter().any(|known| same_object(known, &object)) {
            objects.push(object);
        }
    }
    shape.objects = objects;
    let mut arrays: Vec<Array> = Vec::with_capacity(shape.arrays.len());
    for array in shape.arrays.drain(..) {
        if !arrays.iter().any(|known| same_array(known, &array)) {
            arrays.push(array);
        }
    }
    shape.arrays = arrays;
}

fn same_object(a: &Object, b: &Object) -> bool {
    (a.min, a.max, a.needs_witness, &a.dependent) == (b.min, b.max, b.needs_witness, &b.dependent)
        && a.properties.len() == b.properties.len()
        && a.others.len() == b.others.len()
        && a.properties.iter().zip(&b.properties).all(|(a, b)| {
            (a.value, a.witness, a.required, &a.name) == (b.value, b.witness, b.required, &b.name)
        })
        && a.others
            .iter()
            .zip(&b.others)
            .all(|(a, b)| (a.value, a.witness) == (b.value, b.witness) && a.keys == b.keys)
}

fn same_array(a: &Array, b: &Array) -> bool {
    let same = |a: &Item, b: &Item| (a.value, a.counted) == (b.value, b.counted);
    (a.min, a.max, a.contains, a.unique) == (b.min, b.max, b.contains, b.unique)
        && same(&a.rest, &b.rest)
        && a.prefix.len() == b.prefix.len()
        && a.prefix.iter().zip(&b.prefix).all(|(a, b)| same(a, b))
}

/// What [`ValueId::ANY`] stands for.
fn any() -> Shape {
    let any = Item { value: ValueId::ANY, counted: ValueId::NEVER };
    let class = KeyClass { keys: Language::any(), value: ValueId::ANY, witness: ValueId::NEVER };
    Shape {
        null: true,
        yes: true,
        no: true,
        numbers: vec![NumberSet::any()],
        strings: Some(Language::any()),
        arrays: vec![Array {
            prefix: Vec::new(),
            rest: any,
            min: 0,
            max: None,
            contains: None,
            unique: false,
        }],
        objects: vec![Object {
            properties: Vec::new(),
            others: vec![class],
            min: 0,
            max: None,
            dependent: Vec::new(),
            needs_witness: false,
        }],
    }
}

/// Whether a shape allows everything.
fn is_any(shape: &Shape) -> bool {
    shape.null
        && shape.yes
        && shape.no
        && shape.strings.as_ref().is_some_and(Language::is_any)
        && shape.numbers.iter().any(is_any_number)
        && shape.arrays.iter().any(|array| {
            array.prefix.is_empty()
                && array.rest.value == ValueId::ANY
                && (array.min, array.max, array.contains, array.unique) == (0, None, None, false)
        })
        && shape.objects.iter().any(|object| {
            object.properties.iter().all(|property| property.value == ValueId::ANY && !property.required)
                && matches!(&object.others[..], [class] if class.keys.is_any() && class.value == ValueId::ANY)
                && object.min == 0
                && object.max.is_none()
                && object.dependent.is_empty()
                && !object.needs_witness
        })
}

/// Writes what is reached from the root, in the order in which it is met.
struct Emit {
    shapes: Vec<Shape>,
    ids: Vec<Option<ValueId>>,
    /// Final ids of values without parts, so that equal ones are one.
    leaves: HashMap<(bool, bool, bool, usize, usize), Vec<ValueId>>,
    open: Vec<(usize, ValueId)>,
    values: Values,
}

impl Emit {
    fn run(alive: Alive, root: ValueId) -> Values {
        let count = alive.shapes.len();
        let mut emit = Self {
            shapes: alive.shapes,
            ids: vec![None; count],
            leaves: HashMap::new(),
            open: Vec::new(),
            values: Values { values: Vec::new(), objects: Vec::new(), arrays: Vec::new(), root },
        };
        emit.values.values.push(Value::default());
        emit.ids[0] = Some(ValueId::NEVER);
        emit.ids[1] = Some(ValueId::ANY);
        emit.values.values.push(Value::default());
        emit.fill(1, ValueId::ANY);
        emit.values.root = emit.id(root);
        while let Some((place, id)) = emit.open.pop() {
            emit.fill(place, id);
        }
        emit.values
    }

    fn id(&mut self, id: ValueId) -> ValueId {
        let place = id.0 as usize;
        if let Some(known) = self.ids[place] {
            return known;
        }
        let shape = &self.shapes[place];
        let found = if is_any(shape) { Some(ValueId::ANY) } else { self.leaf(place) };
        let id = found.unwrap_or_else(|| {
            #[allow(clippy::cast_possible_truncation)]
            let id = ValueId(self.values.values.len() as u32);
            self.values.values.push(Value::default());
            self.open.push((place, id));
            id
        });
        self.ids[place] = Some(id);
        id
    }

    /// The value that a shape without parts is equal to; it is written if it is the first of its kind.
    fn leaf(&mut self, place: usize) -> Option<ValueId> {
        let shape = &self.shapes[place];
        if !shape.arrays.is_empty() || !shape.objects.is_empty() {
            return None;
        }
        let states = shape.strings.as_ref().map_or(0, Language::states);
        let key = (shape.null, shape.yes, shape.no, shape.numbers.len(), states);
        let known = self.leaves.entry(key).or_default();
        for id in known.iter() {
            let value = &self.values.values[id.0 as usize];
            if value.numbers == shape.numbers && value.strings == shape.strings {
                return Some(*id);
            }
        }
        #[allow(clippy::cast_possible_truncation)]
        let id = ValueId(self.values.values.len() as u32);
        known.push(id);
        self.values.values.push(Value::default());
        self.fill(place, id);
        Some(id)
    }

    fn fill(&mut self, place: usize, id: ValueId) {
        let mut shape = std::mem::take(&mut self.shapes[place]);
        let mut value = Value {
            null: shape.null,
            yes: shape.yes,
            no: shape.no,
            numbers: shape.numbers,
            strings: shape.strings,
            arrays: Vec::with_capacity(shape.arrays.len()),
            objects: Vec::with_capacity(shape.objects.len()),
        };
        for mut array in shape.arrays.drain(..) {
            for item in array.prefix.iter_mut().chain([&mut array.rest]) {
                item.value = self.id(item.value);
                item.counted = self.id(item.counted);
            }
            #[allow(clippy::cast_possible_truncation)]
            value.arrays.push(ArrayId(self.values.arrays.len() as u32));
            self.values.arrays.push(array);
        }
        for mut object in shape.objects.drain(..) {
            for property in &mut object.properties {
                property.value = self.id(property.value);
                property.witness = self.id(property.witness);
            }
            for class in &mut object.others {
                class.value = self.id(class.value);
                class.witness = self.id(class.witness);
            }
            #[allow(clippy::cast_possible_truncation)]
            value.objects.push(ObjectId(self.values.objects.len() as u32));
            self.values.objects.push(object);
        }
        self.values.values[id.0 as usize] = value;
    }
}
