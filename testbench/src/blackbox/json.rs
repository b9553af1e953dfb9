//! What a check says, to programs.

use std::net::IpAddr;

use serde::Serialize;
use tandem_model::wire::Qpn;

use super::direction::Source;
use super::finding::{Finding, Weight};
use super::pairs::Pairing;
use super::report::{Report, Summary};
use crate::plan;

impl Report {
    /// The report for programs.
    pub fn json(&self) -> serde_json::Value {
        let connections: Vec<JsonConnection> =
            self.connections.iter().map(JsonConnection::of).collect();
        let all = |findings: &mut dyn Iterator<Item = &Finding>| -> Vec<serde_json::Value> {
            findings
                .map(|finding| serde_json::json!(JsonFinding::of(finding)))
                .collect()
        };
        serde_json::json!({
            "frames": self.frames,
            "roce": self.roce,
            "management": self.management,
            "other": self.other,
            "other_service": self.other_service,
            "cut": self.cut,
            "connections": connections,
            "violations": all(&mut self.violations()),
            "quirks": all(&mut self.quirks()),
            "explained": all(&mut self.explained()),
        })
    }
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    frame: usize,
    time: f64,
    connection: Option<usize>,
    id: &'a str,
    title: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    quirk: Option<&'a str>,
}

impl<'a> JsonFinding<'a> {
    fn of(finding: &'a Finding) -> Self {
        Self {
            frame: finding.at.number,
            time: finding.at.time.as_secs_f64(),
            connection: finding.connection.map(|index| index + 1),
            id: finding.id,
            title: plan::title(finding.id).unwrap_or_default(),
            message: &finding.message,
            quirk: match finding.weight {
                Weight::Quirk(quirk) => Some(quirk.name),
                _ => None,
            },
        }
    }
}

#[derive(Serialize)]
struct JsonConnection {
    sides: [JsonSide; 2],
    pairing: &'static str,
    path_mtu: u32,
    path_mtu_from: &'static str,
    certain_to: Option<usize>,
}

#[derive(Serialize)]
struct JsonSide {
    address: IpAddr,
    queue_pair: Option<u32>,
    first_psn: Option<u32>,
    reads: Option<u8>,
    retries: Option<u8>,
    rnr_retries: Option<u8>,
    requests: usize,
    repeated: usize,
    acks: usize,
    responses: usize,
    sequence_naks: usize,
    rnr_naks: usize,
    fatal_naks: usize,
    not_acknowledged: usize,
}

impl JsonConnection {
    fn of(one: &Summary) -> Self {
        Self {
            sides: one.sides.map(|side| JsonSide {
                address: side.address,
                queue_pair: side.qpn.map(Qpn::get),
                first_psn: side.terms.psn.map(|psn| psn.get()),
                reads: side.terms.reads,
                retries: side.terms.retries,
                rnr_retries: side.terms.rnr_retries,
                requests: side.counts.requests,
                repeated: side.counts.repeated,
                acks: side.counts.acks,
                responses: side.counts.responses,
                sequence_naks: side.counts.sequence_naks,
                rnr_naks: side.counts.rnr_naks,
                fatal_naks: side.counts.fatal_naks,
                not_acknowledged: side.unanswered,
            }),
            pairing: match one.pairing {
                Pairing::Agreed => "agreed",
                Pairing::Answers => "answers",
                Pairing::Alone => "alone",
                Pairing::OneWay => "one way",
            },
            path_mtu: one.mtu.bytes,
            path_mtu_from: match one.mtu.source {
                Source::Agreed => "agreed",
                Source::Seen => "seen",
                Source::Least => "least",
            },
            certain_to: one.excuse.map(|excuse| excuse.at.number),
        }
    }
}
