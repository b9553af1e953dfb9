//! Regions and windows that requests make valid and free again: what is known of them, and for whom.
//!
//! A request finds what those before it in its own queue have done. What another queue does comes before or behind it,
//! until everything has settled.

use std::collections::BTreeMap;

use super::hosts::Queue;
use super::lives::Use;
use super::moves::{Region, Rights};

/// A change under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) queue: Queue,
    /// The move that makes it.
    pub(super) at: usize,
    /// What it is behind that.
    pub(super) to: Use,
    /// Whether what is behind it in its queue waits for it; a read changes something when it has its answer.
    pub(super) ordered: bool,
}

/// A region or a window.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// What it was when everything had settled last.
    settled: Use,
    changes: Vec<Change>,
    /// As the newest request has it that makes it valid.
    pub(super) rights: Rights,
    /// Of a window: where it may lie, and who may have bound it.
    pub(super) overs: Vec<Region>,
    owners: Vec<Queue>,
    /// A queue that changed it last, and maybe told nobody.
    silent: Option<Queue>,
}

impl Object {
    /// What a request of a queue finds; without one, anybody at any time.
    pub(super) fn seen_by(&self, queue: Option<Queue>) -> Use {
        match self.changes.last() {
            None => self.settled,
            Some(last) if self.are_ordered(queue) => last.to,
            Some(_) => Use::Unsure,
        }
    }

    fn are_ordered(&self, queue: Option<Queue>) -> bool {
        let mut changes = self.changes.iter();
        changes.all(|own| Some(own.queue) == queue && own.ordered)
    }

    /// Whether a queue, and nobody else, has bound the window; `None`: it is not known.
    pub(super) fn is_of(&self, queue: Queue) -> Option<bool> {
        match (self.owners.contains(&queue), self.owners.len()) {
            (false, _) => Some(false),
            (true, 1) => Some(true),
            (true, _) => None,
        }
    }

    fn resolve(&mut self, to: Use) {
        self.settled = to;
        self.changes.clear();
        let kept = match to {
            Use::Gone => 0,
            Use::Valid => 1,
            Use::Unsure => return,
        };
        // The newest.
        self.overs.drain(..self.overs.len().saturating_sub(kept));
        self.owners.drain(..self.owners.len().saturating_sub(kept));
    }
}

/// All of them, by node.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects(BTreeMap<(usize, Region), Object>);

impl Objects {
    /// The object as it is at first, or was made since.
    pub(super) fn get(&self, node: usize, region: Region) -> Object {
        let first = Object {
            settled: match region {
                Region::Fast(_) => Use::Valid,
                _ => Use::Gone,
            },
            changes: Vec::new(),
            rights: Rights {
                local_write: true,
                remote_read: false,
                remote_write: true,
            },
            overs: Vec::new(),
            owners: Vec::new(),
            silent: None,
        };
        self.0.get(&(node, region)).cloned().unwrap_or(first)
    }

    fn entry(&mut self, node: usize, region: Region) -> &mut Object {
        let first = self.get(node, region);
        self.0.entry((node, region)).or_insert(first)
    }

    /// A request was posted that takes it back, or may do so.
    pub(super) fn free(&mut self, node: usize, region: Region, change: Change, silent: bool) {
        let object = self.entry(node, region);
        object.changes.push(change);
        object.silent = silent.then_some(change.queue);
    }

    /// A request was posted that makes it valid.
    pub(super) fn make(
        &mut self,
        node: usize,
        region: Region,
        change: Change,
        rights: Rights,
        over: Option<Region>,
        silent: bool,
    ) {
        self.free(node, region, change, silent);
        let object = self.entry(node, region);
        object.rights = rights;
        if let Some(over) = over {
            object.overs.push(over);
            object.owners.retain(|owner| *owner != change.queue);
            object.owners.push(change.queue);
        }
    }

    /// Windows that may lie in a region.
    pub(super) fn windows_of(
        &self,
        node: usize,
        region: Region,
    ) -> impl Iterator<Item = Region> + '_ {
        let all = self.0.iter().filter(move |((place, name), object)| {
            *place == node && matches!(name, Region::Window(_)) && object.overs.contains(&region)
        });
        all.map(|((_, name), _)| *name)
    }

    /// Whether windows lie in a region, as a request of a queue finds them.
    pub(super) fn windows_over(&self, node: usize, region: Region, queue: Option<Queue>) -> Use {
        let found = self.windows_of(node, region).map(|window| {
            let object = self.get(node, window);
            match (object.seen_by(queue), object.overs.len()) {
                (Use::Valid, 2..) => Use::Unsure,
                (found, _) => found,
            }
        });
        found.reduce(surest).unwrap_or(Use::Gone)
    }

    /// Everything has ended, and `succeeded` says which changes were made.
    pub(super) fn settle(&mut self, succeeded: impl Fn(&Change) -> bool) {
        for object in self.0.values_mut() {
            let Some(last) = object.changes.last().copied() else {
                continue;
            };
            if !object.changes.iter().all(&succeeded) {
                continue;
            }
            let ordered = object.changes.iter().all(|other| other.queue == last.queue);
            object.resolve(if ordered { last.to } else { Use::Unsure });
        }
    }

    /// A queue pair is gone: its windows are free, and of its other requests it is not known what they did. The
    /// regions of its node that may have changed by that.
    pub(super) fn leave(&mut self, queue: Queue) -> Vec<(usize, Region)> {
        let mut changed = Vec::new();
        for (place, object) in &mut self.0 {
            let own = object.changes.iter().any(|change| change.queue == queue);
            let foreign = object.changes.iter().any(|change| change.queue != queue);
            let others = object.owners.iter().any(|owner| *owner != queue);
            let bound = object.owners.contains(&queue);
            object.owners.retain(|owner| *owner != queue);
            if matches!(place.1, Region::Window(_)) && (own || bound) {
                // A change of the peer, too, has nothing left to change.
                let to = if foreign || others {
                    Use::Unsure
                } else {
                    Use::Gone
                };
                object.changes.retain(|change| change.queue != queue);
                match object.changes.is_empty() {
                    true => object.resolve(to),
                    false => object.settled = Use::Unsure,
                }
            } else if own || object.silent == Some(queue) {
                object.changes.retain(|change| change.queue != queue);
                object.settled = Use::Unsure;
                changed.push(*place);
            }
        }
        changed
    }
}

/// Of two windows, what is known of there being one.
fn surest(one: Use, other: Use) -> Use {
    match (one, other) {
        (Use::Valid, _) | (_, Use::Valid) => Use::Valid,
        (Use::Gone, Use::Gone) => Use::Gone,
        _ => Use::Unsure,
    }
}
