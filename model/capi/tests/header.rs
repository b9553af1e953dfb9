//! The header says what the library has: the same functions with the same types, constants, structures.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::Path;

use support::{Language, Program, here};
use tandem_model_c::*;

/// By name.
type Table = BTreeMap<String, String>;

fn header() -> String {
    let text = fs::read_to_string(here().join("include/tandem.h")).unwrap();
    let mut rest = text.as_str();
    let mut plain = String::new();
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = comment.split_once("*/").unwrap().1;
    }
    plain + rest
}

/// All sources of the library.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => text += &sources(&path),
            false => text += &fs::read_to_string(&path).unwrap(),
        }
    }
    text
}

/// A type of Rust as C writes it, without blanks.
fn in_c(name: &str) -> String {
    let name = name.trim();
    if let Some(to) = name.strip_prefix("*const ") {
        return format!("const{}*", in_c(to));
    }
    if let Some(to) = name.strip_prefix("*mut ") {
        return format!("{}*", in_c(to));
    }
    match name {
        "u8" | "u32" | "u64" => format!("uint{}_t", &name[1..]),
        "i32" => "int32_t".into(),
        "usize" => "size_t".into(),
        "c_char" => "char".into(),
        "c_void" => "void".into(),
        ours => format!(
            "tandem_{}",
            ours.strip_prefix("Tandem").unwrap().to_lowercase()
        ),
    }
}

fn functions_of_rust(text: &str) -> Table {
    let functions = text.split("extern \"C\" fn tandem_").skip(1);
    functions
        .map(|function| {
            let (name, rest) = function.split_once('(').unwrap();
            let (arguments, rest) = rest.split_once(')').unwrap();
            let result = rest.split_once('{').unwrap().0.trim();
            let arguments = arguments.split(',').filter(|part| !part.trim().is_empty());
            let types: Vec<String> = arguments
                .map(|argument| in_c(argument.split_once(':').unwrap().1))
                .collect();
            let result = in_c(result.strip_prefix("->").unwrap());
            (name.to_owned(), format!("{result}({})", types.join(",")))
        })
        .collect()
}

fn functions_of_c(text: &str) -> Table {
    let mut functions = Table::new();
    for statement in text.split([';', '}', '{']) {
        let statement = statement.lines().filter(|line| !line.starts_with('#'));
        let statement = statement.collect::<Vec<_>>().join(" ");
        let Some((head, arguments)) = statement.split_once('(') else {
            continue;
        };
        if statement.contains("typedef") {
            continue;
        }
        let (result, name) = head.rsplit_once("tandem_").unwrap();
        let arguments = arguments.trim().strip_suffix(')').unwrap();
        let types: Vec<String> = arguments
            .split(',')
            .filter(|argument| *argument != "void")
            .map(|argument| {
                let end = argument.rfind([' ', '*']).unwrap();
                argument[..=end].replace(' ', "")
            })
            .collect();
        let result = result.replace(' ', "");
        functions.insert(name.to_owned(), format!("{result}({})", types.join(",")));
    }
    functions
}

#[test]
fn functions_have_the_same_types() {
    let (rust, c) = (
        functions_of_rust(&sources(&here().join("src"))),
        functions_of_c(&header()),
    );
    assert!(c.len() > 30, "{c:#?}");
    assert_eq!(rust, c);
}

#[test]
fn constants_have_the_same_values() {
    let source = sources(&here().join("src"));
    let rust: Table = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub const "))
        .map(|line| {
            let (name, rest) = line.split_once(':').unwrap();
            let value = rest.split_once('=').unwrap().1;
            (name.to_owned(), value.trim_matches([' ', ';']).to_owned())
        })
        .collect();
    let header = header();
    let c: Table = header
        .lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
        .map(|(name, value)| (name.to_owned(), value.trim().replace(['(', ')'], "")))
        .collect();
    assert!(c.len() > 20, "{c:#?}");
    assert_eq!(rust, c);
}

/// Assertions for the C compiler: the size of a structure, the place and size of each field.
macro_rules! structure {
    ($text:expr, $rust:ident, $c:literal, $($field:ident),+) => {
        writeln!($text, "_Static_assert(sizeof(tandem_{}) == {}, \"\");", $c, size_of::<$rust>()).unwrap();
        $(
            let field = stringify!($field);
            writeln!($text, "_Static_assert(offsetof(tandem_{}, {field}) == {}, \"{field}\");", $c, offset_of!($rust, $field)).unwrap();
            let width = size(|value: &$rust| &raw const value.$field);
            writeln!($text, "_Static_assert(sizeof(((tandem_{} *)0)->{field}) == {width}, \"{field}\");", $c).unwrap();
        )+
    };
}

/// Bytes of a field.
fn size<S, T>(_: impl Fn(&S) -> *const T) -> usize {
    size_of::<T>()
}

#[test]
fn structures_lie_the_same() {
    let mut text = String::from("#include \"tandem.h\"\n#include <stdio.h>\n");
    structure!(
        text,
        TandemConfig,
        "config",
        log2_qps,
        log2_cqs,
        log2_srqs,
        log2_tokens,
        log2_pages,
        max_read,
        responses
    );
    structure!(text, TandemRead, "read", channel, length, address);
    structure!(text, TandemIllegal, "illegal", room, has_expected, expected);
    structure!(
        text,
        TandemEffect,
        "effect",
        kind,
        address,
        bytes,
        length,
        action,
        payload_barrier,
        gather_barrier
    );
    structure!(
        text,
        TandemBarriers,
        "barriers",
        payload_writes,
        payload_barrier,
        gather_reads,
        gather_barrier
    );
    structure!(
        text,
        TandemSummary,
        "summary",
        actions,
        frames,
        payload_writes,
        completion_writes
    );
    text += "int main(void) { puts(\"ok\"); return 0; }\n";
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("structures.c");
    fs::write(&source, text).unwrap();
    Program::new(Language::C)
        .source(source)
        .run(&[])
        .succeeds_with("ok");
}
