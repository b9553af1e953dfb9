//! Connections made by datagrams: two providers on two golden engines, and a network between them.

mod ending;
mod endpoints;
mod failing;
mod lossy;
mod making;
mod neighbours;
mod world;
