//! What must be in memory, or out of it, before an entry tells of an Invalidate.

use super::*;
use tandem_model::abi::{CommitKind, Table};
use tandem_model::engine::Action;
use tandem_model::hal::Target;

/// Node a, which has just executed an Invalidate on its second queue pair, after payload and gathers of its first
/// one; and the numbers of both then.
fn invalidated(silent: bool) -> (World, u64, u64) {
    let mut w = world(Scheduler::Fair);
    w.connect(QA + 1, QB + 1, small());
    let other = w.a.region(1000, Access::ALL);
    let region = w.a.fast_region(QA + 1, 1000, EVERY_RIGHT);
    w.run();
    let theirs = w.b.region(1000, Access::ALL);
    // The peer writes and reads through it, on another queue pair.
    let remote = (region.address, region.token);
    w.b.post(QB, &Request::write(vec![theirs.sge(0, 600)], remote));
    w.b.post(QB, &Request::read(vec![theirs.sge(0, 600)], remote));
    w.run();
    w.a.poll(SEND_CQ);
    // And more that is decided later, elsewhere.
    let remote = (other.address, other.token);
    w.b.post(QB, &Request::write(vec![theirs.sge(0, 600)], remote));
    w.b.post(QB, &Request::read(vec![theirs.sge(0, 600)], remote));
    let local = Local {
        silent,
        ..Local::invalidate(region.token)
    };
    w.a.post_local(QA + 1, &local);
    w.a.post(QA + 1, &Request::send(vec![]));
    w.a.post(QA + 1, &Request::send(vec![]));
    w.b.receive(QB + 1, &[]);
    w.b.receive(QB + 1, &[]);
    let engine = w.a.target.engine();
    let (payload, gathers) = (engine.payload_writes(), engine.gather_reads());
    assert!(payload >= 3 && gathers >= 3, "{payload} {gathers}");
    while w.a.target.last_action().unwrap().kind != CommitKind::SqLocal {
        assert!(w.a.target.step().unwrap());
    }
    let engine = w.a.target.engine();
    assert_eq!((engine.barrier(), engine.gather_barrier()), (0, 0));
    (w, payload, gathers)
}

/// Completions of node a's second queue pair, with what each waits for: payload writes and gather reads.
fn told(w: &mut World) -> Vec<(u16, Status, u64, u64)> {
    let mut all = Vec::new();
    loop {
        let mut busy = false;
        while w.a.target.step().unwrap() {
            busy = true;
            let action = *w.a.target.last_action().unwrap();
            let engine = w.a.target.engine();
            let barriers = (engine.barrier(), engine.gather_barrier());
            match action.kind {
                CommitKind::Complete if action.token == QA + 1 => all.push(barriers),
                CommitKind::Complete => assert_eq!(barriers.1, 0),
                _ => assert_eq!(barriers.1, 0, "{action}"),
            }
        }
        while w.b.target.step().unwrap() {
            busy = true;
        }
        for frame in w.a.target.take_frames().unwrap() {
            w.b.target.send_frame(&frame).unwrap();
        }
        for frame in w.b.target.take_frames().unwrap() {
            w.a.target.send_frame(&frame).unwrap();
            busy = true;
        }
        if !busy {
            break;
        }
    }
    let entries = w.a.poll(SEND_CQ);
    let own = entries.iter().filter(|entry| entry.qpn == QA + 1);
    own.zip(all)
        .map(|(entry, (payload, gathers))| (entry.index, entry.status, payload, gathers))
        .collect()
}

/// The entry of an Invalidate waits for all payload and all gathers decided before it, of all queue pairs, and for none
/// decided later (field bug D4); other local requests and what follows wait for nothing.
#[test]
fn an_entry_waits_for_what_was_decided_before() {
    let (mut w, payload, gathers) = invalidated(false);
    let ok = Status::Success;
    let expected = [(1, ok, payload, gathers), (2, ok, 0, 0), (3, ok, 0, 0)];
    assert_eq!(told(&mut w), expected);
    assert!(w.a.target.engine().payload_writes() > payload);
    assert!(w.a.target.engine().gather_reads() > gathers);
}

/// The next entry tells of a silent one (WIRE-ORD-3), so it waits in its place; the one behind it does not.
#[test]
fn the_next_entry_waits_in_place_of_a_silent_one() {
    let (mut w, payload, gathers) = invalidated(true);
    let ok = Status::Success;
    let expected = [(2, ok, payload, gathers), (3, ok, 0, 0)];
    assert_eq!(told(&mut w), expected);
}

/// The same if the next one is flushed.
#[test]
fn a_flushed_entry_waits_in_place_of_a_silent_one() {
    let (mut w, payload, gathers) = invalidated(true);
    while w.a.target.last_action().unwrap().kind != CommitKind::Retire {
        assert!(w.a.target.step().unwrap());
    }
    w.a.set_state(QA + 1, &w.b, QB + 1, QpState::Err);
    let flushed = Status::Flushed;
    let got = told(&mut w);
    assert_eq!(got[0], (2, flushed, payload, gathers));
    assert_eq!(got[1], (3, flushed, 0, 0));
}

/// An Invalidate that is flushed after it was executed tells of it all the same.
#[test]
fn a_flushed_invalidate_waits_too() {
    let (mut w, payload, gathers) = invalidated(false);
    let record = w.a.context(QA + 1, &w.b, QB + 1, QpState::Err);
    w.a.stage(Table::Qp, QA + 1, 0, record.as_bytes());
    let context = Action::new(CommitKind::Context, QA + 1).with_index(1);
    w.a.target.apply(&context).unwrap();
    let flush = Action::new(CommitKind::Flush, QA + 1).with_index(1);
    w.a.target.apply(&flush).unwrap();
    assert_eq!(told(&mut w)[0], (1, Status::Flushed, payload, gathers));
}

/// Bind and FastRegister give access; they wait for nothing.
#[test]
fn what_gives_access_waits_for_nothing() {
    let (mut w, ..) = invalidated(false);
    told(&mut w);
    let window = w.a.free_window();
    let region = w.a.fast_region(QA + 1, 1000, EVERY_RIGHT);
    w.a.post_local(QA + 1, &Local::bind(window, 1, &region, 0, 10));
    let ok = Status::Success;
    assert_eq!(told(&mut w), [(4, ok, 0, 0), (5, ok, 0, 0)]);
}

/// Every gather read counts, of requests and of responses: one for each page.
#[test]
fn gather_reads_are_counted() {
    let mut w = world(Scheduler::Fair);
    let mine = w.a.region_at(0x4000_0FF0, 600, Access::ALL);
    let theirs = w.b.region(600, Access::ALL);
    w.b.receive(QB, &[theirs.sge(0, 600)]);
    w.a.post(QA, &Request::send(vec![mine.sge(0, 600)]));
    w.run();
    // Packets of 256 bytes: the first one touches two pages.
    assert_eq!(w.a.target.engine().gather_reads(), 4);
    let remote = (mine.address, mine.token);
    w.b.post(QB, &Request::read(vec![theirs.sge(0, 600)], remote));
    w.run();
    assert_eq!(w.a.target.engine().gather_reads(), 8);
    assert_eq!(w.b.target.engine().gather_reads(), 0);
}
