"""Runs the commands of the workflows on this machine, each job in a clean clone.

usage: ci_local.py [--list] [--keep NAME]... [WORKFLOW[/JOB]]...

Without arguments it runs every workflow. A job gets an emptied environment, a home folder of its
own, and the jobs that it needs first. Artifacts pass from job to job as on the forge. Each command
that cannot run here is listed with its reason. Only committed changes take part.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ci_runner import Outcome, Runner
from ci_workflows import ROOT, Job, Workflow, load, steps, where_not


class Selection(NamedTuple):
    """Workflows and jobs to run."""

    names: list[str]
    """`workflow` or `workflow/job`; empty for all."""

    def jobs(self, workflow: Workflow) -> list[Job]:
        """Selected jobs and those that they need, in an order that works."""
        wanted = [job for job in workflow.jobs.values() if self._names(workflow, job)]
        ordered: list[Job] = []
        for job in wanted:
            _add_with_needs(job, workflow, ordered)
        return ordered

    def _names(self, workflow: Workflow, job: Job) -> bool:
        return not self.names or workflow.name in self.names or f"{workflow.name}/{job.name}" in self.names


def main() -> None:
    """Lists or runs the selected jobs."""
    parser = argparse.ArgumentParser(description="Runs the commands of the workflows on this machine.")
    parser.add_argument("names", nargs="*", metavar="WORKFLOW[/JOB]", help="all by default")
    parser.add_argument("--list", action="store_true", help="list the commands and run none")
    parser.add_argument("--keep", action="append", default=[], metavar="NAME", help="an environment variable to keep")
    options = parser.parse_args()

    workflows = load()
    _refuse_unknown(options.names, workflows)
    selection = Selection(options.names)
    if options.list:
        for workflow in workflows:
            for job in selection.jobs(workflow):
                _print_job(workflow, job)
        return
    sys.exit(_run(workflows, selection, options.keep))


def _run(workflows: list[Workflow], selection: Selection, keep: list[str]) -> int:
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="ci-local-") as folder:
        for workflow in workflows:
            runner = Runner(Path(folder) / workflow.name, {name: os.environ[name] for name in keep})
            for job in selection.jobs(workflow):
                outcomes += runner.run(workflow, job)
    print("\nsummary")
    for outcome in outcomes:
        print(f"{outcome.state:8} {outcome.place}: {outcome.text}")
    return any(outcome.state == "failed" for outcome in outcomes)


def _add_with_needs(job: Job, workflow: Workflow, ordered: list[Job]) -> None:
    for need in job.needs:
        _add_with_needs(workflow.jobs[need], workflow, ordered)
    if job not in ordered:
        ordered.append(job)


def _print_job(workflow: Workflow, job: Job) -> None:
    print(f"{workflow.name}/{job.name} {job.entry or ''}".rstrip())
    reason = workflow.where_not(job)
    if reason:
        print(f"  not here: {reason}")
    for step in steps(workflow, job):
        why = reason or where_not(step)
        mark = "-" if why else "+"
        print(f"  {mark} {step.title}{f'  ({why})' if why and not reason else ''}")


def _refuse_unknown(names: list[str], workflows: list[Workflow]) -> None:
    known = {workflow.name for workflow in workflows}
    known |= {f"{workflow.name}/{job}" for workflow in workflows for job in workflow.jobs}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"ci_local: error: expected {', '.join(sorted(known))}; found {', '.join(unknown)}")


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
