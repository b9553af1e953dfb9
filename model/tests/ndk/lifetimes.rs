//! Creates and closes, in all orders.

use tandem_model::abi::{EventKind, Status, WqeOpcode};
use tandem_model::ndk::{
    ArmType, MrUse, NdkError, Notification, NtStatus, Object, OpFlags, QpParameters,
};

use crate::fake::{Bed, COMPLETION, CQ_CONTEXT_VALUE, cqe, srq_parameters};

/// Number of the second queue pair.
const SECOND: u32 = 3;

/// One of each kind; the first queue pair with a request outstanding, the second on the shared queue.
fn objects(bed: &mut Bed) -> [Object; 6] {
    let (pd, cq) = (bed.pd, bed.cq);
    let srq = bed.nic.create_srq(pd, &srq_parameters()).unwrap();
    let parameters = QpParameters::new(cq, cq);
    let second = bed.nic.create_qp_with_srq(pd, srq, &parameters).unwrap();
    let mr = bed.nic.create_mr(pd, MrUse::Register).unwrap();
    bed.send(1, OpFlags::NONE).unwrap();
    bed.nic.arm_cq(cq, ArmType::Any).unwrap();
    [
        Object::Pd(pd),
        Object::Cq(cq),
        Object::Srq(srq),
        Object::Qp(bed.qp),
        Object::Qp(second),
        Object::Mr(mr),
    ]
}

/// Places of objects and of those that rely on them.
const RELATIONS: [(usize, usize); 7] = [(0, 2), (0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (2, 4)];

fn close(bed: &mut Bed, object: Object) -> Result<NtStatus, NdkError> {
    match object {
        Object::Pd(pd) => bed.nic.close_pd(pd),
        Object::Cq(cq) => bed.nic.close_cq(cq),
        Object::Srq(srq) => bed.nic.close_srq(srq),
        Object::Qp(qp) => bed.nic.close_qp(qp),
        Object::Mr(mr) => bed.nic.close_mr(mr),
        Object::Mw(mw) => bed.nic.close_mw(mw),
        other => panic!("{other:?}"),
    }
}

/// All orders of six.
fn orders() -> Vec<Vec<usize>> {
    (0..6).fold(vec![vec![]], |orders, next| {
        let insert = |order: Vec<usize>| {
            (0..=order.len()).map(move |place| {
                let mut longer = order.clone();
                longer.insert(place, next);
                longer
            })
        };
        orders.into_iter().flat_map(insert).collect()
    })
}

/// What became of the objects: closes that are done, and notifications of the completion queue, in their order.
#[derive(Default)]
struct Timeline {
    told: Vec<Notification>,
    closed: Vec<Object>,
    notified_after_close: bool,
}

impl Timeline {
    fn take(&mut self, bed: &mut Bed) {
        for notification in bed.nic.drain_events().unwrap() {
            match notification {
                Notification::Closed(object) => self.closed.push(object),
                Notification::Cq { cq, .. } => {
                    self.notified_after_close |= self.closed.contains(&Object::Cq(cq));
                }
                _ => {}
            }
            self.told.push(notification);
        }
    }
}

/// Whatever the order: a close succeeds or is pending; a pending one is told once when it is done, one that succeeded is
/// not; no object is closed before those that rely on it; nothing is told of an object after that.
// Covers: NDK-CLS-1, NDK-CLS-2, NDK-CLS-3, NDK-CLS-5, NDK-OBJ-4, NDK-OBJ-5, NDK-OBJ-6, NDK-OBJ-9
#[test]
fn ndk_obj_6_closes_in_all_orders() {
    for order in orders() {
        let mut bed = Bed::new();
        let objects = objects(&mut bed);
        let mut timeline = Timeline::default();
        let mut pending = Vec::new();
        for place in &order {
            let object = objects[*place];
            match close(&mut bed, object) {
                Ok(NtStatus::SUCCESS) => timeline.closed.push(object),
                Ok(NtStatus::PENDING) => pending.push(object),
                other => panic!("{order:?}: {object:?}: {other:?}"),
            }
            timeline.take(&mut bed);
        }
        // Both queue pairs wait for the engine.
        let flushed = cqe(bed.qpn, 0, WqeOpcode::Send, Status::Flushed);
        bed.complete(flushed);
        let hal = bed.nic.hal_mut();
        hal.event(COMPLETION, 0, 0);
        hal.event(EventKind::LastWqe as u8, 0, SECOND);
        timeline.take(&mut bed);
        // Late ones.
        bed.nic.hal_mut().event(COMPLETION, 0, 0);
        timeline.take(&mut bed);

        let told_closed = |object: &Object| {
            let closed = Notification::Closed(*object);
            timeline.told.iter().filter(|told| **told == closed).count()
        };
        for (place, object) in objects.iter().enumerate() {
            let times = usize::from(pending.contains(object));
            assert_eq!(told_closed(object), times, "{order:?}: {place}");
        }
        let at = |place: usize| {
            let object = objects[place];
            let found = timeline.closed.iter().position(|closed| *closed == object);
            found.unwrap_or_else(|| panic!("{order:?}: {place} is open"))
        };
        for (antecedent, successor) in RELATIONS {
            assert!(at(successor) < at(antecedent), "{order:?}");
        }
        assert!(!timeline.notified_after_close, "{order:?}");
        let fired = Notification::Cq {
            cq: bed.cq,
            context: CQ_CONTEXT_VALUE,
            status: NtStatus::SUCCESS,
        };
        assert!(timeline.told.contains(&fired), "{order:?}");
    }
}

/// Creates are done when they return, with the object or without; nothing is told of them later.
// Covers: NDK-CRT-2, NDK-CRT-3
#[test]
fn ndk_crt_3_creates_are_done_inline() {
    let mut bed = Bed::new();
    let made = objects(&mut bed);
    for object in made {
        assert!(bed.nic.object(object).is_ok());
    }
    let failed = [
        bed.nic.create_cq(0, 0).err(),
        bed.nic.create_cq(u32::MAX, 0).err(),
        bed.nic.create_srq(bed.pd, &srq_parameters()).err(),
    ];
    let statuses = failed.map(|error| error.and_then(|error| error.status()));
    use NtStatus as S;
    let expected = [
        S::INVALID_PARAMETER,
        S::INVALID_PARAMETER,
        S::INSUFFICIENT_RESOURCES,
    ];
    assert_eq!(statuses, expected.map(Some));
    assert_eq!(bed.nic.drain_events(), Ok(vec![]));
}
