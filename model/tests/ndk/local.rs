//! Bind, FastRegister, Invalidate: checks at posting, and what reaches the engine.

use tandem_model::abi::{Status, Table, WqeOpcode};
use tandem_model::ndk::{
    AdapterConfig, InvalidateTarget, Mdl, Mr, MrFlags, MrUse, Mw, NdkError, Notification, NtStatus,
    Object, OpFlags, OperationType, Provider, QpParameters,
};

use crate::fake::{Bed, CTX_COMMAND, DB_SQ, Fake, cqe};

const NONE: OpFlags = OpFlags::NONE;
const PAGE: u64 = 0x1000;

fn fails(status: NtStatus) -> Result<(), NdkError> {
    Err(status.into())
}

/// A registered region of 0x3000 bytes at 0x20_0000.
fn region(bed: &mut Bed, flags: MrFlags) -> Mr {
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let chain = [Mdl::identity(0x20_0000, 0x3000)];
    bed.nic.register_mr(mr, &chain, 0x3000, flags).unwrap();
    mr
}

fn fast(bed: &mut Bed, remote_access: bool) -> Mr {
    let mr = bed.nic.create_mr(bed.pd, MrUse::FastRegister).unwrap();
    bed.nic
        .initialize_fast_register_mr(mr, 4, remote_access)
        .unwrap();
    mr
}

fn window(bed: &mut Bed) -> Mw {
    bed.nic.create_mw(bed.pd).unwrap()
}

/// Registers two pages at 0x8010.
fn register(bed: &mut Bed, mr: Mr, flags: OpFlags) -> Result<(), NdkError> {
    let pages = [5 * PAGE, 2 * PAGE];
    bed.nic
        .fast_register(bed.qp, 9, mr, &pages, 0x10, 0x1FF0, 0x8010, flags)
}

/// NDK-BIND-11, NDK-FREG-16, NDK-INVAL-6: before any other check.
// Covers: NDK-BIND-11, NDK-FREG-16, NDK-INVAL-6
#[test]
fn ndk_bind_11_not_connected() {
    let mut nic = Provider::open(Fake::new(), AdapterConfig::default()).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    let qpn = nic.qp_number(qp).unwrap();
    let mut bed = Bed {
        nic,
        pd,
        cq,
        qp,
        qpn,
    };
    let (mr, mw) = (fast(&mut bed, true), window(&mut bed));
    let flags = OpFlags(0x8000_0000);
    let expected = fails(NtStatus::CONNECTION_INVALID);
    assert_eq!(bed.nic.bind(qp, 0, mr, mw, 0, 0, flags), expected);
    assert_eq!(register(&mut bed, mr, flags), expected);
    let target = InvalidateTarget::Mw(mw);
    assert_eq!(bed.nic.invalidate(qp, 0, target, flags), expected);
}

/// Reading O6, NDK-FREG-13, -14, NDK-DEFER-1: all combinations of each operation's flags.
// Covers: NDK-FREG-13, NDK-FREG-14
#[test]
fn o6_flags_of_local_requests() {
    for flags in 0..0x800u32 {
        let mut bed = Bed::new();
        let (mr, mw) = (
            region(&mut bed, MrFlags::ALLOW_LOCAL_WRITE),
            window(&mut bed),
        );
        let other = fast(&mut bed, true);
        let of = |good: bool| {
            if good {
                Ok(())
            } else {
                fails(NtStatus::INVALID_PARAMETER)
            }
        };
        let (local, remote) = (flags & 0x10 != 0, flags & 0x20 != 0);
        let word = OpFlags(flags);
        let outcome = bed.nic.bind(bed.qp, 0, mr, mw, 0x20_0000, 1, word);
        assert_eq!(outcome, of(flags & !0x23B == 0 && local == remote));
        let outcome = register(&mut bed, other, word);
        assert_eq!(outcome, of(flags & !0x2BB == 0 && (local || !remote)));
        let target = InvalidateTarget::Mw(mw);
        let outcome = bed.nic.invalidate(bed.qp, 0, target, word);
        assert_eq!(outcome, of(flags & !0x203 == 0), "{flags:#x}");
    }
}

