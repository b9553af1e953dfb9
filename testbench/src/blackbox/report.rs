//! What a check says, to people.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

use tandem_model::wire::{Qpn, dissect};

use super::connection::number;
use super::direction::{Counts, Mtu, Source, Terms};
use super::file::Packet;
use super::finding::{Excuse, Finding, Weight};
use super::pairs::Pairing;
use crate::plan;

/// One side of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Its address.
    pub address: IpAddr,
    /// Its queue pair, if it is known.
    pub qpn: Option<Qpn>,
    /// What was agreed on for its requests.
    pub terms: Terms,
    /// Packets of its requests, and of the answers to them.
    pub counts: Counts,
    /// Request packets that were not acknowledged.
    pub unanswered: usize,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Both sides; the active one, or the one that sent first, is first.
    pub sides: [Side; 2],
    /// How it is known that they belong together.
    pub pairing: Pairing,
    /// Path MTU.
    pub mtu: Mtu,
    /// Why nothing is certain from a frame on.
    pub excuse: Option<Excuse>,
}

/// All that a check found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Frames of the capture.
    pub frames: usize,
    /// RoCEv2 frames that were checked.
    pub roce: usize,
    /// Datagrams of connection management among them.
    pub management: usize,
    /// Frames that are no RoCEv2.
    pub other: usize,
    /// RoCEv2 frames of services that are not checked.
    pub other_service: usize,
    /// RoCEv2 frames that were not captured whole.
    pub cut: usize,
    /// The connections.
    pub connections: Vec<Summary>,
    /// What was found, by frames.
    pub findings: Vec<Finding>,
}

impl Report {
    /// What nothing explains.
    pub fn violations(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.weight == Weight::Violation)
    }

    /// What Linux is known for.
    pub fn quirks(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| matches!(finding.weight, Weight::Quirk(_)))
    }

    /// What the network explains.
    pub fn explained(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.weight == Weight::Explained)
    }

    /// The report for people: at most `most` violations with their frames.
    pub fn text(&self, packets: &[Packet], most: usize) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(packets, most, &mut text);
        text
    }

    /// Violations and the verdict alone.
    pub fn brief(&self, packets: &[Packet], most: usize) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_violations(packets, most, &mut text);
        text.push_str(&self.verdict());
        text.push('\n');
        text.trim_start().to_owned()
    }

    fn write(&self, packets: &[Packet], most: usize, out: &mut String) -> std::fmt::Result {
        write!(out, "{} frames, {} of RoCEv2", self.frames, self.roce)?;
        let rest = [
            (self.management, "of connection management"),
            (self.other_service, "of services that are not checked"),
            (self.cut, "not captured whole, and not checked"),
        ];
        for (count, what) in rest.iter().filter(|(count, _)| *count > 0) {
            write!(out, ", {count} {what}")?;
        }
        writeln!(out)?;
        for (index, one) in self.connections.iter().enumerate() {
            write_connection(index, one, out)?;
        }
        self.write_violations(packets, most, out)?;
        write_groups("known ways of Linux", self.quirks(), out)?;
        write_groups("explained by the network", self.explained(), out)?;
        writeln!(out, "\n{}", self.verdict())
    }

    fn write_violations(
        &self,
        packets: &[Packet],
        most: usize,
        out: &mut String,
    ) -> std::fmt::Result {
        for finding in self.violations().take(most) {
            write_violation(finding, packets, out)?;
        }
        match self.violations().count().saturating_sub(most) {
            0 => Ok(()),
            more => writeln!(out, "\n{more} more violations"),
        }
    }

    fn verdict(&self) -> String {
        match self.violations().count() {
            0 => "no violation".into(),
            1 => "1 violation".into(),
            count => format!("{count} violations"),
        }
    }
}

