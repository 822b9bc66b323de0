//! `minItems`, `maxItems`, `minProperties`, `maxProperties`: bounds on how many parts a value has.

use std::rc::Rc;

use super::{Applied, Refuted, size_from, size_to};
use crate::json::Json;
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::items::{Items, least};
use crate::schema::values::members::Members;
use crate::schema::values::union::Union;

/// Values that have parts, which are counted.
pub(super) trait Counted {
    /// An alternative for such values.
    type Alternative<'s>: Clone + Default;

    fn of<'a, 's>(union: &'a mut Union<'s>) -> &'a mut Vec<Rc<Self::Alternative<'s>>>;
    fn bounds<'a>(alternative: &'a mut Self::Alternative<'_>) -> (&'a mut u32, &'a mut Option<u32>);
}

pub(super) struct Arrays;

impl Counted for Arrays {
    type Alternative<'s> = Items;

    fn of<'a, 's>(union: &'a mut Union<'s>) -> &'a mut Vec<Rc<Items>> {
        &mut union.arrays
    }

    fn bounds(items: &mut Items) -> (&mut u32, &mut Option<u32>) {
        (&mut items.min, &mut items.max)
    }
}

pub(super) struct Objects;

impl Counted for Objects {
    type Alternative<'s> = Members<'s>;

    fn of<'a, 's>(union: &'a mut Union<'s>) -> &'a mut Vec<Rc<Members<'s>>> {
        &mut union.objects
    }

    fn bounds<'a>(members: &'a mut Members<'_>) -> (&'a mut u32, &'a mut Option<u32>) {
        (&mut members.min, &mut members.max)
    }
}

pub(super) fn at_least<'s, C: Counted>(
    _: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let size = size_from(value)?;
    for alternative in C::of(left) {
        let (min, _) = C::bounds(Rc::make_mut(alternative));
        *min = size.max(*min);
    }
    Ok(())
}

pub(super) fn at_most<'s, C: Counted>(
    _: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let size = size_to(value)?;
    for alternative in C::of(left) {
        let (_, max) = C::bounds(Rc::make_mut(alternative));
        *max = least(*max, size);
    }
    Ok(())
}

pub(super) fn fewer_than<'s, C: Counted>(_: &mut Compiler<'s>, _: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let most = size_from(value)?.checked_sub(1);
    Ok(most.map_or_else(Union::none, |most| bounded::<C>(0, Some(most))))
}

pub(super) fn more_than<'s, C: Counted>(_: &mut Compiler<'s>, _: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let most = size_to(value)?;
    Ok(most.map_or_else(Union::none, |most| bounded::<C>(most + 1, None)))
}

fn bounded<'s, C: Counted>(least: u32, most: Option<u32>) -> Union<'s> {
    let mut alternative = C::Alternative::default();
    let (min, max) = C::bounds(&mut alternative);
    (*min, *max) = (least, most);
    let mut union = Union::none();
    C::of(&mut union).push(Rc::new(alternative));
    union
}
