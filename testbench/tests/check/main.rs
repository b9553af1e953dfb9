//! `tandem check`: good captures pass, broken ones are caught, garbage is refused.

mod change;
mod fields;
mod files;
mod linux;
mod mutations;
mod support;
mod vectors;
