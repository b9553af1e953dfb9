//! Steps in words.

use std::fmt::Write;

use tandem_model::ndk::{NtStatus, OpFlags};

use super::impairment;
use super::pattern;
use crate::vector::impairment::Several;
use crate::vector::step::{Accounting, Element, ExpectedResult, FrameFields, Remote, Step, Wait};
use crate::vector::value::{At, Status, TokenRef};

fn flags(flags: OpFlags) -> String {
    let names: Vec<&str> = OpFlags::NAMED
        .iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, name)| name.trim_start_matches("NDK_OP_FLAG_"))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    }
}

fn list(sgl: &[At<Element>]) -> String {
    if sgl.is_empty() {
        return "nothing".into();
    }
    let pieces: Vec<String> = sgl
        .iter()
        .map(|element| {
            let from = match (&element.region, &element.memory) {
                (Some(name), _) | (None, Some(name)) => name.value().as_str(),
                (None, None) => "a raw address",
            };
            format!("{} bytes of {from} at {}", element.length, element.offset)
        })
        .collect();
    pieces.join(" + ")
}

fn place(remote: &Remote) -> String {
    match (&remote.region, &remote.window) {
        (Some(region), _) => format!("region {} at {}", region.value(), remote.offset),
        (None, Some(window)) => format!("window {} at {}", window.value(), remote.offset),
        (None, None) => "a raw address".into(),
    }
}

fn token(token: &TokenRef) -> String {
    match token {
        TokenRef::Of {
            name,
            xor: 0,
            before: 0,
        } => format!("the token of {name}"),
        TokenRef::Of { name, xor: 0, .. } => format!("an earlier token of {name}"),
        TokenRef::Of { name, .. } => format!("an altered token of {name}"),
        TokenRef::Privileged => "the privileged token".into(),
        TokenRef::Number(number) => format!("token {number:#x}"),
    }
}

fn frame(frame: &FrameFields) -> String {
    match frame.psn {
        Some(psn) => format!("{} with PSN {psn:#x}", frame.opcode),
        None => frame.opcode.clone(),
    }
}

pub(super) fn returns(status: NtStatus) -> String {
    match status {
        NtStatus::SUCCESS => String::new(),
        status => format!("; the call returns {status}"),
    }
}

fn times(times: Option<u32>) -> String {
    match times {
        Some(times) if times > 1 => format!(", {times} times"),
        _ => String::new(),
    }
}

fn results(results: &[ExpectedResult]) -> String {
    let words = results.iter().map(|result| {
        let mut text = match result.status.0 {
            NtStatus::SUCCESS => "success".into(),
            status => status
                .name()
                .map_or_else(|| status.to_string(), str::to_owned),
        };
        if let Some(kind) = result.r#type {
            let _ = write!(text, " of a {kind:?}");
        }
        if let Some(context) = result.context {
            let _ = write!(text, ", context {:#x}", context.0);
        }
        if let Some(bytes) = result.bytes {
            let _ = write!(text, ", {bytes} bytes");
        }
        text + &times(result.times)
    });
    words.collect::<Vec<_>>().join("; ")
}

pub(super) fn closed(kind: &str, name: &At<String>, may: &Several<Status>) -> String {
    let may: Vec<String> = may.all().iter().map(|may| returns(may.0)).collect();
    format!("{kind} {} is closed{}", name.value(), may.join(" or "))
}

