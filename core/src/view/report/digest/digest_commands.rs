//! Command lines that print what a digest tells.

use crate::edit::TrimExtent;
use crate::table::TableRows;

/// The path of a trace in commands.
pub(super) const PATH: &str = "`$TRACE` is the path of the recording";
/// The paths of both sides in commands.
pub(super) const PATHS: &str = "`$BEFORE` and `$AFTER` are the paths of the recordings";

/// The commands of a digest, which name paths by variables of a shell.
#[derive(Debug, Clone)]
pub(super) struct DigestCommands {
    /// Whether two sides are compared, which is no analysis with a name.
    is_comparison: bool,
    /// The paths, quoted for a shell.
    paths: &'static str,
    /// Options that select the range of a trimmed trace.
    part: String,
}

impl DigestCommands {
    /// Of a trace, a job or a memory snapshot.
    pub(super) fn of_one() -> Self {
        Self { is_comparison: false, paths: "\"$TRACE\"", part: String::new() }
    }

    /// Of two sides.
    pub(super) fn of_two() -> Self {
        Self { is_comparison: true, paths: "\"$BEFORE\" \"$AFTER\"", part: String::new() }
    }

    /// The same for the range that a trace was trimmed to.
    #[must_use]
    pub(super) fn trimmed(self, extent: Option<TrimExtent>) -> Self {
        let part =
            extent.map(|TrimExtent { range, .. }| format!(" --start-ns {} --end-ns {}", range.start.0, range.end.0));
        Self { part: part.unwrap_or_default(), ..self }
    }

    /// The command of an analysis, or of the comparison, with further options.
    pub(super) fn analysis(&self, name: &str, options: &str) -> String {
        let Self { is_comparison, paths, part } = self;
        let verb = if *is_comparison { String::from("diff") } else { format!("analyze {name}") };
        let options = if options.is_empty() { String::new() } else { format!(" {options}") };
        format!("kinetoscope {verb} {paths}{part}{options}")
    }

    /// The command that prints a table of an analysis.
    pub(super) fn table(&self, (name, options): (&str, &str), table: &str, first: Option<&dyn TableRows>) -> String {
        let is_first = first.is_some_and(|first| first.name() == table);
        let chosen = if is_first { String::new() } else { format!("--table {table}") };
        let options: Vec<_> = [options, &chosen].into_iter().filter(|option| !option.is_empty()).collect();
        self.analysis(name, &options.join(" "))
    }

    /// A command on the same paths, in which they follow the words before.
    pub(super) fn other(&self, before: &str, after: &str) -> String {
        let after = if after.is_empty() { String::new() } else { format!(" {after}") };
        format!("kinetoscope {before} {}{after}", self.paths)
    }
}
