//! What a JSON value may be, in the form that the matcher runs: unions of alternatives that need no further logic.
//!
//! A [`Values`] is made by [`schema::values`](crate::schema) from a JSON Schema, with every `allOf`, `not`, `oneOf`
//! and reference worked out. What a matcher relies on stands on the fields: above all, that **every value named by
//! a [`ValueId`] other than [`ValueId::NEVER`] has at least one instance**, so that a matcher which only follows
//! what is offered can always come to an end.

use crate::grammar::language::Language;
use crate::grammar::number::NumberSet;

/// One [`Value`] of a [`Values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    /// No value: where it stands for a key's value, the key is not allowed.
    pub const NEVER: Self = Self(0);
    /// Any value.
    pub const ANY: Self = Self(1);
}

/// One [`Object`] of a [`Values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// One [`Array`] of a [`Values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(pub u32);

/// A closed set of values that refer to each other, recursion included.
#[derive(Debug, Clone)]
pub struct Values {
    /// The values; [`ValueId::NEVER`] and [`ValueId::ANY`] come first.
    pub values: Vec<Value>,
    /// The objects that values name.
    pub objects: Vec<Object>,
    /// The arrays that values name.
    pub arrays: Vec<Array>,
    /// Where to begin.
    pub root: ValueId,
}

/// A union: an instance is valid if any of its alternatives takes it.
#[derive(Debug, Clone, Default)]
pub struct Value {
    /// Whether `null` is one.
    pub null: bool,
    /// Whether `true` is one.
    pub yes: bool,
    /// Whether `false` is one.
    pub no: bool,
    /// Sets of numbers; they may overlap. None is empty.
    pub numbers: Vec<NumberSet>,
    /// The strings, after escapes are resolved. Not empty.
    pub strings: Option<Language>,
    /// Arrays; they may overlap.
    pub arrays: Vec<ArrayId>,
    /// Objects; they may overlap.
    pub objects: Vec<ObjectId>,
}

/// One shape of objects. Its keys come in any order, none of them twice.
#[derive(Debug, Clone)]
pub struct Object {
    /// The keys that are known by name, in the order of the schema. No name twice.
    pub properties: Vec<Property>,
    /// What other keys there may be: classes of keys that share no key. A key that is the name of a property belongs
    /// to no class, whatever these languages say. A key in no class is not allowed.
    pub others: Vec<KeyClass>,
    /// The fewest keys. There are always enough keys to get there.
    pub min: u32,
    /// The most keys; at least `min` and the number of required keys.
    pub max: Option<u32>,
    /// Pairs of indices into `properties`: if the first key is there, so must be the second. Neither is
    /// [`ValueId::NEVER`], and following them never needs more than `max` keys from the required ones on.
    pub dependent: Vec<(u32, u32)>,
    /// Whether at least one key must have a value of its `witness` kind.
    pub needs_witness: bool,
}

/// A key known by name.
#[derive(Debug, Clone)]
pub struct Property {
    /// The key, after escapes are resolved.
    pub name: String,
    /// Its values; [`ValueId::NEVER`] where the key is not allowed.
    pub value: ValueId,
    /// Those of its values that satisfy the object's need of a witness; [`ValueId::NEVER`] if none does.
    pub witness: ValueId,
    /// Whether the key must be there.
    pub required: bool,
}

/// Keys that are treated alike.
#[derive(Debug, Clone)]
pub struct KeyClass {
    /// The keys, after escapes are resolved. Not empty. Counts no characters ([`Language::counts`] is false).
    pub keys: Language,
    /// Their values; never [`ValueId::NEVER`].
    pub value: ValueId,
    /// As for [`Property::witness`].
    pub witness: ValueId,
}

/// One shape of arrays.
#[derive(Debug, Clone)]
pub struct Array {
    /// The first items, one by one; none is [`ValueId::NEVER`].
    pub prefix: Vec<Item>,
    /// The items after them; [`ValueId::NEVER`] if there are none.
    pub rest: Item,
    /// The fewest items.
    pub min: u32,
    /// The most items; at least `min`.
    pub max: Option<u32>,
    /// How many items are of their `counted` kind, where that matters: from, to.
    pub contains: Option<(u32, Option<u32>)>,
    /// Whether items must differ from each other as JSON values.
    pub unique: bool,
}

