//! The ABI chapter of the book, generated from the tables.

use std::fmt::Write;

use super::{CONSTANTS, ENUMERATIONS, LAYOUTS};

/// The text of `docs/src/abi-tables.md`.
pub fn chapter() -> String {
    let mut s = String::from(
        "<!-- Generated from model/src/abi by `cargo xtask abi`; do not edit. -->\n# ABI tables\n\n\
         Bit 0 of a record is bit 0 of its byte 0; values are little-endian.\n\n## Numbers\n\n\
         | name | value | meaning |\n| --- | --- | --- |\n",
    );
    for c in CONSTANTS {
        let _ = writeln!(s, "| {} | {} | {} |", c.name, c.value, c.doc);
    }
    s.push_str("\n## Records\n");
    for l in LAYOUTS {
        let _ = write!(
            s,
            "\n### {}\n\n{}, {} bits.\n\n| bits | field | meaning |\n| --- | --- | --- |\n",
            l.name, l.doc, l.width
        );
        let mut offset = 0;
        for f in l.fields {
            let doc = if f.doc.is_empty() {
                "reserved, zero"
            } else {
                f.doc
            };
            let _ = writeln!(
                s,
                "| {}:{offset} | {} | {doc} |",
                offset + f.width - 1,
                f.name
            );
            offset += f.width;
        }
    }
    s.push_str("\n## Enumerations\n");
    for e in ENUMERATIONS {
        let _ = write!(
            s,
            "\n### {}\n\n{}\n\n| value | name | meaning |\n| --- | --- | --- |\n",
            e.name,
            e.doc.trim()
        );
        for v in e.variants {
            let _ = writeln!(s, "| {} | {} | {} |", v.value, v.name, v.doc);
        }
    }
    s
}

#[cfg(test)]
mod tests {
    #[test]
    fn committed_chapter_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/abi-tables.md");
        let committed = std::fs::read_to_string(path).expect(path);
        assert!(
            committed == super::chapter(),
            "{path} is stale: run `cargo xtask abi`"
        );
    }
}
