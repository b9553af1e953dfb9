//! Impairments of a running vector, and frames that nobody sent.

use tandem_model::wire::{
    Aeth, Bth, Eth, Ext, ExtKind, Frame, Ip, MacAddr, Msn, Opcode, Psn, Qpn, Reth, Syndrome, Token,
};

use super::state::{Peer, Result, State, StepError};
use super::{bytes_of, post};
use crate::network::{PsnRange, Rule, Selection, What};
use crate::vector::At;
use crate::vector::impairment::{Doing, Impairment, Psns};
use crate::vector::opcode;
use crate::vector::step::{FrameFields, Inject};

/// Puts an impairment in, or ends some.
pub(super) fn change(state: &mut State, table: &At<Impairment>) -> Result {
    let doing = match table.doings().pop() {
        Some(doing) => doing,
        None => return Ok(()),
    };
    let place = |node: &Option<At<String>>| match node {
        Some(node) => state.place(node).map(Some),
        None => Ok(None),
    };
    let (from, to) = (place(&table.from)?, place(&table.to)?);
    let name = table.name.as_ref().map(|name| name.value().clone());
    let what = match doing {
        Doing::Act(action) => What::Frames {
            selection: selection(state, table)?,
            when: table.when(),
            action,
        },
        Doing::Script(actions) => What::Script {
            selection: selection(state, table)?,
            actions,
        },
        Doing::Throttle(throttle) => What::Throttle(throttle),
        Doing::Pause(window) => What::Pause(window),
        Doing::Heal => {
            let clock = state.world.clocks();
            let network = state.world.network();
            network.heal(from, to, name.as_deref(), clock);
            return Ok(());
        }
        Doing::Resume => {
            state.world.network().resume(from);
            return Ok(());
        }
        Doing::Release => {
            let clock = state.world.clocks();
            state.world.network().release(from, to, clock);
            return Ok(());
        }
    };
    state.world.network().add(&Rule {
        name,
        from,
        to,
        what,
    });
    Ok(())
}

fn selection(state: &State, table: &Impairment) -> Result<Selection> {
    let opcodes = table.opcode.iter().flat_map(|names| names.all());
    let qpn = match &table.qp {
        Some(name) => Some(state.qp_number(name)?),
        None => None,
    };
    Ok(Selection {
        of: table.of,
        opcodes: opcodes.filter_map(|name| opcode(name)).collect(),
        psn: table.psn.as_ref().map(|psns| match *psns.value() {
            Psns::One(psn) => PsnRange {
                first: psn,
                last: psn,
            },
            Psns::Range { from, to } => PsnRange {
                first: from,
                last: to,
            },
        }),
        qpn,
    })
}

/// Where a frame that nobody sent seems to come from.
fn peer(state: &State, step: &Inject) -> Result<Peer> {
    let connected = state.qp(&step.inject)?.peer;
    match (&step.from, connected) {
        (Some(node), connected) => Ok(Peer {
            node: state.place(node)?,
            number: connected.map_or(0, |peer| peer.number),
            ipv6: connected.is_some_and(|peer| peer.ipv6),
        }),
        (None, Some(peer)) => Ok(peer),
        (None, None) => Err(StepError::new("this queue pair is not connected")
            .help("`from` says where the frame comes from")),
    }
}

/// Puts frames on the wire that nobody sent.
pub(super) fn inject(state: &mut State, step: &Inject) -> Result {
    let fields = &step.frame.0;
    let (to, peer) = (state.qp(&step.inject)?.node, peer(state, step)?);
    let number = state.qp_number(&step.inject)?;
    let opcode = opcode(&fields.opcode).ok_or_else(|| StepError::new("no such opcode"))?;
    let mut reth = Reth {
        va: fields.va.map_or(0, |va| va.0),
        token: Token(0),
        length: fields.length.or(fields.payload).unwrap_or(0),
    };
    if let Some(remote) = &step.remote {
        let pd = state.qp(&step.inject)?.pd;
        let (address, token) = post::remote(state, remote, to, pd)?;
        reth.va = address;
        reth.token = Token(token.to_engine());
    }
    if let Some(token) = state.wire_token(to, &fields.token)? {
        reth.token = Token(token);
    }
    let ieth = state.wire_token(to, &fields.ieth)?.unwrap_or(0);
    let ext = ext(opcode, reth, ieth, fields);
    let (Some(source), Some(target)) =
        (state.world.nodes.get(peer.node), state.world.nodes.get(to))
    else {
        return Err(StepError::new("no such node"));
    };
    let (source, target) = (source.address, target.address);
    let eth = Eth {
        dst: MacAddr(target.mac),
        src: MacAddr(source.mac),
        vlan: None,
    };
    let ip = match peer.ipv6 {
        true => Ip::between(source.ipv6.into(), target.ipv6.into()),
        false => Ip::between(source.ipv4.into(), target.ipv4.into()),
    };
    let ip = ip.ok_or_else(|| StepError::new("addresses of two kinds"))?;
    let payload = bytes_of(&step.fill, 0, fields.payload.unwrap_or(0) as usize);
    let sport = tandem_model::wire::source_port(0, Qpn::new(peer.number), Qpn::new(number));
    for turn in 0..fields.times.unwrap_or(1) {
        let mut bth = Bth::new(
            opcode,
            Qpn::new(number),
            Psn::new(fields.psn.unwrap_or(0)) + turn,
        );
        bth.ack_req = fields.ack_req.unwrap_or(false);
        bth.solicited = fields.se.unwrap_or(false);
        bth.becn = fields.becn.unwrap_or(bth.becn);
        let mut frame = Frame::new(eth, ip, sport, bth, ext).with_payload(&payload);
        if let Some(pad) = fields.pad {
            frame.bth.pad = pad;
        }
        let mut bytes = frame.to_vec();
        if let Some(alteration) = &step.alter {
            alteration.apply(&mut bytes);
        }
        state.world.inject(to, &bytes)?;
    }
    Ok(())
}

/// The extension headers of a frame with these fields.
fn ext(opcode: Opcode, reth: Reth, ieth: u32, fields: &FrameFields) -> Ext {
    let aeth = Aeth {
        syndrome: fields.syndrome.map_or(Syndrome::ACK, Syndrome::decode),
        msn: Msn::new(fields.msn.unwrap_or(0)),
    };
    match opcode.ext() {
        ExtKind::Reth => Ext::Reth(reth),
        ExtKind::RethImm => Ext::RethImm(reth, [0; 4]),
        ExtKind::Ieth => Ext::Ieth(Token(ieth)),
        ExtKind::Aeth => Ext::Aeth(aeth),
        ExtKind::AethAtomicAck => Ext::AethAtomicAck(aeth, 0),
        // All zero.
        other => Ext::parse(other, &[0; 28]).unwrap_or(Ext::None),
    }
}
