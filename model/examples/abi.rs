//! Writes the generated ABI files below the directory given (`cargo xtask abi` calls it).

use std::path::PathBuf;

use tandem_model::abi;

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    std::fs::write(root.join("rtl/abi/nd_abi_pkg.sv"), abi::sv::package())?;
    std::fs::write(root.join("docs/src/abi-tables.md"), abi::doc::chapter())
}
