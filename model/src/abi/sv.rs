//! The SystemVerilog package of the ABI, generated from the tables.

use std::fmt::Write;

use super::{CONSTANTS, ENUMERATIONS, LAYOUTS, Layout};

/// The text of `rtl/abi/nd_abi_pkg.sv`.
pub fn package() -> String {
    let mut s = String::from(
        "// Host ABI and commit records. Generated from model/src/abi by `cargo xtask abi`; do not edit.\n\
         package nd_abi_pkg;\n",
    );
    for c in CONSTANTS {
        let _ = write!(
            s,
            "\n  // {}\n  localparam longint unsigned {} = 64'd{};\n",
            c.doc, c.name, c.value
        );
    }
    for e in ENUMERATIONS {
        let _ = write!(
            s,
            "\n  // {}\n  typedef enum logic [{}:0] {{\n",
            e.doc.trim(),
            e.width - 1
        );
        for (i, v) in e.variants.iter().enumerate() {
            let comma = if i + 1 == e.variants.len() { "" } else { "," };
            let _ = writeln!(
                s,
                "    {} = {}'d{}{comma}  // {}",
                v.name, e.width, v.value, v.doc
            );
        }
        let _ = writeln!(s, "  }} {}_e;", e.name);
    }
    for l in LAYOUTS {
        record(&mut s, l);
    }
    s.push_str("endpackage\n");
    s
}

/// A packed struct lists its most significant field first, so the table is walked backwards.
fn record(s: &mut String, layout: &Layout) {
    let _ = write!(s, "\n  // {}\n  typedef struct packed {{\n", layout.doc);
    for field in layout.fields.iter().rev() {
        let doc = if field.doc.is_empty() {
            "reserved, zero"
        } else {
            field.doc
        };
        let _ = writeln!(
            s,
            "    logic [{}:0] {};  // {doc}",
            field.width - 1,
            field.name
        );
    }
    let _ = writeln!(s, "  }} {}_t;", layout.name);
}

#[cfg(test)]
mod tests {
    #[test]
    fn committed_package_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../rtl/abi/nd_abi_pkg.sv");
        let committed = std::fs::read_to_string(path).expect(path);
        assert!(
            committed == super::package(),
            "{path} is stale: run `cargo xtask abi`"
        );
    }
}
