//! What the languages share.

use serde_json::Value;

use crate::clients::Setting;

/// Puts a setting into a value; what is in the way is replaced.
pub(super) fn put(whole: &mut Value, setting: &Setting) {
    let place = setting.keys.iter().fold(whole, |place, key| {
        if !place.is_object() {
            *place = Value::Object(serde_json::Map::new());
        }
        &mut place[key.as_str()]
    });
    *place = setting.value.clone();
}

/// The terminator of its lines.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
