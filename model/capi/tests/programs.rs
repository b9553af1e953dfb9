//! Programs in C and C++ that use the header and the library, built and run.

mod support;

use support::{Language, Program};

fn both(source: &str) {
    for language in [Language::C, Language::Cpp] {
        let output = Program::new(language).source(source).run(&[]);
        output.succeeds_with("ok");
    }
}

#[test]
fn two_engines_talk() {
    both("tests/c/conversation.c");
}

#[test]
fn the_checker_passes_what_is_right_and_finds_a_bit() {
    both("tests/c/checker.c");
}

#[test]
fn wrong_arguments_are_told() {
    both("tests/c/null.c");
}
