//! Conversations of two sides: who says what when, over a network that loses, repeats and reorders.

mod connecting;
mod disconnecting;
mod duplicates;
mod explored;
mod failures;
mod hostile;
#[path = "../cm/messages.rs"]
mod messages;
mod pair;
mod refusals;
mod terms;
