//! Writes what fuzzing begins with below the directory given (`cargo xtask fuzz` calls it): a folder for each target.

use std::path::PathBuf;

#[path = "../tests/fuzz/corpus.rs"]
mod corpus;
#[path = "../fuzz/properties/mod.rs"]
mod properties;

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    for (target, seeds) in [("parse", corpus::frames()), ("receive", corpus::runs())] {
        let directory = root.join(target);
        std::fs::create_dir_all(&directory)?;
        for (name, bytes) in &seeds {
            std::fs::write(directory.join(name), bytes)?;
        }
        println!("{target}: {} inputs to begin with", seeds.len());
    }
    Ok(())
}
