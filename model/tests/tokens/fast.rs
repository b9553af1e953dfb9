//! Fast registration.

use super::*;
use tandem_model::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};
use tandem_model::hal::Hal;

/// Bytes go both ways, locally and by the peer, through page lists of every length around a unit of 64 bytes, at
/// every kind of offset (field bugs D11, D12, D13).
#[test]
fn data_through_fast_registered_regions() {
    for (i, (offset, length)) in [
        (0u64, 1u64),
        (0, 4096),
        (4095, 1),
        (4095, 2),
        (0x123, 2 * 4096),
        (7, 8 * 4096 - 7),
        (7, 8 * 4096 - 6),
        (0xFFF, 16 * 4096),
        (0, 20 * 4096),
    ]
    .into_iter()
    .enumerate()
    {
        let scheduler = SCHEDULERS[i % SCHEDULERS.len()];
        let mut w = world(scheduler);
        let count = (offset + length).div_ceil(4096) as u16;
        let token = w.a.free_token(TokenKind::Fast, count, PD);
        let (region, list) = w.a.pages(token, 0x4000_0000_0000 + offset, length);
        assert_eq!(region.page_count(), count);
        ends(&mut w, &Local::register(&region, list), Ok(()));

        // The peer's write, and local use by a send, a receive and a read.
        let bytes = pattern(length as usize, 3);
        let peer = w.b.region(length, Access::ALL);
        w.b.fill(&peer, 0, &bytes);
        let remote = (region.address, token);
        let write = Request::write(vec![peer.sge(0, length as u32)], remote);
        w.b.post(QB, &write);
        w.run();
        assert_eq!(statuses(&w.b.poll(SEND_CQ)), [(0, Status::Success)]);
        assert_eq!(w.a.bytes(&region, 0, length as usize), bytes);

        w.b.fill(&peer, 0, &pattern(length as usize, 4));
        w.b.receive(QB, &[peer.sge(0, length as u32)]);
        w.a.post(QA, &Request::send(vec![region.sge(0, length as u32)]));
        w.run();
        assert_eq!(w.b.bytes(&peer, 0, length as usize), bytes);

        let more = pattern(length as usize, 5);
        w.b.fill(&peer, 0, &more);
        let sink = vec![region.sge(0, length as u32)];
        w.a.post(QA, &Request::read(sink, (peer.address, peer.token)));
        w.run();
        assert_eq!(w.a.bytes(&region, 0, length as usize), more);
        w.a.receive(QA, &[region.sge(0, length as u32)]);
        w.b.fill(&peer, 0, &bytes);
        w.b.post(QB, &Request::send(vec![peer.sge(0, length as u32)]));
        w.run();
        assert_eq!(w.a.bytes(&region, 0, length as usize), bytes);
    }
}

/// A region that a request registers may be named by the next one, without waiting (WIRE-ORD-6): a chain of
/// registrations, each rung alone or all at once, and a send that tells of them.
// Covers: WIRE-ORD-6
#[test]
fn the_next_request_may_use_the_key() {
    for scheduler in SCHEDULERS {
        let mut w = world(scheduler);
        let notice = w.b.region(16, Access::ALL);
        w.b.receive(QB, &[notice.sge(0, 16)]);
        let first = w.a.fast_region(QA, 5000, EVERY_RIGHT);
        let second = w.a.fast_region(QA, 300, EVERY_RIGHT);
        // Its bytes come out of the region just registered.
        w.a.fill(&second, 0, &pattern(300, 1));
        w.a.post(QA, &Request::send(vec![second.sge(0, 16)]));
        // As soon as the send has come the peer writes.
        for _ in 0..100_000 {
            w.a.target.step().unwrap();
            w.b.target.step().unwrap();
            cross(&mut w);
            if !w.b.peek(RECV_CQ).is_empty() {
                break;
            }
        }
        assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, Status::Success)]);
        assert_eq!(w.b.bytes(&notice, 0, 16), pattern(300, 1)[..16]);
        let remote = (first.address + 100, first.token);
        assert_eq!(
            reaches(&mut w, WqeOpcode::Write, remote, 4900),
            Reach::Granted
        );
        let all = [0, 1, 2].map(|index| (index, Status::Success));
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), all);
    }
}

/// Lets the frames under way across.
fn cross(w: &mut World) {
    use tandem_model::hal::Target;
    for frame in w.a.target.take_frames().unwrap() {
        w.b.target.send_frame(&frame).unwrap();
    }
    for frame in w.b.target.take_frames().unwrap() {
        w.a.target.send_frame(&frame).unwrap();
    }
}

