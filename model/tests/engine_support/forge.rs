//! Frames made by hand, and what an engine makes of them.

use super::{Node, QA, QB, QpOptions, World};
use tandem_model::abi::{CommitKind, DropCause, RxResult};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;
use tandem_model::wire::{
    Aeth, Bth, Eth, Ext, Frame, Ip, Ipv4, MacAddr, Msn, NakCode, Opcode, Psn, Qpn, Reth, Syndrome,
    Token,
};

/// PSN that node b expects first, and that node a sends first.
pub const PSN: u32 = 0x100;

/// A frame that node b sends: opcode, PSN, syndrome and MSN (0 without AETH).
pub type Answer = (Opcode, u32, Option<Syndrome>, u32);

/// A frame from node a to queue pair QB.
pub fn frame(opcode: Opcode, psn: u32, ext: Ext, payload: &[u8]) -> Vec<u8> {
    built(opcode, psn, ext, payload, |_| {})
}

pub fn built(
    opcode: Opcode,
    psn: u32,
    ext: Ext,
    payload: &[u8],
    change: impl FnOnce(&mut Frame<'_>),
) -> Vec<u8> {
    let eth = Eth {
        dst: MacAddr([2, 0, 0, 0, 0, 2]),
        src: MacAddr([2, 0, 0, 0, 0, 1]),
        vlan: None,
    };
    let ip = Ip::V4(Ipv4::new([192, 0, 2, 1].into(), [192, 0, 2, 2].into()));
    let bth = Bth {
        pad: Bth::pad_for(payload.len()),
        ack_req: true,
        ..Bth::new(opcode, Qpn::new(QB), Psn::new(psn))
    };
    let mut frame = Frame {
        payload,
        ..Frame::new(eth, ip, 0xC123, bth, ext)
    };
    change(&mut frame);
    frame.to_vec()
}

pub fn reth(va: u64, token: u32, length: u32) -> Ext {
    Ext::Reth(Reth {
        va,
        token: Token(token),
        length,
    })
}

/// A frame from node b to queue pair QA.
pub fn response(opcode: Opcode, psn: u32, syndrome: u8, payload: &[u8]) -> Vec<u8> {
    let eth = Eth {
        dst: MacAddr([2, 0, 0, 0, 0, 1]),
        src: MacAddr([2, 0, 0, 0, 0, 2]),
        vlan: None,
    };
    let ip = Ip::V4(Ipv4::new([192, 0, 2, 2].into(), [192, 0, 2, 1].into()));
    let bth = Bth {
        pad: Bth::pad_for(payload.len()),
        ..Bth::new(opcode, Qpn::new(QA), Psn::new(psn))
    };
    let ext = if opcode == Opcode::ReadResponseMiddle {
        Ext::None
    } else {
        Ext::Aeth(Aeth {
            syndrome: Syndrome::decode(syndrome),
            msn: Msn::ZERO,
        })
    };
    Frame {
        payload,
        ..Frame::new(eth, ip, 0xC000, bth, ext)
    }
    .to_vec()
}

/// Node b's verdict on a frame, and the frames that it sends then.
pub fn give(w: &mut World, frame: &[u8]) -> (Action, Vec<Answer>) {
    w.b.target.send_frame(frame).unwrap();
    let mut verdict = None;
    while w.b.target.step().unwrap() {
        let action = *w.b.target.last_action().unwrap();
        if matches!(
            action.kind,
            CommitKind::RxDrop
                | CommitKind::RxRequest
                | CommitKind::RxResponse
                | CommitKind::RxFrame
        ) {
            verdict = Some(action);
        }
    }
    let answers = w.b.target.take_frames().unwrap();
    let answers = answers
        .iter()
        .map(|bytes| {
            let frame = Frame::parse(bytes).unwrap();
            let aeth = frame.ext.aeth();
            (
                frame.bth.opcode,
                frame.bth.psn.get(),
                aeth.map(|aeth| aeth.syndrome),
                aeth.map_or(0, |aeth| aeth.msn.get()),
            )
        })
        .collect();
    (verdict.unwrap(), answers)
}

pub fn request(psn: u32, result: RxResult) -> Action {
    Action::new(CommitKind::RxRequest, QB)
        .with_psn(psn)
        .with_cause(result as u8)
}

pub fn dropped(psn: u32, cause: DropCause) -> Action {
    Action::new(CommitKind::RxDrop, QB)
        .with_psn(psn)
        .with_cause(cause as u8)
}

pub fn ack(psn: u32, msn: u32) -> Vec<Answer> {
    vec![(Opcode::Acknowledge, psn, Some(Syndrome::ACK), msn)]
}

pub fn nak(code: NakCode, psn: u32, msn: u32) -> Vec<Answer> {
    vec![(Opcode::Acknowledge, psn, Some(Syndrome::Nak(code)), msn)]
}

/// Node b alone, action by action, on an engine made of the target's register writes.
pub struct Driver {
    pub world: World,
}

impl Driver {
    pub fn new(world: World) -> Self {
        Self { world }
    }

    pub fn listed(&mut self, kind: CommitKind) -> Vec<Action> {
        let mut all = self.world.b.target.enabled().unwrap();
        all.retain(|action| action.kind == kind);
        all
    }

    pub fn take_frame(&mut self) {
        let all = self.world.b.target.enabled().unwrap();
        let frame = all
            .into_iter()
            .find(|action| matches!(action.kind, CommitKind::RxRequest | CommitKind::RxDrop));
        self.accepted(frame.unwrap());
    }

    pub fn accepted(&mut self, action: Action) {
        if let Err(illegal) = self.world.b.target.apply(&action) {
            panic!("{illegal}");
        }
    }

    pub fn refused(&mut self, action: Action) {
        let before = self.world.b.target.enabled().unwrap();
        let illegal = self.world.b.target.apply(&action);
        assert!(illegal.is_err(), "{action} was accepted");
        assert_eq!(self.world.b.target.enabled().unwrap(), before);
    }
}