// Covers: NDK-BIND-2, NDK-BIND-7, NDK-BIND-8
#[test]
fn ndk_bind_7_rights_and_range() {
    let mut bed = Bed::new();
    let mr = region(&mut bed, MrFlags::ALLOW_REMOTE_READ);
    let mw = window(&mut bed);
    let write = OpFlags::ALLOW_REMOTE_WRITE;
    let outcome = bed.nic.bind(bed.qp, 0, mr, mw, 0x20_0000, 1, write);
    assert_eq!(outcome, fails(NtStatus::ACCESS_VIOLATION));
    let read = OpFlags::ALLOW_REMOTE_READ;
    for (address, length) in [
        (0x20_0000, 0),
        (0x1F_FFFF, 1),
        (0x20_0000, 0x3001),
        (0x20_2FFF, 2),
        (0x20_3000, 1),
        (0x20_0001, u64::MAX),
        (0, 1),
    ] {
        let outcome = bed.nic.bind(bed.qp, 0, mr, mw, address, length, read);
        assert_eq!(outcome, fails(NtStatus::INVALID_PARAMETER));
    }
    let no_memory = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let outcome = bed.nic.bind(bed.qp, 0, no_memory, mw, 0x20_0000, 1, read);
    assert_eq!(outcome, fails(NtStatus::INVALID_PARAMETER));
    // None of them was posted, or gave the window a token.
    assert_eq!(bed.nic.hal().written(DB_SQ), []);
    let outcome = bed.nic.remote_token_from_mw(mw);
    assert_eq!(outcome, Err(NtStatus::INVALID_DEVICE_STATE.into()));
    let outcome = bed.nic.bind(bed.qp, 0, mr, mw, 0x20_2FFF, 1, read);
    assert_eq!(outcome, Ok(()));
}

// Covers: NDK-BIND-1, NDK-BIND-9
#[test]
fn ndk_bind_1_the_entry() {
    let mut bed = Bed::new();
    let mr = region(&mut bed, MrFlags::ALLOW_LOCAL_WRITE);
    let mw = window(&mut bed);
    let flags = OpFlags::ALLOW_REMOTE_WRITE | OpFlags::READ_FENCE | OpFlags::SILENT_SUCCESS;
    bed.nic
        .bind(bed.qp, 0, mr, mw, 0x20_0123, 0x456, flags)
        .unwrap();
    let token = bed.nic.remote_token_from_mw(mw).unwrap().to_engine();
    let wqe = bed.nic.hal().sq_wqe(bed.qpn, 0);
    let fields = [
        "opcode",
        "silent",
        "read_fence",
        "local_write",
        "remote_read",
        "remote_write",
        "length",
        "remote_address",
    ];
    assert_eq!(
        fields.map(|field| wqe.get(field)),
        [5, 1, 1, 0, 0, 1, 0x456, 0x20_0123]
    );
    let region = bed.nic.local_token_from_mr(mr).unwrap();
    assert_eq!(wqe.get("remote_token"), region.0.into());
    assert_eq!(wqe.get("new_key"), u128::from(token & 0xFF));
    // The key of before is the one in the table.
    let entry = bed.nic.hal().entry(Table::Token, token >> 8);
    assert_eq!(["valid", "kind", "pd"].map(|f| entry.get(f)), [0, 2, 1]);
    let before = u128::from(token & !0xFF) | entry.get("key");
    assert_eq!(wqe.get("object_token"), before);
    assert_ne!(wqe.get("object_token"), token.into());
}

