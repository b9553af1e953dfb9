//! Routes between MAC, core and link.

use std::time::Duration;

use tandem_link::model::{Access, Channel, Noise, Scratch};
use tandem_link::{Board, Control, Policy, Status};
use tandem_link_sim::Link;

type Target = Board<Channel<Link<Scratch>>>;

fn board(seed: u64) -> Target {
    let link = Link::new(Scratch::new(65536), seed).unwrap();
    let policy = Policy {
        deadline: Duration::from_millis(8),
        ..Policy::default()
    };
    Board::open(Channel::new(link, Noise::default(), 1), policy).unwrap()
}

fn link(board: &mut Target) -> &mut Link<Scratch> {
    board.client().line().peer()
}

fn frame(number: u8, length: usize) -> Vec<u8> {
    vec![number; length]
}

/// Frames that the core got.
fn got(board: &mut Target) -> Vec<Vec<u8>> {
    let accesses = &link(board).behind().core.accesses;
    let frames = accesses.iter().filter_map(|access| match access {
        Access::Frame(frame, false) => Some(frame.clone()),
        _ => None,
    });
    frames.collect()
}

#[test]
fn on_the_mac_frames_of_the_link_go_in_between() {
    for seed in [2, 3] {
        let mut board = board(seed);
        for number in 0..20 {
            link(&mut board)
                .behind()
                .from_mac(&frame(number, 60 + usize::from(number)));
        }
        board.send_frame(&frame(100, 77)).unwrap();
        for number in 20..40 {
            link(&mut board).behind().from_mac(&frame(number, 80));
        }
        board.send_frame(&frame(101, 300)).unwrap();
        board.wait(20_000, Status::default()).unwrap();
        let got = got(&mut board);
        assert_eq!(got.len(), 42);
        let (ours, theirs): (Vec<_>, Vec<_>) = got.iter().partition(|frame| frame[0] >= 100);
        assert_eq!(ours, [&frame(100, 77), &frame(101, 300)]);
        assert!(theirs.iter().map(|frame| frame[0]).eq(0..40));
        // The core sends each back: to the MAC, and nothing to the link.
        let sent = link(&mut board).behind().mac_sent.clone();
        assert!(sent.iter().map(|(frame, _)| frame).eq(&got));
        assert!(sent.iter().all(|(_, bad)| !bad));
        assert!(board.take_frames().unwrap().is_empty());
        assert_eq!(board.counters().unwrap().injected, 2);
    }
}

#[test]
fn beside_the_mac_frames_are_copied_and_dropped_whole() {
    let mut board = board(5);
    let copy = Control {
        copy: true,
        ..Control::default()
    };
    board.control(copy).unwrap();
    // 1 kB of buffer.
    for number in 0..12 {
        link(&mut board).behind().from_mac(&frame(number, 200));
    }
    board.wait(5000, Status::default()).unwrap();
    assert_eq!(
        link(&mut board).behind().mac_sent.len(),
        12,
        "the MAC gets all"
    );
    assert!(board.status().has(Status::FRAMES_DROPPED));
    let copied = board.take_frames().unwrap();
    assert!(copied.iter().map(|frame| frame[0]).eq(0..5), "{copied:?}");
    assert!(copied.iter().all(|frame| frame.len() == 200));
    let counters = board.counters().unwrap();
    assert_eq!((counters.captured, counters.capture_dropped), (5, 7));
}

#[test]
fn on_the_link_alone_nothing_of_the_core_is_lost() {
    let mut board = board(7);
    let control = Control {
        link_only: true,
        ..Control::default()
    };
    board.reset(control).unwrap();
    for number in 0..12 {
        link(&mut board).behind().from_mac(&frame(200, 64));
        board.send_frame(&frame(number, 400)).unwrap();
    }
    let mut frames = Vec::new();
    while frames.len() < 12 {
        let status = board.wait(100_000, Status::FRAME).unwrap();
        assert!(status.has(Status::FRAME), "after {}", frames.len());
        frames.extend(board.take_frames().unwrap());
    }
    assert!(frames.iter().map(|frame| frame[0]).eq(0..12));
    assert!(link(&mut board).behind().mac_sent.is_empty());
    let counters = board.counters().unwrap();
    assert_eq!((counters.mac_dropped, counters.capture_dropped), (12, 0));
}

#[test]
fn a_reset_of_the_core_cuts_no_frame_of_the_mac_into_the_next() {
    let mut cuts = 0;
    for pause in 1..40 {
        let mut board = board(9);
        link(&mut board).behind().from_mac(&frame(1, 4000));
        link(&mut board).clocks(pause * 25);
        board.reset(Control::default()).unwrap();
        board.wait(3000, Status::default()).unwrap();
        link(&mut board).behind().from_mac(&frame(2, 70));
        board.wait(3000, Status::default()).unwrap();
        let all = got(&mut board);
        assert_eq!(all.last(), Some(&frame(2, 70)));
        assert!(
            all.iter()
                .all(|f| *f == frame(2, 70) || *f == frame(1, 4000))
        );
        for (sent, bad) in &link(&mut board).behind().mac_sent {
            let whole = *sent == frame(2, 70) || *sent == frame(1, 4000);
            assert!(whole || *bad, "{} bytes are no frame", sent.len());
            cuts += u32::from(*bad);
        }
    }
    assert!(cuts > 0, "no reset met a frame");
}
