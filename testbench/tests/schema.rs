//! The schema, and vectors that agree with it.

use serde_json::Value;
use tandem_testbench::vector::schema;
use tandem_testbench::vector::step::Step;

#[test]
fn the_published_schema_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/vector.schema.json");
    let fresh = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        published == fresh,
        "stale: `cargo run -p tandem-testbench --bin tandem -- schema > testbench/vectors/vector.schema.json`"
    );
}

#[test]
fn every_kind_of_step_is_in_the_schema() {
    let schema = schema();
    let text = serde_json::to_string(&schema).unwrap();
    for verb in Step::VERBS {
        assert!(text.contains(&format!("\"{verb}\"")), "{verb}");
    }
    for key in ["steps", "matrix", "cases", "node", "covers"] {
        assert_ne!(schema["properties"][key], Value::Null, "{key}");
    }
}