// Covers: NDK-FINI-1, NDK-FINI-3, NDK-TOK-1
#[test]
fn ndk_fini_3_initialisation() {
    let mut bed = Bed::new();
    let mr = bed.nic.create_mr(bed.pd, MrUse::FastRegister).unwrap();
    let state = NtStatus::INVALID_DEVICE_STATE;
    assert_eq!(register(&mut bed, mr, NONE), fails(state));
    assert_eq!(bed.nic.local_token_from_mr(mr), Err(state.into()));
    let limit = fails(NtStatus::IMPLEMENTATION_LIMIT);
    for count in [0, 1025, u32::MAX] {
        let outcome = bed.nic.initialize_fast_register_mr(mr, count, true);
        assert_eq!(outcome, limit);
    }
    let advertised = bed.nic.query_adapter_info().frmr_page_count;
    assert!(advertised >= 16);
    let outcome = bed.nic.initialize_fast_register_mr(mr, advertised, true);
    assert_eq!(outcome, Ok(()));
    let token = bed.nic.local_token_from_mr(mr).unwrap();
    let entry = bed.nic.hal().entry(Table::Token, token.0 >> 8);
    let fields = ["valid", "kind", "pd", "max_pages"];
    assert_eq!(
        fields.map(|field| entry.get(field)),
        [0, 1, 1, advertised.into()]
    );
    let outcome = bed.nic.initialize_fast_register_mr(mr, 1, true);
    assert_eq!(outcome, fails(state));
    let normal = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let wrong = fails(NtStatus::INVALID_DEVICE_REQUEST);
    let outcome = bed.nic.initialize_fast_register_mr(normal, 1, true);
    assert_eq!(outcome, wrong);
    assert_eq!(register(&mut bed, normal, NONE), wrong);
}

/// Reading O23.
// Covers: NDK-FREG-3, NDK-FREG-10
#[test]
fn ndk_freg_10_rights_and_range() {
    let mut bed = Bed::new();
    let mr = fast(&mut bed, false);
    let denied = fails(NtStatus::ACCESS_VIOLATION);
    for flags in [OpFlags::ALLOW_REMOTE_READ, OpFlags::ALLOW_REMOTE_WRITE] {
        assert_eq!(register(&mut bed, mr, flags), denied);
    }
    for (pages, fbo, length, base) in [
        (&[][..], 0, 1, 0),
        (&[0x1000; 5], 0, 1, 0),
        (&[0x1000, 0x2001], 0, 1, 0),
        (&[0x1000], 0x1000, 1, 0x1000),
        (&[0x1000], 0x10, 1, 0x8000),
        (&[0x1000], 0x10, 1, 0),
        (&[0x1000], 0, 0, 0x8000),
        (&[0x1000], 0x10, 0xFF1, 0x8010),
        (&[0x1000, 0x2000], 0, 0x1001, u64::MAX - 0xFFF),
    ] {
        let outcome = bed
            .nic
            .fast_register(bed.qp, 0, mr, pages, fbo, length, base, NONE);
        assert_eq!(outcome, fails(NtStatus::INVALID_PARAMETER));
    }
    assert_eq!(bed.nic.hal().written(DB_SQ), []);
    let flags = OpFlags::ALLOW_LOCAL_WRITE;
    assert_eq!(register(&mut bed, mr, flags), Ok(()));
}

/// NDK-FREG-1, -4, -5, -9, -11; the list is a copy, and stays until the request is done.
// Covers: NDK-FREG-1
#[test]
fn ndk_freg_1_the_entry_and_its_list() {
    let mut bed = Bed::new();
    let mr = fast(&mut bed, true);
    let before = bed.nic.local_token_from_mr(mr).unwrap();
    register(&mut bed, mr, OpFlags::ALLOW_REMOTE_READ).unwrap();
    let token = bed.nic.local_token_from_mr(mr).unwrap();
    assert_ne!(token, before);
    let remote = bed.nic.remote_token_from_mr(mr).unwrap();
    assert_eq!(remote.to_engine(), token.0);
    let wqe = bed.nic.hal().sq_wqe(bed.qpn, 0);
    let fields = [
        "opcode",
        "local_write",
        "remote_read",
        "remote_write",
        "page_count",
        "page_offset",
        "length",
        "remote_address",
        "object_token",
    ];
    assert_eq!(
        fields.map(|field| wqe.get(field)),
        [6, 0, 1, 0, 2, 0x10, 0x1FF0, 0x8010, token.0.into()]
    );
    let list = |bed: &Bed, index| bed.nic.hal().sq_sge(bed.qpn, index, 0).address;
    let first = list(&bed, 0);
    assert_eq!(first % 64, 0);
    let octets = bed.nic.hal().bytes(first, 16);
    assert_eq!(octets[..8], (5 * PAGE).to_le_bytes());
    assert_eq!(octets[8..], (2 * PAGE).to_le_bytes());
    // Another request has another list, until the first is done.
    register(&mut bed, mr, NONE).unwrap();
    let second = list(&bed, 1);
    assert!(second.abs_diff(first) >= 64);
    bed.complete(cqe(bed.qpn, 0, WqeOpcode::FastRegister, Status::Success));
    assert_eq!(bed.poll()[0].operation, OperationType::FastRegister);
    register(&mut bed, mr, NONE).unwrap();
    assert_eq!(list(&bed, 2), first);
}

