//! The JSON Schema of vectors.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::Head;
use super::step::Step;

/// The schema, as `tandem schema` prints it.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let step = generator.subschema_for::<Step>();
    let mut schema = generator.into_root_schema_for::<Head>().to_value();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties {
        properties.insert(
            "steps".into(),
            json!({ "description": "What is done, and what must come of it", "type": "array", "items": step }),
        );
        properties.insert(
            "matrix".into(),
            json!({
                "description": "Variables with lists of values; every combination is a case. \"$name\" stands for the value",
                "type": "object", "additionalProperties": { "type": "array" }
            }),
        );
        properties.insert(
            "cases".into(),
            json!({
                "description": "Tables that give each variable one value; each is a case",
                "type": "array", "items": { "type": "object" }
            }),
        );
    }
    schema
}
