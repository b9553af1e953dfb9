//! Tokens over long random histories on two queue pairs, against a simple account of who may do what.

use super::*;
use proptest::prelude::*;
use tandem_model::abi::TokenKind;

/// What the account knows of a token of node a.
#[derive(Clone, Debug)]
struct Object {
    kind: TokenKind,
    valid: bool,
    /// With its key of now.
    token: u32,
    rights: Asked,
    /// Virtual addresses that it covers.
    base: u64,
    length: u64,
    /// Of a bound window: its queue pair (0 or 1) and its region.
    bound: Option<(usize, usize)>,
    windows: u32,
    /// Where its bytes lie.
    memory: Option<Region>,
}

/// Bytes of every region: two pages and a half.
const LENGTH: u64 = 10_000;

struct Account {
    w: World,
    objects: Vec<Object>,
}

/// What happens, decoded from a few bytes of chance.
struct Chance([u8; 8]);

impl Chance {
    fn qp(&self) -> usize {
        usize::from(self.0[1] % 2)
    }

    /// The object that it is about, mostly one of a kind that fits.
    fn object(&self, from: usize, to: usize, all: usize) -> usize {
        let pick = usize::from(self.0[2]);
        if self.0[3].is_multiple_of(8) {
            pick % all
        } else {
            from + pick % (to - from)
        }
    }

    fn rights(&self) -> Asked {
        let bits = self.0[4];
        (bits & 1 != 0, bits & 6 != 0, bits & 24 != 0)
    }

    /// A wrong key now and then.
    fn spoiled(&self, token: u32) -> u32 {
        token ^ u32::from(self.0[5].is_multiple_of(16))
    }

    fn range(&self) -> (i64, u32) {
        let offset = i64::from(self.0[6]) * 41 - i64::from(self.0[5] % 4 == 1);
        let length = u32::from(self.0[7]) * 13 + u32::from(self.0[6] % 2);
        (offset, length)
    }
}

/// Objects by kind: two ordinary regions, two fast ones, three windows.
const REGIONS: (usize, usize) = (0, 2);
const FAST: (usize, usize) = (2, 4);
const WINDOWS: (usize, usize) = (4, 7);

impl Account {
    fn new(scheduler: Scheduler) -> Self {
        let mut w = world(scheduler);
        w.connect(QA + 1, QB + 1, small());
        w.record = false;
        let mut objects = Vec::new();
        for local_write in [true, false] {
            let access = Access {
                local_write,
                ..Access::ALL
            };
            let region = w.a.region(LENGTH, access);
            objects.push(Object {
                kind: TokenKind::Region,
                valid: true,
                token: region.token,
                rights: (local_write, true, true),
                base: region.address,
                length: LENGTH,
                bound: None,
                windows: 0,
                memory: Some(region),
            });
        }
        for kind in [
            TokenKind::Fast,
            TokenKind::Fast,
            TokenKind::Window,
            TokenKind::Window,
            TokenKind::Window,
        ] {
            let pages = if kind == TokenKind::Fast { 4 } else { 0 };
            objects.push(Object {
                kind,
                valid: false,
                token: w.a.free_token(kind, pages, PD),
                rights: (false, false, false),
                base: 0,
                length: 0,
                bound: None,
                windows: 0,
                memory: None,
            });
        }
        Self { w, objects }
    }

    /// A request of node a ends as expected; then its connection lives again.
    fn local(&mut self, qp: usize, local: &Local, expected: Result<(), Fault>) {
        let qpn = QA + qp as u32;
        self.w.a.post_local(qpn, local);
        self.w.run();
        let entry = *self.w.a.poll(SEND_CQ).last().unwrap();
        let (status, code, _) = match expected {
            Ok(()) => (Status::Success, 0, QpState::Rts),
            Err(fault) => refused(local.opcode, fault),
        };
        let got = (entry.qpn, entry.status, entry.error_code);
        assert_eq!(got, (qpn, status, code), "{local:x?}");
        if expected.is_err() {
            self.revive(qp);
        }
    }

