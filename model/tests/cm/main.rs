//! Connection management: its messages on the wire.

#[path = "../wire_support/golden.rs"]
mod golden;

mod captures;
mod fields;
mod golden_messages;
mod messages;
mod refusals;
mod round_trips;