/// NDK-INVAL-3.
#[test]
fn ndk_inval_3_targets() {
    let mut bed = Bed::new();
    let normal = region(&mut bed, MrFlags::NONE);
    let target = InvalidateTarget::Mr(normal);
    let outcome = bed.nic.invalidate(bed.qp, 0, target, NONE);
    assert_eq!(outcome, fails(NtStatus::INVALID_PARAMETER));
    let bare = bed.nic.create_mr(bed.pd, MrUse::FastRegister).unwrap();
    let outcome = bed
        .nic
        .invalidate(bed.qp, 0, InvalidateTarget::Mr(bare), NONE);
    assert_eq!(outcome, fails(NtStatus::INVALID_DEVICE_STATE));
    let mr = fast(&mut bed, true);
    let outcome = bed
        .nic
        .invalidate(bed.qp, 0, InvalidateTarget::Mr(mr), NONE);
    assert_eq!(outcome, Ok(()));
    let wqe = bed.nic.hal().sq_wqe(bed.qpn, 0);
    let token = bed.nic.local_token_from_mr(mr).unwrap();
    assert_eq!(wqe.get("opcode"), 7);
    assert_eq!(wqe.get("object_token"), token.0.into());
}

/// NDK-DEFER-5, -8: the first is indicated while the second fails, and completes alone.
// Covers: NDK-DEFER-5, NDK-DEFER-8
#[test]
fn ndk_defer_8_the_second_fails() {
    let mut bed = Bed::new();
    let mr = fast(&mut bed, true);
    assert_eq!(register(&mut bed, mr, OpFlags::DEFER), Ok(()));
    assert_eq!(bed.nic.hal().written(DB_SQ), []);
    let bad = OpFlags::DEFER | OpFlags::INLINE;
    assert_eq!(
        register(&mut bed, mr, bad),
        fails(NtStatus::INVALID_PARAMETER)
    );
    assert_eq!(bed.nic.hal().written(DB_SQ), [bed.qpn << 16 | 1]);
    bed.complete(cqe(bed.qpn, 0, WqeOpcode::FastRegister, Status::Success));
    assert_eq!(bed.contexts(), [9]);
}

/// Readings O8, O18: what the engine refuses, by what it found.
#[test]
fn o18_statuses() {
    use NtStatus as S;
    // Fault numbers of the ABI: index, key, domain, right, bounds, kind, state, WQE length, queue pair, page list.
    let faults = [1u32, 2, 3, 4, 5, 6, 7, 10, 11, 12];
    let (denied, state, internal) = (
        S::ACCESS_VIOLATION,
        S::INVALID_DEVICE_REQUEST,
        S::INTERNAL_ERROR,
    );
    let bind = |fault| if fault == 7 { state } else { denied };
    let other = |fault| match fault {
        1 | 2 | 6 | 7 | 11 => state,
        3 => denied,
        _ => internal,
    };
    for fault in faults {
        for opcode in [
            WqeOpcode::Bind,
            WqeOpcode::FastRegister,
            WqeOpcode::Invalidate,
        ] {
            let mut bed = Bed::new();
            let (mr, mw) = (region(&mut bed, MrFlags::NONE), window(&mut bed));
            let (status, expected) = match opcode {
                WqeOpcode::Bind => {
                    bed.nic.bind(bed.qp, 0, mr, mw, 0x20_0000, 1, NONE).unwrap();
                    (Status::Bind, bind(fault))
                }
                WqeOpcode::FastRegister => {
                    let mr = fast(&mut bed, true);
                    register(&mut bed, mr, NONE).unwrap();
                    (Status::LocalQpOperation, other(fault))
                }
                _ => {
                    let target = InvalidateTarget::Mw(mw);
                    bed.nic.invalidate(bed.qp, 0, target, NONE).unwrap();
                    (Status::LocalQpOperation, other(fault))
                }
            };
            bed.complete(cqe(bed.qpn, 0, opcode, status).with("error_code", fault));
            assert_eq!(bed.poll()[0].status, expected, "{opcode:?}, fault {fault}");
        }
    }
}