/// What stands at one place of an array.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// The items that do not count for [`Array::contains`], or, where there is no upper bound, all items.
    pub value: ValueId,
    /// The items that count; [`ValueId::NEVER`] if none does or nothing is counted.
    pub counted: ValueId,
}

impl Default for Values {
    fn default() -> Self {
        Self::new()
    }
}

impl Values {
    /// No value and any value; the root is any value.
    #[must_use]
    pub fn new() -> Self {
        let any_item = Item { value: ValueId::ANY, counted: ValueId::NEVER };
        let any = Value {
            null: true,
            yes: true,
            no: true,
            numbers: vec![NumberSet::any()],
            strings: Some(Language::any()),
            arrays: vec![ArrayId(0)],
            objects: vec![ObjectId(0)],
        };
        let array =
            Array { prefix: Vec::new(), rest: any_item, min: 0, max: None, contains: None, unique: false };
        let object = Object {
            properties: Vec::new(),
            others: vec![KeyClass { keys: Language::any(), value: ValueId::ANY, witness: ValueId::NEVER }],
            min: 0,
            max: None,
            dependent: Vec::new(),
            needs_witness: false,
        };
        Self {
            values: vec![Value::default(), any],
            objects: vec![object],
            arrays: vec![array],
            root: ValueId::ANY,
        }
    }

    /// Whether every id leads to something.
    pub(super) fn is_closed(&self) -> bool {
        let has = |id: ValueId| self.has(id);
        let item = |item: &Item| has(item.value) && has(item.counted);
        let value = |value: &Value| {
            value.objects.iter().all(|id| self.has_object(*id))
                && value.arrays.iter().all(|id| (id.0 as usize) < self.arrays.len())
        };
        let object = |object: &Object| {
            let keys = object.properties.len();
            object.properties.iter().all(|property| has(property.value) && has(property.witness))
                && object.others.iter().all(|class| has(class.value) && has(class.witness))
                && object.dependent.iter().all(|(key, needed)| key.max(needed).lt(&(keys as u32)))
        };
        has(self.root)
            && self.values.iter().all(value)
            && self.objects.iter().all(object)
            && self.arrays.iter().all(|array| array.prefix.iter().all(item) && item(&array.rest))
    }

    pub(super) fn has(&self, id: ValueId) -> bool {
        (id.0 as usize) < self.values.len()
    }

    pub(super) fn has_object(&self, id: ObjectId) -> bool {
        (id.0 as usize) < self.objects.len()
    }

    /// Adds all of `other`; returns what its root is called here.
    pub fn append(&mut self, other: &Self) -> ValueId {
        let values = self.values.len() as u32;
        let (objects, arrays) = (self.objects.len() as u32, self.arrays.len() as u32);
        let value_id = |id: ValueId| match id {
            ValueId::NEVER | ValueId::ANY => id,
            ValueId(id) => ValueId(values + id - 2),
        };
        let item = |item: Item| Item { value: value_id(item.value), counted: value_id(item.counted) };
        for value in other.values.iter().skip(2) {
            let mut value = value.clone();
            value.objects.iter_mut().for_each(|id| id.0 += objects);
            value.arrays.iter_mut().for_each(|id| id.0 += arrays);
            self.values.push(value);
        }
        for object in &other.objects {
            let mut object = object.clone();
            for property in &mut object.properties {
                (property.value, property.witness) = (value_id(property.value), value_id(property.witness));
            }
            for class in &mut object.others {
                (class.value, class.witness) = (value_id(class.value), value_id(class.witness));
            }
            self.objects.push(object);
        }
        for array in &other.arrays {
            let mut array = array.clone();
            array.prefix.iter_mut().for_each(|place| *place = item(*place));
            array.rest = item(array.rest);
            self.arrays.push(array);
        }
        value_id(other.root)
    }
}
