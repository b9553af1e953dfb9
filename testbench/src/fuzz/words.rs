//! Requests as steps of a vector.

use super::forecast::Forecast;
use super::forge::Forged;
use super::lives::Ends;
use super::moves::{Ask, Flags, Local, Op, Piece, Post, Receive, Refused, Region, Rights, Wrong};
use super::spec::SOURCE;
use super::text::{Writer, node, qp, region, unusual};

/// Names of flags that are set, as a list.
fn flags(names: &[(bool, &str)]) -> String {
    let set = names.iter().filter(|(set, _)| *set);
    let names: Vec<String> = set.map(|(_, name)| format!("\"{name}\"")).collect();
    format!("flags = [{}]", names.join(", "))
}

/// Flags that all requests have.
fn common(flags: Flags) -> [(bool, &'static str); 3] {
    [
        (flags.silent, "SILENT_SUCCESS"),
        (flags.fence, "READ_FENCE"),
        (flags.defer, "DEFER"),
    ]
}

/// Rights, as flags of a request.
fn rights(rights: Rights) -> [(bool, &'static str); 3] {
    [
        (
            rights.local_write && !rights.remote_write,
            "ALLOW_LOCAL_WRITE",
        ),
        (rights.remote_read, "ALLOW_REMOTE_READ"),
        (rights.remote_write, "ALLOW_REMOTE_WRITE"),
    ]
}

impl Writer<'_> {
    fn element(&mut self, place: usize, piece: &Piece, more: &str) -> String {
        self.regions.insert((place, piece.region));
        format!(
            "{{ region = \"{}\", offset = {}, length = {}{more} }}",
            region(place, piece.region),
            piece.offset,
            piece.length
        )
    }

    /// A list of elements, the first with a wrong token if asked for.
    fn elements(&mut self, place: usize, pieces: &[Piece], wrong: bool) -> String {
        let mut list = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            let more = match wrong && number == 0 {
                true => format!(
                    ", token = {{ of = \"{}\", xor = 1 }}",
                    region(place, piece.region)
                ),
                false => String::new(),
            };
            list.push(self.element(place, piece, &more));
        }
        format!("sgl = [{}]", list.join(", "))
    }

    fn ends(&mut self, ends: &Ends) {
        let list: Vec<String> = ends.iter().map(|end| format!("\"{end}\"")).collect();
        if !list.is_empty() {
            self.line(&format!("ends = [{}]", list.join(", ")));
        }
    }

    pub(super) fn post(&mut self, post: &Post, forecast: &Forecast) {
        let (own, peer) = (
            self.at(post.link, post.side),
            self.at(post.link, 1 - post.side),
        );
        let verb = match post.op {
            Op::Write => "write",
            Op::Send => "send",
            Op::SendAndInvalidate(_) => "send_and_invalidate",
            Op::Read { .. } => "read",
        };
        self.step(&format!("{verb} = \"{}\"", qp(post.link, post.side)));
        self.context += 1;
        let context = self.context;
        self.line(&format!("context = {context}"));
        let mut pieces = post.pieces.clone();
        if let Some(first) = pieces.first_mut() {
            match post.wrong {
                Wrong::LocalBounds => {
                    let bytes = self.state.bytes(own, first.region);
                    first.offset = bytes.saturating_sub(first.length) + 1;
                }
                Wrong::LocalRight => {
                    // The source may not be written.
                    first.region = Region::Source;
                    first.offset = 0;
                    first.length = first.length.min(SOURCE);
                }
                _ => {}
            }
        }
        if !pieces.is_empty() {
            let list = self.elements(own, &pieces, post.wrong == Wrong::LocalToken);
            self.line(&list);
        }
        if let Some(mut place) = post.remote {
            let length = pieces.iter().map(|piece| piece.length).sum::<u32>();
            match post.wrong {
                Wrong::RemoteRight if post.op.is_read() => place.region = Region::Target,
                Wrong::RemoteRight => place.region = Region::Local,
                Wrong::RemoteBounds => {
                    let bytes = self.state.bytes(peer, place.region);
                    place.offset = bytes.saturating_sub(length) + 1;
                }
                _ => {}
            }
            let name = region(peer, place.region);
            let more = match post.wrong {
                Wrong::RemoteOld if forecast.old_is_dead => {
                    format!(", token = {{ of = \"{name}\", before = 1 }}")
                }
                Wrong::RemoteToken | Wrong::RemoteOld => {
                    format!(", token = {{ of = \"{name}\", xor = 2 }}")
                }
                _ => String::new(),
            };
            self.regions.insert((peer, place.region));
            let kind = match place.region {
                Region::Window(_) => "window",
                _ => "region",
            };
            self.line(&format!(
                "remote = {{ {kind} = \"{name}\", offset = {}{more} }}",
                place.offset
            ));
        }
        if let Op::SendAndInvalidate(token) = post.op {
            // A region that was registered the ordinary way cannot be invalidated.
            let token = match post.wrong {
                Wrong::Invalidate => Region::Target,
                _ => token,
            };
            self.regions.insert((peer, token));
            self.line(&format!("token = \"{}\"", region(peer, token)));
        }
        let invalidates = post.op == Op::Read { invalidate: true };
        let mut names = vec![
            (post.flags.solicit, "SEND_AND_SOLICIT_EVENT"),
            (post.flags.inline, "INLINE"),
            (invalidates, "RDMA_READ_LOCAL_INVALIDATE"),
        ];
        names.extend(common(post.flags));
        if names.iter().any(|(set, _)| *set) {
            self.line(&flags(&names));
        }
        self.ends(&forecast.ends);
    }

    pub(super) fn ask(&mut self, ask: &Ask, ends: &Ends) {
        let own = self.at(ask.link, ask.side);
        let name = qp(ask.link, ask.side);
        self.unusual |= ask.foreign;
        self.context += 1;
        let context = self.context;
        let mut set = common(ask.flags).to_vec();
        match ask.local {
            Local::Bind {
                window,
                over,
                rights: asked,
            } => {
                let window = Region::Window(window);
                let window = match ask.foreign {
                    true => unusual("strange", own),
                    false => self.named(own, window),
                };
                let within = self.named(own, over.region);
                self.step(&format!("bind = \"{name}\""));
                self.line(&format!("window = \"{window}\"\nregion = \"{within}\""));
                self.line(&format!(
                    "offset = {}\nlength = {}",
                    over.offset, over.length
                ));
                set.extend(rights(asked));
            }
            Local::FastRegister {
                region,
                offset,
                length,
                rights: asked,
            } => {
                let region = Region::Registered(region);
                let region = match ask.foreign {
                    true => unusual("foreign", own),
                    false => self.named(own, region),
                };
                self.step(&format!("fast_register = \"{name}\""));
                self.line(&format!(
                    "region = \"{region}\"\noffset = {offset}\nlength = {length}"
                ));
                set.extend(rights(asked));
            }
            Local::Invalidate(region) => {
                let kind = match region {
                    Region::Window(_) => "window",
                    _ => "region",
                };
                let region = self.named(own, region);
                self.step(&format!("invalidate = \"{name}\""));
                self.line(&format!("{kind} = \"{region}\""));
            }
        }
        self.line(&format!("context = {context}"));
        self.line(&flags(&set));
        self.ends(ends);
    }

    /// The name of a region or window, which is used from now on.
    fn named(&mut self, place: usize, kind: Region) -> String {
        self.regions.insert((place, kind));
        region(place, kind)
    }

    pub(super) fn receive(&mut self, receive: &Receive, ends: &Ends) {
        let own = self.at(receive.link, receive.side);
        self.step(&match self.state.is_shared(receive.link, receive.side) {
            true => format!("srq_receive = \"s{}\"", node(own)),
            false => format!("receive = \"{}\"", qp(receive.link, receive.side)),
        });
        self.context += 1;
        let context = self.context;
        self.line(&format!("context = {context}"));
        if !receive.pieces.is_empty() {
            let list = self.elements(own, &receive.pieces, receive.wrong);
            self.line(&list);
        }
        self.ends(ends);
    }

    pub(super) fn refused(&mut self, link: usize, side: usize, call: Refused) {
        let name = qp(link, side);
        let own = self.at(link, side);
        let empty = |region: Region| Piece {
            region,
            offset: 0,
            length: 0,
        };
        let far = "remote = { address = 0, token = 0 }";
        match call {
            Refused::UnknownFlag => {
                self.step(&format!("send = \"{name}\""));
                self.line("flags = 0x400");
                self.line("returns = \"STATUS_INVALID_PARAMETER\"");
            }
            Refused::InlineRead => {
                self.step(&format!("read = \"{name}\""));
                self.line(far);
                self.line("flags = [\"INLINE\"]");
                self.line("returns = \"STATUS_INVALID_PARAMETER\"");
            }
            Refused::TooManyPieces => {
                self.step(&format!("send = \"{name}\""));
                let list = self.elements(own, &[empty(Region::Source); 5], false);
                self.line(&list);
                self.line("flags = [\"DEFER\"]");
                self.line("returns = \"STATUS_DATA_OVERRUN\"");
            }
            Refused::InvalidatesNothing => {
                self.step(&format!("read = \"{name}\""));
                let list = self.elements(own, &[empty(Region::Target)], false);
                self.line(&list);
                self.line(far);
                self.line("flags = [\"RDMA_READ_LOCAL_INVALIDATE\"]");
                self.line("returns = \"STATUS_INVALID_PARAMETER\"");
            }
            Refused::BindNothing
            | Refused::BindBeyond
            | Refused::BindRight
            | Refused::BindFlag
            | Refused::RegisterNothing
            | Refused::RegisterNoPages
            | Refused::RegisterBeyond
            | Refused::RegisterOther
            | Refused::RegisterRight
            | Refused::InvalidateOther
            | Refused::InvalidateFlag => self.refused_locally(&name, own, call),
        }
    }

    fn refused_locally(&mut self, name: &str, own: usize, call: Refused) {
        let source = self.named(own, Region::Source);
        let window = Region::Window(0);
        let fresh = Region::Registered(0);
        let (verb, what, flags, returns) = match call {
            Refused::BindNothing => ("bind", "length = 0".into(), "[]", "INVALID_PARAMETER"),
            Refused::BindBeyond => (
                "bind",
                format!("offset = 1\nlength = {SOURCE}"),
                "[\"ALLOW_REMOTE_READ\"]",
                "INVALID_PARAMETER",
            ),
            Refused::BindRight => (
                "bind",
                "length = 1".into(),
                "[\"ALLOW_REMOTE_WRITE\"]",
                "ACCESS_VIOLATION",
            ),
            Refused::BindFlag => (
                "bind",
                "length = 1".into(),
                "[\"SEND_AND_SOLICIT_EVENT\"]",
                "INVALID_PARAMETER",
            ),
            Refused::RegisterNothing => (
                "fast_register",
                "length = 0".into(),
                "[]",
                "INVALID_PARAMETER",
            ),
            Refused::RegisterNoPages => (
                "fast_register",
                "length = 1\npages = 0".into(),
                "[]",
                "INVALID_PARAMETER",
            ),
            Refused::RegisterBeyond => (
                "fast_register",
                "length = 1\nfbo = 4096".into(),
                "[]",
                "INVALID_PARAMETER",
            ),
            Refused::RegisterOther => (
                "fast_register",
                format!("region = \"{source}\""),
                "[]",
                "INVALID_DEVICE_REQUEST",
            ),
            Refused::RegisterRight => (
                "fast_register",
                format!("region = \"{}\"", unusual("nearby", own)),
                "[\"ALLOW_REMOTE_READ\"]",
                "ACCESS_VIOLATION",
            ),
            Refused::InvalidateOther => (
                "invalidate",
                format!("region = \"{source}\""),
                "[]",
                "INVALID_PARAMETER",
            ),
            _ => (
                "invalidate",
                format!("window = \"{}\"", self.named(own, window)),
                "[\"SEND_AND_SOLICIT_EVENT\"]",
                "INVALID_PARAMETER",
            ),
        };
        self.unusual |= call == Refused::RegisterRight;
        self.step(&format!("{verb} = \"{name}\""));
        self.line(&what);
        if verb == "bind" {
            let window = self.named(own, window);
            self.line(&format!("window = \"{window}\"\nregion = \"{source}\""));
        }
        if verb == "fast_register" && !what.contains("region") {
            let region = self.named(own, fresh);
            self.line(&format!("region = \"{region}\""));
        }
        self.line(&format!("flags = {flags}"));
        self.line(&format!("returns = \"STATUS_{returns}\""));
    }

    pub(super) fn forge(&mut self, link: usize, side: usize, frame: Forged) {
        let psns = self.psns.get(link).copied().unwrap_or_default();
        self.step(&format!("inject = \"{}\"", qp(link, side)));
        self.line(&frame.words(psns[side], psns[1 - side]));
        if let Some(kind) = frame.region() {
            let place = self.at(link, side);
            self.regions.insert((place, kind));
            let remote = region(place, kind);
            self.line(&format!("remote = {{ region = \"{remote}\" }}"));
        }
        if let Some(alter) = frame.alter() {
            self.line(alter);
        }
    }
}