/// A flushed request may have been executed: what it may have made valid is made free, but for what completions told
/// was valid before.
#[test]
fn flushed_requests_leave_nothing_valid() {
    let commands = |bed: &Bed| bed.nic.hal().written(CTX_COMMAND).len();
    let flushed = |bed: &mut Bed, index, opcode| {
        let before = commands(bed);
        bed.complete(cqe(bed.qpn, index, opcode, Status::Flushed));
        assert_eq!(bed.poll()[0].status, NtStatus::CANCELLED);
        commands(bed) - before
    };
    let (bind, register_it) = (WqeOpcode::Bind, WqeOpcode::FastRegister);
    for told in [false, true] {
        let mut bed = Bed::new();
        let (mr, mw) = (region(&mut bed, MrFlags::NONE), window(&mut bed));
        for index in 0..2 {
            bed.nic.bind(bed.qp, 0, mr, mw, 0x20_0000, 1, NONE).unwrap();
            if index == 0 && told {
                bed.complete(cqe(bed.qpn, 0, bind, Status::Success));
                bed.poll();
            } else {
                assert_eq!(flushed(&mut bed, index, bind), usize::from(!told));
            }
        }
        let mut bed = Bed::new();
        let mr = fast(&mut bed, true);
        for index in 0..2 {
            register(&mut bed, mr, NONE).unwrap();
            if index == 0 && told {
                bed.complete(cqe(bed.qpn, 0, register_it, Status::Success));
                bed.poll();
            } else {
                assert_eq!(flushed(&mut bed, index, register_it), usize::from(!told));
            }
        }
    }
    // A region under a window that was flushed too, and an invalidation behind both: once nothing else may change it.
    let mut bed = Bed::new();
    let (mr, mw) = (fast(&mut bed, true), window(&mut bed));
    register(&mut bed, mr, NONE).unwrap();
    bed.nic.bind(bed.qp, 0, mr, mw, 0x8010, 1, NONE).unwrap();
    bed.nic
        .invalidate(bed.qp, 0, InvalidateTarget::Mw(mw), NONE)
        .unwrap();
    assert_eq!(flushed(&mut bed, 0, register_it), 0);
    assert_eq!(flushed(&mut bed, 1, bind), 1);
    assert_eq!(flushed(&mut bed, 2, WqeOpcode::Invalidate), 1);
}

/// NDK-OBJ-4, -5: the domain waits for its windows.
// Covers: NDK-OBJ-4, NDK-OBJ-5
#[test]
fn ndk_obj_5_a_domain_waits_for_its_windows() {
    let mut bed = Bed::new();
    let pd = bed.nic.create_pd().unwrap();
    let mw = bed.nic.create_mw(pd).unwrap();
    assert_eq!(bed.nic.close_pd(pd), Ok(NtStatus::PENDING));
    assert_eq!(bed.nic.close_mw(mw), Ok(NtStatus::SUCCESS));
    let events = bed.nic.poll_events().unwrap();
    assert_eq!(events, [Notification::Closed(Object::Pd(pd))]);
    let stale = bed.nic.close_mw(mw);
    assert!(matches!(stale, Err(NdkError::StaleHandle { .. })));
}
