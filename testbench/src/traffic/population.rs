//! The windows and regions that live short lives: how many there are, and how they come and go as objects.

use tandem_model::ndk::{MrUse, NdkError, NtStatus};

use super::dice::Dice;
use super::lane::Lane;
use super::lives::{Holder, Lives, Object, Stage};
use super::side::Side;
use super::{Result, Traffic, TrafficError};
use crate::world::{World, WorldError};

/// Of a node: windows and regions, and pages of these.
const OBJECTS: u32 = 120;
const PAGES: u32 = 500;
/// Of a queue pair: windows and regions.
const MOST: u32 = 6;
/// Pages of a region.
const REGION_PAGES: [u32; 6] = [1, 2, 3, 5, 9, 17];

/// Creates them all, some for each queue pair.
pub(super) fn create(
    world: &mut World,
    sides: &[Side],
    lanes: &[Lane],
    late: bool,
    dice: &mut Dice,
) -> std::result::Result<Lives, WorldError> {
    let mut lives = Lives::new(late);
    let of_node = (lanes.len() / sides.len().max(1)).max(1) as u32;
    let count = (OBJECTS / of_node).clamp(2, MOST);
    let regions = count.div_ceil(2);
    for (lane, its) in lanes.iter().enumerate() {
        for turn in 0..count {
            let most = PAGES / (of_node * regions);
            let made = make(world, &sides[its.node], turn < regions, most, dice);
            let object = made.map_err(|error| world.nodes[its.node].error(error))?;
            lives.holders.push(Holder {
                lane,
                object,
                stage: Stage::Free,
            });
        }
    }
    Ok(lives)
}

fn make(
    world: &mut World,
    side: &Side,
    region: bool,
    most: u32,
    dice: &mut Dice,
) -> std::result::Result<Object, NdkError> {
    let nic = &mut world.nodes[side.place].nic;
    if !region {
        return Ok(Object::Window(nic.create_mw(side.pd)?));
    }
    let pages = REGION_PAGES[dice.below(REGION_PAGES.len() as u32) as usize].min(most.max(1));
    let remote = dice.percent(85);
    let mr = nic.create_mr(side.pd, MrUse::FastRegister)?;
    nic.initialize_fast_register_mr(mr, pages, remote)?;
    Ok(Object::Region { mr, pages, remote })
}

impl Traffic {
    /// While nothing is under way: some that are free are closed, and others take their place.
    pub(super) fn replace_some(&mut self) -> Result {
        for index in 0..self.lives.holders.len() {
            let holder = &self.lives.holders[index];
            let (object, node) = (holder.object, self.lanes[holder.lane].node);
            if holder.stage != Stage::Free || !self.dice.percent(10) {
                continue;
            }
            self.close_object(node, object)?;
            let (region, most) = match object {
                Object::Region { pages, .. } => (true, pages),
                Object::Window(_) => (false, 0),
            };
            let made = make(
                &mut self.world,
                &self.sides[node],
                region,
                most,
                &mut self.dice,
            );
            self.lives.holders[index].object = self.done(node, "making an object", made)?;
        }
        Ok(())
    }

    /// The end: what still lives is looked at, and everything is closed, windows first.
    pub(super) fn end_lives(&mut self) -> Result {
        while let Some(life) = self.lives.take_newest() {
            self.look_back(life)?;
        }
        let holders = std::mem::take(&mut self.lives.holders);
        for windows in [true, false] {
            for holder in &holders {
                if matches!(holder.object, Object::Window(_)) == windows {
                    self.close_object(self.lanes[holder.lane].node, holder.object)?;
                }
            }
        }
        Ok(())
    }

    /// Closes an object about which no request is under way: it must be closed at once.
    fn close_object(&mut self, node: usize, object: Object) -> Result {
        let nic = &mut self.world.nodes[node].nic;
        let closed = match object {
            Object::Region { mr, .. } => nic.close_mr(mr),
            Object::Window(mw) => nic.close_mw(mw),
        };
        match self.done(node, "a close", closed)? {
            NtStatus::SUCCESS => Ok(()),
            status => Err(TrafficError::Wrong(format!(
                "closing {object:?} of node {node}, which nobody uses, returned {status}"
            ))),
        }
    }
}
