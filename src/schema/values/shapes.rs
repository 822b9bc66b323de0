//! Values in their final form, before it is known which of them have instances.

use super::error::Outcome;
use super::goal::Compiler;
use super::quick::QuickMap;
use crate::grammar::language::Language;
use crate::grammar::number::NumberSet;
use crate::grammar::value::{Array, Object, ValueId};

/// A value. Its parts name other values by the ids of the compiler.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub(super) null: bool,
    pub(super) yes: bool,
    pub(super) no: bool,
    pub(super) numbers: Vec<NumberSet>,
    pub(super) strings: Option<Language>,
    pub(super) arrays: Vec<Array>,
    pub(super) objects: Vec<Object>,
}

/// All values that were reached, by id.
#[derive(Default)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    /// The places of the values, and in which order they were reached.
    pub(super) places: QuickMap<ValueId, usize>,
}

impl Shapes {
    pub(super) fn has(&self, id: ValueId) -> bool {
        matches!(id, ValueId::NEVER | ValueId::ANY) || self.places.contains_key(&id)
    }

    pub(super) fn insert(&mut self, id: ValueId, shape: Shape) {
        self.places.insert(id, self.shapes.len());
        self.shapes.push(shape);
    }

    pub(super) fn into_parts(self) -> (Vec<Shape>, QuickMap<ValueId, usize>) {
        (self.shapes, self.places)
    }
}

impl Shape {
    /// Calls `each` with every value that the shape names.
    pub(super) fn each_value(&self, each: &mut impl FnMut(ValueId)) {
        self.arrays.iter().for_each(|array| each_of_array(array, each));
        self.objects.iter().for_each(|object| each_of_object(object, each));
    }
}

pub(super) fn each_of_array(array: &Array, each: &mut impl FnMut(ValueId)) {
    for item in array.prefix.iter().chain([&array.rest]) {
        each(item.value);
        each(item.counted);
    }
}

pub(super) fn each_of_object(object: &Object, each: &mut impl FnMut(ValueId)) {
    for property in &object.properties {
        each(property.value);
        each(property.witness);
    }
    for class in &object.others {
        each(class.value);
        each(class.witness);
    }
}

impl<'s> Compiler<'s> {
    /// The shape of a value.
    pub(super) fn shape(&mut self, id: ValueId) -> Outcome<Shape> {
        let place = self.place_of(id);
        let union = self.union(id)?;
        let mut shape = Shape {
            null: union.null,
            yes: union.yes,
            no: union.no,
            numbers: union.numbers.clone(),
            strings: union.strings.clone(),
            arrays: Vec::with_capacity(union.arrays.len()),
            objects: Vec::with_capacity(union.objects.len()),
        };
        for items in &union.arrays {
            match self.arrays(items, &mut shape.arrays) {
                Ok(()) => {}
                Err(fault) => {
                    self.relax(fault.at(place, ""))?;
                    shape.arrays.push(self.plain_array(items));
                }
            }
        }
        for members in &union.objects {
            match self.objects(members, &mut shape.objects) {
                Ok(()) => {}
                Err(fault) => {
                    self.relax(fault.at(place, ""))?;
                    shape.objects.push(self.plain_object(members)?);
                }
            }
        }
        Ok(shape)
    }
}
