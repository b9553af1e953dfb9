//! Random traffic as a vector: how much of it, and of what size.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Fault, Vector};

/// Random traffic between nodes `a` and `b`, in place of objects and steps.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct RandomTraffic {
    /// Initiator requests
    #[arg(long, value_name = "N", default_value_t = Self::default().requests)]
    pub requests: u64,

    /// Connections, each with a queue pair on both nodes `a` and `b`
    #[arg(long = "qps", value_name = "N", default_value_t = Self::default().queue_pairs,
        value_parser = clap::value_parser!(u32).range(1..=MAX_QUEUE_PAIRS as i64))]
    pub queue_pairs: u32,

    /// Greatest message but for the few of 1 MiB
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().max_size,
        value_parser = clap::value_parser!(u32).range(0..=MAX_SIZE as i64))]
    pub max_size: u32,

    /// One of so many messages has 1 MiB; 0: none
    #[arg(long, value_name = "N", default_value_t = Self::default().megabyte_every)]
    pub megabyte_every: u32,

    /// Percent of turns that make, use or end windows and fast-registered regions, which live short lives
    #[arg(long, value_name = "PERCENT", default_value_t = Self::default().tokens,
        value_parser = clap::value_parser!(u32).range(0..=100))]
    pub tokens: u32,

    /// Shared receive queues of each node, from which one end of each connection takes its receives
    #[arg(long, value_name = "N", default_value_t = Self::default().srqs,
        value_parser = clap::value_parser!(u32).range(0..=MAX_SRQS as i64))]
    pub srqs: u32,

    /// Connections are made and ended by connection management
    #[arg(long)]
    pub connect: bool,

    /// Percent of frames that the network loses
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub loss: f64,

    /// Percent of frames that come twice
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub duplicate: f64,

    /// Percent of frames that come after one to eight later ones
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub reorder: f64,

    /// Percent of frames that arrive with a bit turned over
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub corrupt: f64,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("not a percentage: 0 to 100".into()),
    }
}

/// The engine has 64 queue pairs, of which software has some for itself.
const MAX_QUEUE_PAIRS: u32 = 60;
/// Shared receive queues of a node, at most.
const MAX_SRQS: u32 = 4;
/// Greatest message but for those of 1 MiB.
const MAX_SIZE: u32 = 65536;

impl Default for RandomTraffic {
    fn default() -> Self {
        Self {
            requests: 10_000,
            queue_pairs: 8,
            max_size: MAX_SIZE,
            megabyte_every: 4000,
            tokens: 0,
            srqs: 0,
            connect: false,
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            corrupt: 0.0,
        }
    }
}

impl RandomTraffic {
    /// The text of a vector file that does this.
    pub fn to_text(&self, seed: u64) -> String {
        // TOML has no greater integers; the command line has.
        let seed = match i64::try_from(seed) {
            Ok(seed) => format!("seed = {seed}\n"),
            Err(_) => String::new(),
        };
        let Self {
            requests,
            queue_pairs,
            max_size,
            megabyte_every,
            tokens,
            srqs,
            connect,
            ..
        } = self;
        let mut text = format!(
            "name = \"random\"\n\
             about = \"Random traffic: every result and every byte is compared.\"\n\
             {seed}\n\
             [traffic]\n\
             requests = {requests}\n\
             queue_pairs = {queue_pairs}\n\
             max_size = {max_size}\n\
             megabyte_every = {megabyte_every}\n\
             tokens = {tokens}\n\
             srqs = {srqs}\n\
             connect = {connect}\n"
        );
        for (name, percent) in self.network() {
            text += &format!("{name} = {percent}\n");
        }
        text
    }

    /// What the network does to frames, in percent.
    pub fn network(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("loss", self.loss),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
        ];
        all.into_iter().filter(|(_, percent)| *percent > 0.0)
    }
}

/// Checks a vector of random traffic.
pub(super) fn check(vector: &Vector, traffic: &At<RandomTraffic>) -> Result<(), Fault> {
    let head = &vector.head;
    let alone = head.node.is_empty()
        && head.pd.is_empty()
        && head.cq.is_empty()
        && head.memory.is_empty()
        && head.region.is_empty()
        && head.qp.is_empty()
        && head.connection.is_empty()
        && head.network.is_empty()
        && vector.steps.is_empty();
    if !alone {
        return Err(Fault::new(
            traffic.span(),
            "a vector of random traffic has neither objects nor steps",
        ));
    }
    let possible = (1..=MAX_QUEUE_PAIRS).contains(&traffic.queue_pairs)
        && traffic.max_size <= MAX_SIZE
        && traffic.tokens <= 100
        && traffic.srqs <= MAX_SRQS
        && traffic.network().all(|(_, percent)| percent <= 100.0);
    if !possible {
        return Err(
            Fault::new(traffic.span(), "this traffic is not possible").help(format!(
                "`queue_pairs` is 1 to {MAX_QUEUE_PAIRS}, `max_size` at most {MAX_SIZE}, `srqs` at most {MAX_SRQS}, \
                 `tokens` and those of the network at most 100 percent"
            )),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_text_is_a_vector_of_the_same_traffic() {
        let traffic = RandomTraffic {
            requests: 77,
            queue_pairs: 3,
            max_size: 0,
            megabyte_every: 5,
            tokens: 40,
            srqs: 2,
            connect: true,
            loss: 1.5,
            reorder: 3.0,
            ..RandomTraffic::default()
        };
        for (seed, stands) in [(9, Some(9)), (u64::MAX, None)] {
            let vectors = super::super::parse(&traffic.to_text(seed)).unwrap();
            let head = &vectors[0].head;
            assert_eq!(head.traffic.as_deref(), Some(&traffic));
            assert_eq!(head.seed, stands);
            super::super::check::check(&vectors[0]).unwrap();
        }
    }
}
