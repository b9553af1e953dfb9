//! Objects that most vectors have.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use super::object::{Connection, Cq, Node, Qp};
use super::{At, Head};

/// Objects that are there without being written down; one written down under the same name takes its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Setup {
    /// None.
    #[default]
    None,
    /// Nodes `a` and `b`, completion queues `ca` and `cb`, queue pairs `qa` and `qb`, and a connection `ab` of the two.
    Pair,
}

fn put<T>(map: &mut BTreeMap<String, At<T>>, name: &str, span: &Range<usize>, value: T) {
    map.entry(name.into())
        .or_insert_with(|| At::new(span.clone(), value));
}

impl Head {
    /// Puts the objects of the setup in.
    pub(super) fn set_up(&mut self) {
        if self.setup == Setup::None {
            return;
        }
        let span = self.name.span();
        let name = |text: &str| At::new(span.clone(), text.to_owned());
        for side in ["a", "b"] {
            put(&mut self.node, side, &span, Node::default());
            let cq = format!("c{side}");
            put(
                &mut self.cq,
                &cq,
                &span,
                Cq {
                    node: name(side),
                    depth: None,
                    context: None,
                },
            );
            put(
                &mut self.qp,
                &format!("q{side}"),
                &span,
                Qp {
                    node: name(side),
                    pd: None,
                    cq: Some(name(&cq)),
                    receive_cq: None,
                    initiator_cq: None,
                    context: None,
                    receive_depth: None,
                    initiator_depth: None,
                    receive_sge: None,
                    initiator_sge: None,
                    inline: None,
                    srq: None,
                },
            );
        }
        put(
            &mut self.connection,
            "ab",
            &span,
            Connection {
                a: name("qa"),
                b: name("qb"),
                mtu: None,
                ip: None,
                a_psn: None,
                b_psn: None,
                a_reads: None,
                b_reads: None,
                timeout: None,
                retry: None,
                rnr_retry: None,
                rnr_timer: None,
                a_timers: None,
                b_timers: None,
                unnegotiated: false,
                no_remote_read: false,
                no_remote_write: false,
                later: false,
            },
        );
    }
}