/// Rights are those of the request and no others (field bug D9).
#[test]
fn rights_of_the_request() {
    for bits in 0..8u8 {
        let rights = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
        for opcode in [WqeOpcode::Read, WqeOpcode::Write] {
            let mut w = world(Scheduler::Fair);
            let region = w.a.fast_region(QA, 600, rights);
            w.run();
            let granted = if opcode == WqeOpcode::Read {
                rights.1
            } else {
                rights.2
            };
            let reach = reaches(&mut w, opcode, (region.address, region.token), 600);
            assert_eq!(reach == Reach::Granted, granted, "{rights:?} {opcode:?}");
        }
        // Local write: the sink of a read.
        let mut w = world(Scheduler::Fair);
        let region = w.a.fast_region(QA, 600, rights);
        let theirs = w.b.region(600, Access::ALL);
        let remote = (theirs.address, theirs.token);
        w.a.post(QA, &Request::read(vec![region.sge(0, 600)], remote));
        w.run();
        let last = *w.a.poll(SEND_CQ).last().unwrap();
        if rights.0 {
            assert_eq!(last.status, Status::Success);
        } else {
            let fault = Fault::Right as u32;
            assert_eq!(
                (last.status, last.error_code),
                (Status::LocalProtection, fault)
            );
        }
    }
}

/// The key is that of the request from then on; the one before is stale (WIRE-KEY-6). One region is registered,
/// freed and registered again, with the same, the next and a wrapped key, other pages and another address.
#[test]
fn a_region_is_registered_again() {
    let mut w = world(Scheduler::Fair);
    let token = w.a.free_token(TokenKind::Fast, 3, PD);
    let life = |token: u32, address: u64, w: &mut World| {
        let (region, list) = w.a.pages(token, address, 5000);
        ends(w, &Local::register(&region, list), Ok(()));
        let remote = (address, token);
        assert_eq!(reaches(w, WqeOpcode::Write, remote, 5000), Reach::Granted);
        assert_eq!(w.a.bytes(&region, 0, 5000), pattern(5000, 9));
        ends(w, &Local::invalidate(token), Ok(()));
    };
    let index = token & !0xFF;
    for (key, address) in [(0xFE, 0x10_0000), (0xFE, 0x20_0800), (0xFF, 0), (0, 0xFFF)] {
        life(index | key, address, &mut w);
    }
    let (region, list) = w.a.pages(index | 1, 0x5000, 5000);
    ends(&mut w, &Local::register(&region, list), Ok(()));
    let remote = (0x5000, index);
    assert_eq!(reaches(&mut w, WqeOpcode::Read, remote, 1), Reach::Refused);
}

/// Length 0 is legal, with no page at all too, and gives access to nothing (field bugs D13, D16).
#[test]
fn nothing_registered_gives_access_to_nothing() {
    for page_count in [0, 1] {
        let mut w = world(Scheduler::Fair);
        let token = w.a.free_token(TokenKind::Fast, 1, PD);
        let local = Local {
            length: 0,
            page_offset: 0,
            page_count,
            list: if page_count == 0 {
                // Nothing is read.
                0x40
            } else {
                w.a.target.allocate(64, 64).unwrap()
            },
            address: 0x8000,
            ..Local::register(&w.a.pages(token, 0x8000, 1).0, 0)
        };
        ends(&mut w, &local, Ok(()));
        let remote = (0x8000, token);
        assert_eq!(reaches(&mut w, WqeOpcode::Write, remote, 0), Reach::Granted);
        assert_eq!(reaches(&mut w, WqeOpcode::Write, remote, 1), Reach::Refused);
    }
}

/// A page list that is not aligned to 64 bytes is read from the 64 bytes that it lies in; the low 12 bits of a page do
/// not count.
#[test]
fn low_bits_of_a_list_and_of_its_pages() {
    let mut w = world(Scheduler::Fair);
    let token = w.a.free_token(TokenKind::Fast, 2, PD);
    let (region, list) = w.a.pages(token, 0x1_0010, 5000);
    let mut pages = [0; 16];
    w.a.target.read_memory(list, &mut pages).unwrap();
    (pages[0], pages[1], pages[9]) = (0xFF, pages[1] | 0xF, pages[9] | 5);
    w.a.target.write_memory(list, &pages).unwrap();
    ends(&mut w, &Local::register(&region, list + 0x3F), Ok(()));
    let remote = (region.address, token);
    assert_eq!(
        reaches(&mut w, WqeOpcode::Write, remote, 5000),
        Reach::Granted
    );
    assert_eq!(w.a.bytes(&region, 0, 5000), pattern(5000, 9));
}

