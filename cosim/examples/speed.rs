//! Clocks per second of the engine: replayed in C++, in the Rust bench, and in lockstep.
//!
//! The three figures are of the same clocks: the bench's inputs are kept and replayed. Ratios hold, rates don't.

use std::time::Instant;

use tandem_cosim::bus::Traffic;
use tandem_cosim::{Build, Options, RtlTarget, Simulation};
use tandem_model::hal::{Hal, HalError, Target};
use tandem_model::ndk::bench::ConnectParameters;
use tandem_model::ndk::{
    AdapterConfig, Mdl, MrFlags, MrUse, NdkError, OpFlags, Provider, QpParameters, Sge,
};

const SEED: u64 = 1;
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// One queue pair that writes to itself: `count` writes of `length` bytes.
fn run(options: Options, count: u32, length: u32) -> Result<(RtlTarget, f64), NdkError> {
    let hal = |error: HalError| NdkError::Adapter(error.into());
    let config = AdapterConfig {
        mac: MAC,
        ipv4: Some([10, 0, 0, 1].into()),
        ..AdapterConfig::default()
    };
    let mut nic = Provider::open(RtlTarget::new(options).map_err(hal)?, config)?;
    let pd = nic.create_pd()?;
    let cq = nic.create_cq(4096, 0)?;
    let parameters = QpParameters {
        initiator_queue_depth: 2048,
        ..QpParameters::new(cq, cq)
    };
    let qp = nic.create_qp(pd, &parameters)?;
    let buffer = nic.hal_mut().allocate(1 << 16, 4096).map_err(hal)?;
    let mr = nic.create_mr(pd, MrUse::Register)?;
    nic.register_mr(
        mr,
        &[Mdl::identity(buffer, 1 << 16)],
        1 << 16,
        MrFlags::ALLOW_REMOTE_WRITE,
    )?;
    let (token, remote) = (nic.local_token_from_mr(mr)?, nic.remote_token_from_mr(mr)?);
    let qpn = nic.qp_number(qp)?;
    nic.bench()
        .connect(qp, &ConnectParameters::to(MAC, [10, 0, 0, 1].into(), qpn))?;
    let start = Instant::now();
    for i in 0..count {
        let flags = if i + 1 == count {
            OpFlags::default()
        } else {
            OpFlags::DEFER
        };
        let sge = Sge {
            address: buffer,
            length,
            token,
        };
        nic.write(qp, i.into(), &[sge], buffer + 32_768, remote, flags)?;
    }
    let mut done = 0;
    while done < count {
        let target = nic.hal_mut();
        target.advance(64).map_err(hal)?;
        for frame in target.take_frames().map_err(hal)? {
            target.send_frame(&frame).map_err(hal)?;
        }
        done += nic.poll_cq(cq)?.len() as u32;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok((nic.into_hal(), seconds))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, traffic) in [
        ("ideal buses", Traffic::IDEAL),
        ("disturbed buses", Traffic::RANDOM),
    ] {
        let (count, length) = (1500, 1000);
        let options = Options {
            seed: SEED,
            traffic,
            lockstep: false,
            ..Options::default()
        };
        let (kept, _) = run(
            Options {
                keep_inputs: true,
                ..options.clone()
            },
            count,
            length,
        )?;
        let inputs = kept.kept_inputs();
        let mut best = [f64::MAX; 3];
        for _ in 0..5 {
            let bare = Simulation::new(Build::Fast, SEED)?.replay(inputs)?;
            let (_, bench) = run(options.clone(), count, length)?;
            let (_, lockstep) = run(
                Options {
                    lockstep: true,
                    ..options.clone()
                },
                count,
                length,
            )?;
            for (best, seconds) in best.iter_mut().zip([bare, bench, lockstep]) {
                *best = best.min(seconds);
            }
        }
        let [bare, bench, lockstep] = best;
        println!(
            "{name}: {} clocks, bare C++ loop {:.0} kHz",
            inputs.len(),
            inputs.len() as f64 / bare / 1e3
        );
        println!(
            "  Rust bench {:.2}, in lockstep {:.2} of it",
            bare / bench,
            bare / lockstep
        );
    }
    Ok(())
}
