//! Memory windows, fast registration, invalidation: what the peer can do, and what the requests end with.

use tandem_model::hal::Hal;
use tandem_model::ndk::{
    InvalidateTarget, Mr, MrUse, Mw, Notification, NtStatus, Object, OpFlags, OperationType,
    RemoteToken, Sge,
};

use crate::world::{BUFFER, Node, PLAIN, VA, World};
use crate::{NONE, SILENT, each, pattern};

use NtStatus as S;
use OperationType as T;

const READ: OpFlags = OpFlags::ALLOW_REMOTE_READ;
const WRITE: OpFlags = OpFlags::ALLOW_REMOTE_WRITE;
/// Where fast regions begin for tokens.
const BASE: u64 = 0x7000_0000_0123;

fn window(node: &mut Node) -> Mw {
    node.nic.create_mw(node.pd).unwrap()
}

fn fast(node: &mut Node, pages: u32) -> Mr {
    let mr = node.nic.create_mr(node.pd, MrUse::FastRegister).unwrap();
    node.nic
        .initialize_fast_register_mr(mr, pages, true)
        .unwrap();
    mr
}

/// Posts a bind of `length` bytes of the buffer from `offset` on.
fn bind(node: &mut Node, mw: Mw, offset: u64, length: u64, flags: OpFlags) -> RemoteToken {
    let mr = node.mr;
    node.nic
        .bind(node.qp, 50, mr, mw, VA + offset, length, flags)
        .unwrap();
    node.nic.remote_token_from_mw(mw).unwrap()
}

/// Posts a fast registration of pages 3, 1 and 7 of the buffer.
fn register(node: &mut Node, mr: Mr, flags: OpFlags) -> RemoteToken {
    let pages = [3, 1, 7].map(|page| node.buffer + 4096 * page);
    let length = 3 * 4096 - 0x123;
    node.nic
        .fast_register(node.qp, 60, mr, &pages, 0x123, length, BASE, flags)
        .unwrap();
    node.nic.remote_token_from_mr(mr).unwrap()
}

/// What a write of the peer ends with.
fn write(w: &mut World, length: u32, address: u64, token: RemoteToken) -> NtStatus {
    let sgl = [w.a.sge(0, length)];
    w.a.nic
        .write(w.a.qp, 1, &sgl, address, token, NONE)
        .unwrap();
    w.run();
    w.a.results()[0].2
}

/// What a read of the peer ends with.
fn read(w: &mut World, length: u32, address: u64, token: RemoteToken) -> NtStatus {
    let sgl = [w.a.sge(0, length)];
    w.a.nic.read(w.a.qp, 1, &sgl, address, token, NONE).unwrap();
    w.run();
    w.a.results()[0].2
}

/// NDK-BIND-3 to -6, -9, NDK-TOK-2.
#[test]
fn ndk_bind_5_6_the_peer_uses_a_window() {
    each(&PLAIN, |w| {
        let data = pattern(5000);
        w.a.fill(0, &data);
        let mw = window(&mut w.b);
        let token = bind(&mut w.b, mw, 4000, 5000, READ | WRITE);
        w.run();
        assert_eq!(w.b.results(), [(50, T::Bind, S::SUCCESS)]);
        assert_eq!(write(w, 5000, VA + 4000, token), S::SUCCESS);
        assert_eq!(w.b.bytes(4000, 5000), data);
        w.a.fill(0, &[0; 100]);
        assert_eq!(read(w, 100, VA + 4000 + 4900, token), S::SUCCESS);
        assert_eq!(w.a.bytes(0, 100), data[4900..]);
        assert_eq!(write(w, 1, VA + 9000, token), S::REMOTE_RESOURCES);
    });
    // Each right by itself; zero-based addresses are none.
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        let token = bind(&mut w.b, mw, 0, 100, READ);
        w.run();
        assert_eq!(write(w, 1, VA, token), S::REMOTE_RESOURCES);
    });
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        let token = bind(&mut w.b, mw, 0, 100, WRITE);
        w.run();
        assert_eq!(read(w, 1, VA, token), S::REMOTE_RESOURCES);
    });
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        let token = bind(&mut w.b, mw, 0, 100, READ);
        w.run();
        assert_eq!(read(w, 1, 0, token), S::REMOTE_RESOURCES);
    });
}

