"""The command `trainplan`: parse, call, print. What a command needs is imported when it runs."""

import gc
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from solver import __version__
from solver.cli_batch import INTERRUPTED, batch, batch_table
from solver.cli_catalog import Overlay, catalog
from solver.cli_compare import compare
from solver.cli_fit import fit
from solver.cli_frontier import frontier
from solver.cli_print import Json, print_document, print_json
from solver.cli_validate import validate
from solver.errors import Fault, InputError

DONE, BAD_INPUT, INFEASIBLE, STOPPED, NO_READER = 0, 2, 3, 4, 141
EXIT_CODE = {"optimal": DONE, "feasible": DONE, "infeasible": INFEASIBLE, "unknown": STOPPED}

app = typer.Typer(
    name="trainplan",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Distinct(StrEnum):
    """What sets two plans apart."""

    DEVICE = "device"
    OFFERING = "offering"
    LAYOUT = "layout"


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"trainplan {__version__}")
        raise typer.Exit


@app.callback()
def trainplan(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Choose the hardware and the parallel layout to train a model on."""


@app.command()
def solve(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="Requirements file (YAML).")],
    budget: Annotated[str | None, typer.Option(metavar="X", help='For limits.budget: "3M USD".')] = None,
    deadline: Annotated[str | None, typer.Option(metavar="X", help='For limits.deadline: "30 days".')] = None,
    top: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="How many plans.")] = 5,
    distinct: Annotated[Distinct, typer.Option(help="What sets two plans apart.")] = Distinct.OFFERING,
    time_limit: Annotated[
        float | None, typer.Option(metavar="S", min=0, help="Seconds that the proof may take.")
    ] = None,
    catalog: Overlay = None,
    json: Json = False,
) -> None:
    """Rank the best plans that meet PROBLEM, or say why none does."""
    from solver.question import understand
    from solver.report import answer_report
    from solver.search import solve_problem

    given = {"limits.budget": budget, "limits.deadline": deadline, "catalog": catalog}
    stated = {field: value for field, value in given.items() if value is not None}
    answer = solve_problem(understand(problem, stated), top, distinct.value, time_limit)
    print_document(answer.model_dump(mode="json"), answer_report, json=json)
    raise typer.Exit(EXIT_CODE[answer.status])


@app.command()
def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run file (YAML).")], json: Json = False
) -> None:
    """Estimate one stated layout, or name every rule it breaks."""
    from solver.evaluation import evaluate_run
    from solver.problem import read_run
    from solver.report import evaluation_report

    evaluation = evaluate_run(read_run(run))
    print_document(evaluation.model_dump(mode="json"), evaluation_report, json=json)
    raise typer.Exit(DONE if evaluation.legal and evaluation.fits else INFEASIBLE)


app.command()(frontier)
app.command()(validate)
app.command()(batch)
app.command("batch-table")(batch_table)
app.command()(fit)
app.command()(compare)


@app.command()
def model(
    name: Annotated[
        str, typer.Argument(metavar="MODEL", help="Id of the catalog, path to a config.json, or a size: 7B.")
    ],
    sequence_length: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=10**9, help="Tokens of a sequence, for the FLOPs.")
    ] = None,
    text_only: Annotated[bool, typer.Option("--text-only", help="Leave out the image tower.")] = False,
    prediction_layers: Annotated[
        int, typer.Option(metavar="N", min=0, max=100, help="Count N multi-token-prediction layers too.")
    ] = 0,
    assume: Annotated[
        str, typer.Option(metavar="FAMILY", help="Family of a model_type that is not known: llama.")
    ] = "",
    json: Json = False,
) -> None:
    """Count a model: parameters, FLOPs per token, model states."""
    from solver.architecture import Options
    from solver.report import size_report
    from solver.sizing import size_of

    options = Options(text_only, prediction_layers, assume)
    print_document(size_of(name, sequence_length, options).plain(), size_report, json=json)


app.command()(catalog)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the requirements file, for editors."""
    from solver.problem.schema import schema as schema_of

    print_json(schema_of())


def _refuse(error: InputError) -> int:
    """Tells what is wrong with the input, a sentence a fault; for programs on stdout too."""
    if "--json" in sys.argv[1:]:
        print_json({"faults": [fault._asdict() for fault in error.faults]})
    sys.stderr.write(f"{error}\n")
    return BAD_INPUT


def _nothing_empty(arguments: list[str]) -> None:
    """Refuses an empty name, which would be read as the folder that one stands in."""
    if "" in arguments:
        number = arguments.index("") + 1
        raise InputError("trainplan", [Fault("", f"argument {number} is empty; write it, or leave it out")])


def _run() -> int:
    """The exit code of the command that was asked for."""
    try:
        _nothing_empty(sys.argv[1:])
        code = app(prog_name="trainplan", standalone_mode=False)
    except InputError as error:
        code = _refuse(error)
    except typer.TyperException as error:  # a usage error
        told = error.format_message().rstrip(".").replace("Value error, ", "")
        code = _refuse(InputError("trainplan", [Fault("", f"{told}; see trainplan --help")]))
    except typer.Abort:
        code = INTERRUPTED
    sys.stdout.flush()
    return code or DONE


def main() -> NoReturn:
    """The one place where errors become messages and exit codes."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # both are text files
    gc.disable()  # why: a command ends soon; looking for cycles among its records takes a tenth of its time
    try:
        code = _run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader (head, a pager) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = NO_READER
    gc.freeze()  # nor when it ends
    sys.exit(code)
