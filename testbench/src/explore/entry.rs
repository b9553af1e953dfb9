//! The entries of the rings: work requests as a driver writes them.

use tandem_model::abi::{RQ_WQE, Record, SGE, SQ_WQE, WqeOpcode};
use tandem_model::wire::Token;

use super::map::{
    ENTRY, LOCAL, LOCAL_ADDRESS, PAGE, RING, page_list, region_address, token, unbound_token,
};
use super::plan::{Step, region_number};
use super::world::{Key, Operation, World};

impl Step {
    /// Its entry in the send ring.
    pub fn entry(&self, world: &World, index: usize) -> Vec<u8> {
        let request = &self.request;
        let opcode = match request.operation {
            Operation::Send => WqeOpcode::Send,
            Operation::SendInvalidate(_) => WqeOpcode::SendInvalidate,
            Operation::Write(_) => WqeOpcode::Write,
            Operation::Read(_) => WqeOpcode::Read,
            Operation::Bind(_) => WqeOpcode::Bind,
            Operation::FastRegister(_) => WqeOpcode::FastRegister,
            Operation::Invalidate(_) => WqeOpcode::Invalidate,
        };
        let (address, remote) = self.remote;
        let head = Record::new(&SQ_WQE)
            .with("opcode", opcode)
            .with("silent", request.silent)
            .with("read_fence", request.fence)
            .with("local_invalidate", request.sink.is_some())
            .with("num_sge", u8::from(!request.is_local()))
            .with("index", index as u16)
            .with("length", request.length)
            .with("remote_address", address)
            .with("remote_token", remote.0);
        let (address, local) = self.local;
        let (head, element) = match request.operation {
            Operation::Bind(window) => (bind(head, world, window), Record::new(&SGE)),
            Operation::FastRegister(key) => {
                let region = region_address(region_number(world.windows, key));
                let head = head
                    .with("object_token", token(key).0)
                    .with("page_count", 1u8)
                    .with("length", PAGE as u32)
                    .with("local_write", 1u8)
                    .with("remote_read", 1u8)
                    .with("remote_write", 1u8)
                    .with("remote_address", region);
                (head, element(page_list(key), 0, Token::default()))
            }
            Operation::Invalidate(key) | Operation::SendInvalidate(key) => (
                head.with("object_token", token(key).0),
                element(address, request.length, local),
            ),
            _ => (head, element(address, request.length, local)),
        };
        let mut entry = head.as_bytes()[..32].to_vec();
        entry.extend_from_slice(element.as_bytes());
        entry.resize(ENTRY, 0);
        entry
    }
}

fn bind(head: Record, world: &World, number: u8) -> Record {
    let window = &world.windows[usize::from(number)];
    let (start, end) = window.bytes;
    head.with("object_token", unbound_token(number).0)
        .with("new_key", token(Key::Window(number)).key())
        .with("remote_token", token(Key::Region(window.region)).0)
        .with(
            "remote_address",
            region_address(window.region) + u64::from(start),
        )
        .with("length", end - start)
        .with("remote_read", window.read)
        .with("remote_write", window.write)
}

fn element(address: u64, length: u32, token: Token) -> Record {
    Record::new(&SGE)
        .with("address", address)
        .with("length", length)
        .with("token", token.0)
}

/// A receive of so many bytes of the landing memory.
pub(super) fn receive(start: usize, length: usize) -> Vec<u8> {
    let address = LOCAL_ADDRESS + PAGE + start as u64;
    let mut entry = element(address, length as u32, LOCAL).as_bytes().to_vec();
    entry.resize(RQ_WQE.bytes(), 0);
    entry
}

/// A whole ring of entries.
pub(super) fn ring(entries: Vec<Vec<u8>>) -> Vec<u8> {
    let mut ring = entries.concat();
    ring.resize(RING * ENTRY, 0);
    ring
}