/// NDK-INVAL-2, -4, NDK-BIND-9, -10: a chain of silent requests; another token each time.
#[test]
fn ndk_inval_4_a_window_again_and_again() {
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(bind(&mut w.b, mw, 0, 64, READ | SILENT | OpFlags::DEFER));
            w.b.nic
                .invalidate(w.b.qp, 51, InvalidateTarget::Mw(mw), SILENT)
                .unwrap();
        }
        let token = bind(&mut w.b, mw, 8, 64, READ);
        assert!(!seen.contains(&token) && seen[0] != seen[1] && seen[1] != seen[2]);
        w.run();
        assert_eq!(w.b.results(), [(50, T::Bind, S::SUCCESS)]);
        assert_eq!(read(w, 64, VA + 8, token), S::SUCCESS);
        assert_eq!(read(w, 1, VA + 8, seen[2]), S::REMOTE_RESOURCES);
    });
}

/// Reading O8: neither a bound window nor a free one is what the request needs.
#[test]
fn o8_states() {
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        bind(&mut w.b, mw, 0, 64, READ);
        bind(&mut w.b, mw, 0, 64, READ);
        w.run();
        let expected = [
            (50, T::Bind, S::SUCCESS),
            (50, T::Bind, S::INVALID_DEVICE_REQUEST),
        ];
        assert_eq!(w.b.results(), expected);
    });
    each(&PLAIN, |w| {
        let mr = fast(&mut w.b, 3);
        register(&mut w.b, mr, READ);
        register(&mut w.b, mr, READ);
        w.run();
        let expected = [
            (60, T::FastRegister, S::SUCCESS),
            (60, T::FastRegister, S::INVALID_DEVICE_REQUEST),
        ];
        assert_eq!(w.b.results(), expected);
    });
    for of_window in [false, true] {
        each(&PLAIN, |w| {
            let target = if of_window {
                InvalidateTarget::Mw(window(&mut w.b))
            } else {
                InvalidateTarget::Mr(fast(&mut w.b, 3))
            };
            w.b.nic.invalidate(w.b.qp, 7, target, NONE).unwrap();
            w.run();
            let expected = [(7, T::Invalidate, S::INVALID_DEVICE_REQUEST)];
            assert_eq!(w.b.results(), expected);
        });
    }
}

/// NDK-FREG-4, -5, -8, -9, -11, NDK-DEFER-1: pages in any order, used by the next request already.
#[test]
fn ndk_freg_4_pages_in_any_order() {
    each(&PLAIN, |w| {
        let data = pattern(3 * 4096 - 0x123);
        w.a.fill(0, &data);
        let mr = fast(&mut w.b, 3);
        let flags = READ | WRITE | OpFlags::DEFER | OpFlags::RDMA_READ_SINK;
        let token = register(&mut w.b, mr, flags);
        let local = w.b.nic.local_token_from_mr(mr).unwrap();
        w.a.nic.receive(w.a.qp, 2, &[w.a.sge(20_000, 5)]).unwrap();
        w.run();
        let sgl = [Sge {
            address: BASE,
            length: 5,
            token: local,
        }];
        w.b.nic.send(w.b.qp, 61, &sgl, NONE).unwrap();
        w.run();
        let expected = [(60, T::FastRegister, S::SUCCESS), (61, T::Send, S::SUCCESS)];
        assert_eq!(w.b.results(), expected);
        assert_eq!(w.a.results(), [(2, T::Receive, S::SUCCESS)]);
        assert_eq!(write(w, data.len() as u32, BASE, token), S::SUCCESS);
        let (first, rest) = data.split_at(4096 - 0x123);
        assert_eq!(w.b.bytes(3 * 4096 + 0x123, 4096 - 0x123), first);
        assert_eq!(w.b.bytes(4096, 4096), rest[..4096]);
        assert_eq!(w.b.bytes(7 * 4096, 4096), rest[4096..]);
        assert_eq!(read(w, 1, BASE - 1, token), S::REMOTE_RESOURCES);
    });
}

