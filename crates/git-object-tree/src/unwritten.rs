//! Objects that are in memory until they are written.

use std::collections::HashMap;

use crate::id::Id;
use crate::object::Object;

/// An object to be written.
#[derive(Clone)]
pub(crate) struct NewObject {
    pub(crate) id: Id,
    pub(crate) object: Object,
    /// The object that this one replaces: the last version of the same path.
    pub(crate) before: Option<Id>,
}

/// The objects in the order in which they were made: each comes after its last version, if that is
/// among them.
#[derive(Default)]
pub(crate) struct Unwritten {
    objects: Vec<NewObject>,
    /// Where each is.
    by_id: HashMap<Id, usize>,
    /// How many bytes they have together.
    size: usize,
}

impl Unwritten {
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &Id> {
        self.objects.iter().map(|new| &new.id)
    }

    pub(crate) fn to_vec(&self) -> Vec<NewObject> {
        self.objects.clone()
    }

    pub(crate) fn get(&self, id: Id) -> Option<Object> {
        self.by_id.get(&id).map(|at| self.objects[*at].object.clone())
    }

    /// Adds an object, unless already there.
    pub(crate) fn put(&mut self, new: NewObject) {
        if !self.by_id.contains_key(&new.id) {
            self.by_id.insert(new.id, self.objects.len());
            self.size += new.object.bytes.len();
            self.objects.push(new);
        }
    }

    /// Removes all but the first objects.
    pub(crate) fn truncate(&mut self, count: usize) {
        for NewObject { id, object, .. } in self.objects.drain(count.min(self.objects.len())..) {
            self.by_id.remove(&id);
            self.size -= object.bytes.len();
        }
    }

    /// Removes the first objects.
    pub(crate) fn remove_first(&mut self, count: usize) {
        let rest = self.objects.split_off(count.min(self.objects.len()));
        *self = Self::default();
        rest.into_iter().for_each(|new| self.put(new));
    }
}
