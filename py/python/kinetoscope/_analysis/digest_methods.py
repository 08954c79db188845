"""The method `digest` of a trace or a job."""

from __future__ import annotations

from kinetoscope._base import lazy


class Digests:
    """A recording with a digest."""

    @property
    def _unread(self) -> list[tuple[str, str]]:
        """Files of a job that could not be read, each with the reason."""
        return []

    def on_screen(self) -> list[lazy.session.Part]:
        """Returns the parts of a timeline."""
        raise NotImplementedError

    def digest(self, max_chars: int = 8_000, *, form: lazy.DigestForm = "markdown") -> str:
        """Summarizes the recording as short text, for programs that read text.

        The most important comes first: whether the recording is complete, iterations, time of
        devices, and bottlenecks with cost, cause, evidence and fix. Then follow the largest
        kernels, operators and modules, communication, memory, and commands that lead further.

        Each block of numbers names the command that its rows come from. Of sums over the ranks of a
        job, this command prints the rows of each rank. The cost of all findings together is in the
        table `finding_totals` of `findings`. Text of the recording stands in code spans, escaped
        and cut, so that it cannot pose as part of the digest.

        The text has at most `max_chars` characters, at least 2,000. The least important items are
        left out, and the end says how many; a larger limit never loses an item. The same recording
        has the same text on every machine: it has no paths and no dates. In commands, `$TRACE` is
        the path.

        `form="json"` has the same items as an object: times in ns (`_ns`), sizes in bytes
        (`_bytes`), shares as fractions of 1, unknown values as null. `caveat` says what an
        incomplete recording means for the numbers of a block.

        ::

            print(trace.digest(4_000))
            json.loads(job.digest(form="json"))["sections"]

        Raises TraceError for a smaller limit or another form, and TypeError for no integer.
        """
        from kinetoscope._analysis.digest import digest_of

        return digest_of(self.on_screen(), max_chars, form, unread=self._unread)
