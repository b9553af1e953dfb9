//! What an engine with a fault takes a frame for.

use tandem_model::abi::{CommitKind, RxResult};
use tandem_model::wire::{Bth, Ext, Frame, Opcode, Psn, Reth};

use super::map::{key_of, token};
use super::mutation::Mutation;
use super::turn::{Turn, judge};
use super::world::{Key, Side};

impl Turn<'_> {
    /// What the engine takes a frame for: for itself, but with [`Mutation::DuplicateExecuted`], by which a send that
    /// came before is taken for the next one, and [`Mutation::KeyIgnored`], by which an old token is taken for that of
    /// now.
    pub(super) fn taken_for(&self, side: Side, frame: &[u8]) -> Vec<u8> {
        let other = match self.setting.mutation {
            Some(Mutation::DuplicateExecuted) => self.executed_again(side, frame),
            Some(Mutation::KeyIgnored) => self.renewed(side, frame),
            _ => None,
        };
        other.unwrap_or_else(|| frame.to_vec())
    }

    fn executed_again(&self, side: Side, frame: &[u8]) -> Option<Vec<u8>> {
        let parsed = Frame::parse(frame).ok()?;
        if parsed.bth.opcode != Opcode::SendOnly {
            return None;
        }
        let verdict = |frame: Vec<u8>| {
            let mut node = self.node(side).clone();
            node.engine.receive_frame(frame);
            let action = judge(self.setting, side, &node).ok()??;
            (action.kind == CommitKind::RxRequest).then_some(action.cause)
        };
        if verdict(frame.to_vec())? != RxResult::Duplicate as u8 {
            return None;
        }
        let psn = parsed.bth.psn;
        let mut later = (1..16).filter_map(|steps| renumbered(frame, psn + steps));
        later.find(|frame| verdict(frame.clone()) == Some(RxResult::Accept as u8))
    }

    /// The same frame with the token that its region has now.
    fn renewed(&self, side: Side, frame: &[u8]) -> Option<Vec<u8>> {
        let frame = Frame::parse(frame).ok()?;
        let Ext::Reth(reth) = frame.ext else {
            return None;
        };
        let Key::Region(region) = key_of(reth.token)? else {
            return None;
        };
        let again = Key::Again(region);
        self.node(side).seen.is_made(again).then(|| {
            let token = token(again);
            emitted(&Frame {
                ext: Ext::Reth(Reth { token, ..reth }),
                ..frame
            })
        })
    }
}

/// The same frame with another PSN.
fn renumbered(bytes: &[u8], psn: Psn) -> Option<Vec<u8>> {
    let frame = Frame::parse(bytes).ok()?;
    let bth = Bth { psn, ..frame.bth };
    Some(emitted(&Frame { bth, ..frame }))
}

fn emitted(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.emit(&mut bytes);
    bytes
}