    fn revive(&mut self, qp: usize) {
        let (qa, qb) = (QA + qp as u32, QB + qp as u32);
        let w = &mut self.w;
        for state in [QpState::Err, QpState::Init, QpState::Rtr, QpState::Rts] {
            w.a.set_state(qa, &w.b, qb, state);
            w.b.set_state(qb, &w.a, qa, state);
            w.run();
            for (node, qpn) in [(&mut w.a, qa), (&mut w.b, qb)] {
                let ring = node.qps.get_mut(&qpn).unwrap();
                (ring.sq_producer, ring.rq_producer) = (0, 0);
            }
        }
        for node in [&mut w.a, &mut w.b] {
            node.poll(SEND_CQ);
            node.poll(RECV_CQ);
            node.events();
        }
    }

    /// Takes a token back.
    fn free(&mut self, object: usize) {
        self.objects[object].valid = false;
        if let Some((_, region)) = self.objects[object].bound.take() {
            self.objects[region].windows -= 1;
        }
    }

    /// Why an object may not be invalidated by a queue pair with this token.
    fn kept(&self, object: usize, token: u32, qp: usize) -> Option<Fault> {
        let o = &self.objects[object];
        let foreign = o.bound.is_some_and(|(owner, _)| owner != qp);
        if !o.valid {
            Some(Fault::TokenIndex)
        } else if o.token != token {
            Some(Fault::TokenKey)
        } else if o.kind == TokenKind::Region {
            Some(Fault::Kind)
        } else if foreign {
            Some(Fault::QueuePair)
        } else if o.windows > 0 {
            Some(Fault::State)
        } else {
            None
        }
    }

    fn invalidate(&mut self, chance: &Chance) {
        let (qp, object) = (chance.qp(), chance.object(2, 7, 7));
        let token = chance.spoiled(self.objects[object].token);
        let kept = self.kept(object, token, qp);
        self.local(qp, &Local::invalidate(token), kept.map_or(Ok(()), Err));
        if kept.is_none() {
            self.free(object);
        }
    }

    fn invalidate_remotely(&mut self, chance: &Chance) {
        let (qp, object) = (chance.qp(), chance.object(2, 7, 7));
        let token = chance.spoiled(self.objects[object].token);
        let o = &self.objects[object];
        let no_right = o.kind == TokenKind::Fast && !o.rights.1 && !o.rights.2;
        let kept = self.kept(object, token, qp).is_some() || no_right;
        let (qa, qb) = (QA + qp as u32, QB + qp as u32);
        self.w.a.receive(qa, &[]);
        let send = Request {
            invalidate: token,
            ..Request::new(WqeOpcode::SendInvalidate, vec![])
        };
        self.w.b.post(qb, &send);
        self.w.run();
        let entry = *self.w.a.poll(RECV_CQ).last().unwrap();
        self.w.b.poll(SEND_CQ);
        if kept {
            assert_eq!(entry.status, Status::RemoteInvalidRequest);
            self.revive(qp);
        } else {
            assert_eq!(entry.invalidated, Some(token));
            self.free(object);
        }
    }

    fn register(&mut self, chance: &Chance) {
        let (qp, object) = (chance.qp(), chance.object(FAST.0, FAST.1, 7));
        let length = LENGTH - u64::from(chance.0[7]);
        let base = 0x5_0000_0000 + u64::from(chance.0[6]) * 100;
        let token = self.objects[object].token & !0xFF | u32::from(chance.0[7]);
        let (memory, list) = self.w.a.pages(token, base, length);
        let local = Local {
            rights: chance.rights(),
            ..Local::register(&memory, list)
        };
        let o = &self.objects[object];
        let expected = if o.kind != TokenKind::Fast {
            Err(Fault::Kind)
        } else if o.valid {
            Err(Fault::State)
        } else {
            Ok(())
        };
        self.local(qp, &local, expected);
        if expected.is_ok() {
            let o = &mut self.objects[object];
            (o.valid, o.token, o.rights) = (true, token, local.rights);
            (o.base, o.length, o.memory) = (base, length, Some(memory));
        }
    }

