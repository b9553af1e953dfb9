//! Calls about windows, regions and shared queues that must fail, each with its status.

use tandem_model::ndk::{InvalidateTarget, NdkError, NtStatus, OpFlags, PAGE_SIZE, RemoteToken};

use super::lives::Object;
use super::{Result, Traffic, TrafficError};

impl Traffic {
    /// One of them. `false` if the queue pair has nothing that it could be about.
    pub(super) fn refused_local(&mut self, lane: usize) -> Result<bool> {
        let (node, qp, shared) = {
            let lane = &self.lanes[lane];
            (lane.node, lane.qp, lane.shared.is_some())
        };
        let mine = || {
            self.lives
                .holders
                .iter()
                .filter(|holder| holder.lane == lane)
        };
        let region = mine().find_map(|holder| match holder.object {
            Object::Region { mr, pages, remote } => Some((mr, pages, remote)),
            Object::Window(_) => None,
        });
        let window = mine().find_map(|holder| match holder.object {
            Object::Window(mw) => Some(mw),
            Object::Region { .. } => None,
        });
        let (Some((mr, most, remote)), Some(mw)) = (region, window) else {
            return Ok(false);
        };
        let side = &self.sides[node];
        let (source, landing) = (side.source_mr, side.landing_mr);
        let (base, _) = side.source_remote(&side.source(&mut self.dice, 1, false));
        let element = side.landing_element();
        let nic = &mut self.world.nodes[node].nic;
        let read = OpFlags::ALLOW_REMOTE_READ;
        let page = PAGE_SIZE;
        let (outcome, status) = match self.dice.below(12) {
            0 => (
                nic.bind(qp, 0, source, mw, base, 1, read | OpFlags::INLINE),
                NtStatus::INVALID_PARAMETER,
            ),
            1 => (
                nic.bind(qp, 0, source, mw, base, 1 << 30, read),
                NtStatus::INVALID_PARAMETER,
            ),
            2 => (
                nic.bind(qp, 0, source, mw, base, 1, OpFlags::ALLOW_REMOTE_WRITE),
                NtStatus::ACCESS_VIOLATION,
            ),
            3 => (
                nic.bind(qp, 0, landing, mw, base, 1, OpFlags::ALLOW_LOCAL_WRITE),
                NtStatus::INVALID_PARAMETER,
            ),
            4 => (
                nic.fast_register(qp, 0, mr, &[page], 1, 1, page, OpFlags::NONE),
                NtStatus::INVALID_PARAMETER,
            ),
            5 => {
                let pages = vec![page; most as usize + 1];
                (
                    nic.fast_register(qp, 0, mr, &pages, 0, 1, page, OpFlags::NONE),
                    NtStatus::INVALID_PARAMETER,
                )
            }
            6 => (
                nic.fast_register(qp, 0, mr, &[page], 0, page + 1, page, OpFlags::DEFER),
                NtStatus::INVALID_PARAMETER,
            ),
            7 if !remote => (
                nic.fast_register(qp, 0, mr, &[page], 0, 1, page, read),
                NtStatus::ACCESS_VIOLATION,
            ),
            8 => (
                nic.fast_register(qp, 0, landing, &[page], 0, 1, page, read),
                NtStatus::INVALID_DEVICE_REQUEST,
            ),
            9 => (
                nic.invalidate(qp, 0, InvalidateTarget::Mr(landing), OpFlags::DEFER),
                NtStatus::INVALID_PARAMETER,
            ),
            10 if shared => (nic.receive(qp, 0, &[]), NtStatus::INVALID_DEVICE_REQUEST),
            _ => {
                let flags = OpFlags::RDMA_READ_LOCAL_INVALIDATE;
                (
                    nic.read(qp, 0, &[element], base, RemoteToken(0), flags),
                    NtStatus::INVALID_PARAMETER,
                )
            }
        };
        self.refused_with(node, outcome, status)?;
        Ok(true)
    }

    /// A call that must have failed with that status.
    pub(super) fn refused_with(
        &mut self,
        node: usize,
        outcome: std::result::Result<(), NdkError>,
        status: NtStatus,
    ) -> Result {
        match NtStatus::of(&outcome) {
            Ok(got) if got == status => {
                self.report.refused += 1;
                Ok(())
            }
            Ok(got) => Err(TrafficError::Wrong(format!(
                "a call that must be refused with {status} returned {got}"
            ))),
            Err(error) => Err(self.world.nodes[node].error(error.clone()).into()),
        }
    }
}