/// Each fault of a FastRegister in the order of the checks: of two that hold the first is told, and nothing
/// changes.
#[test]
fn faults_in_their_order() {
    type Spoil = fn(&mut World, &mut Local);
    let spoils: [(Fault, Spoil); 8] = [
        (Fault::TokenIndex, |_, local| local.token |= 0xFFFF_0000),
        (Fault::Domain, |w, local| {
            let token = Record::new(&TOKEN_CONTEXT).with("kind", TokenKind::Fast);
            rewrite(w, local.token, token.with("pd", PD + 1));
        }),
        (Fault::Kind, |w, local| {
            let token = Record::new(&TOKEN_CONTEXT).with("kind", TokenKind::Window);
            rewrite(w, local.token, token.with("pd", PD));
        }),
        (Fault::State, |w, local| {
            let token = Record::new(&TOKEN_CONTEXT)
                .with("kind", TokenKind::Fast)
                .with("valid", 1u8);
            // Another key: it is not compared.
            rewrite(w, local.token, token.with("pd", PD).with("key", 0xEEu8));
        }),
        (Fault::WqeLength, |_, local| local.page_count = 4),
        (Fault::WqeLength, |_, local| {
            local.length = 3 * 4096 - u32::from(local.page_offset) + 1;
        }),
        (Fault::WqeLength, |_, local| {
            local.page_count = 1;
            local.length = 4096;
        }),
        (Fault::PageList, |_, local| local.list = 0x40),
    ];
    for (i, (fault, spoil)) in spoils.iter().enumerate() {
        for (j, (_, later)) in spoils.iter().enumerate().skip(i) {
            let scheduler = SCHEDULERS[(i + j) % SCHEDULERS.len()];
            let mut w = world(scheduler);
            let token = w.a.free_token(TokenKind::Fast, 3, PD);
            let (region, list) = w.a.pages(token, 0x7_0123, 3 * 4096 - 0x123);
            let mut local = Local::register(&region, list);
            // The later one first: what the earlier one writes holds then.
            if matches!(spoils[j].0, Fault::WqeLength | Fault::PageList) || i == j {
                later(&mut w, &mut local);
            }
            if i != j {
                spoil(&mut w, &mut local);
            }
            ends(&mut w, &local, Err(*fault));
        }
    }
}

/// The second unit of a list that is not there.
#[test]
fn a_bus_error_late_in_the_list_changes_nothing() {
    let mut w = world(Scheduler::Fair);
    w.connect(QA + 1, QB + 1, small());
    let token = w.a.free_token(TokenKind::Fast, 10, PD);
    let (region, list) = w.a.pages(token, 0x3000, 10 * 4096);
    // The last allocated bytes of memory: nothing lies behind them.
    let end = w.a.target.allocate(64, 64).unwrap();
    let mut bytes = [0; 64];
    w.a.target.read_memory(list, &mut bytes).unwrap();
    w.a.target.write_memory(end, &bytes).unwrap();
    ends(&mut w, &Local::register(&region, end), Err(Fault::PageList));
    // Still free: another queue pair registers it.
    w.a.post_local(QA + 1, &Local::register(&region, list));
    w.run();
    assert_eq!(w.a.poll(SEND_CQ).last().unwrap().status, Status::Success);
}

fn rewrite(w: &mut World, token: u32, record: Record) {
    w.a.command(Table::Token, token >> 8, 0, record.as_bytes());
}

/// What an older local request left in an entry's fields means nothing to others (field bug D15).
#[test]
fn stale_fields_of_an_entry() {
    for opcode in [WqeOpcode::Send, WqeOpcode::Write, WqeOpcode::Read] {
        let frames = [false, true].map(|stale| {
            let mut w = world(Scheduler::Fair);
            let mine = w.a.region(600, Access::ALL);
            let theirs = w.b.region(600, Access::ALL);
            w.b.receive(QB, &[theirs.sge(0, 600)]);
            let request = Request {
                remote: (theirs.address, theirs.token),
                ..Request::new(opcode, vec![mine.sge(0, 600)])
            };
            let mut bytes = request.record(0);
            if stale {
                // The three rights, the new key, the number of pages, the offset in the page.
                bytes[1] |= 0xE0;
                bytes[3] = 0xFF;
                bytes[6..8].fill(0xFF);
                bytes[28..30].fill(0xFF);
            }
            w.a.place_bytes(QA, &bytes);
            w.a.ring(QA);
            w.run();
            assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
            w.frames
        });
        assert_eq!(frames[0], frames[1], "{opcode:?}");
    }
}