    fn bind(&mut self, chance: &Chance) {
        let qp = chance.qp();
        let window = chance.object(WINDOWS.0, WINDOWS.1, 7);
        let region = usize::from(chance.0[4] / 32) % 4 + REGIONS.0;
        let (offset, length) = chance.range();
        let (o, r) = (&self.objects[window], &self.objects[region]);
        let local = Local {
            opcode: WqeOpcode::Bind,
            token: chance.spoiled(o.token),
            region: r.token,
            address: r.base.wrapping_add_signed(offset),
            length,
            new_key: chance.0[7],
            rights: chance.rights(),
            ..Local::invalidate(0)
        };
        let inside = offset >= 0 && offset as u64 + u64::from(length) <= r.length;
        let expected = if length == 0 {
            Err(Fault::WqeLength)
        } else if local.token != o.token {
            Err(Fault::TokenKey)
        } else if o.kind != TokenKind::Window {
            Err(Fault::Kind)
        } else if o.valid {
            Err(Fault::State)
        } else if !r.valid {
            Err(Fault::TokenIndex)
        } else if local.rights.2 && !r.rights.0 {
            Err(Fault::Right)
        } else if !inside {
            Err(Fault::Bounds)
        } else {
            Ok(())
        };
        self.local(qp, &local, expected);
        if expected.is_ok() {
            self.objects[region].windows += 1;
            let memory = self.objects[region].memory.clone();
            let o = &mut self.objects[window];
            o.valid = true;
            o.token = o.token & !0xFF | u32::from(local.new_key);
            o.rights = local.rights;
            (o.base, o.length) = (local.address, length.into());
            (o.bound, o.memory) = (Some((qp, region)), memory);
        }
    }

    /// The peer reads or writes.
    fn access(&mut self, chance: &Chance) {
        let (qp, object) = (chance.qp(), chance.object(2, 7, 7));
        let is_write = chance.0[4].is_multiple_of(2);
        let (offset, length) = chance.range();
        let o = self.objects[object].clone();
        // Windows are small: mostly inside.
        let offset = if o.kind == TokenKind::Window {
            offset % 50
        } else {
            offset
        };
        let token = chance.spoiled(o.token);
        let address = o.base.wrapping_add_signed(offset);
        let granted = o.valid
            && o.token == token
            && o.bound.is_none_or(|(owner, _)| owner == qp)
            && if is_write { o.rights.2 } else { o.rights.1 }
            && offset >= 0
            && offset as u64 + u64::from(length) <= o.length;
        let granted = granted || length == 0;
        let qb = QB + qp as u32;
        let mine = self.w.b.region_at(0x40, 4000, Access::ALL);
        let bytes = pattern(length as usize, chance.0[5].into());
        self.w.b.fill(&mine, 0, &bytes);
        let opcode = if is_write {
            WqeOpcode::Write
        } else {
            WqeOpcode::Read
        };
        let request = Request {
            remote: (address, token),
            ..Request::new(opcode, vec![mine.sge(0, length)])
        };
        let place = o.memory.as_ref();
        let at = place.map_or(0, |memory| address.wrapping_sub(memory.address));
        let inside = granted && length > 0;
        let before = match place {
            Some(memory) if inside => self.w.a.bytes(memory, at, length as usize),
            _ => Vec::new(),
        };
        self.w.b.post(qb, &request);
        self.w.run();
        let entry = *self.w.b.poll(SEND_CQ).last().unwrap();
        let status = if granted {
            Status::Success
        } else {
            Status::RemoteAccess
        };
        assert_eq!(entry.status, status, "{o:x?} {opcode:?} {offset} {length}");
        match place {
            Some(memory) if inside && is_write => {
                assert_eq!(self.w.a.bytes(memory, at, length as usize), bytes);
            }
            Some(_) if inside => {
                assert_eq!(self.w.b.bytes(&mine, 0, length as usize), before);
            }
            _ => {}
        }
        // The region of node b goes, its entries are used again.
        self.w.b.forget_region(&mine);
        if !granted {
            self.revive(qp);
        }
    }

    fn happen(&mut self, chance: &Chance) {
        match chance.0[0] % 10 {
            0 => self.invalidate(chance),
            1 => self.invalidate_remotely(chance),
            2 | 3 => self.register(chance),
            4..7 => self.bind(chance),
            _ => self.access(chance),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Who may do what (WIRE-MW-1, -3, WIRE-INV-1 to -5, -8, -9, WIRE-KEY-1 to -8).
    // Covers: WIRE-MW-1, WIRE-KEY-7, WIRE-KEY-8, WIRE-INV-5, WIRE-INV-8, WIRE-INV-9
    #[test]
    fn histories_of_tokens(
        scheduler in 0..SCHEDULERS.len(),
        chances in prop::collection::vec(any::<[u8; 8]>(), 1..60),
    ) {
        let mut account = Account::new(SCHEDULERS[scheduler]);
        for chance in chances {
            account.happen(&Chance(chance));
        }
    }
}
