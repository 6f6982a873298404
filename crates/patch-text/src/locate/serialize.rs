//! The nearest place of a hunk as data. Keys are in camel case; lines count from 1.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::{Edge, Mangled, Nearest, Pass};

/// Writes the lines of the place, how much of the hunk is there, and the first difference.
impl Serialize for Nearest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pass = self.pass.filter(|_| self.untold.is_none());
        let not_at_end =
            matches!(self.not_at, Some(Edge::Marked(_) | Edge::End { .. } | Edge::Bare { .. }));
        let mut nearest = serializer.serialize_struct("Nearest", 12)?;
        nearest.serialize_field("startLine", self.lines.start())?;
        nearest.serialize_field("endLine", self.lines.end())?;
        nearest.serialize_field("agreeingLines", &self.agreeing)?;
        nearest.serialize_field("oldLines", &self.of)?;
        nearest.serialize_field("firstDifference", &self.difference)?;
        nearest.serialize_field("region", &self.region)?;
        nearest.serialize_field("mangled", &self.mangled.map(Mangled::as_str))?;
        nearest.serialize_field("wouldMatchWith", &pass.map(Pass::as_str))?;
        nearest.serialize_field("scattered", &self.scattered)?;
        nearest.serialize_field("notAtEnd", &not_at_end)?;
        nearest.serialize_field("notAtStart", &matches!(self.not_at, Some(Edge::Start { .. })))?;
        nearest.serialize_field("unseen", &self.unseen)?;
        nearest.end()
    }
}
