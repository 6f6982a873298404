//! JSON without duplicate fields.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Parses JSON.
///
/// # Errors
///
/// When the text is not JSON, or an object has a field twice: serde would keep the last of the two.
pub fn unique(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice::<Unique>(text).map(|Unique(value)| value)
}

/// JSON without duplicate fields in an object: one of the two would be lost.
pub struct Unique(pub Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Unique;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_unit<E>(self) -> Result<Unique, E> {
                Ok(Unique(Value::Null))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
                let mut all = Vec::new();
                while let Some(Unique(item)) = items.next_element()? {
                    all.push(item);
                }
                Ok(Unique(Value::Array(all)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Unique, A::Error> {
                let mut all = serde_json::Map::new();
                while let Some((name, Unique(value))) = fields.next_entry::<String, Unique>()? {
                    if all.insert(name.clone(), value).is_some() {
                        return Err(serde::de::Error::custom(format!(
                            "`{name}` stands there twice"
                        )));
                    }
                }
                Ok(Unique(Value::Object(all)))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