/// A step in words.
pub(super) fn sentence(step: &Step) -> String {
    match step {
        Step::Send(s) => format!(
            "{} sends {}{}{}{}",
            s.send.value(),
            list(&s.sgl),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::SendAndInvalidate(s) => format!(
            "{} sends {} and invalidates {}{}{}{}",
            s.send_and_invalidate.value(),
            list(&s.sgl),
            token(&s.token),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Receive(s) => format!(
            "{} posts a receive into {}{}{}",
            s.receive.value(),
            list(&s.sgl),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Read(s) => format!(
            "{} reads {} into {}{}{}{}",
            s.read.value(),
            place(&s.remote),
            list(&s.sgl),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Write(s) => format!(
            "{} writes {} to {}{}{}{}",
            s.write.value(),
            list(&s.sgl),
            place(&s.remote),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::SrqReceive(s) => format!(
            "{} gets a receive into {}{}{}",
            s.srq_receive.value(),
            list(&s.sgl),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Bind(s) => format!(
            "{} binds window {} to region {} from byte {} on{}{}",
            s.bind.value(),
            s.window.value(),
            s.region.value(),
            s.offset,
            flags(s.flags.0),
            returns(s.returns.0)
        ),
        Step::FastRegister(s) => format!(
            "{} registers region {}{}{}",
            s.fast_register.value(),
            s.region.value(),
            flags(s.flags.0),
            returns(s.returns.0)
        ),
        Step::Invalidate(s) => {
            let what = [("region", &s.region), ("window", &s.window)];
            let what = what.map(|(kind, name)| name.as_ref().map(|name| (kind, name.value())));
            let (kind, name) = what.into_iter().flatten().next().unzip();
            format!(
                "{} invalidates {} {}{}{}",
                s.invalidate.value(),
                kind.unwrap_or("nothing"),
                name.map_or("", String::as_str),
                flags(s.flags.0),
                returns(s.returns.0)
            )
        }
        Step::Listen(_)
        | Step::ConnectEvents(_)
        | Step::ConnectTo(_)
        | Step::ExpectConnect(_)
        | Step::Accept(_)
        | Step::Reject(_)
        | Step::CompleteConnect(_)
        | Step::Disconnect(_)
        | Step::ExpectCompleted(_)
        | Step::ExpectDisconnect(_)
        | Step::ExpectConnection(_)
        | Step::CloseConnector(_)
        | Step::CloseListener(_)
        | Step::CloseSharedEndpoint(_) => super::connection::sentence(step),
        Step::CloseMw(s) => closed("window", &s.close_mw, &s.returns),
        Step::CloseMr(s) => closed("region", &s.close_mr, &s.returns),
        Step::CloseSrq(s) => closed("shared receive queue", &s.close_srq, &s.returns),
        Step::ModifySrq(s) => format!(
            "{} gets depth {}, threshold {} (0: as it is){}",
            s.modify_srq.value(),
            s.depth,
            s.threshold,
            returns(s.returns.0)
        ),
        Step::ResizeCq(s) => format!(
            "{} gets depth {}{}",
            s.resize_cq.value(),
            s.depth,
            returns(s.returns.0)
        ),
        Step::Moderate(s) => format!(
            "{} may put notifications off, by {} µs or until {} entries wait{}",
            s.moderate_cq.value(),
            s.interval,
            s.count,
            returns(s.returns.0)
        ),
        Step::ExpectSrqNotification(s) => {
            format!("{} notifies", s.expect_srq_notification.value())
        }
        Step::ExpectNoSrqNotification(s) => {
            format!("{} does not notify", s.expect_no_srq_notification.value())
        }
        Step::Flush(s) => format!("{} is flushed", s.flush.value()),
        Step::Arm(s) => format!("{} is armed for {:?}", s.arm.value(), s.r#type).to_lowercase(),
        Step::Poll(s) => format!(
            "a call for {} results of {} returns {} {}",
            s.n,
            s.poll.value(),
            s.returns,
            results(&s.results)
        ),
        Step::Register(s) => format!(
            "region {} is registered{}",
            s.register.value(),
            returns(s.returns.0)
        ),
        Step::Deregister(s) => {
            format!(
                "region {} is deregistered{}",
                s.deregister.value(),
                returns(s.returns.0)
            )
        }
        Step::Connect(s) => format!("connection {} is made", s.connect.value()),
        Step::CreateQp(s) => format!("{} is created anew", s.create_qp.value()),
        Step::TryQp(s) => {
            format!(
                "a queue pair like {} is created{}",
                s.try_qp.value(),
                returns(s.returns.0)
            )
        }
        Step::CloseQp(s) => closed("", &s.close_qp, &s.returns).trim_start().into(),
        Step::Oid(s) => format!(
            "node {} is asked for its local endpoints, with a buffer of {} bytes{}",
            s.oid.value(),
            s.buffer,
            returns(s.returns.0)
        ),
        Step::AddEndpoints(s) => {
            let count: u32 = s
                .endpoints
                .iter()
                .map(|e| u32::from(e.count.unwrap_or(1)))
                .sum();
            format!("node {} gets {count} endpoints", s.add_endpoints.value())
        }
        Step::ClearEndpoints(s) => {
            format!("node {} loses its endpoints", s.clear_endpoints.value())
        }
        Step::Fill(s) => format!(
            "the processor fills memory {} with {}",
            s.fill.value(),
            pattern(&s.with)
        ),
        Step::Network(s) => format!("from here on {}", impairment::words(&s.network)),
        Step::Inject(s) => format!(
            "a frame that nobody sent comes to {}: {}{}",
            s.inject.value(),
            frame(&s.frame.0),
            times(s.frame.0.times)
        ),
        Step::Wait(s) => match s.wait {
            Wait::Idle => "until nothing happens any more".into(),
            Wait::Clocks(clocks) => format!("{clocks} clocks pass"),
        },
        Step::ExpectResults(s) => {
            format!("{} gives {}", s.expect_results.value(), results(&s.results))
        }
        Step::ExpectNoResults(s) => format!("{} gives nothing", s.expect_no_results.value()),
        Step::ExpectMemory(s) => {
            let what = match (&s.is, &s.same_as) {
                (Some(expected), _) => format!("holds {}", pattern(expected)),
                (None, Some(other)) => format!("holds what memory {} does", other.memory.value()),
                (None, None) => "is as it was".into(),
            };
            format!(
                "memory {} from byte {} {what}",
                s.expect_memory.value(),
                s.offset
            )
        }
        Step::ExpectNotification(s) => format!("{} notifies", s.expect_notification.value()),
        Step::ExpectNoNotification(s) => {
            format!("{} does not notify", s.expect_no_notification.value())
        }
        Step::ExpectQpError(s) => format!("{} goes to error", s.expect_qp_error.value()),
        Step::ExpectFrames(s) => {
            let frames = s
                .frames
                .iter()
                .map(|named| named.0.opcode.clone() + &times(named.0.times));
            format!(
                "node {} has sent: {}",
                s.expect_frames.value(),
                frames.collect::<Vec<_>>().join("; ")
            )
        }
        Step::ExpectSent(s) => {
            let frames = s
                .frames
                .iter()
                .map(|sent| format!("{} x {}", sent.times, frame(&sent.frame.0)));
            format!(
                "node {} has sent, among others: {}",
                s.expect_sent.value(),
                frames.collect::<Vec<_>>().join("; ")
            )
        }
        Step::ExpectOrder(s) => {
            let frames = s
                .expect_order
                .iter()
                .map(|p| format!("{}: {}", p.from.value(), p.opcode.value()));
            format!(
                "the wire saw, in this order: {}",
                frames.collect::<Vec<_>>().join("; ")
            )
        }
        Step::ExpectReads(s) => format!(
            "the greatest number of reads that {} had to answer at once is {}",
            s.expect_reads.value(),
            s.at_once
        ),
        Step::ExpectAccounted(s) => match s.expect_accounted {
            Accounting::Now => "every result so far belongs to a request".into(),
            Accounting::Settled => {
                "everything posted has come to its end, once and in order".into()
            }
        },
        Step::ExpectRegisters(s) => {
            let values = s
                .values
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            format!(
                "registers of node {}: {}",
                s.expect_registers.value(),
                values.collect::<Vec<_>>().join(", ")
            )
        }
    }
}
