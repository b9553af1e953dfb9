//! Values as vectors write them.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use tandem_model::ndk::{MrFlags, NtStatus, OpFlags};
use toml::Spanned;

/// A value that knows where in the file it stands.
#[derive(Clone, Debug)]
pub struct At<T>(Spanned<T>);

impl<T> At<T> {
    /// Bytes of the file that it stands on.
    pub fn span(&self) -> Range<usize> {
        self.0.span()
    }

    /// The value.
    pub fn value(&self) -> &T {
        self.0.get_ref()
    }

    /// A value at a place.
    pub fn new(span: Range<usize>, value: T) -> Self {
        Self(Spanned::new(span, value))
    }
}

impl<T> Deref for At<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

macro_rules! schema_of {
    ($name:ident, $($schema:tt)+) => {
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($($schema)+)
            }
        }
    };
}

/// An unsigned number of up to 64 bits: an integer, or a string for numbers that other TOML readers cannot hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Number(pub u64);

schema_of!(Number, {
    "description": "Unsigned number of up to 64 bits; as a string (\"0xffffffffffffffff\") if it is above 2^63",
    "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^(0x[0-9a-fA-F_]+|[0-9_]+)$" }]
});

fn parse_number(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned number of up to 64 bits")
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u64, E> {
        u64::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        parse_number(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor).map(Self)
    }
}

/// A status by its name in the headers, or as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub NtStatus);

impl Default for Status {
    fn default() -> Self {
        Self(NtStatus::SUCCESS)
    }
}

schema_of!(Status, {
    "description": "NTSTATUS or NDIS_STATUS by its name in the headers, or as a number",
    "anyOf": [{ "type": "string", "pattern": "^(NDIS_)?STATUS_[A-Z_]+$" }, { "type": "integer", "minimum": 0 }]
});

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StatusVisitor;
        impl Visitor<'_> for StatusVisitor {
            type Value = Status;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status such as \"STATUS_SUCCESS\", or its number")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Status, E> {
                u32::try_from(value)
                    .map(|value| Status(NtStatus(value)))
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Status, E> {
                let status = NtStatus::from_name(text);
                status
                    .map(Status)
                    .ok_or_else(|| E::custom(format!("no status has the name `{text}`")))
            }
        }
        deserializer.deserialize_any(StatusVisitor)
    }
}

/// Flags by their names without prefix, or as a number.
macro_rules! flag_set {
    ($(#[$meta:meta])* $name:ident, $flags:ident, $prefix:literal, $what:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name(pub $flags);

        schema_of!($name, {
            "description": $what,
            "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "integer", "minimum": 0 }]
        });

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct FlagVisitor;
                impl<'de> Visitor<'de> for FlagVisitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a list of flag names, or a number")
                    }
                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$name, E> {
                        u32::try_from(value)
                            .map(|value| $name($flags(value)))
                            .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
                    }
                    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<$name, A::Error> {
                        let mut flags = $flags::NONE;
                        while let Some(flag) = names.next_element::<One>()? {
                            flags |= flag.0;
                        }
                        Ok($name(flags))
                    }
                }
                struct One($flags);
                impl<'de> Deserialize<'de> for One {
                    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                        let name = String::deserialize(deserializer)?;
                        let full = format!("{}{}", $prefix, name.trim_start_matches($prefix));
                        $flags::from_name(&full).map(One).ok_or_else(|| {
                            let known: Vec<&str> = $flags::NAMED
                                .iter()
                                .map(|(_, name)| name.trim_start_matches($prefix))
                                .collect();
                            de::Error::custom(format!(
                                "unknown flag `{name}`, expected one of {}",
                                known.join(", ")
                            ))
                        })
                    }
                }
                deserializer.deserialize_any(FlagVisitor)
            }
        }
    };
}

flag_set!(
    /// Flags of a request.
    RequestFlags, OpFlags, "NDK_OP_FLAG_",
    "NDK_OP_FLAG_… by name without the prefix (\"SILENT_SUCCESS\", …), or the raw number"
);
flag_set!(
    /// Flags of a registration.
    RegionFlags, MrFlags, "NDK_MR_FLAG_",
    "NDK_MR_FLAG_… by name without the prefix (\"ALLOW_LOCAL_WRITE\", …), or the raw number"
);

/// A token: of a region or a window, `"privileged"`, or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenRef {
    /// Of a region or a window.
    Of {
        /// Its name.
        name: String,
        /// Bits of the engine's number (`index << 8 | key`) to turn over.
        xor: u32,
        /// So many tokens before its newest one.
        before: usize,
    },
    /// The privileged token of the queue pair's protection domain.
    Privileged,
    /// A number, as the consumer holds it.
    Number(u32),
}

schema_of!(TokenRef, {
    "description": "Name of a region or window, \"privileged\", a number, or { of, xor, before } for its token with bits turned over, or for an earlier one of it",
    "anyOf": [
        { "type": "string" },
        { "type": "integer", "minimum": 0 },
        { "type": "object", "properties": { "of": { "type": "string" }, "xor": { "type": "integer" }, "before": { "type": "integer" } },
          "required": ["of"], "additionalProperties": false }
    ]
});

impl<'de> Deserialize<'de> for TokenRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Altered {
            of: String,
            #[serde(default)]
            xor: u32,
            #[serde(default)]
            before: usize,
        }
        struct TokenVisitor;
        impl<'de> Visitor<'de> for TokenVisitor {
            type Value = TokenRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a region or window, \"privileged\", a number, or { of, xor, before }")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<TokenRef, E> {
                u32::try_from(value)
                    .map(TokenRef::Number)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TokenRef, E> {
                Ok(match text {
                    "privileged" => TokenRef::Privileged,
                    name => TokenRef::Of {
                        name: name.into(),
                        xor: 0,
                        before: 0,
                    },
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TokenRef, A::Error> {
                let Altered { of, xor, before } =
                    Altered::deserialize(MapAccessDeserializer::new(map))?;
                let name = of;
                Ok(TokenRef::Of { name, xor, before })
            }
        }
        deserializer.deserialize_any(TokenVisitor)
    }
}

/// Bytes in hexadecimal, with or without spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HexBytes(pub Vec<u8>);

schema_of!(HexBytes, {
    "description": "Bytes in hexadecimal, spaces allowed",
    "type": "string", "pattern": "^[0-9a-fA-F \\n]*$"
});

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(|c| c.to_digit(16).map(|digit| digit as u8))
            .collect();
        let digits = digits
            .filter(|digits| digits.len() % 2 == 0)
            .ok_or_else(|| de::Error::custom("not an even number of hexadecimal digits"))?;
        let bytes = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]);
        Ok(Self(bytes.collect()))
    }
}

/// What fills memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// Zeros.
    #[default]
    Zero,
    /// Byte i is i modulo 251: no two pages are alike.
    Counter,
    /// Bytes of a seeded generator.
    Random(u64),
    /// One byte, again and again.
    Byte(u8),
    /// These bytes, again and again.
    Hex(HexBytes),
}

/// Kind of a target.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// The golden model with a scheduler.
    #[default]
    Model,
    /// The Verilated engine, in lockstep with the golden model.
    Rtl,
    /// The netlist that was synthesised from the engine, in lockstep too, and beside the RTL clock by clock.
    Netlist,
}

impl TargetKind {
    /// Whether it is the engine, in one form or another, and not the golden model.
    pub fn is_engine(self) -> bool {
        self != Self::Model
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Rtl => "rtl",
            Self::Netlist => "netlist",
        })
    }
}
