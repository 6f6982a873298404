//! What the languages share.

use serde_json::Value;

use crate::clients::Setting;

/// Puts a setting into a value; what is in the way is replaced.
pub(super) fn put(whole: &mut Value, setting: &Setting) {
    let (Setting::Is(keys, _) | Setting::Has(keys, _)) = setting;
    let place = keys.iter().fold(whole, |place, key| {
        if !place.is_object() {
            *place = Value::Object(serde_json::Map::new());
        }
        &mut place[key.as_str()]
    });
    match setting {
        Setting::Is(_, value) => *place = value.clone(),
        Setting::Has(_, texts) => {
            if !place.is_array() {
                *place = Value::Array(Vec::new());
            }
            let list = place.as_array_mut().expect("it is one now");
            for text in texts {
                if !list.iter().any(|one| one == text.as_str()) {
                    list.push(Value::String(text.clone()));
                }
            }
        }
    }
}

/// The terminator of its lines.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
