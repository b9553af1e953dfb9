//! Reading an expected frame: a string, or a table.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use tandem_model::wire::Opcode;

use super::step::{Frame, FrameFields};

impl JsonSchema for Frame {
    fn schema_name() -> Cow<'static, str> {
        "Frame".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let fields = generator.subschema_for::<FrameFields>();
        json_schema!({
            "description": "A frame: the name of its opcode, or a table with fields to compare",
            "anyOf": [{ "type": "string" }, fields]
        })
    }
}

/// The opcode with that name.
pub fn opcode(name: &str) -> Option<Opcode> {
    Opcode::ALL
        .iter()
        .copied()
        .find(|opcode| opcode.name().eq_ignore_ascii_case(name))
}

fn known<E: de::Error>(fields: FrameFields) -> Result<Frame, E> {
    match opcode(&fields.opcode) {
        Some(_) => Ok(Frame(fields)),
        None => Err(E::custom(format!(
            "no opcode has the name `{}` (they are called as \"SEND Only\", \"RDMA READ Request\", \"Acknowledge\")",
            fields.opcode
        ))),
    }
}

impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FrameVisitor;
        impl<'de> Visitor<'de> for FrameVisitor {
            type Value = Frame;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an opcode, or a table with `opcode` and fields to compare")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Frame, E> {
                known(FrameFields {
                    opcode: text.into(),
                    ..FrameFields::default()
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Frame, A::Error> {
                known(FrameFields::deserialize(MapAccessDeserializer::new(map))?)
            }
        }
        deserializer.deserialize_any(FrameVisitor)
    }
}