/// NDK-INVAL-4, NDK-FREG-11: after an invalidation the old token is nothing, the new one something.
#[test]
fn ndk_freg_11_register_again() {
    each(&PLAIN, |w| {
        let mr = fast(&mut w.b, 3);
        let old = register(&mut w.b, mr, READ);
        w.b.nic
            .invalidate(w.b.qp, 61, InvalidateTarget::Mr(mr), NONE)
            .unwrap();
        let new = register(&mut w.b, mr, READ);
        assert_ne!(old, new);
        w.run();
        let expected = [
            (60, T::FastRegister, S::SUCCESS),
            (61, T::Invalidate, S::SUCCESS),
            (60, T::FastRegister, S::SUCCESS),
        ];
        assert_eq!(w.b.results(), expected);
        assert_eq!(read(w, 8, BASE, new), S::SUCCESS);
        assert_eq!(read(w, 8, BASE, old), S::REMOTE_RESOURCES);
    });
}

/// NDK-SINV, reading O9: the peer invalidates a window; a region with none bound can be deregistered.
#[test]
fn o9_the_peer_invalidates_a_window() {
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        let token = bind(&mut w.b, mw, 0, BUFFER.into(), READ);
        w.b.nic.receive(w.b.qp, 3, &[]).unwrap();
        w.run();
        assert_eq!(w.b.results(), [(50, T::Bind, S::SUCCESS)]);
        let busy = Err(S::DEVICE_BUSY.into());
        assert_eq!(w.b.nic.deregister_mr(w.b.mr), busy);
        w.a.nic
            .send_and_invalidate(w.a.qp, 4, &[], NONE, token)
            .unwrap();
        w.run();
        assert_eq!(w.b.results(), [(3, T::ReceiveAndInvalidate, S::SUCCESS)]);
        assert_eq!(w.a.results(), [(4, T::Send, S::SUCCESS)]);
        assert_eq!(w.b.nic.deregister_mr(w.b.mr), Ok(()));
        assert_eq!(w.b.nic.close_mw(mw), Ok(S::SUCCESS));
    });
}

/// NDK-FLUSH-2, -3: cancelled, silent or not, deferred or not; the keys are then again those of the engine.
#[test]
fn ndk_flush_3_local_requests() {
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        let mr = fast(&mut w.b, 3);
        let first = bind(&mut w.b, mw, 0, 64, READ);
        w.run();
        w.b.results();
        w.b.nic
            .invalidate(
                w.b.qp,
                51,
                InvalidateTarget::Mw(mw),
                SILENT | OpFlags::DEFER,
            )
            .unwrap();
        bind(&mut w.b, mw, 0, 64, READ | SILENT | OpFlags::DEFER);
        register(&mut w.b, mr, READ | OpFlags::DEFER);
        w.b.nic.flush(w.b.qp).unwrap();
        w.run();
        let expected = [
            (51, T::Invalidate, S::CANCELLED),
            (50, T::Bind, S::CANCELLED),
            (60, T::FastRegister, S::CANCELLED),
        ];
        assert_eq!(w.b.results(), expected);
        assert_eq!(w.b.nic.remote_token_from_mw(mw), Ok(first));
    });
}

/// NDK-OBJ-4, -5: a region waits for its windows, windows and regions for their requests.
#[test]
fn ndk_obj_5_closing_in_any_order() {
    each(&PLAIN, |w| {
        let mw = window(&mut w.b);
        let (region, qp) = (w.b.mr, w.b.qp);
        let mr = fast(&mut w.b, 3);
        bind(&mut w.b, mw, 0, 64, READ);
        register(&mut w.b, mr, READ | OpFlags::DEFER);
        assert_eq!(w.b.nic.close_mr(region), Ok(S::PENDING));
        assert_eq!(w.b.nic.close_mr(mr), Ok(S::PENDING));
        assert_eq!(w.b.nic.close_mw(mw), Ok(S::PENDING));
        assert_eq!(w.b.nic.close_qp(qp), Ok(S::PENDING));
        w.run();
        let mut events = w.b.nic.poll_events().unwrap();
        events.extend(w.b.nic.poll_events().unwrap());
        assert!(events.contains(&Notification::Closed(Object::Mr(mr))));
        assert!(events.contains(&Notification::Closed(Object::Qp(qp))));
        assert!(events.contains(&Notification::Closed(Object::Mr(region))));
        assert!(events.contains(&Notification::Closed(Object::Mw(mw))));
        assert!(!w.b.nic.hal_mut().interrupt().unwrap());
    });
}