fn write_connection(index: usize, one: &Summary, out: &mut String) -> std::fmt::Result {
    let [left, right] = &one.sides;
    writeln!(
        out,
        "\nconnection {}: {} queue pair {} and {} queue pair {}",
        index + 1,
        left.address,
        number(left.qpn),
        right.address,
        number(right.qpn)
    )?;
    let pairing = match one.pairing {
        Pairing::Agreed => "as connection management says",
        Pairing::Answers => "inferred: answers of one fit requests of the other",
        Pairing::Alone => "inferred: no other flows between both addresses",
        Pairing::OneWay => "one direction only; the other was not captured",
    };
    let mtu = match one.mtu.source {
        Source::Agreed => "as agreed",
        Source::Seen => "inferred from full packets",
        Source::Least => "at least; no full packet shows it",
    };
    writeln!(out, "  {pairing}; path MTU {}, {mtu}", one.mtu.bytes)?;
    if let Some(Excuse { at, why }) = one.excuse {
        writeln!(
            out,
            "  frame {} {why}: from there on nothing is certain",
            at.number
        )?;
    }
    let busy = one
        .sides
        .iter()
        .filter(|side| side.counts != Counts::default());
    for side in busy {
        write_side(side, out)?;
    }
    Ok(())
}

fn write_side(side: &Side, out: &mut String) -> std::fmt::Result {
    let Side { counts, terms, .. } = side;
    write!(
        out,
        "  requests of {}: {} packets, {} sent again",
        side.address, counts.requests, counts.repeated
    )?;
    let answers = [
        (counts.acks, "ACK"),
        (counts.responses, "responses"),
        (counts.sequence_naks, "NAK 0x60"),
        (counts.rnr_naks, "RNR NAK"),
        (counts.fatal_naks, "fatal NAK"),
        (side.unanswered, "not acknowledged"),
    ];
    for (count, what) in answers.iter().filter(|(count, _)| *count > 0) {
        write!(out, ", {count} {what}")?;
    }
    let agreed = [
        terms.psn.map(|psn| format!("first PSN {psn}")),
        terms
            .reads
            .map(|reads| format!("{reads} reads outstanding")),
        terms.retries.map(|retries| format!("{retries} retries")),
        terms
            .rnr_retries
            .map(|retries| format!("{retries} RNR retries")),
    ];
    let agreed: Vec<String> = agreed.into_iter().flatten().collect();
    match agreed.is_empty() {
        true => writeln!(out),
        false => writeln!(out, "; agreed: {}", agreed.join(", ")),
    }
}

fn write_violation(finding: &Finding, packets: &[Packet], out: &mut String) -> std::fmt::Result {
    let time = finding.at.time.as_secs_f64();
    write!(out, "\nframe {}, {time:.6} s", finding.at.number)?;
    if let Some(index) = finding.connection {
        write!(out, ", connection {}", index + 1)?;
    }
    let title = plan::title(finding.id).unwrap_or_default();
    writeln!(out, "\n  {}: {title}\n  {}", finding.id, finding.message)?;
    let place = finding.at.number.checked_sub(1);
    if let Some(packet) = place.and_then(|place| packets.get(place)) {
        for line in dissect(&packet.bytes).lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

/// Findings that do not count, those of a kind together.
fn write_groups<'a>(
    title: &str,
    findings: impl Iterator<Item = &'a Finding>,
    out: &mut String,
) -> std::fmt::Result {
    let mut groups: BTreeMap<(&str, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let about = match finding.weight {
            Weight::Quirk(quirk) => quirk.about,
            _ => plan::title(finding.id).unwrap_or_default(),
        };
        groups.entry((finding.id, about)).or_default().push(finding);
    }
    if !groups.is_empty() {
        writeln!(out, "\n{title}:")?;
    }
    for ((id, about), findings) in groups {
        let first: Vec<String> = findings
            .iter()
            .take(5)
            .map(|finding| finding.at.number.to_string())
            .collect();
        let more = if findings.len() > 5 { ", …" } else { "" };
        writeln!(out, "  {id}: {about} (frames {}{more})", first.join(", "))?;
        if let Some(finding) = findings.first() {
            writeln!(out, "    {}", finding.message)?;
        }
    }
    Ok(())
}
